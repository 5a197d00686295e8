//! Which chunks a compaction may take, and which stay as they are: W17, W27 and W103.
//!
//! What stays: what is critical or ephemeral, the newest words of the person, unanswered calls, and the
//! newest chunks. A call is never parted from its outcome: both go or both stay.
//!
//! Not here: when a compaction is due, and what comes in the place of what goes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::chunk::{Chunk, ChunkType, RetentionStrategy, WorkingFlowSubType};
use super::ids::ChunkId;
use super::state::ThreadState;

/// How many of the newest chunks stay.
///
/// ```
/// use daybook_domain::working::selection::RecentLimits;
/// let recent = RecentLimits { chunks: 6, tokens: 8_000 };
/// assert_eq!(recent.chunks, 6);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecentLimits {
    /// Most chunks.
    pub chunks: usize,
    /// Most tokens of them; the very last chunk stays however large it is.
    pub tokens: u64,
}

/// What a compaction may take, in the order of the state.
///
/// ```
/// # use daybook_domain::{EventSeq, Timestamp};
/// # use daybook_domain::working::*;
/// # let chunk = Chunk::new("chunk_1".into(), ChunkType::WorkingFlow, ChunkContent::text("Hello!"), Timestamp(0));
/// # let hello = std::sync::Arc::new(chunk.part(WorkingFlowSubType::Response));
/// # let provenance = Provenance { source: StateSource::Initial, seq: EventSeq(1), event_type: None };
/// # let metadata = StateMetadata {
/// #     created_at: Timestamp(0), previous_state_id: None, source_operation: None, provenance, custom: Default::default(),
/// # };
/// # let state = ThreadState::new("state_1".into(), metadata, vec![hello]);
/// use daybook_domain::working::selection::select_of;
/// let selection = select_of(&state, &["chunk_1".into()]);
/// assert_eq!((selection.len(), selection.chunks().count()), (1, 1));
/// assert!(!selection.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Selection {
    /// Removed without a replacement.
    pub disposable: Vec<Arc<Chunk>>,
    /// Condensed into a summary.
    pub condensable: Vec<Arc<Chunk>>,
}

impl Selection {
    /// How many chunks it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.disposable.len() + self.condensable.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them.
    pub fn chunks(&self) -> impl Iterator<Item = &Arc<Chunk>> {
        self.disposable.iter().chain(&self.condensable)
    }
}

/// Whether a compaction may take the chunk at all. What describes the thread's task and agent is given
/// once and not compacted.
///
/// ```
/// # use daybook_domain::{EventSeq, Timestamp};
/// # use daybook_domain::working::*;
/// # let chunk = Chunk::new("chunk_1".into(), ChunkType::WorkingFlow, ChunkContent::text("Hello!"), Timestamp(0));
/// # let hello = std::sync::Arc::new(chunk.part(WorkingFlowSubType::User));
/// # let provenance = Provenance { source: StateSource::Initial, seq: EventSeq(1), event_type: None };
/// # let metadata = StateMetadata {
/// #     created_at: Timestamp(0), previous_state_id: None, source_operation: None, provenance, custom: Default::default(),
/// # };
/// # let state = ThreadState::new("state_1".into(), metadata, vec![hello.clone()]);
/// use daybook_domain::working::selection::is_compactable;
/// assert!(is_compactable(&hello));
/// let rule = Chunk::new("chunk_2".into(), ChunkType::System, ChunkContent::text("Be brief."), Timestamp(0));
/// assert!(!is_compactable(&rule));
/// ```
#[must_use]
pub fn is_compactable(chunk: &Chunk) -> bool {
    let is_kind = match chunk.kind {
        ChunkType::WorkingFlow | ChunkType::Environment | ChunkType::Delegation => true,
        ChunkType::System | ChunkType::Agent | ChunkType::Workflow | ChunkType::Output => false,
    };
    is_kind && chunk.retention_strategy.is_compactable()
}

