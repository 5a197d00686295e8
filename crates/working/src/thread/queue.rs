//! The queue of events that wait to be stored in one thread.
//!
//! One task at a time serves a thread's queue and stores together whatever has queued meanwhile. The order of the
//! queue is therefore the order of the log, a caller that drops its future cancels nothing, and many small
//! dispatches cost little more than one.
//!
//! Not here: how requests are served (`worker`).

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use daybook_domain::EventSeq;
use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS};
use tokio::sync::oneshot;

use super::error::WorkingError;
use super::results::{DispatchResult, ResultSender};
use crate::record::LogRecord;

type SeqSender = oneshot::Sender<Result<Vec<EventSeq>, WorkingError>>;
type SeqReceiver = oneshot::Receiver<Result<Vec<EventSeq>, WorkingError>>;
/// Receives the result of one event once it is applied.
pub(crate) type ResultReceiver = oneshot::Receiver<Result<DispatchResult, WorkingError>>;

/// Events of one caller, to be stored all or none.
pub(crate) struct QueuedAppend {
    pub(super) records: Vec<LogRecord>,
    /// One for each event; empty when the caller does not wait for results.
    pub(super) result_senders: Vec<ResultSender>,
    /// The places of the stored events, until the caller is notified.
    seqs: Vec<EventSeq>,
    seq_sender: Option<SeqSender>,
}

impl QueuedAppend {
    /// A request, the receiver of its events' places, and a receiver of each event's result if `with_results`.
    pub(crate) fn new(
        records: Vec<LogRecord>,
        with_results: bool,
    ) -> (Self, SeqReceiver, Vec<ResultReceiver>) {
        let (seq_sender, seq_receiver) = oneshot::channel();
        let results = if with_results { records.len() } else { 0 };
        let (result_senders, result_receivers) = (0..results).map(|_| oneshot::channel()).unzip();
        let request = Self {
            records,
            result_senders,
            seqs: Vec::new(),
            seq_sender: Some(seq_sender),
        };
        (request, seq_receiver, result_receivers)
    }

    /// Records where the events are stored. A caller that waits for no results is notified at once.
    pub(super) fn set_stored(&mut self, seqs: Vec<EventSeq>) {
        self.seqs = seqs;
        if self.result_senders.is_empty() {
            self.notify_stored();
        }
    }

    /// Sends the places of the stored events to the caller, once.
    pub(super) fn notify_stored(&mut self) {
        if let Some(sender) = self.seq_sender.take() {
            let _ = sender.send(Ok(std::mem::take(&mut self.seqs)));
        }
    }

    /// Ends the request with an error: nothing of it was stored.
    pub(super) fn fail(mut self, error: WorkingError) {
        if let Some(sender) = self.seq_sender.take() {
            let _ = sender.send(Err(error));
        }
    }

    fn bytes(&self) -> usize {
        let sizes = self
            .records
            .iter()
            .map(|record| record.event.text.len() + record.entry_json.len());
        sizes.sum()
    }
}

/// Requests in the order of arrival, and whether a task serves them.
#[derive(Default)]
pub(crate) struct ThreadAppendQueue(Mutex<QueueState>);

#[derive(Default)]
struct QueueState {
    requests: VecDeque<QueuedAppend>,
    is_served: bool,
}

impl ThreadAppendQueue {
    fn lock(&self) -> std::sync::MutexGuard<'_, QueueState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds requests, with nothing between them. True when no task serves the queue: the caller starts one.
    #[must_use]
    pub(crate) fn push(&self, requests: Vec<QueuedAppend>) -> bool {
        let mut queue = self.lock();
        queue.requests.extend(requests);
        !queue.requests.is_empty() && !std::mem::replace(&mut queue.is_served, true)
    }

    /// Drops all requests, so that their callers get an error, and lets the next push start a new task.
    pub(super) fn abandon(&self) {
        *self.lock() = QueueState::default();
    }

    /// As many requests as one append may hold. When there is none, the queue counts as not served.
    pub(super) fn next_group(&self) -> Vec<QueuedAppend> {
        let mut queue = self.lock();
        let (mut events, mut bytes) = (0, 0);
        let mut group: Vec<QueuedAppend> = Vec::new();
        while let Some(next) = queue.requests.front() {
            events += next.records.len();
            bytes += next.bytes();
            let is_full = events > APPEND_EVENTS || bytes > APPEND_BYTES;
            if is_full && !group.is_empty() {
                break;
            }
            group.extend(queue.requests.pop_front());
        }
        queue.is_served = !group.is_empty();
        group
    }
}
