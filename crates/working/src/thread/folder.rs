//! Folds a thread's log into its state: what was just stored, and what other processes have stored.
//!
//! Every caller holds the thread's gate. Entries are folded in the order in which they count (`log_reader`), each
//! once; observers and waiting callers hear of each as it is folded.
//!
//! Not here: which entries are stored (`appender`), and what an entry does to a state (`fold`).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::time::Clock;
use daybook_domain::working::{
    EventType, ThreadAppendOutcome, ThreadBlock, ThreadEntry, ThreadEvent, ThreadStore,
};
use daybook_domain::{EventSeq, SessionId, StoreError, Timestamp};

use super::batch::RecordBatch;
use super::error::WorkingError;
use super::live::{FoldedState, LiveState, LiveThread};
use super::loader::Loader;
use super::observer::Observers;
use super::pending::PendingEvent;
use super::results::{DispatchResult, StateChange};
use crate::compact::Count;
use crate::fold::Folded;
use crate::log_reader::{LogReader, MAX_PENDING};

/// Stores entries and keeps the state of each thread folded.
pub(crate) struct StateFolder {
    pub(crate) store: Arc<dyn ThreadStore>,
    pub(crate) loader: Loader,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) observers: Observers,
    pub(crate) count: Count,
}

/// What an append did.
pub(super) enum BatchOutcome {
    /// The entries are stored.
    Stored {
        /// Their places, in order.
        seqs: Vec<EventSeq>,
        /// What became of each.
        entries: Vec<EntryOutcome>,
    },
    /// Nothing is stored: the block that the append was to end is over.
    BlockLost,
}

/// What became of a stored entry.
pub(super) enum EntryOutcome {
    /// It is folded; an event that a reducer failed on is an error.
    Applied(Result<DispatchResult, WorkingError>),
    /// An event of the same id was stored there and folded before.
    Duplicate(EventSeq),
    /// It waits for a block to end. `is_first` unless it repeats the id of another pending event.
    Pending { seq: EventSeq, is_first: bool },
}

/// Places of stored entries, the log's last place before them, and the thread's block.
type Stored = (Vec<EventSeq>, EventSeq, Option<ThreadBlock>);

impl StateFolder {
    /// Stores a batch, and folds of it what no block keeps back.
    pub(super) async fn append(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
        batch: &RecordBatch,
    ) -> Result<BatchOutcome, WorkingError> {
        let ends_block = batch.append.ends.is_some();
        if state.pending.len() as u64 >= MAX_PENDING && !ends_block {
            return Err(WorkingError::TooManyWaiting {
                thread: live.id.clone(),
                waiting: state.pending.len(),
            });
        }
        self.loader.load(live, state).await?;
        let Some((seqs, before, block)) = self.store(live, state, batch).await? else {
            return Ok(BatchOutcome::BlockLost);
        };
        live.set_block(block);
        let loaded = self.loader.load(live, state).await?;
        let thread = Arc::make_mut(&mut loaded.thread);
        thread.updated_at = batch.append.append.now;
        thread.last = thread.last.max(seqs.last().copied().unwrap_or_default());
        thread.block = block;
        let is_next = block.is_none() && loaded.upto >= before;
        // Nothing more can be folded while the block holds: the state includes all that came before it.
        let is_blocked = block.is_some_and(|block| loaded.upto >= block.at);
        // Results of own entries that are folded together with those of other processes.
        let mut caught_up = HashMap::new();
        if !is_next && !is_blocked && !ends_block {
            let note = |seq, result| drop((seq > before).then(|| caught_up.insert(seq, result)));
            self.catch_up_noting(live, state, note).await?;
        }
        let mut outcomes = Vec::with_capacity(seqs.len());
        let mut newest = before;
        let entries = batch.append.append.events.iter().zip(&batch.entries);
        for ((event, entry), &seq) in entries.zip(&seqs) {
            // Of several events with one id the first counts, here as in the log.
            let is_new = seq > newest;
            newest = newest.max(seq);
            outcomes.push(if is_new && (is_next || ends_block) {
                EntryOutcome::Applied(self.fold_one(live, state, seq, event.at, Some(entry)))
            } else if state.loaded.as_ref().is_some_and(|loaded| loaded.has(seq)) {
                match caught_up.remove(&seq) {
                    Some(result) => EntryOutcome::Applied(result),
                    None => EntryOutcome::Duplicate(seq),
                }
            } else {
                let is_first = is_new;
                EntryOutcome::Pending { seq, is_first }
            });
        }
        Ok(BatchOutcome::Stored {
            seqs,
            entries: outcomes,
        })
    }