/// Compactable chunks of the conversation: what the threshold of chunks counts, as Team9's does.
///
/// ```
/// # use daybook_domain::{EventSeq, Timestamp};
/// # use daybook_domain::working::*;
/// # let chunk = Chunk::new("chunk_1".into(), ChunkType::WorkingFlow, ChunkContent::text("Hello!"), Timestamp(0));
/// # let hello = std::sync::Arc::new(chunk.part(WorkingFlowSubType::User));
/// # let provenance = Provenance { source: StateSource::Initial, seq: EventSeq(1), event_type: None };
/// # let metadata = StateMetadata {
/// #     created_at: Timestamp(0), previous_state_id: None, source_operation: None, provenance, custom: Default::default(),
/// # };
/// # let state = ThreadState::new("state_1".into(), metadata, vec![hello]);
/// use daybook_domain::working::selection::compactable_flow;
/// assert_eq!(compactable_flow(&state), 1);
/// ```
#[must_use]
pub fn compactable_flow(state: &ThreadState) -> usize {
    let counts = |chunk: &&Arc<Chunk>| {
        chunk.kind == ChunkType::WorkingFlow && chunk.retention_strategy.is_compactable()
    };
    state.chunks().filter(counts).count()
}

/// The newest words of the person.
///
/// ```
/// # use daybook_domain::{EventSeq, Timestamp};
/// # use daybook_domain::working::*;
/// # let chunk = Chunk::new("chunk_1".into(), ChunkType::WorkingFlow, ChunkContent::text("Hello!"), Timestamp(0));
/// # let hello = std::sync::Arc::new(chunk.part(WorkingFlowSubType::User));
/// # let provenance = Provenance { source: StateSource::Initial, seq: EventSeq(1), event_type: None };
/// # let metadata = StateMetadata {
/// #     created_at: Timestamp(0), previous_state_id: None, source_operation: None, provenance, custom: Default::default(),
/// # };
/// # let state = ThreadState::new("state_1".into(), metadata, vec![hello]);
/// use daybook_domain::working::selection::newest_words;
/// assert_eq!(newest_words(&state).unwrap().content.to_text(), "Hello!");
/// ```
#[must_use]
pub fn newest_words(state: &ThreadState) -> Option<&Arc<Chunk>> {
    let is_user = |chunk: &&Arc<Chunk>| chunk.is(WorkingFlowSubType::User);
    state.chunks().rev().find(is_user)
}

/// Calls without an outcome.
///
/// ```
/// # use daybook_domain::{EventSeq, Timestamp};
/// # use daybook_domain::working::*;
/// # let chunk = Chunk::new("chunk_1".into(), ChunkType::WorkingFlow, ChunkContent::text("Hello!"), Timestamp(0));
/// # let hello = std::sync::Arc::new(chunk.part(WorkingFlowSubType::User));
/// # let provenance = Provenance { source: StateSource::Initial, seq: EventSeq(1), event_type: None };
/// # let metadata = StateMetadata {
/// #     created_at: Timestamp(0), previous_state_id: None, source_operation: None, provenance, custom: Default::default(),
/// # };
/// # let state = ThreadState::new("state_1".into(), metadata, vec![hello]);
/// use daybook_domain::working::selection::unanswered;
/// assert!(unanswered(&state).is_empty());
/// ```
#[must_use]
pub fn unanswered(state: &ThreadState) -> HashSet<ChunkId> {
    let mut open: HashMap<&str, Vec<&ChunkId>> = HashMap::new();
    for chunk in state.chunks() {
        match (chunk.sub_type, chunk.call_id()) {
            (Some(WorkingFlowSubType::AgentAction), Some(call)) if expects_answer(chunk) => {
                open.entry(call).or_default().push(&chunk.id);
            }
            (Some(WorkingFlowSubType::ActionResponse), Some(call)) => {
                open.remove(call);
            }
            _ => {}
        }
    }
    open.into_values().flatten().cloned().collect()
}

/// A message to another agent is no call: nothing answers it alone.
fn expects_answer(chunk: &Chunk) -> bool {
    chunk.content.str_field("action") != Some("message_subagent")
}

/// Selects what may be taken of a state, where `tokens` counts a chunk's tokens.
///
/// ```
/// # use daybook_domain::{EventSeq, Timestamp};
/// # use daybook_domain::working::*;
/// # let chunk = Chunk::new("chunk_1".into(), ChunkType::WorkingFlow, ChunkContent::text("Hello!"), Timestamp(0));
/// # let hello = std::sync::Arc::new(chunk.part(WorkingFlowSubType::User));
/// # let provenance = Provenance { source: StateSource::Initial, seq: EventSeq(1), event_type: None };
/// # let metadata = StateMetadata {
/// #     created_at: Timestamp(0), previous_state_id: None, source_operation: None, provenance, custom: Default::default(),
/// # };
/// # let state = ThreadState::new("state_1".into(), metadata, vec![hello]);
/// use daybook_domain::working::selection::{RecentLimits, select};
/// let recent = RecentLimits { chunks: 6, tokens: 8_000 };
/// let selection = select(&state, recent, |chunk| chunk.content.to_text().len() as u64);
/// // The newest stay.
/// assert!(selection.is_empty());
/// ```
#[must_use]
pub fn select(
    state: &ThreadState,
    recent: RecentLimits,
    tokens: impl Fn(&Chunk) -> u64,
) -> Selection {
    let kept = newest(state, recent, tokens);
    of(state, |chunk| !kept.contains(&chunk.id))
}

