//! Appends that wait for the disk together.
//!
//! Where each commit waits for the disk, appenders that come while one is under way would wait in
//! line for as many flushes. Instead they queue, and whoever gets the connection next commits for all
//! of them. Each append is still all or nothing: one that is refused takes no other along.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use daybook_domain::StoreError;
use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS};
use daybook_domain::seams::{Append, Appended};
use rusqlite::{Connection, TransactionBehavior};

use super::connection::Fault;
use super::{SqliteStore, sessions};
use crate::blocking::blocking;

/// Appends in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<VecDeque<Arc<Waiting>>>);

/// An append that somebody waits for.
#[derive(Debug)]
struct Waiting {
    append: Append,
    outcome: Mutex<Option<Result<Appended, StoreError>>>,
}

impl Waiting {
    fn outcome(&self) -> MutexGuard<'_, Option<Result<Appended, StoreError>>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bytes(&self) -> usize {
        self.append
            .events
            .iter()
            .map(|event| event.text.len())
            .sum()
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Waiting>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As many as one append of the greatest size may hold, so that a group takes no longer.
    fn next_group(&self) -> Vec<Arc<Waiting>> {
        let mut queue = self.lock();
        let (mut events, mut bytes) = (0, 0);
        let mut group: Vec<Arc<Waiting>> = Vec::new();
        while let Some(next) = queue.pop_front() {
            events += next.append.events.len().max(1);
            bytes += next.bytes();
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
    pub(super) fn append_in_group(&self, append: &Append) -> Result<Appended, StoreError> {
        let own = Arc::new(Waiting {
            append: append.clone(),
            outcome: Mutex::new(None),
        });
        self.queue.lock().push_back(Arc::clone(&own));
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

    /// Each append's outcome, once all that succeeded are on disk.
    fn commit_all(
        &self,
        connection: &mut Connection,
        group: &[Arc<Waiting>],
    ) -> Result<Vec<Result<Appended, StoreError>>, Fault> {
        let mut tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let began = Instant::now();
        let mut outcomes = Vec::with_capacity(group.len());
        for waiting in group {
            let part = tx.savepoint()?;
            match sessions::add(&part, &waiting.append) {
                Ok(appended) => {
                    part.commit()?;
                    outcomes.push(Ok(appended));
                }
                Err(Fault::Store(refusal)) => outcomes.push(Err(refusal)),
                Err(fault) => return Err(fault),
            }
        }
        tx.commit()?;
        self.note_write(began);
        Ok(outcomes)
    }
}
