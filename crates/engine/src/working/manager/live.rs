//! One loaded thread: its state, how far its log is folded, and who waits.
//!
//! Not here: the store, other threads.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use daybook_domain::working::{Block, ChunkId, Entry, EventType, State, Thread};
use daybook_domain::{EventSeq, SessionId, Timestamp};
use tokio::sync::oneshot;

use super::queue::Queue;
use super::waiting::Waiting;
use super::{DispatchResult, WorkingError};
use crate::working::compact::{Count, weight};
use crate::working::fold::{Fold, Folded};

/// Who waits for an event to be applied.
pub(super) type Waiter = oneshot::Sender<Result<DispatchResult, WorkingError>>;

/// A thread of this process. Whoever changes it holds its gate; those who wait for the gate get it in
/// the order in which they came.
pub(super) struct Live {
    pub(super) id: SessionId,
    pub(super) gate: tokio::sync::Mutex<Inner>,
    /// What waits to be stored.
    pub(super) queue: Queue,
    /// What is known of its block without asking the store.
    block: Mutex<Option<Block>>,
    /// When it was last used, by a count of uses.
    used: AtomicU64,
}

/// What the gate guards.
#[derive(Default)]
pub(super) struct Inner {
    pub(super) loaded: Option<Loaded>,
    pub(super) waiting: Waiting,
    /// What applied events demand, oldest first.
    pub(super) orders: VecDeque<EventType>,
    /// Whether somebody looks whether a block of another process has ended.
    pub(super) is_watched: bool,
    pub(super) trouble: Trouble,
}

/// What keeps compaction from being tried at every event.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Trouble {
    /// Models are left alone until then.
    pub(super) until: Timestamp,
    /// Failures of models, one after another.
    pub(super) failures: u32,
    /// With as many chunks, or tokens, as this there was nothing to gain.
    pub(super) futile: Option<(usize, u64)>,
}

/// A thread's state, folded up to some place.
pub(super) struct Loaded {
    pub(super) thread: Arc<Thread>,
    pub(super) fold: Fold,
    pub(super) state: State,
    /// Everything up to there is folded.
    pub(super) folded: EventSeq,
    /// What was applied up to there by the time it was loaded is no news to those who watch.
    pub(super) old: EventSeq,
    /// Folded already, though it lies behind what is not.
    pub(super) ahead: BTreeSet<EventSeq>,
    pub(super) since_snapshot: u64,
    pub(super) weights: Weights,
}

impl Live {
    pub(super) fn new(id: SessionId) -> Self {
        Self {
            id,
            gate: tokio::sync::Mutex::default(),
            queue: Queue::default(),
            block: Mutex::new(None),
            used: AtomicU64::new(0),
        }
    }

    pub(super) fn block(&self) -> Option<Block> {
        *self.block.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_block(&self, block: Option<Block>) {
        *self.block.lock().unwrap_or_else(PoisonError::into_inner) = block;
    }

    pub(super) fn use_at(&self, count: u64) {
        self.used.store(count, Ordering::Relaxed);
    }

    pub(super) fn used_at(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

impl Loaded {
    /// Whether an entry is folded.
    pub(super) fn has(&self, seq: EventSeq) -> bool {
        seq <= self.folded || self.ahead.contains(&seq)
    }

    /// Folds an entry that comes next, or ahead of its place.
    pub(super) fn fold(
        &mut self,
        seq: EventSeq,
        at: Timestamp,
        entry: Option<&Entry>,
        count: &Count,
    ) -> Folded {
        let folded = match entry {
            Some(entry) => self.fold.entry(&mut self.state, seq, at, entry),
            None => Folded::default(),
        };
        self.weights.follow(&folded, count);
        self.since_snapshot += 1;
        if entry.is_some_and(|entry| entry.counts_at(seq) < seq) {
            self.ahead.insert(seq);
        } else {
            self.folded = self.folded.max(seq);
        }
        while self
            .ahead
            .first()
            .is_some_and(|next| next.0 <= self.folded.0 + 1)
        {
            self.folded = self.folded.max(self.ahead.pop_first().unwrap_or_default());
        }
        folded
    }
}

/// Tokens of the chunks that stand.
#[derive(Debug, Default)]
pub(super) struct Weights {
    of: HashMap<ChunkId, u64>,
    all: u64,
}

impl Weights {
    pub(super) fn of(state: &State, count: &Count) -> Self {
        let mut weights = Self::default();
        for chunk in state.chunks() {
            weights.add(&chunk.id, weight(chunk, count));
        }
        weights
    }

    fn follow(&mut self, folded: &Folded, count: &Count) {
        for id in &folded.applied.removed {
            self.all -= self.of.remove(id).unwrap_or_default();
        }
        for chunk in &folded.applied.added {
            self.add(&chunk.id, weight(chunk, count));
        }
    }

    fn add(&mut self, id: &ChunkId, tokens: u64) {
        self.all += tokens;
        self.all -= self.of.insert(id.clone(), tokens).unwrap_or_default();
    }

    /// Tokens of all of them.
    pub(super) fn all(&self) -> u64 {
        self.all
    }

    /// Tokens of one.
    pub(super) fn one(&self, id: &ChunkId) -> u64 {
        self.of.get(id).copied().unwrap_or_default()
    }
}