/// Selects what may be taken of the chosen chunks: those and, with a call, its outcome.
///
/// ```
/// # use daybook_domain::{EventSeq, Timestamp};
/// # use daybook_domain::working::*;
/// # let chunk = Chunk::new("chunk_1".into(), ChunkType::WorkingFlow, ChunkContent::text("Hello!"), Timestamp(0));
/// # let hello = std::sync::Arc::new(chunk.part(WorkingFlowSubType::Response));
/// # let provenance = Provenance { source: StateSource::Initial, seq: EventSeq(1), event_type: None };
/// # let metadata = StateMetadata {
/// #     created_at: Timestamp(0), previous_state_id: None, source_operation: None, provenance, custom: Default::default(),
/// # };
/// # let state = ThreadState::new("state_1".into(), metadata, vec![hello]);
/// use daybook_domain::working::selection::select_of;
/// let selection = select_of(&state, &["chunk_1".into()]);
/// assert_eq!(selection.condensable[0].content.to_text(), "Hello!");
/// ```
#[must_use]
pub fn select_of(state: &ThreadState, chosen: &[ChunkId]) -> Selection {
    let chosen: HashSet<_> = chosen.iter().collect();
    let calls: HashSet<_> = state
        .chunks()
        .filter(|chunk| chosen.contains(&chunk.id))
        .filter_map(|chunk| chunk.call_id())
        .collect();
    of(state, |chunk| {
        chosen.contains(&chunk.id) || chunk.call_id().is_some_and(|call| calls.contains(call))
    })
}

fn of(state: &ThreadState, wanted: impl Fn(&Chunk) -> bool) -> Selection {
    let open = unanswered(state);
    let words = newest_words(state).map(|chunk| &chunk.id);
    let goes = |chunk: &Chunk| {
        is_compactable(chunk)
            && wanted(chunk)
            && Some(&chunk.id) != words
            && !open.contains(&chunk.id)
    };
    let parted = parted(state, goes);
    let mut selection = Selection::default();
    for chunk in state.chunks() {
        let is_parted = chunk.call_id().is_some_and(|call| parted.contains(call));
        if !goes(chunk) || is_parted {
            continue;
        }
        match chunk.retention_strategy {
            RetentionStrategy::Disposable => selection.disposable.push(Arc::clone(chunk)),
            RetentionStrategy::Critical
            | RetentionStrategy::Compressible
            | RetentionStrategy::BatchCompressible
            | RetentionStrategy::Ephemeral => selection.condensable.push(Arc::clone(chunk)),
        }
    }
    // A summary without anything new would only lose some of itself.
    if let [alone] = &*selection.condensable
        && alone.is(WorkingFlowSubType::Compacted)
    {
        selection.condensable.clear();
    }
    selection
}

/// Calls of which one part would go and another stay.
fn parted(state: &ThreadState, goes: impl Fn(&Chunk) -> bool) -> HashSet<&str> {
    let (mut going, mut staying) = (HashSet::new(), HashSet::new());
    for chunk in state.chunks() {
        if let Some(call) = chunk.call_id() {
            let side = if goes(chunk) {
                &mut going
            } else {
                &mut staying
            };
            side.insert(call);
        }
    }
    going.intersection(&staying).copied().collect()
}

/// The newest chunks that stay.
fn newest(
    state: &ThreadState,
    recent: RecentLimits,
    tokens: impl Fn(&Chunk) -> u64,
) -> HashSet<ChunkId> {
    let mut left = recent.tokens;
    let mut kept = HashSet::new();
    let compactable = state.chunks().rev().filter(|chunk| is_compactable(chunk));
    for (place, chunk) in compactable.take(recent.chunks).enumerate() {
        let size = tokens(chunk);
        if place > 0 && size > left {
            break;
        }
        left = left.saturating_sub(size);
        // A summary is always condensed further.
        if !chunk.is(WorkingFlowSubType::Compacted) {
            kept.insert(chunk.id.clone());
        }
    }
    kept
}

#[cfg(test)]
#[path = "selection_tests.rs"]
mod tests;
