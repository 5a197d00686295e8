//! Decides whether a thread is due for compaction, and which chunks it concerns.
//!
//! Not here: the compaction itself (`compaction`).

use daybook_domain::Timestamp;
use daybook_domain::working::selection::{Selection, compactable_flow, select, select_of};
use daybook_domain::working::{BlockToken, BlockingReason, ChunkId, ThreadBlock};

use super::config::MemoryManagerConfig;
use super::live::{CompactionBackoff, LiveState, LiveThread};
use crate::compact::{CompactionReason, RecentLimits};

/// The token of a block that is announced and not stored yet.
pub(super) const ANNOUNCED: BlockToken = BlockToken(0);

/// A compaction to be made: it has chunks to work on.
pub(super) struct DueCompaction {
    /// The requested chunks; `None` for all that can be compacted.
    pub(super) chunks: Option<Vec<ChunkId>>,
    pub(super) why: CompactionReason,
    pub(super) selection: Selection,
}

impl DueCompaction {
    /// The compaction that a grown thread needs. From now on this process sees the thread as blocked.
    pub(super) fn announce(
        config: &MemoryManagerConfig,
        live: &LiveThread,
        state: &LiveState,
        now: Timestamp,
    ) -> Option<Self> {
        if !config.auto_compact_enabled || live.block().is_some() {
            return None;
        }
        let (chunks, tokens) = state.size()?;
        let too_large = config.forced_from().filter(|most| tokens >= *most);
        let why = match too_large {
            Some(most) => CompactionReason::Tokens(most),
            None if chunks >= config.auto_compact_threshold => CompactionReason::Chunks,
            None => return None,
        };
        // After a compaction that gained nothing, the state has to grow before the next one.
        let step = config.auto_compact_threshold.div_ceil(4).max(1);
        if state.backoff.is_futile(chunks, tokens, step) {
            return None;
        }
        let due = Self::new(config, state, None, why)?;
        live.set_block(Some(ThreadBlock {
            reason: BlockingReason::Compacting,
            token: ANNOUNCED,
            at: state.loaded.as_ref()?.upto,
            until: now.plus(config.block_lease),
        }));
        Some(due)
    }

    /// A compaction of these chunks, or of all that can be; `None` when there is nothing to compact.
    pub(super) fn new(
        config: &MemoryManagerConfig,
        state: &LiveState,
        chunks: Option<&[ChunkId]>,
        why: CompactionReason,
    ) -> Option<Self> {
        let due = Self {
            selection: selection(config, state, chunks, why),
            chunks: chunks.map(<[ChunkId]>::to_vec),
            why,
        };
        (!due.selection.is_empty()).then_some(due)
    }

    /// Selects again, for a state that has changed.
    pub(super) fn select_again(&mut self, config: &MemoryManagerConfig, state: &LiveState) {
        self.selection = selection(config, state, self.chunks.as_deref(), self.why);
    }
}

fn selection(
    config: &MemoryManagerConfig,
    state: &LiveState,
    chunks: Option<&[ChunkId]>,
    why: CompactionReason,
) -> Selection {
    let Some(loaded) = state.loaded.as_ref() else {
        return Selection::default();
    };
    let keep_none = RecentLimits {
        chunks: 0,
        tokens: 0,
    };
    match (chunks, why) {
        (Some(chunks), _) => select_of(&loaded.state, chunks),
        (None, CompactionReason::Asked) => select(&loaded.state, keep_none, |_| 0),
        (None, CompactionReason::Chunks | CompactionReason::Tokens(_)) => {
            select(&loaded.state, config.recent(), |chunk| {
                loaded.tokens.of(&chunk.id)
            })
        }
    }
}

impl LiveState {
    /// Compactable chunks of the conversation, and tokens of all chunks.
    pub(super) fn size(&self) -> Option<(usize, u64)> {
        let loaded = self.loaded.as_ref()?;
        Some((compactable_flow(&loaded.state), loaded.tokens.total()))
    }
}

impl CompactionBackoff {
    /// Whether the state has grown too little since a compaction that gained nothing.
    fn is_futile(&self, chunks: usize, tokens: u64, step: usize) -> bool {
        self.futile.is_some_and(|(chunks_then, tokens_then)| {
            chunks < chunks_then + step && tokens < tokens_then + tokens_then / 20 + 1
        })
    }
}
