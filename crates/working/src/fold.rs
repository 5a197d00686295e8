//! Folds the entries of a thread's log into its state.
//!
//! Folding is pure. Folding the same entries again gives the same state, with the same ids; an entry that
//! cannot be applied changes nothing, each time.
//!
//! Not here: the order of entries (`log_reader`), waiting callers (`thread`).

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use daybook_domain::working::{
    Chunk, ChunkId, Compaction, IdSource, Operation, OperationKind, Provenance, RetentionStrategy,
    StateDelta, StateMetadata, StateSource, ThreadEntry, ThreadState,
};
use daybook_domain::{EventSeq, SessionId, Timestamp};
use serde_json::Map;

use super::reduce::{ReduceContext, Reduced, ReducerRegistry};

/// Folds the entries of one thread.
///
/// ```
/// use std::sync::Arc;
/// use daybook_domain::working::{ThreadEntry, EventType, ThreadEvent};
/// use daybook_domain::{EventSeq, SessionId, Tenant, Timestamp};
/// use daybook_working::fold::Fold;
/// use daybook_working::reduce::ReducerRegistry;
/// # let thread = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
///
/// let fold = Fold::new(&thread, Arc::new(ReducerRegistry::default()));
/// let mut state = fold.beginning(Timestamp(0));
/// let entry = ThreadEntry::Event { event: ThreadEvent::new(EventType::user("Hello!"), Timestamp(0)) };
/// let folded = fold.entry(&mut state, EventSeq(1), Timestamp(0), &entry);
/// assert_eq!((folded.is_changed, state.len()), (true, 1));
/// ```
#[derive(Debug, Clone)]
pub struct Fold {
    registry: Arc<ReducerRegistry>,
    ids: IdSource,
}

/// The effect of one entry.
///
/// ```
/// # use std::sync::Arc;
/// # use daybook_domain::working::{ThreadEntry, EventType, ThreadEvent};
/// # use daybook_domain::{EventSeq, SessionId, Tenant, Timestamp};
/// # use daybook_working::fold::Fold;
/// # use daybook_working::reduce::ReducerRegistry;
/// # let thread = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
/// # let fold = Fold::new(&thread, Arc::new(ReducerRegistry::default()));
/// # let mut state = fold.beginning(Timestamp(0));
/// # let entry = ThreadEntry::Event { event: ThreadEvent::new(EventType::user("Hello!"), Timestamp(0)) };
/// # let folded = fold.entry(&mut state, EventSeq(1), Timestamp(0), &entry);
/// assert_eq!(folded.applied.added.len(), folded.operations.len());
/// assert_eq!(folded.fault, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Folded {
    /// Chunks that were added and removed.
    pub applied: StateDelta,
    /// Whether the state changed.
    pub is_changed: bool,
    /// The operations that were applied.
    pub operations: Vec<Operation>,
    /// The reason why an entry that should have changed the state changed nothing.
    pub fault: Option<String>,
}

impl Fold {
    /// Folds entries of `thread` with the reducers of `registry`.
    #[must_use]
    pub fn new(thread: &SessionId, registry: Arc<ReducerRegistry>) -> Self {
        let ids = IdSource::new(thread, EventSeq(0));
        Self { registry, ids }
    }

    /// The state before the first entry.
    #[must_use]
    pub fn beginning(&self, created_at: Timestamp) -> ThreadState {
        let seq = EventSeq(0);
        let metadata = self.metadata(StateSource::Initial, seq, created_at, None);
        ThreadState::new(self.ids.at(seq).state(), metadata, Vec::new())
    }

