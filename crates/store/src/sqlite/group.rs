//! Appends that commit together.
//!
//! A commit costs much the same whatever it carries, and appenders that come while one is under way
//! would wait in line for as many. Instead they queue, and whoever's turn comes next commits for all of
//! them. Each append is still all or nothing: one that is refused takes no other along.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use daybook_domain::StoreError;
use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS};
use daybook_domain::seams::{Append, Appended};
use daybook_domain::working::{ThreadAppend, ThreadAppended};
use rusqlite::{Connection, TransactionBehavior};

use super::connection::Fault;
use super::sessions::Named;
use super::{SqliteStore, sessions, threads};
use crate::blocking::blocking;

/// Appends in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<VecDeque<Arc<Waiting>>>,
    /// Whose turn it is to commit; the others wait without a thread each.
    turn: tokio::sync::Mutex<()>,
}

/// An append that somebody waits for.
#[derive(Debug)]
struct Waiting {
    work: Work,
    outcome: Mutex<Option<Result<Done, StoreError>>>,
}

#[derive(Debug)]
enum Work {
    Append(Append),
    Entries(ThreadAppend),
}

#[derive(Debug)]
enum Done {
    Appended(Appended),
    Entries(ThreadAppended),
}

impl Work {
    fn append(&self) -> &Append {
        match self {
            Self::Append(append) => append,
            Self::Entries(entries) => &entries.append,
        }
    }

    fn bytes(&self) -> usize {
        let events = &self.append().events;
        let texts: usize = events.iter().map(|event| event.text.len()).sum();
        match self {
            Self::Append(_) => texts,
            Self::Entries(append) => texts + append.entries.iter().map(String::len).sum::<usize>(),
        }
    }

    fn run<'a>(&'a self, tx: &Connection, named: &mut Named<'a>) -> Result<Done, Fault> {
        Ok(match self {
            Self::Append(append) => Done::Appended(sessions::add(tx, append)?.appended()),
            Self::Entries(append) => Done::Entries(threads::append(tx, append, named)?),
        })
    }
}

impl Waiting {
    fn outcome(&self) -> MutexGuard<'_, Option<Result<Done, StoreError>>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody's place in the queue. Whoever goes away before the turn came is not appended for later.
struct Place<'a>(&'a Queue, &'a Arc<Waiting>);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if Arc::strong_count(self.1) > 1 {
            self.0
                .lock()
                .retain(|waiting| !Arc::ptr_eq(waiting, self.1));
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Waiting>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As many as one append of the greatest size may hold, so that a group takes no longer.
    fn next_group(&self) -> Vec<Arc<Waiting>> {
        let mut queue = self.lock();
        let (mut events, mut bytes) = (0, 0);
        let mut group: Vec<Arc<Waiting>> = Vec::new();
        while let Some(next) = queue.pop_front() {
            events += next.work.append().events.len().max(1);
            bytes += next.work.bytes();
            if !group.is_empty() && (events > APPEND_EVENTS || bytes > APPEND_BYTES) {
                queue.push_front(next);
                break;
            }
            group.push(next);
        }
        group
    }
}

impl SqliteStore {
    /// Appends together with whatever else is waiting.
    pub(super) async fn append_in_group(&self, append: &Append) -> Result<Appended, StoreError> {
        match self.in_group(Work::Append(append.clone())).await? {
            Done::Appended(appended) => Ok(appended),
            Done::Entries(_) => Err(stranger()),
        }
    }

    /// Appends to a thread together with whatever else is waiting.
    pub(super) async fn append_entries_in_group(
        &self,
        append: &ThreadAppend,
    ) -> Result<ThreadAppended, StoreError> {
        match self.in_group(Work::Entries(append.clone())).await? {
            Done::Entries(appended) => Ok(appended),
            Done::Appended(_) => Err(stranger()),
        }
    }

    async fn in_group(&self, work: Work) -> Result<Done, StoreError> {
        let own = Arc::new(Waiting {
            work,
            outcome: Mutex::new(None),
        });
        self.queue.lock().push_back(Arc::clone(&own));
        let _place = Place(&self.queue, &own);
        let _turn = self.queue.turn.lock().await;
        if let Some(outcome) = own.outcome().take() {
            return outcome;
        }
        blocking(|| {
            let mut writer = self.lock_writer();
            let connection = self.writing(&mut writer)?;
            loop {
                if let Some(outcome) = own.outcome().take() {
                    return outcome;
                }
                let group = self.queue.next_group();
                if group.is_empty() {
                    let what = "whoever committed for this append ended before it did";
                    return Err(StoreError::Busy(what.into()));
                }
                self.commit(connection, &group);
            }
        })
    }

    /// Commits a group, or else each of its appends alone, so that each has its own error.
    fn commit(&self, connection: &mut Connection, group: &[Arc<Waiting>]) {
        match (self.retry(|| self.commit_all(connection, group)), group) {
            (Ok(outcomes), _) => {
                for (waiting, outcome) in group.iter().zip(outcomes) {
                    *waiting.outcome() = Some(outcome);
                }
            }
            (Err(error), [alone]) => *alone.outcome() = Some(Err(error)),
            (Err(_), _) => {
                for alone in group {
                    self.commit(connection, std::slice::from_ref(alone));
                }
            }
        }
    }

    /// Each append's outcome, once all that succeeded are on disk. Most are refused before they have
    /// written anything; one that has is undone with the whole group.
    fn commit_all(
        &self,
        connection: &mut Connection,
        group: &[Arc<Waiting>],
    ) -> Result<Vec<Result<Done, StoreError>>, Fault> {
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let began = Instant::now();
        let mut outcomes = Vec::with_capacity(group.len());
        let mut named = Named::default();
        for waiting in group {
            let written = tx.total_changes();
            match waiting.work.run(&tx, &mut named) {
                Ok(done) => outcomes.push(Ok(done)),
                Err(Fault::Store(refusal)) if tx.total_changes() == written => {
                    outcomes.push(Err(refusal));
                }
                Err(fault) => return Err(fault),
            }
        }
        tx.commit()?;
        self.note_write(began);
        Ok(outcomes)
    }
}

fn stranger() -> StoreError {
    StoreError::Corrupt("an append was answered with what became of another one".to_owned())
}
