//! Operations: the only ways in which one state becomes the next.
//!
//! The operations of one entry are applied together or not at all.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::chunk::Chunk;
use super::ids::{ChunkId, IdSource, OperationId, StateId};
use super::state::{StateChunks, StateMetadata, ThreadState};
use crate::time::Timestamp;

/// What an operation does.
///
/// ```
/// use daybook_domain::working::OperationKind;
/// let add = OperationKind::Add { chunk_id: "chunk_1".into(), position: None };
/// assert_eq!(serde_json::to_string(&add).unwrap(), r#"{"type":"ADD","chunkId":"chunk_1"}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "SCREAMING_SNAKE_CASE",
    rename_all_fields = "camelCase"
)]
pub enum OperationKind {
    /// Adds a chunk: at the end, or at a position where that is given and not negative.
    Add {
        /// The new chunk.
        chunk_id: ChunkId,
        /// Counted from 0; past the end is the end.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        position: Option<i64>,
    },
    /// Puts a changed chunk in another one's place.
    Update {
        /// The chunk that goes.
        target_chunk_id: ChunkId,
        /// The chunk that comes.
        new_chunk_id: ChunkId,
    },
    /// Puts one chunk in another one's place.
    Replace {
        /// The chunk that goes.
        target_chunk_id: ChunkId,
        /// The chunk that comes.
        new_chunk_id: ChunkId,
    },
    /// Takes a chunk out.
    Delete {
        /// The chunk that goes.
        chunk_id: ChunkId,
    },
    /// Moves a chunk.
    Reorder {
        /// The chunk that moves.
        chunk_id: ChunkId,
        /// Its position afterwards; past the end is the end.
        new_position: usize,
    },
    /// Puts one chunk in the place of many: at the position of the first of them. Those that are gone already
    /// are passed over; the new one goes to the end when none is left.
    BatchReplace {
        /// The chunks that go.
        target_chunk_ids: Vec<ChunkId>,
        /// The chunk that comes.
        new_chunk_id: ChunkId,
    },
    /// Several, one after another, all or none.
    Batch {
        /// In this order.
        operations: Vec<Operation>,
    },
}

/// One operation: what it does, with its id and time.
///
/// ```
/// use daybook_domain::working::{OperationKind, IdSource, Operation};
/// # use daybook_domain::{EventSeq, SessionId, Tenant, Timestamp};
/// # let thread = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
/// let mut ids = IdSource::new(&thread, EventSeq(2));
/// let delete = Operation::new(&mut ids, OperationKind::Delete { chunk_id: "chunk_1".into() }, Timestamp(0));
/// assert!(delete.id.0.starts_with("op_"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// Its name.
    pub id: OperationId,
    /// What it does.
    #[serde(flatten)]
    pub kind: OperationKind,
    /// When, in milliseconds since 1970 UTC.
    pub timestamp: Timestamp,
}

impl Operation {
    /// An operation at the time `now`.
    pub fn new(ids: &mut IdSource, kind: OperationKind, now: Timestamp) -> Self {
        Self {
            id: ids.operation(),
            kind,
            timestamp: now,
        }
    }
}

/// Why an operation cannot be applied.
///
/// ```
/// use daybook_domain::working::OperationError;
/// let error = OperationError::Absent("chunk_1".into());
/// assert_eq!(error.to_string(), "Target chunk not found in state: chunk_1");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    /// The chunk that it brings was not handed over.
    #[error("Chunk not found in context: {0}")]
    Missing(ChunkId),
    /// The state does not hold the chunk that it names.
    #[error("Target chunk not found in state: {0}")]
    Absent(ChunkId),
    /// The state already holds the chunk that it adds.
    #[error("Chunk is in the state already: {0}")]
    Present(ChunkId),
}

impl StateDelta {
    /// Leaves out chunks that were added and removed within one result.
    fn forget_transient(&mut self, contents: &StateChunks) {
        let came = |id: &ChunkId| self.added.iter().any(|chunk| chunk.id == *id);
        let stands = |id: &ChunkId| contents.chunks.contains_key(id);
        self.removed = std::mem::take(&mut self.removed)
            .into_iter()
            .filter(|id| !stands(id) && !came(id))
            .collect();
        self.added.retain(|chunk| stands(&chunk.id));
    }
}

/// What operations changed.
///
/// ```
/// use daybook_domain::working::StateDelta;
/// let nothing = StateDelta::default();
/// assert!(nothing.added.is_empty() && nothing.removed.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateDelta {
    /// Chunks that the state holds now and did not before, in the order in which they were added.
    pub added: Vec<Arc<Chunk>>,
    /// Chunks that the state held before and does not now, in the order in which they were removed.
    pub removed: Vec<ChunkId>,
}

impl ThreadState {
    /// The next state: this one after `operations`, which bring `pending` chunks.
    ///
    /// # Errors
    /// [`OperationError`].
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
    /// # let state = ThreadState::new("state_1".into(), metadata.clone(), Vec::new());
    /// let add = Operation {
    ///     id: "op_1".into(),
    ///     kind: OperationKind::Add { chunk_id: hello.id.clone(), position: None },
    ///     timestamp: Timestamp(0),
    /// };
    /// let (next, applied) = state.after(&[add], &[hello], "state_2".into(), metadata)?;
    /// assert_eq!((state.len(), next.len(), applied.added.len()), (0, 1, 1));
    /// # Ok::<(), OperationError>(())
    /// ```
    pub fn after(
        &self,
        operations: &[Operation],
        pending: &[Arc<Chunk>],
        id: StateId,
        metadata: StateMetadata,
    ) -> Result<(Self, StateDelta), OperationError> {
        let mut next = self.clone();
        let applied = next.advance(operations, pending, id, metadata)?;
        Ok((next, applied))
    }