    /// Stores a batch; `None` if the block that it was to end is over.
    async fn store(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
        batch: &RecordBatch,
    ) -> Result<Option<Stored>, WorkingError> {
        match self.store.append_entries(&batch.append).await {
            Ok(ThreadAppendOutcome::Stored {
                seqs,
                before,
                block,
            }) => Ok(Some((seqs, before, block))),
            Ok(ThreadAppendOutcome::BlockLost) => Ok(None),
            Err(StoreError::NotFound(_)) => {
                state.loaded = None;
                self.loader.remove(&live.id);
                Err(WorkingError::ThreadNotFound(live.id.clone()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Folds everything stored so far that no block keeps back; returns the block that does.
    pub(crate) async fn catch_up(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
    ) -> Result<Option<ThreadBlock>, WorkingError> {
        self.catch_up_noting(live, state, |_, _| ()).await
    }

    /// [`Self::catch_up`], with a call of `note` for each entry that no caller of this process waits for.
    async fn catch_up_noting(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
        mut note: impl FnMut(EventSeq, Result<DispatchResult, WorkingError>),
    ) -> Result<Option<ThreadBlock>, WorkingError> {
        let block = loop {
            let block = self.fold_log(live, state, &mut note).await?;
            match block.filter(|block| !block.stands(self.clock.now())) {
                // An expired block is ended in the store before anything behind it is folded: a late compaction
                // would otherwise count before entries that are folded by then.
                Some(expired) => self.store.unblock(&live.id, expired.token).await?,
                None => break block,
            };
        };
        live.set_block(block);
        if let Some(loaded) = state.loaded.as_mut() {
            Arc::make_mut(&mut loaded.thread).block = block;
        }
        Ok(block)
    }

    /// Folds the log from the state's place on, up to its end or a block.
    async fn fold_log(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
        note: &mut impl FnMut(EventSeq, Result<DispatchResult, WorkingError>),
    ) -> Result<Option<ThreadBlock>, WorkingError> {
        let upto = self.loader.load(live, state).await?.upto;
        let mut reader = LogReader::new(&*self.store, &live.id, upto);
        while let Some(placed) = reader.next().await? {
            let is_folded = state
                .loaded
                .as_ref()
                .is_some_and(|loaded| loaded.has(placed.seq));
            if is_folded {
                continue;
            }
            let result = self.fold_one(live, state, placed.seq, placed.at, placed.entry.as_ref());
            match state.pending.remove(placed.seq) {
                Some(pending) => state.complete(placed.seq, result, pending),
                None => note(placed.seq, result),
            }
        }
        Ok(reader.block())
    }

    /// Folds pending events up to `last` from memory; false when one of them has to be read from the store.
    pub(super) fn fold_pending(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
        last: EventSeq,
    ) -> bool {
        loop {
            let Some(loaded) = state.loaded.as_ref() else {
                return false;
            };
            let next = EventSeq(loaded.upto.0 + 1);
            if next > last {
                return true;
            }
            let Some((at, entry, pending)) = state.pending.remove_cached(next) else {
                return false;
            };
            let result = self.fold_one(live, state, next, at, Some(&entry));
            state.complete(next, result, pending);
        }
    }

    /// Folds one entry, and notifies observers.
    fn fold_one(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
        seq: EventSeq,
        at: Timestamp,
        entry: Option<&ThreadEntry>,
    ) -> Result<DispatchResult, WorkingError> {
        let missing = || WorkingError::ThreadNotFound(live.id.clone());
        let loaded = state.loaded.as_mut().ok_or_else(missing)?;
        let event = entry.and_then(ThreadEntry::event);
        let is_observed = seq > loaded.loaded_at && !self.observers.is_empty();
        if let (true, Some(event)) = (is_observed, event) {
            self.observers
                .notify(|it| it.on_event_dispatch(&live.id, event));
        }
        let began = is_observed.then(|| self.clock.now());
        let folded = loaded.fold(seq, at, entry, &self.count);
        if let Some(began) = began {
            let took = self.clock.now().since(began);
            self.notify_observers(&live.id, loaded, event, &folded, took);
        }
        match folded.fault {
            Some(message) => Err(WorkingError::Reducer {
                thread: live.id.clone(),
                seq: seq.0,
                message,
            }),
            None => state.result(seq, &folded),
        }
    }

    fn notify_observers(
        &self,
        id: &SessionId,
        loaded: &FoldedState,
        event: Option<&ThreadEvent>,
        folded: &Folded,
        took: Duration,
    ) {
        if let Some(event) = event {
            self.observers
                .notify(|it| it.on_reducer_execute(id, event, took));
        }
        if folded.is_changed {
            let change = StateChange {
                thread: id,
                state: &loaded.state,
                event,
                operations: &folded.operations,
                added_chunks: &folded.applied.added,
                removed_chunk_ids: &folded.applied.removed,
            };
            self.observers.notify(|it| it.on_state_change(&change));
        }
        let Some(event) = event else { return };
        if let EventType::LlmSubagentSpawn { .. } = event.kind {
            self.observers.notify(|it| it.on_sub_agent_spawn(id, event));
        }
        if let EventType::SubagentResult { .. } | EventType::SubagentError { .. } = event.kind {
            self.observers
                .notify(|it| it.on_sub_agent_result(id, event));
        }
    }
}

impl LiveState {
    /// Hands a pending event's result to its callers, and its command to the manager.
    fn complete(
        &mut self,
        seq: EventSeq,
        result: Result<DispatchResult, WorkingError>,
        pending: PendingEvent,
    ) {
        self.commands.extend(pending.command);
        let mut result = Some(result);
        for sender in pending.result_senders {
            let again = || self.result(seq, &Folded::default());
            let _ = sender.send(result.take().unwrap_or_else(again));
        }
    }
}
