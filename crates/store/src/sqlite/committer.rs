//! Commits writes in groups.
//!
//! A commit costs much the same whatever it carries, and writes that arrive during one would each wait for a
//! commit of their own. Instead one thread takes all writes that have arrived, and commits them in one
//! transaction. Each write is still all or nothing: a refused one affects no other.
//!
//! The thread begins with the first write, and ends with the store. Between two groups it moves words into the
//! index, so that no caller waits for that.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS};
use daybook_domain::{Place, StoreError};
use rusqlite::{Connection, Transaction};
use tokio::sync::oneshot;

use super::connection::Fault;
use super::file::DatabaseFile;
use super::index_rows::IndexUpkeep;
use super::{LONG_LOG_PAGES, SqliteStore, places};

/// The thread that commits writes, once it has started.
#[derive(Debug, Default)]
pub(super) struct Committer(Mutex<Option<CommitThread>>);

#[derive(Debug)]
struct CommitThread {
    requests: Sender<BoxedWrite>,
    thread: JoinHandle<()>,
}

/// The size of a write.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WriteSize {
    pub(super) events: usize,
    /// Bytes of its content.
    pub(super) bytes: usize,
}

/// Numbers that several writes of one transaction look up only once.
#[derive(Default)]
pub(super) struct PlaceCache {
    /// The numbers of a place and of its root, by tenant.
    places: HashMap<i64, HashMap<Place, (i64, i64)>>,
}

impl PlaceCache {
    pub(super) fn place(
        &mut self,
        tx: &Connection,
        tenant: i64,
        place: &Place,
    ) -> Result<(i64, i64), Fault> {
        let known = self.places.entry(tenant).or_default();
        if let Some(&numbers) = known.get(place) {
            return Ok(numbers);
        }
        let numbers = places::place_no(tx, tenant, place)?;
        known.insert(place.clone(), numbers);
        Ok(numbers)
    }
}

type BoxedWrite = Box<dyn PendingWrite>;

