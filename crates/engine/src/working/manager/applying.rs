//! Entries are stored, and folded in the order in which they count.
//!
//! Whoever calls holds the thread's gate.
//!
//! Not here: who stores what (`serving`), which entries there are (`lifecycle`, `compacting`).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::working::{
    Block, BlockingReason, Entry, EventType, ThreadAppended, ThreadEvent,
};
use daybook_domain::{EventSeq, SessionId, StoreError, Timestamp};

use super::batch::Batch;
use super::live::{Inner, Live, Loaded};
use super::waiting::Stored;
use super::{DispatchResult, Shared, StateChange, WorkingError};
use crate::working::fold::Folded;
use crate::working::reader::{Reader, WAITING};

/// What became of one append.
pub(super) struct Part {
    pub(super) seqs: Vec<EventSeq>,
    /// Of each entry.
    pub(super) outcomes: Vec<Outcome>,
    /// Whether the block that it was to end was over; then nothing was stored.
    pub(super) is_lost: bool,
}

/// What became of one entry that was stored.
pub(super) enum Outcome {
    /// It was applied.
    Applied(Result<DispatchResult, WorkingError>),
    /// It was stored and applied before.
    Known(EventSeq),
    /// It will be applied, as it was stored: with other words under the same name, those that came first.
    Waits { seq: EventSeq, is_first: bool },
}

impl Shared {
    /// Stores entries and folds them, and whatever else is stored before them.
    pub(super) async fn append_and_fold(
        &self,
        live: &Live,
        inner: &mut Inner,
        batch: &Batch,
    ) -> Result<Part, WorkingError> {
        let ends = batch.append.ends;
        if inner.waiting.len() as u64 >= WAITING && ends.is_none() {
            return Err(WorkingError::TooManyWaiting {
                thread: live.id.clone(),
                waiting: inner.waiting.len(),
            });
        }
        self.load(live, inner).await?;
        let Some((seqs, before, block)) = self.put(live, inner, batch).await? else {
            return Ok(Part {
                seqs: Vec::new(),
                outcomes: Vec::new(),
                is_lost: true,
            });
        };
        live.set_block(block);
        let loaded = self.load(live, inner).await?;
        let thread = Arc::make_mut(&mut loaded.thread);
        thread.updated_at = batch.append.append.now;
        thread.last = thread.last.max(seqs.last().copied().unwrap_or_default());
        thread.block = block;
        let is_next = block.is_none() && loaded.folded >= before;
        // All that a block lets through is folded already, while it stands and nothing came before it.
        let stands_still = block.is_some_and(|block| loaded.folded >= block.at);
        // What the own entries came to that were folded together with those of others.
        let mut caught = HashMap::new();
        if !is_next && !stands_still && ends.is_none() {
            let note = |seq, result| drop((seq > before).then(|| caught.insert(seq, result)));
            self.catch_up_noting(live, inner, note).await?;
        }
        let mut outcomes = Vec::with_capacity(seqs.len());
        let mut newest = before;
        let entries = batch.append.append.events.iter().zip(&batch.entries);
        for ((event, entry), &seq) in entries.zip(&seqs) {
            // Of several of one name the first counts, here as in the log.
            let is_new = seq > newest;
            newest = newest.max(seq);
            outcomes.push(if is_new && (is_next || ends.is_some()) {
                Outcome::Applied(self.fold_one(live, inner, seq, event.at, Some(entry)))
            } else if inner.loaded.as_ref().is_some_and(|loaded| loaded.has(seq)) {
                match caught.remove(&seq) {
                    Some(result) => Outcome::Applied(result),
                    None => Outcome::Known(seq),
                }
            } else {
                let is_first = is_new;
                Outcome::Waits { seq, is_first }
            });
        }
        Ok(Part {
            seqs,
            outcomes,
            is_lost: false,
        })
    }

