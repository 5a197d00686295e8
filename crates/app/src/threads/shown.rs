//! What is said about threads. The descriptions here are the published ones.

use std::sync::Arc;

use daybook_domain::EventSeq;
use daybook_domain::working::{
    BlockingReason, Chunk, ChunkId, Compaction, EventType, State, StateId, StateMetadata, Thread,
    ThreadEvent,
};
use daybook_engine::working::manager::{Compacted, DispatchResult, Dispatched};
use serde::Serialize;
use utoipa::ToSchema;

use crate::output::rfc3339;

/// A thread that was made, or was there already.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Created {
    /// The thread, as `agent:id`.
    #[schema(example = "agent:thread_k2c0v7k3e1x5m8q4r9w6t0ya")]
    pub(crate) thread: String,
    /// Its short name.
    pub(crate) label: String,
    /// The id of its state.
    pub(crate) state: String,
}

impl Created {
    pub(super) fn of(thread: &Thread, state: &State) -> Self {
        Self {
            thread: thread.id.to_string(),
            label: thread.label.clone(),
            state: state.id.to_string(),
        }
    }
}

/// A thread, as lists show it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Listed {
    /// The thread, as `agent:id`.
    pub(crate) thread: String,
    /// Its short name.
    pub(crate) label: String,
    /// When it was made, RFC 3339.
    #[schema(format = DateTime)]
    pub(crate) created: Option<String>,
    /// When something was last stored, RFC 3339.
    #[schema(format = DateTime)]
    pub(crate) updated: Option<String>,
    /// The thread that it was made from, by its id without the agent.
    pub(crate) forked_from: Option<String>,
    /// Sequence number of its last event.
    pub(crate) events: u64,
    /// What events wait for: `COMPACTING` or `PAUSED`.
    pub(crate) waits: Option<&'static str>,
}

impl Listed {
    pub(super) fn of(thread: &Thread) -> Self {
        Self {
            thread: thread.id.to_string(),
            label: thread.label.clone(),
            created: rfc3339(thread.created_at),
            updated: rfc3339(thread.updated_at),
            forked_from: thread.forked_from.clone(),
            events: thread.last.0,
            waits: thread.block.map(|block| block.reason.word()),
        }
    }
}

/// What an event came to. It is on disk.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Applied {
    /// Its place in the thread, counted from 1.
    pub(crate) seq: u64,
    /// The id of the state after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// Ids of chunks that came.
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<Vec<String>>,
    /// Ids of chunks that went.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<Vec<String>>,
    /// What it waits for, where it is not applied yet: `COMPACTING` or `PAUSED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<&'static str>,
    /// What is odd about it: a type that nobody knows changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// Why it does nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl Applied {
    /// Stored, and that is all that is known.
    pub(super) fn stored(event: &ThreadEvent, seq: EventSeq) -> Self {
        Self {
            seq: seq.0,
            state: None,
            added: None,
            removed: None,
            waits: None,
            note: strange(event),
            error: None,
        }
    }

    pub(super) fn of(event: &ThreadEvent, told: &Dispatched, reason: BlockingReason) -> Self {
        let stored = Self::stored(event, told.seq);
        match &told.result {
            Some(Ok(result)) => Self {
                state: Some(result.state.id.to_string()),
                added: Some(ids(&result.added_chunks)),
                removed: Some(names(&result.removed_chunk_ids)),
                ..stored
            },
            Some(Err(error)) => Self {
                error: Some(error.to_string()),
                ..stored
            },
            None => Self {
                waits: Some(reason.word()),
                ..stored
            },
        }
    }
}

/// A type of the host's own is kept and changes nothing; most often it is a slip of the pen.
fn strange(event: &ThreadEvent) -> Option<String> {
    match &event.kind {
        EventType::Custom { name, .. } => Some(format!(
            "{name} is no type that Daybook knows; it is stored, and changes nothing"
        )),
        _ => None,
    }
}

/// What a change came to that is no event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Changed {
    /// The thread, as `agent:id`.
    pub(crate) thread: String,
    /// The id of the state after it.
    state: String,
    /// Ids of chunks that came.
    added: Vec<String>,
    /// Ids of chunks that went.
    removed: Vec<String>,
    /// The compaction; nothing where there was nothing to compact, or nobody asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compaction: Option<CompactionShown>,
}

/// A finished compaction.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompactionShown {
    /// Who did it: a model, or `extractive`.
    pub(crate) by: String,
    /// Tokens of what went.
    pub(crate) tokens_before: u64,
    /// Tokens of what came.
    pub(crate) tokens_after: u64,
    /// What went wrong on the way.
    faults: Vec<String>,
}

impl Changed {
    pub(super) fn dispatched(result: &DispatchResult) -> Self {
        Self {
            thread: result.thread.id.to_string(),
            state: result.state.id.to_string(),
            added: ids(&result.added_chunks),
            removed: names(&result.removed_chunk_ids),
            compaction: None,
        }
    }

    pub(super) fn compacted(compacted: &Compacted) -> Self {
        Self {
            thread: compacted.thread.id.to_string(),
            state: compacted.state.id.to_string(),
            added: ids(&compacted.added_chunks),
            removed: names(&compacted.removed_chunk_ids),
            compaction: compacted.compaction.as_ref().map(CompactionShown::of),
        }
    }

    /// How many chunks came and went.
    pub(crate) fn chunks(&self) -> (usize, usize) {
        (self.added.len(), self.removed.len())
    }
}

impl CompactionShown {
    fn of(compaction: &Compaction) -> Self {
        Self {
            by: compaction.by.clone(),
            tokens_before: compaction.tokens_before,
            tokens_after: compaction.tokens_after,
            faults: compaction.faults.clone(),
        }
    }
}

/// A state that a thread had.
#[derive(Debug, Serialize)]
pub(crate) struct Past {
    pub(crate) id: StateId,
    #[serde(flatten)]
    pub(crate) metadata: StateMetadata,
}

fn ids(chunks: &[Arc<Chunk>]) -> Vec<String> {
    chunks.iter().map(|chunk| chunk.id.to_string()).collect()
}

pub(super) fn names(ids: &[ChunkId]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}
