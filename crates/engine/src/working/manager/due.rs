//! Whether a thread is to be compacted, and which chunks.
//!
//! Not here: how that is done (`compacting`).

use daybook_domain::working::selection::{Selection, compactable_flow, select, select_of};
use daybook_domain::working::{Block, BlockToken, BlockingReason, ChunkId};

use super::MemoryManager;
use super::live::{Inner, Live, Trouble};
use crate::working::compact::{Recent, Why};

/// The token of a block that is announced: it has one of its own once it is stored.
pub(super) const ANNOUNCED: BlockToken = BlockToken(0);

/// A compaction that there is something for.
pub(super) struct Wanted {
    /// Those that were asked for, if not all.
    pub(super) chunks: Option<Vec<ChunkId>>,
    pub(super) why: Why,
    pub(super) selection: Selection,
}

impl MemoryManager {
    /// The compaction that a thread needs which has grown enough. From now on this process sees the thread
    /// stand still.
    pub(super) fn announce_if_due(&self, live: &Live, inner: &Inner) -> Option<Wanted> {
        let config = &self.0.config;
        if !config.auto_compact_enabled || live.block().is_some() {
            return None;
        }
        let (chunks, tokens) = inner.size()?;
        let too_large = config.auto_compact_tokens.filter(|most| tokens >= *most);
        let why = match too_large {
            Some(most) => Why::Tokens(most),
            None if chunks >= config.auto_compact_threshold => Why::Chunks,
            None => return None,
        };
        // Where there was nothing to gain, some more has to come first.
        let step = config.auto_compact_threshold.div_ceil(4).max(1);
        if inner.trouble.is_futile(chunks, tokens, step) {
            return None;
        }
        let wanted = self.wanted(inner, None, why)?;
        live.set_block(Some(Block {
            reason: BlockingReason::Compacting,
            token: ANNOUNCED,
            at: inner.loaded.as_ref()?.folded,
            until: self.0.clock.now().plus(config.block_lease),
        }));
        Some(wanted)
    }

    /// A compaction of these chunks, or of all that can be; none where there is nothing to compact.
    pub(super) fn wanted(
        &self,
        inner: &Inner,
        chunks: Option<&[ChunkId]>,
        why: Why,
    ) -> Option<Wanted> {
        let wanted = Wanted {
            selection: self.selection(inner, chunks, why),
            chunks: chunks.map(<[ChunkId]>::to_vec),
            why,
        };
        (!wanted.selection.is_empty()).then_some(wanted)
    }

    pub(super) fn selection(
        &self,
        inner: &Inner,
        chunks: Option<&[ChunkId]>,
        why: Why,
    ) -> Selection {
        let Some(loaded) = inner.loaded.as_ref() else {
            return Selection::default();
        };
        let all = Recent {
            chunks: 0,
            tokens: 0,
        };
        match (chunks, why) {
            (Some(chunks), _) => select_of(&loaded.state, chunks),
            (None, Why::Asked) => select(&loaded.state, all, |_| 0),
            (None, Why::Chunks | Why::Tokens(_)) => {
                let recent = self.0.config.keep_recent;
                select(&loaded.state, recent, |chunk| loaded.weights.one(&chunk.id))
            }
        }
    }
}

impl Inner {
    /// Compactable chunks of the conversation, and tokens of all chunks.
    pub(super) fn size(&self) -> Option<(usize, u64)> {
        let loaded = self.loaded.as_ref()?;
        Some((compactable_flow(&loaded.state), loaded.weights.all()))
    }
}

impl Trouble {
    /// Whether too little has come since there was nothing to gain.
    fn is_futile(&self, chunks: usize, tokens: u64, step: usize) -> bool {
        self.futile.is_some_and(|(chunks_then, tokens_then)| {
            chunks < chunks_then + step && tokens < tokens_then + tokens_then / 20 + 1
        })
    }
}
