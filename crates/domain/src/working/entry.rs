//! Entries: what a thread's log holds beside the text in its session's log.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::chunk::Chunk;
use super::ids::{ChunkId, StateId};
use super::thread_event::ThreadEvent;
use crate::ids::{EventSeq, SessionId};

/// Where a thread was made from another one's state.
///
/// ```
/// use daybook_domain::working::ForkOrigin;
/// use daybook_domain::{EventSeq, SessionId, Tenant};
/// let thread_id = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
/// let forked = ForkOrigin { thread_id, seq: EventSeq(4), state_id: "state_1".into() };
/// assert_eq!(forked.seq, EventSeq(4));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkOrigin {
    /// The other thread.
    pub thread_id: SessionId,
    /// Its last entry that counts here.
    pub seq: EventSeq,
    /// The state.
    pub state_id: StateId,
}

/// A finished compaction.
///
/// ```
/// use daybook_domain::EventSeq;
/// use daybook_domain::working::{Compaction, ThreadEntry};
/// let compaction = Compaction {
///     at: EventSeq(20),
///     replaced: Vec::new(),
///     dropped: vec!["chunk_1".into()],
///     by: "extractive".to_owned(),
///     tokens_before: 4_000,
///     tokens_after: 0,
///     faults: Vec::new(),
/// };
/// // Stored at 23, it counts behind 20.
/// assert_eq!(ThreadEntry::Compaction(compaction).counts_at(EventSeq(23)), EventSeq(20));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// The last entry that it saw. It counts as if it stood right behind that one: whatever came
    /// while it ran waited for it.
    pub at: EventSeq,
    /// Chunks that it put in the place of others.
    pub replaced: Vec<ChunkReplacement>,
    /// Chunks that it took out without a word.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub dropped: Vec<ChunkId>,
    /// Who did it: the name of a model, or of the compactor.
    pub by: String,
    /// Tokens of what went.
    pub tokens_before: u64,
    /// Tokens of what came.
    pub tokens_after: u64,
    /// What went wrong on the way, for people.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub faults: Vec<String>,
}

/// One chunk in the place of others.
///
/// ```
/// use daybook_domain::Timestamp;
/// use daybook_domain::working::{Chunk, ChunkType, ChunkContent, ChunkReplacement};
/// let summary = ChunkContent::text("Two files were read.");
/// let chunk = Chunk::new("chunk_9".into(), ChunkType::WorkingFlow, summary, Timestamp(0));
/// let replaced = ChunkReplacement { targets: vec!["chunk_1".into(), "chunk_2".into()], chunk: chunk.into() };
/// assert_eq!(replaced.targets.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChunkReplacement {
    /// Those that went.
    pub targets: Vec<ChunkId>,
    /// The one that came.
    pub chunk: Arc<Chunk>,
}

/// One entry of a thread's log.
///
/// ```
/// use daybook_domain::EventSeq;
/// use daybook_domain::working::ThreadEntry;
/// assert_eq!(serde_json::to_string(&ThreadEntry::Ended).unwrap(), r#"{"entry":"ended"}"#);
/// assert_eq!(ThreadEntry::Ended.counts_at(EventSeq(7)), EventSeq(7));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum ThreadEntry {
    /// What the thread began with.
    #[serde(rename_all = "camelCase")]
    Initial {
        /// Its first chunks.
        chunks: Vec<Arc<Chunk>>,
        /// Whose they were.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        forked_from: Option<ForkOrigin>,
    },
    /// Something happened.
    Event {
        /// What.
        event: ThreadEvent,
    },
    /// Chunks were compacted.
    Compaction(Compaction),
    /// A chunk was edited.
    Edited {
        /// The chunk that went.
        target: ChunkId,
        /// The chunk that came.
        chunk: Arc<Chunk>,
    },
    /// An earlier state was put back.
    #[serde(rename_all = "camelCase")]
    Restored {
        /// That state.
        state_id: StateId,
        /// The last entry that had made it.
        seq: EventSeq,
        /// Its chunks.
        chunks: Vec<Arc<Chunk>>,
    },
    /// The session ended: what is ephemeral went.
    Ended,
}

impl ThreadEntry {
    /// The place behind which it counts, for an entry at `seq`: entries are folded by this, then by `seq`.
    #[must_use]
    pub fn counts_at(&self, seq: EventSeq) -> EventSeq {
        match self {
            Self::Compaction(compaction) => compaction.at,
            Self::Initial { .. }
            | Self::Event { .. }
            | Self::Edited { .. }
            | Self::Restored { .. }
            | Self::Ended => seq,
        }
    }

    /// The event, if the entry is one.
    #[must_use]
    pub fn event(&self) -> Option<&ThreadEvent> {
        match self {
            Self::Event { event } => Some(event),
            Self::Initial { .. }
            | Self::Compaction(_)
            | Self::Edited { .. }
            | Self::Restored { .. }
            | Self::Ended => None,
        }
    }
}