/// A write, and the channel to its caller.
trait PendingWrite: Send {
    fn size(&self) -> WriteSize;
    /// Whether its caller still waits for it.
    fn has_caller(&self) -> bool;
    /// Runs the write, and keeps its outcome. It may run again after a rollback.
    fn run(&mut self, tx: &Transaction<'_>, places: &mut PlaceCache) -> Result<(), Fault>;
    fn set_error(&mut self, error: StoreError);
    /// Sends the outcome to the caller.
    fn send_outcome(self: Box<Self>);
}

struct TypedWrite<T, W> {
    size: WriteSize,
    work: W,
    outcome: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> PendingWrite for TypedWrite<T, W>
where
    T: Send,
    W: FnMut(&Transaction<'_>, &mut PlaceCache) -> Result<T, Fault> + Send,
{
    fn size(&self) -> WriteSize {
        self.size
    }

    fn has_caller(&self) -> bool {
        !self.reply.is_closed()
    }

    fn run(&mut self, tx: &Transaction<'_>, places: &mut PlaceCache) -> Result<(), Fault> {
        self.outcome = Some(Ok((self.work)(tx, places)?));
        Ok(())
    }

    fn set_error(&mut self, error: StoreError) {
        self.outcome = Some(Err(error));
    }

    fn send_outcome(self: Box<Self>) {
        let Self {
            work,
            outcome,
            reply,
            ..
        } = *self;
        // Before the caller continues, so that the memory of `work` is free again for the thread that
        // allocated it.
        drop(work);
        if let Some(outcome) = outcome {
            // A caller that has gone does not learn that its write was stored.
            let _ = reply.send(outcome);
        }
    }
}

impl SqliteStore {
    /// Runs `work` in one transaction with the other writes that have arrived. It may run again after a
    /// rollback, and does not run when its caller has gone.
    pub(super) async fn write_together<T: Send + 'static>(
        &self,
        size: WriteSize,
        work: impl FnMut(&Transaction<'_>, &mut PlaceCache) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, outcome) = oneshot::channel();
        let write = TypedWrite {
            size,
            work,
            outcome: None,
            reply,
        };
        self.committer
            .send(Box::new(write), &self.file, &self.upkeep)?;
        let ended = || StoreError::Busy("the transaction was aborted; try again".into());
        outcome.await.unwrap_or_else(|_| Err(ended()))
    }
}

impl Committer {
    fn send(
        &self,
        request: BoxedWrite,
        file: &Arc<DatabaseFile>,
        upkeep: &Arc<IndexUpkeep>,
    ) -> Result<(), StoreError> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let running = match running.take() {
            Some(known) => running.insert(known),
            None => running.insert(start(Arc::clone(file), Arc::clone(upkeep))?),
        };
        let gone = |_| StoreError::Busy("the thread that commits has ended".into());
        running.requests.send(request).map_err(gone)
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        let running = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(CommitThread { requests, thread }) = running.take() {
            drop(requests);
            // When the store is dropped, all requested writes are committed and the file is closed.
            let _ = thread.join();
        }
    }
}

fn start(file: Arc<DatabaseFile>, upkeep: Arc<IndexUpkeep>) -> Result<CommitThread, StoreError> {
    let (requests, writes) = channel();
    let named = thread::Builder::new().name("daybook-commits".to_owned());
    let path = file.path().display().to_string();
    let thread = named
        .spawn(move || run_commits(&file, &upkeep, &writes))
        .map_err(|error| StoreError::Unavailable {
            what: path,
            source: error.into(),
        })?;
    Ok(CommitThread { requests, thread })
}

/// Commits writes until the last sender is dropped.
fn run_commits(file: &Arc<DatabaseFile>, upkeep: &IndexUpkeep, writes: &Receiver<BoxedWrite>) {
    let mut next = None;
    let mut mover = LogMover::default();
    while let Some(first) = next.take().or_else(|| writes.recv().ok()) {
        let committing = AssertUnwindSafe(|| {
            let group;
            (group, next) = group_of(first, writes);
            let events = group.iter().map(|request| request.size().events).sum();
            commit(file, group);
            upkeep.step_after(file, events);
        });
        // A write that panics is rolled back, and the callers of its group get an error because their channels
        // close.
        let _ = catch_unwind(committing);
        mover.move_log(file);
    }
}

/// Moves the log into the database when it has grown long. That takes as long as the disk takes, so it runs on
/// a thread of its own.
#[derive(Default)]
struct LogMover(Option<JoinHandle<()>>);

impl LogMover {
    fn move_log(&mut self, file: &Arc<DatabaseFile>) {
        let is_moving = self.0.as_ref().is_some_and(|moving| !moving.is_finished());
        if is_moving || !file.is_log_beyond(LONG_LOG_PAGES) {
            return;
        }
        let file = Arc::clone(file);
        let named = thread::Builder::new().name("daybook-log".to_owned());
        // If no thread can be started, the next group tries again.
        self.0 = named
            .spawn(move || file.checkpoint_beyond(LONG_LOG_PAGES))
            .ok();
    }
}

impl Drop for LogMover {
    fn drop(&mut self) {
        if let Some(moving) = self.0.take() {
            let _ = moving.join();
        }
    }
}

/// Takes as many writes as one append of the greatest size may hold, so that a group takes no longer. Also
/// returns the first write that did not fit.
fn group_of(
    first: BoxedWrite,
    writes: &Receiver<BoxedWrite>,
) -> (Vec<BoxedWrite>, Option<BoxedWrite>) {
    let (mut events, mut bytes) = (0, 0);
    let mut group: Vec<BoxedWrite> = Vec::new();
    for next in std::iter::once(first).chain(writes.try_iter()) {
        if !next.has_caller() {
            continue;
        }
        let size = next.size();
        events += size.events.max(1);
        bytes += size.bytes;
        if !group.is_empty() && (events > APPEND_EVENTS || bytes > APPEND_BYTES) {
            return (group, Some(next));
        }
        group.push(next);
    }
    (group, None)
}

/// Commits a group, or else each of its writes alone, so that each gets its own error.
fn commit(file: &DatabaseFile, mut group: Vec<BoxedWrite>) {
    if group.is_empty() {
        return;
    }
    match file.write(|tx| run_all(tx, &mut group)) {
        Ok(()) => group.into_iter().for_each(|request| request.send_outcome()),
        Err(error) => match <[_; 1]>::try_from(group) {
            Ok([mut alone]) => {
                alone.set_error(error);
                alone.send_outcome();
            }
            Err(group) => group
                .into_iter()
                .for_each(|request| commit(file, vec![request])),
        },
    }
}

/// Runs each write. Most refused writes are refused before they have written anything; one that has written is
/// rolled back with the whole group.
fn run_all(tx: &Transaction<'_>, group: &mut [BoxedWrite]) -> Result<(), Fault> {
    let mut places = PlaceCache::default();
    for request in group {
        let written = tx.total_changes();
        match request.run(tx, &mut places) {
            Err(Fault::Store(refusal)) if tx.total_changes() == written => {
                request.set_error(refusal)
            }
            other => other?,
        }
    }
    Ok(())
}