    /// Folds the entry at `seq`, which was stored at `now`, into `state`.
    pub fn entry(
        &self,
        state: &mut ThreadState,
        seq: EventSeq,
        now: Timestamp,
        entry: &ThreadEntry,
    ) -> Folded {
        let mut at = ReduceContext {
            ids: self.ids.at(seq),
            seq,
            now,
        };
        let mut event_type = None;
        let (source, reduced) = match entry {
            ThreadEntry::Initial {
                chunks,
                forked_from,
            } => {
                let source = match forked_from {
                    Some(_) => StateSource::Fork,
                    None => StateSource::Initial,
                };
                (source, Ok(replace_all(&mut at, state, chunks)))
            }
            ThreadEntry::Event { event } => {
                event_type = Some(event.kind.name());
                let reducing = AssertUnwindSafe(|| self.registry.reduce(state, event, &mut at));
                let reduced = catch_unwind(reducing);
                let reduced = reduced.unwrap_or_else(|_| Err("a reducer panicked".into()));
                (StateSource::EventDispatch, reduced)
            }
            ThreadEntry::Compaction(compaction) => (
                StateSource::Compaction,
                Ok(compaction_operations(&mut at, state, compaction)),
            ),
            ThreadEntry::Edited { target, chunk } => (
                StateSource::Manual,
                Ok(edit_operations(&mut at, state, target, chunk)),
            ),
            ThreadEntry::Restored { chunks, .. } => {
                (StateSource::Manual, Ok(replace_all(&mut at, state, chunks)))
            }
            ThreadEntry::Ended => (StateSource::SessionEnd, Ok(end_operations(&mut at, state))),
        };
        let reduced = match reduced {
            Ok(reduced) => reduced,
            Err(error) => return fault(error.to_string()),
        };
        if reduced.operations.is_empty() {
            return Folded::default();
        }
        let metadata = self.metadata(source, seq, now, event_type);
        let id = at.ids.state();
        match state.advance(&reduced.operations, &reduced.chunks, id, metadata) {
            Ok(applied) => Folded {
                applied,
                is_changed: true,
                operations: reduced.operations,
                fault: None,
            },
            Err(error) => fault(error.to_string()),
        }
    }

    fn metadata(
        &self,
        source: StateSource,
        seq: EventSeq,
        created_at: Timestamp,
        event_type: Option<Cow<'static, str>>,
    ) -> StateMetadata {
        StateMetadata {
            created_at,
            previous_state_id: None,
            source_operation: None,
            provenance: Provenance {
                source,
                seq,
                event_type,
            },
            custom: Map::new(),
        }
    }
}

fn fault(message: String) -> Folded {
    Folded {
        fault: Some(message),
        ..Folded::default()
    }
}

/// Operations that make the state consist of exactly these chunks.
fn replace_all(at: &mut ReduceContext, state: &ThreadState, chunks: &[Arc<Chunk>]) -> Reduced {
    let stays = |id: &ChunkId| chunks.iter().any(|chunk| chunk.id == *id);
    let mut reduced = Reduced::default();
    for id in state.chunk_ids().iter().filter(|id| !stays(id)) {
        let chunk_id = id.clone();
        let delete = at.operation(OperationKind::Delete { chunk_id });
        reduced.operations.push(delete);
    }
    for (position, chunk) in chunks.iter().enumerate() {
        let chunk_id = chunk.id.clone();
        let kind = match state.chunk(&chunk.id) {
            Some(_) => OperationKind::Reorder {
                chunk_id,
                new_position: position,
            },
            None => OperationKind::Add {
                chunk_id,
                position: i64::try_from(position).ok(),
            },
        };
        reduced.operations.push(at.operation(kind));
        reduced.chunks.push(Arc::clone(chunk));
    }
    reduced
}

/// Operations of a compaction, for the chunks that the state still has.
fn compaction_operations(
    at: &mut ReduceContext,
    state: &ThreadState,
    compaction: &Compaction,
) -> Reduced {
    let mut reduced = Reduced::default();
    for replaced in &compaction.replaced {
        let stands = |id: &&ChunkId| state.chunk(id).is_some();
        if !replaced.targets.iter().any(|id| stands(&id)) {
            continue;
        }
        let kind = OperationKind::BatchReplace {
            target_chunk_ids: replaced.targets.clone(),
            new_chunk_id: replaced.chunk.id.clone(),
        };
        reduced.operations.push(at.operation(kind));
        reduced.chunks.push(Arc::clone(&replaced.chunk));
    }
    for id in compaction
        .dropped
        .iter()
        .filter(|id| state.chunk(id).is_some())
    {
        let chunk_id = id.clone();
        reduced
            .operations
            .push(at.operation(OperationKind::Delete { chunk_id }));
    }
    reduced
}

fn edit_operations(
    at: &mut ReduceContext,
    state: &ThreadState,
    target: &ChunkId,
    chunk: &Arc<Chunk>,
) -> Reduced {
    let mut reduced = Reduced::default();
    if let Some(old) = state.chunk(target) {
        reduced.update(at, old, Chunk::clone(chunk));
    }
    reduced
}

/// Operations of a session's end, which remove ephemeral chunks.
fn end_operations(at: &mut ReduceContext, state: &ThreadState) -> Reduced {
    let mut reduced = Reduced::default();
    let goes = |chunk: &&Arc<Chunk>| chunk.retention_strategy == RetentionStrategy::Ephemeral;
    for chunk in state.chunks().filter(goes) {
        let chunk_id = chunk.id.clone();
        reduced
            .operations
            .push(at.operation(OperationKind::Delete { chunk_id }));
    }
    reduced
}
