//! Answers about threads. The doc comments here are published in openapi.json.

use std::sync::Arc;

use daybook_domain::EventSeq;
use daybook_domain::working::{
    BlockingReason, Chunk, ChunkId, Compaction, EventType, StateId, StateMetadata, Thread,
    ThreadEvent, ThreadState,
};
use daybook_working::manager::{CompactionOutcome, DispatchReceipt, DispatchResult};
use serde::Serialize;
use utoipa::ToSchema;

use super::without_secrets;
use crate::terminal::output::rfc3339;

/// A thread that was created, or existed already.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CreatedThread {
    /// The thread, as `agent:id`.
    #[schema(example = "agent:thread_k2c0v7k3e1x5m8q4r9w6t0ya")]
    pub(crate) thread: String,
    /// Its short name.
    pub(crate) label: String,
    /// The id of its state.
    pub(crate) state: String,
}

impl CreatedThread {
    pub(super) fn of(thread: &Thread, state: &ThreadState) -> Self {
        Self {
            thread: thread.id.to_string(),
            label: thread.label.clone(),
            state: state.id.to_string(),
        }
    }
}

/// A thread, as lists show it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ThreadListing {
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
    /// The thread that it was forked from, by its id without the agent.
    pub(crate) forked_from: Option<String>,
    /// Sequence number of its last event.
    pub(crate) events: u64,
    /// What events wait for: `COMPACTING` or `PAUSED`.
    pub(crate) waits: Option<&'static str>,
}

impl ThreadListing {
    pub(super) fn of(thread: &Thread) -> Self {
        Self {
            thread: thread.id.to_string(),
            label: thread.label.clone(),
            created: rfc3339(thread.created_at),
            updated: rfc3339(thread.updated_at),
            forked_from: thread.forked_from.clone(),
            events: thread.last.0,
            waits: thread.block.map(|block| block.reason.as_str()),
        }
    }
}

/// The result of an event. The event is on disk.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventResult {
    /// Its place in the thread, counted from 1.
    pub(crate) seq: u64,
    /// The id of the state after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// Ids of chunks that were added.
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<Vec<String>>,
    /// Ids of chunks that were removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<Vec<String>>,
    /// What it waits for, where it is not applied yet: `COMPACTING` or `PAUSED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<&'static str>,
    /// A warning: an event of an unknown type changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// Why it changed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl EventResult {
    /// The result of an event that is stored; whether it is applied is not known.
    pub(super) fn stored(event: &ThreadEvent, seq: EventSeq) -> Self {
        Self {
            seq: seq.0,
            state: None,
            added: None,
            removed: None,
            waits: None,
            note: unknown_type_note(event),
            error: None,
        }
    }

    pub(super) fn of(
        event: &ThreadEvent,
        receipt: &DispatchReceipt,
        reason: BlockingReason,
    ) -> Self {
        let stored = Self::stored(event, receipt.seq);
        match &receipt.result {
            Some(Ok(result)) => Self {
                state: Some(result.state.id.to_string()),
                added: Some(ids(&result.added_chunks)),
                removed: Some(names(&result.removed_chunk_ids)),
                ..stored
            },
            Some(Err(error)) => Self {
                error: Some(without_secrets(&error.to_string())),
                ..stored
            },
            None => Self {
                waits: Some(reason.as_str()),
                ..stored
            },
        }
    }
}

/// A warning for a type that Daybook does not define: most often it is a typing error.
fn unknown_type_note(event: &ThreadEvent) -> Option<String> {
    let EventType::Custom { name, .. } = &event.kind else {
        return None;
    };
    let name = without_secrets(name);
    Some(format!(
        "{name} is not a type of Daybook; the event is stored, and changes nothing"
    ))
}

/// The result of a change that is no event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ThreadChange {
    /// The thread, as `agent:id`.
    pub(crate) thread: String,
    /// The id of the state after it.
    state: String,
    /// Ids of chunks that were added.
    added: Vec<String>,
    /// Ids of chunks that were removed.
    removed: Vec<String>,
    /// The compaction; left out where there was nothing to compact, or none was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compaction: Option<CompactionSummary>,
}

/// A finished compaction.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompactionSummary {
    /// Who did it: a model, or `extractive`.
    pub(crate) by: String,
    /// Tokens of the removed chunks.
    pub(crate) tokens_before: u64,
    /// Tokens of the added chunks.
    pub(crate) tokens_after: u64,
    /// Faults along the way.
    faults: Vec<String>,
}

impl ThreadChange {
    pub(super) fn dispatched(result: &DispatchResult) -> Self {
        Self {
            thread: result.thread.id.to_string(),
            state: result.state.id.to_string(),
            added: ids(&result.added_chunks),
            removed: names(&result.removed_chunk_ids),
            compaction: None,
        }
    }

    pub(super) fn compacted(compacted: &CompactionOutcome) -> Self {
        Self {
            thread: compacted.thread.id.to_string(),
            state: compacted.state.id.to_string(),
            added: ids(&compacted.added_chunks),
            removed: names(&compacted.removed_chunk_ids),
            compaction: compacted.compaction.as_ref().map(CompactionSummary::of),
        }
    }

    /// How many chunks were added and removed.
    pub(crate) fn chunks(&self) -> (usize, usize) {
        (self.added.len(), self.removed.len())
    }
}

impl CompactionSummary {
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
pub(crate) struct PastState {
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