    /// Stores entries: the place of each, the last one before them, and what they wait for. Nothing where
    /// the block was over that they were to end.
    async fn put(
        &self,
        live: &Live,
        inner: &mut Inner,
        batch: &Batch,
    ) -> Result<Option<(Vec<EventSeq>, EventSeq, Option<Block>)>, WorkingError> {
        match self.store.append_entries(&batch.append).await {
            Ok(ThreadAppended::Stored {
                seqs,
                before,
                block,
            }) => Ok(Some((seqs, before, block))),
            Ok(ThreadAppended::BlockLost) => Ok(None),
            Err(StoreError::NotFound(_)) => {
                inner.loaded = None;
                self.forget(&live.id);
                Err(WorkingError::ThreadNotFound(live.id.clone()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Folds what is stored and nothing waits for, in order.
    pub(super) async fn catch_up(
        &self,
        live: &Live,
        inner: &mut Inner,
    ) -> Result<Option<Block>, WorkingError> {
        self.catch_up_noting(live, inner, |_, _| ()).await
    }

    /// [`Shared::catch_up`], which tells what each entry came to that nobody waits for.
    async fn catch_up_noting(
        &self,
        live: &Live,
        inner: &mut Inner,
        mut note: impl FnMut(EventSeq, Result<DispatchResult, WorkingError>),
    ) -> Result<Option<Block>, WorkingError> {
        let block = loop {
            let block = self.read_on(live, inner, &mut note).await?;
            match block.filter(|block| !block.stands(self.clock.now())) {
                // Over for everybody, before anybody goes past it: a compaction that is late would count
                // before what was folded by then.
                Some(over) => self.store.unblock(&live.id, over.token).await?,
                None => break block,
            };
        };
        live.set_block(block);
        if let Some(loaded) = inner.loaded.as_mut() {
            Arc::make_mut(&mut loaded.thread).block = block;
        }
        Ok(block)
    }

    /// Folds what is stored, up to a block.
    async fn read_on(
        &self,
        live: &Live,
        inner: &mut Inner,
        note: &mut impl FnMut(EventSeq, Result<DispatchResult, WorkingError>),
    ) -> Result<Option<Block>, WorkingError> {
        let folded = self.load(live, inner).await?.folded;
        let mut reader = Reader::new(&*self.store, &live.id, folded);
        while let Some(placed) = reader.next().await? {
            let known = inner.loaded.as_ref().is_some_and(|it| it.has(placed.seq));
            if known {
                continue;
            }
            let result = self.fold_one(live, inner, placed.seq, placed.at, placed.entry.as_ref());
            match inner.waiting.take(placed.seq) {
                Some(stored) => inner.tell(placed.seq, result, stored),
                None => note(placed.seq, result),
            }
        }
        Ok(reader.block())
    }

    /// Folds what waits, up to and with `last`, without asking the store; false where that does not do.
    pub(super) fn fold_waiting(&self, live: &Live, inner: &mut Inner, last: EventSeq) -> bool {
        loop {
            let Some(loaded) = inner.loaded.as_ref() else {
                return false;
            };
            let next = EventSeq(loaded.folded.0 + 1);
            if next > last {
                return true;
            }
            let Some((at, entry, stored)) = inner.waiting.take_held(next) else {
                return false;
            };
            let result = self.fold_one(live, inner, next, at, Some(&entry));
            inner.tell(next, result, stored);
        }
    }

    /// Folds one entry that comes next, and tells those who watch.
    pub(super) fn fold_one(
        &self,
        live: &Live,
        inner: &mut Inner,
        seq: EventSeq,
        at: Timestamp,
        entry: Option<&Entry>,
    ) -> Result<DispatchResult, WorkingError> {
        let gone = || WorkingError::ThreadNotFound(live.id.clone());
        let loaded = inner.loaded.as_mut().ok_or_else(gone)?;
        let event = match entry {
            Some(Entry::Event { event }) => Some(event),
            _ => None,
        };
        let is_watched = seq > loaded.old && !self.observers.is_empty();
        if let (true, Some(event)) = (is_watched, event) {
            self.observers
                .tell(|it| it.on_event_dispatch(&live.id, event));
        }
        let began = is_watched.then(|| self.clock.now());
        let folded = loaded.fold(seq, at, entry, &self.config.count);
        if let Some(began) = began {
            let took = self.clock.now().since(began);
            self.tell(&live.id, loaded, event, &folded, took);
        }
        match folded.fault {
            Some(message) => Err(WorkingError::Reducer {
                thread: live.id.clone(),
                seq: seq.0,
                message,
            }),
            None => inner.result(seq, &folded),
        }
    }

    fn tell(
        &self,
        id: &SessionId,
        loaded: &Loaded,
        event: Option<&ThreadEvent>,
        folded: &Folded,
        took: Duration,
    ) {
        if let Some(event) = event {
            self.observers
                .tell(|it| it.on_reducer_execute(id, event, took));
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
            self.observers.tell(|it| it.on_state_change(&change));
        }
        let Some(event) = event else { return };
        match event.kind {
            EventType::LlmSubagentSpawn { .. } => {
                self.observers.tell(|it| it.on_sub_agent_spawn(id, event));
            }
            EventType::SubagentResult { .. } | EventType::SubagentError { .. } => {
                self.observers.tell(|it| it.on_sub_agent_result(id, event));
            }
            _ => {}
        }
    }
}

impl Inner {
    /// Tells those who waited for an entry what it came to; what it demands is an order from now on.
    fn tell(
        &mut self,
        seq: EventSeq,
        result: Result<DispatchResult, WorkingError>,
        stored: Stored,
    ) {
        self.orders.extend(stored.order);
        let mut result = Some(result);
        for reply in stored.replies {
            let again = || self.result(seq, &Folded::default());
            let _ = reply.send(result.take().unwrap_or_else(again));
        }
    }

    /// What an entry came to.
    pub(super) fn result(
        &self,
        seq: EventSeq,
        folded: &Folded,
    ) -> Result<DispatchResult, WorkingError> {
        let corrupt = || StoreError::Corrupt("a thread was unloaded while it was used".to_owned());
        let loaded = self.loaded.as_ref().ok_or_else(corrupt)?;
        Ok(DispatchResult {
            thread: Arc::clone(&loaded.thread),
            seq,
            state: loaded.state.clone(),
            added_chunks: folded.applied.added.clone(),
            removed_chunk_ids: folded.applied.removed.clone(),
        })
    }
}

/// Why a thread stands still, if it does.
pub(super) fn reason(block: Option<Block>) -> Option<BlockingReason> {
    block.map(|block| block.reason)
}
