//! What waits to be stored in one thread.
//!
//! Each thread is served by one task at a time, which stores together whatever has come meanwhile: so the
//! order of the queue is the order of the log, whoever stops waiting stops nothing, and many small
//! dispatches cost little more than one.
//!
//! Not here: what happens once events are stored (`serving`).

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use daybook_domain::EventSeq;
use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS};
use tokio::sync::oneshot;

use super::live::Waiter;
use super::{DispatchResult, WorkingError};
use crate::working::log::Written;

type Stored = oneshot::Sender<Result<Vec<EventSeq>, WorkingError>>;
type IsStored = oneshot::Receiver<Result<Vec<EventSeq>, WorkingError>>;
type Applied = oneshot::Receiver<Result<DispatchResult, WorkingError>>;

/// Events that one caller wants stored, all or none.
pub(super) struct Request {
    pub(super) written: Vec<Written>,
    /// For each event; none where nobody waits for that.
    pub(super) replies: Vec<Waiter>,
    /// Where they are stored, once they are.
    seqs: Vec<EventSeq>,
    stored: Option<Stored>,
}

impl Request {
    /// A request, and what its caller waits for.
    pub(super) fn new(written: Vec<Written>, wait: bool) -> (Self, IsStored, Vec<Applied>) {
        let (stored, is_stored) = oneshot::channel();
        let waited = if wait { written.len() } else { 0 };
        let (replies, applied) = (0..waited).map(|_| oneshot::channel()).unzip();
        let request = Self {
            written,
            replies,
            seqs: Vec::new(),
            stored: Some(stored),
        };
        (request, is_stored, applied)
    }

    /// The events are stored there. Whoever waits for nothing else is told now.
    pub(super) fn stored_at(&mut self, seqs: Vec<EventSeq>) {
        self.seqs = seqs;
        if self.replies.is_empty() {
            self.tell_stored();
        }
    }

    /// Tells, once, that and where the events are stored.
    pub(super) fn tell_stored(&mut self) {
        if let Some(stored) = self.stored.take() {
            let _ = stored.send(Ok(std::mem::take(&mut self.seqs)));
        }
    }

    pub(super) fn refuse(mut self, error: WorkingError) {
        if let Some(stored) = self.stored.take() {
            let _ = stored.send(Err(error));
        }
    }

    fn bytes(&self) -> usize {
        let sizes = self
            .written
            .iter()
            .map(|it| it.event.text.len() + it.stored.len());
        sizes.sum()
    }
}

/// Requests in the order in which they came, and whether somebody serves them.
#[derive(Default)]
pub(super) struct Queue(Mutex<Line>);

#[derive(Default)]
struct Line {
    requests: VecDeque<Request>,
    is_served: bool,
}

impl Queue {
    fn lock(&self) -> std::sync::MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds requests, which nothing comes between; true when the caller must have them served.
    pub(super) fn push(&self, requests: Vec<Request>) -> bool {
        let mut line = self.lock();
        line.requests.extend(requests);
        !line.requests.is_empty() && !std::mem::replace(&mut line.is_served, true)
    }

    /// Nobody serves the queue any more; what waits is told so, for its ends are gone.
    pub(super) fn abandon(&self) {
        *self.lock() = Line::default();
    }

    /// As many as one append may hold. Without any, nobody serves the queue any more.
    pub(super) fn next_group(&self) -> Vec<Request> {
        let mut line = self.lock();
        let (mut events, mut bytes) = (0, 0);
        let mut group: Vec<Request> = Vec::new();
        while let Some(next) = line.requests.front() {
            events += next.written.len();
            bytes += next.bytes();
            let is_full = events > APPEND_EVENTS || bytes > APPEND_BYTES;
            if is_full && !group.is_empty() {
                break;
            }
            group.extend(line.requests.pop_front());
        }
        line.is_served = !group.is_empty();
        group
    }
}
