//! Turns events into log records, stores them in groups, and sorts out which are applied and which are pending.
//!
//! Not here: folding (`folder`), and what follows an append (`worker`).

use std::sync::Arc;

use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS};
use daybook_domain::working::{BlockToken, Compaction, StateId, ThreadEntry, ThreadEvent};
use daybook_domain::{EventId, StoreError};

use super::batch::RecordBatch;
use super::command::ThreadCommand;
use super::config::MemoryManagerConfig;
use super::error::WorkingError;
use super::folder::{BatchOutcome, EntryOutcome, StateFolder};
use super::history::History;
use super::live::{LiveState, LiveThread};
use super::queue::QueuedAppend;
use super::results::{DispatchResult, ResultSender};
use crate::fold::Folded;
use crate::record::{self, LogRecord};

/// Appends events and other entries to threads.
pub(crate) struct Appender {
    pub(crate) folder: Arc<StateFolder>,
    pub(crate) history: History,
    pub(crate) config: Arc<MemoryManagerConfig>,
}

/// What a group of requests did, beyond being stored.
pub(super) struct AppendedGroup {
    /// Results of applied events, with their callers.
    pub(super) results: Vec<(ResultSender, Result<DispatchResult, WorkingError>)>,
    /// Whether a pending event asks for the thread to be resumed.
    pub(super) resumes: bool,
}

impl Appender {
    /// The events as records for the log: without secrets, bounded, with an id each.
    pub(crate) fn records(&self, events: &[ThreadEvent]) -> Result<Vec<LogRecord>, StoreError> {
        let now = self.folder.clock.now();
        let records = events.iter().map(|event| {
            let id = match event.id() {
                Some(id) => EventId::of(&[b"id", id.as_bytes()]),
                None => self.new_event_id(),
            };
            record::of_event(&self.config.redactor, event, id, now)
        });
        records.collect()
    }

    /// An id for an entry that its host gives none.
    pub(crate) fn new_event_id(&self) -> EventId {
        EventId((self.config.random)())
    }

    /// Stores a group of requests with one append, or nothing of it.
    pub(super) async fn append_group(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
        group: &mut [QueuedAppend],
    ) -> Result<AppendedGroup, WorkingError> {
        let lengths: Vec<usize> = group.iter().map(|request| request.records.len()).collect();
        let records = group
            .iter_mut()
            .flat_map(|request| std::mem::take(&mut request.records));
        let now = self.folder.clock.now();
        let batch = RecordBatch::new(&self.config, &live.id, records, None, now);
        let (seqs, outcomes) = match self.folder.append(live, state, &batch).await {
            Ok(BatchOutcome::Stored { seqs, entries }) => (seqs, entries),
            // Only an append that ends a block can lose it.
            Ok(BatchOutcome::BlockLost) => (Vec::new(), Vec::new()),
            Err(error) => {
                let mut records = batch.into_records();
                for (request, length) in group.iter_mut().zip(lengths) {
                    request.records = records.by_ref().take(length).collect();
                }
                return Err(error);
            }
        };
        let mut senders = Vec::with_capacity(seqs.len());
        let mut seqs = seqs.into_iter();
        for (request, length) in group.iter_mut().zip(lengths) {
            request.set_stored(seqs.by_ref().take(length).collect());
            let mut own = std::mem::take(&mut request.result_senders).into_iter();
            senders.extend((0..length).map(|_| own.next()));
        }
        Ok(state.sort_out(&batch, outcomes, senders))
    }

    /// Appends one entry that is no event. It does not queue: a blocked thread is not changed.
    pub(crate) async fn append_entry(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
        entry: ThreadEntry,
        text: String,
        id: EventId,
    ) -> Result<DispatchResult, WorkingError> {
        if let Some(block) = self.folder.catch_up(live, state).await? {
            return Err(WorkingError::Blocked(block.reason));
        }
        let now = self.folder.clock.now();
        let record = record::of_entry(&self.config.redactor, entry, text, id, now)?;
        let batch = RecordBatch::new(&self.config, &live.id, [record], None, now);
        let missing = || WorkingError::ThreadNotFound(live.id.clone());
        let BatchOutcome::Stored { entries, .. } = self.folder.append(live, state, &batch).await?
        else {
            return Err(missing());
        };
        match entries.into_iter().next().ok_or_else(missing)? {
            EntryOutcome::Applied(result) => result,
            // Another process blocked the thread at this very moment, or stored the same entry before.
            EntryOutcome::Pending { seq, .. } | EntryOutcome::Duplicate(seq) => {
                state.result(seq, &Folded::default())
            }
        }
    }

