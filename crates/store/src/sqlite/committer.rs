//! Writes that commit together.
//!
//! A commit costs much the same whatever it carries, and writers that come while one is under way would
//! wait in line for as many. Instead one thread takes all that has come, and commits it in one
//! transaction. Each write is still all or nothing: one that is refused takes no other along.
//!
//! The thread begins with the first write, and ends with the store. Between two groups it moves words into
//! the index, so that nobody does who waits for a write of their own.

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
use super::file::File;
use super::index::Upkeep;
use super::{LONG_LOG_PAGES, SqliteStore, places};

/// Has writes committed.
#[derive(Debug, Default)]
pub(super) struct Committer(Mutex<Option<Running>>);

#[derive(Debug)]
struct Running {
    requests: Sender<Asked>,
    thread: JoinHandle<()>,
}

/// How large a write is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    pub(super) events: usize,
    /// Of what it carries.
    pub(super) bytes: usize,
}

/// Numbers that the writes of one transaction need not look up twice.
#[derive(Default)]
pub(super) struct Named {
    /// The place and the root of each place of a tenant.
    places: HashMap<i64, HashMap<Place, (i64, i64)>>,
}

impl Named {
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

type Asked = Box<dyn Request>;

/// A write that somebody waits for.
trait Request: Send {
    fn size(&self) -> Size;
    /// Whether anybody still waits for it.
    fn is_wanted(&self) -> bool;
    /// Writes, and notes what came of it. It may run again after a rollback.
    fn run(&mut self, tx: &Transaction<'_>, named: &mut Named) -> Result<(), Fault>;
    fn refuse(&mut self, error: StoreError);
    /// Tells what was noted.
    fn tell(self: Box<Self>);
}

struct Write<T, W> {
    size: Size,
    work: W,
    outcome: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> Request for Write<T, W>
where
    T: Send,
    W: FnMut(&Transaction<'_>, &mut Named) -> Result<T, Fault> + Send,
{
    fn size(&self) -> Size {
        self.size
    }

    fn is_wanted(&self) -> bool {
        !self.reply.is_closed()
    }

    fn run(&mut self, tx: &Transaction<'_>, named: &mut Named) -> Result<(), Fault> {
        self.outcome = Some(Ok((self.work)(tx, named)?));
        Ok(())
    }

    fn refuse(&mut self, error: StoreError) {
        self.outcome = Some(Err(error));
    }

    fn tell(self: Box<Self>) {
        let Self {
            work,
            outcome,
            reply,
            ..
        } = *self;
        // Before whoever waits goes on: what it holds is then given back where it was made.
        drop(work);
        if let Some(outcome) = outcome {
            // Whoever went away meanwhile does not learn that it was stored.
            let _ = reply.send(outcome);
        }
    }
}

impl SqliteStore {
    /// Runs `work` in one transaction with whatever else has come. It may run again after a rollback, and
    /// does not run when nobody waits for it any more.
    pub(super) async fn write_together<T: Send + 'static>(
        &self,
        size: Size,
        work: impl FnMut(&Transaction<'_>, &mut Named) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, outcome) = oneshot::channel();
        let write = Write {
            size,
            work,
            outcome: None,
            reply,
        };
        self.committer
            .send(Box::new(write), &self.file, &self.upkeep)?;
        let ended = || StoreError::Busy("the transaction ended before its time".into());
        outcome.await.unwrap_or_else(|_| Err(ended()))
    }
}

impl Committer {
    fn send(
        &self,
        request: Asked,
        file: &Arc<File>,
        upkeep: &Arc<Upkeep>,
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
        if let Some(Running { requests, thread }) = running.take() {
            drop(requests);
            // What was asked for is committed, and the file is closed, when the store is gone.
            let _ = thread.join();
        }
    }
}

fn start(file: Arc<File>, upkeep: Arc<Upkeep>) -> Result<Running, StoreError> {
    let (requests, asked) = channel();
    let named = thread::Builder::new().name("daybook-commits".to_owned());
    let path = file.path().display().to_string();
    let thread = named
        .spawn(move || serve(&file, &upkeep, &asked))
        .map_err(|error| StoreError::Unavailable {
            what: path,
            source: error.into(),
        })?;
    Ok(Running { requests, thread })
}

/// Commits what comes until nobody can ask for anything any more.
fn serve(file: &Arc<File>, upkeep: &Upkeep, asked: &Receiver<Asked>) {
    let mut next = None;
    let mut mover = Mover::default();
    while let Some(first) = next.take().or_else(|| asked.recv().ok()) {
        let committing = AssertUnwindSafe(|| {
            let group;
            (group, next) = group_of(first, asked);
            let events = group.iter().map(|request| request.size().events).sum();
            commit(file, group);
            upkeep.step_after(file, events);
        });
        // A write that panics is undone, and those of its group are told by their ends being gone.
        let _ = catch_unwind(committing);
        mover.move_log(file);
    }
}

/// Moves the log into the database when it has grown long. It takes as long as the disk takes, so it has
/// a thread of its own, while it lasts.
#[derive(Default)]
struct Mover(Option<JoinHandle<()>>);

impl Mover {
    fn move_log(&mut self, file: &Arc<File>) {
        let is_moving = self.0.as_ref().is_some_and(|moving| !moving.is_finished());
        if is_moving || !file.is_log_beyond(LONG_LOG_PAGES) {
            return;
        }
        let file = Arc::clone(file);
        let named = thread::Builder::new().name("daybook-log".to_owned());
        // Without a thread for it, it is tried again after the next group.
        self.0 = named
            .spawn(move || file.checkpoint_beyond(LONG_LOG_PAGES))
            .ok();
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        if let Some(moving) = self.0.take() {
            let _ = moving.join();
        }
    }
}

/// As many as one append of the greatest size may hold, so that a group takes no longer; and the one
/// that has no room.
fn group_of(first: Asked, asked: &Receiver<Asked>) -> (Vec<Asked>, Option<Asked>) {
    let (mut events, mut bytes) = (0, 0);
    let mut group: Vec<Asked> = Vec::new();
    for next in std::iter::once(first).chain(asked.try_iter()) {
        if !next.is_wanted() {
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

/// Commits a group, or else each of its writes alone, so that each has its own error.
fn commit(file: &File, mut group: Vec<Asked>) {
    if group.is_empty() {
        return;
    }
    match file.write(|tx| run_all(tx, &mut group)) {
        Ok(()) => group.into_iter().for_each(|request| request.tell()),
        Err(error) => match <[_; 1]>::try_from(group) {
            Ok([mut alone]) => {
                alone.refuse(error);
                alone.tell();
            }
            Err(group) => group
                .into_iter()
                .for_each(|request| commit(file, vec![request])),
        },
    }
}

/// Runs each of them. Most that are refused are so before they have written anything; one that has is
/// undone with the whole group.
fn run_all(tx: &Transaction<'_>, group: &mut [Asked]) -> Result<(), Fault> {
    let mut named = Named::default();
    for request in group {
        let written = tx.total_changes();
        match request.run(tx, &mut named) {
            Err(Fault::Store(refusal)) if tx.total_changes() == written => request.refuse(refusal),
            other => other?,
        }
    }
    Ok(())
}
