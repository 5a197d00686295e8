//! One loaded thread: its folded state, and what is pending in it.
//!
//! Not here: the store, other threads.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use daybook_domain::working::{ChunkId, Thread, ThreadBlock, ThreadEntry, ThreadState};
use daybook_domain::{EventSeq, SessionId, StoreError, Timestamp};
use tokio::sync::Notify;

use super::command::ThreadCommand;
use super::error::WorkingError;
use super::pending::PendingEvents;
use super::queue::ThreadAppendQueue;
use super::results::DispatchResult;
use crate::compact::{Count, weight};
use crate::fold::{Fold, Folded};

/// A thread that this process has loaded. Its state changes only behind the gate, which is granted in the order of
/// requests.
pub(crate) struct LiveThread {
    pub(crate) id: SessionId,
    pub(crate) gate: tokio::sync::Mutex<LiveState>,
    /// Events that wait to be stored.
    pub(crate) queue: ThreadAppendQueue,
    /// The thread's block, as far as known without asking the store.
    block: Mutex<Option<ThreadBlock>>,
    /// Notified when the block ends, as far as this process sees it.
    block_ended: Arc<Notify>,
    /// When it was last used, by a count of uses.
    used: AtomicU64,
}

/// What the gate guards.
#[derive(Default)]
pub(crate) struct LiveState {
    pub(crate) loaded: Option<FoldedState>,
    /// Events of this process that are stored and not applied.
    pub(super) pending: PendingEvents,
    /// Commands to the manager from applied events, oldest first.
    pub(super) commands: VecDeque<ThreadCommand>,
    /// Whether a task waits for a block of another process to end.
    pub(super) is_block_watched: bool,
    pub(super) backoff: CompactionBackoff,
}

/// What keeps compaction from being tried at every event.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct CompactionBackoff {
    /// No model is asked before then.
    pub(super) until: Timestamp,
    /// Failures of models, one after another.
    pub(super) failures: u32,
    /// Chunks and tokens of the state in which nothing could be made shorter.
    pub(super) futile: Option<(usize, u64)>,
}

/// A thread's state, folded up to some place of its log.
pub(crate) struct FoldedState {
    pub(super) thread: Arc<Thread>,
    pub(super) fold: Fold,
    pub(crate) state: ThreadState,
    /// Every entry up to this place is folded.
    pub(crate) upto: EventSeq,
    /// Entries up to this place were applied before the thread was loaded: observers do not hear of them.
    pub(super) loaded_at: EventSeq,
    /// Folded already, although entries before them are not.
    pub(super) ahead: BTreeSet<EventSeq>,
    pub(super) since_snapshot: u64,
    pub(super) tokens: ChunkTokens,
}

impl LiveThread {
    pub(super) fn new(id: SessionId) -> Self {
        Self {
            id,
            gate: tokio::sync::Mutex::default(),
            queue: ThreadAppendQueue::default(),
            block: Mutex::new(None),
            block_ended: Arc::default(),
            used: AtomicU64::new(0),
        }
    }

    /// The thread's block, as far as known without asking the store.
    pub(crate) fn block(&self) -> Option<ThreadBlock> {
        *self.block.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_block(&self, block: Option<ThreadBlock>) {
        let mut known = self.block.lock().unwrap_or_else(PoisonError::into_inner);
        let has_ended = known.is_some() && block.is_none();
        *known = block;
        if has_ended {
            self.block_ended.notify_waiters();
        }
    }

    pub(super) fn block_ended(&self) -> Arc<Notify> {
        Arc::clone(&self.block_ended)
    }

    pub(super) fn set_used(&self, count: u64) {
        self.used.store(count, Ordering::Relaxed);
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

impl LiveState {
    /// The state as the result of the event at `seq`, whose folding gave `folded`.
    pub(crate) fn result(
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

    /// Unloads a deleted thread. Callers whose events are pending get [`WorkingError::Deleted`].
    pub(crate) fn unload_deleted(&mut self, id: &SessionId) {
        self.pending.fail_deleted(id);
        self.loaded = None;
    }
}

impl FoldedState {
    /// Whether an entry is folded.
    pub(super) fn has(&self, seq: EventSeq) -> bool {
        seq <= self.upto || self.ahead.contains(&seq)
    }

    /// Folds the entry that comes next, or one ahead of its place.
    pub(super) fn fold(
        &mut self,
        seq: EventSeq,
        at: Timestamp,
        entry: Option<&ThreadEntry>,
        count: &Count,
    ) -> Folded {
        let folded = match entry {
            Some(entry) => self.fold.entry(&mut self.state, seq, at, entry),
            None => Folded::default(),
        };
        self.tokens.update(&folded, count);
        self.since_snapshot += 1;
        if entry.is_some_and(|entry| entry.counts_at(seq) < seq) {
            self.ahead.insert(seq);
        } else {
            self.upto = self.upto.max(seq);
        }
        while self
            .ahead
            .first()
            .is_some_and(|next| next.0 <= self.upto.0 + 1)
        {
            self.upto = self.upto.max(self.ahead.pop_first().unwrap_or_default());
        }
        folded
    }
}

/// Token counts of a state's chunks, kept up to date chunk by chunk.
#[derive(Debug, Default)]
pub(super) struct ChunkTokens {
    by_chunk: HashMap<ChunkId, u64>,
    total: u64,
}

impl ChunkTokens {
    pub(super) fn count(state: &ThreadState, count: &Count) -> Self {
        let mut tokens = Self::default();
        for chunk in state.chunks() {
            tokens.add(&chunk.id, weight(chunk, count));
        }
        tokens
    }

    fn update(&mut self, folded: &Folded, count: &Count) {
        for id in &folded.applied.removed {
            self.total -= self.by_chunk.remove(id).unwrap_or_default();
        }
        for chunk in &folded.applied.added {
            self.add(&chunk.id, weight(chunk, count));
        }
    }

    fn add(&mut self, id: &ChunkId, tokens: u64) {
        self.total += tokens;
        self.total -= self.by_chunk.insert(id.clone(), tokens).unwrap_or_default();
    }

    /// Tokens of all chunks.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Tokens of one chunk; 0 for one that the state does not have.
    pub(super) fn of(&self, id: &ChunkId) -> u64 {
        self.by_chunk.get(id).copied().unwrap_or_default()
    }
}