    /// [`ThreadState::after`] in place, which copies nothing while no other copy shares this state's chunks.
    ///
    /// # Errors
    /// [`OperationError`]; the state is as it was.
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
    /// # let mut state = ThreadState::new("state_1".into(), metadata.clone(), vec![hello.clone()]);
    /// let delete = Operation {
    ///     id: "op_1".into(),
    ///     kind: OperationKind::Delete { chunk_id: hello.id.clone() },
    ///     timestamp: Timestamp(0),
    /// };
    /// let applied = state.advance(&[delete], &[], "state_2".into(), metadata)?;
    /// assert!(state.is_empty());
    /// assert_eq!(applied.removed, [hello.id.clone()]);
    /// # Ok::<(), OperationError>(())
    /// ```
    pub fn advance(
        &mut self,
        operations: &[Operation],
        pending: &[Arc<Chunk>],
        id: StateId,
        mut metadata: StateMetadata,
    ) -> Result<StateDelta, OperationError> {
        // A single operation changes nothing when it fails; several are taken back together.
        let is_single = |it: &Operation| !matches!(it.kind, OperationKind::Batch { .. });
        let before = match operations {
            [] => None,
            [single] if is_single(single) => None,
            _ => Some(Arc::clone(&self.contents)),
        };
        let mut change = Change {
            contents: Arc::make_mut(&mut self.contents),
            pending,
            applied: StateDelta::default(),
        };
        let done = operations.iter().try_for_each(|it| change.apply(it));
        let mut applied = change.applied;
        if let Err(error) = done {
            if let Some(before) = before {
                self.contents = before;
            }
            return Err(error);
        }
        if before.is_some() {
            applied.forget_transient(&self.contents);
        }
        let previous = std::mem::replace(&mut self.id, id);
        metadata.previous_state_id = Some(previous);
        metadata.source_operation = operations.last().map(|last| last.id.clone());
        self.metadata = metadata;
        Ok(applied)
    }
}

struct Change<'a> {
    contents: &'a mut StateChunks,
    pending: &'a [Arc<Chunk>],
    applied: StateDelta,
}

impl Change<'_> {
    fn apply(&mut self, operation: &Operation) -> Result<(), OperationError> {
        match &operation.kind {
            OperationKind::Add { chunk_id, position } => {
                let end = self.contents.order.len();
                let position = position.and_then(|at| usize::try_from(at).ok());
                let chunk = self.brought(chunk_id, None)?;
                self.insert(chunk, position.unwrap_or(end), operation);
            }
            OperationKind::Update {
                target_chunk_id: target,
                new_chunk_id: new,
            }
            | OperationKind::Replace {
                target_chunk_id: target,
                new_chunk_id: new,
            } => {
                let chunk = self.brought(new, Some(target))?;
                let at = self.remove(target)?;
                self.insert(chunk, at, operation);
            }
            OperationKind::Delete { chunk_id } => drop(self.remove(chunk_id)?),
            OperationKind::Reorder {
                chunk_id,
                new_position,
            } => self.reorder(chunk_id, *new_position)?,
            OperationKind::BatchReplace {
                target_chunk_ids,
                new_chunk_id,
            } => {
                let chunk = self.brought(new_chunk_id, None)?;
                let went = target_chunk_ids
                    .iter()
                    .filter_map(|id| self.remove(id).ok());
                let first = went.min();
                self.insert(chunk, first.unwrap_or(usize::MAX), operation);
            }
            OperationKind::Batch { operations } => {
                operations.iter().try_for_each(|it| self.apply(it))?
            }
        }
        Ok(())
    }

    /// The chunk that an operation brings, which the state must not hold yet, unless it replaces itself.
    fn brought(
        &self,
        id: &ChunkId,
        instead: Option<&ChunkId>,
    ) -> Result<Arc<Chunk>, OperationError> {
        let chunk = self.pending.iter().find(|chunk| chunk.id == *id);
        let chunk = chunk.ok_or_else(|| OperationError::Missing(id.clone()))?;
        if instead != Some(id) && self.contents.chunks.contains_key(id) {
            return Err(OperationError::Present(id.clone()));
        }
        Ok(Arc::clone(chunk))
    }

    fn insert(&mut self, mut chunk: Arc<Chunk>, at: usize, operation: &Operation) {
        if chunk.metadata.source_operation.is_none() {
            Arc::make_mut(&mut chunk).metadata.source_operation = Some(operation.id.clone());
        }
        let order = &mut self.contents.order;
        order.insert(at.min(order.len()), chunk.id.clone());
        self.contents
            .chunks
            .insert(chunk.id.clone(), Arc::clone(&chunk));
        self.applied.added.push(chunk);
    }

    fn remove(&mut self, id: &ChunkId) -> Result<usize, OperationError> {
        let absent = || OperationError::Absent(id.clone());
        let at = self.contents.position(id).ok_or_else(absent)?;
        self.contents.order.remove(at);
        self.contents.chunks.remove(id);
        self.applied.removed.push(id.clone());
        Ok(at)
    }

    fn reorder(&mut self, id: &ChunkId, to: usize) -> Result<(), OperationError> {
        let absent = || OperationError::Absent(id.clone());
        let at = self.contents.position(id).ok_or_else(absent)?;
        let id = self.contents.order.remove(at);
        let to = to.min(self.contents.order.len());
        self.contents.order.insert(to, id);
        Ok(())
    }
}

#[cfg(test)]
#[path = "operation_tests.rs"]
mod tests;