    /// Appends an entry that puts an earlier state back.
    pub(crate) async fn restore(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
        state_id: &StateId,
    ) -> Result<DispatchResult, WorkingError> {
        let earlier = self.history.state(&live.id, state_id).await?;
        let seq = earlier.metadata.provenance.seq;
        let entry = ThreadEntry::Restored {
            state_id: earlier.id.clone(),
            seq,
            chunks: earlier.chunks().map(Arc::clone).collect(),
        };
        let text = format!("The state after event {} was put back.", seq.0);
        self.append_entry(live, state, entry, text, self.new_event_id())
            .await
    }

    /// Appends a compaction, and ends with it the block under which it was made.
    ///
    /// [`WorkingError::NotCompacted`] when the block is over: then nothing is stored.
    pub(super) async fn append_compaction(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
        compaction: Compaction,
        ends: BlockToken,
    ) -> Result<DispatchResult, WorkingError> {
        let text = record::summary_text(&compaction);
        let id = EventId::of(&[b"compaction", &ends.0.to_le_bytes()]);
        let entry = ThreadEntry::Compaction(compaction);
        let now = self.folder.clock.now();
        let record = record::of_entry(&self.config.redactor, entry, text, id, now)?;
        let batch = RecordBatch::new(&self.config, &live.id, [record], Some(ends), now);
        let not_compacted = |why: &str| Err(WorkingError::NotCompacted(why.to_owned()));
        match self.folder.append(live, state, &batch).await? {
            BatchOutcome::BlockLost => not_compacted("the thread's block was over"),
            BatchOutcome::Stored { entries, .. } => {
                state.backoff.futile = None;
                match entries.into_iter().next() {
                    Some(EntryOutcome::Applied(result)) => result,
                    Some(EntryOutcome::Duplicate(_) | EntryOutcome::Pending { .. }) | None => {
                        not_compacted("it was stored twice")
                    }
                }
            }
        }
    }
}

impl LiveState {
    /// Parts the events of a stored batch: applied ones get their results, pending ones are kept with their callers.
    fn sort_out(
        &mut self,
        batch: &RecordBatch,
        outcomes: Vec<EntryOutcome>,
        senders: Vec<Option<ResultSender>>,
    ) -> AppendedGroup {
        let mut group = AppendedGroup {
            results: Vec::new(),
            resumes: false,
        };
        for (((at, entry, bytes), outcome), sender) in batch.iter().zip(outcomes).zip(senders) {
            let command = entry
                .event()
                .and_then(|event| ThreadCommand::of(&event.kind));
            let result = match outcome {
                EntryOutcome::Applied(result) => {
                    self.commands.extend(command);
                    result
                }
                EntryOutcome::Duplicate(seq) => self.result(seq, &Folded::default()),
                EntryOutcome::Pending { seq, is_first } => {
                    group.resumes |= matches!(command, Some(ThreadCommand::Resume { .. }));
                    self.pending.add(seq, command, sender);
                    if is_first {
                        self.pending.cache(seq, at, entry, bytes);
                    }
                    continue;
                }
            };
            group.results.extend(sender.map(|sender| (sender, result)));
        }
        group
    }
}

/// Parts records so that each part fits one append.
pub(crate) fn split_for_appends(records: Vec<LogRecord>) -> Vec<Vec<LogRecord>> {
    let mut parts: Vec<Vec<LogRecord>> = Vec::new();
    let mut bytes = 0;
    for record in records {
        let length = record.event.text.len();
        match parts.last_mut() {
            Some(part) if part.len() < APPEND_EVENTS && bytes + length <= APPEND_BYTES => {
                bytes += length;
                part.push(record);
            }
            Some(_) | None => {
                bytes = length;
                parts.push(vec![record]);
            }
        }
    }
    parts
}
