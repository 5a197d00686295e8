//! States: a thread's present chunks, in order.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::chunk::Chunk;
use super::ids::{ChunkId, OperationId, StateId};
use crate::ids::EventSeq;
use crate::time::Timestamp;

/// What made a state out of the one before it.
///
/// ```
/// use daybook_domain::working::StateSource;
/// assert_eq!(serde_json::to_string(&StateSource::EventDispatch).unwrap(), r#""event_dispatch""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateSource {
    /// The thread was created.
    Initial,
    /// The thread was made from another one's state.
    Fork,
    /// An event was reduced.
    EventDispatch,
    /// Chunks were compacted.
    Compaction,
    /// A person or a tool edited a chunk, or put an earlier state back.
    Manual,
    /// The session ended.
    SessionEnd,
}

/// Where a state comes from.
///
/// ```
/// use daybook_domain::EventSeq;
/// use daybook_domain::working::{Provenance, StateSource};
/// let provenance = Provenance {
///     source: StateSource::EventDispatch,
///     seq: EventSeq(3),
///     event_type: Some("USER_MESSAGE".into()),
/// };
/// assert_eq!(provenance.seq, EventSeq(3));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Provenance {
    /// What made it.
    pub source: StateSource,
    /// The entry of the session's log that made it.
    pub seq: EventSeq,
    /// The type of the event, where one made it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub event_type: Option<Cow<'static, str>>,
}

/// When a state was made, and from what.
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
/// # let _ = hello;
/// assert_eq!(metadata.provenance.source, StateSource::Initial);
/// assert!(metadata.previous_state_id.is_none(), "it is the first");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StateMetadata {
    /// When, in milliseconds since 1970 UTC. `provenance.seq` gives the order, not this.
    pub created_at: Timestamp,
    /// The state before; nothing for a thread's first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub previous_state_id: Option<StateId>,
    /// The last operation that made it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source_operation: Option<OperationId>,
    /// What made it.
    pub provenance: Provenance,
    /// Whatever else is known of it.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub custom: Map<String, Value>,
}

/// What a thread holds at one moment. Never changes; a copy costs next to nothing.
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
/// let state = ThreadState::new("state_1".into(), metadata, vec![hello]);
/// assert_eq!((state.len(), state.is_empty()), (1, false));
/// let id = &state.chunk_ids()[0];
/// assert_eq!(state.position(id), Some(0));
/// assert_eq!(state.chunk(id), state.chunks().next());
/// ```
#[doc(alias = "MemoryState")]
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadState {
    /// Its name.
    pub id: StateId,
    /// When it was made, and from what.
    pub metadata: StateMetadata,
    pub(super) contents: Arc<StateChunks>,
}

/// The chunks of a state, shared by its copies.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct StateChunks {
    pub(super) order: Vec<ChunkId>,
    pub(super) chunks: HashMap<ChunkId, Arc<Chunk>>,
}

impl StateChunks {
    pub(super) fn position(&self, id: &ChunkId) -> Option<usize> {
        self.chunks.contains_key(id).then_some(())?;
        // Callers most often look up one of the last.
        self.order.iter().rposition(|other| other == id)
    }
}

impl ThreadState {
    /// A state of these chunks, in their order; of chunks with one name the first counts.
    #[must_use]
    pub fn new(id: StateId, metadata: StateMetadata, chunks: Vec<Arc<Chunk>>) -> Self {
        let mut contents = StateChunks::default();
        for chunk in chunks {
            if !contents.chunks.contains_key(&chunk.id) {
                contents.order.push(chunk.id.clone());
                contents.chunks.insert(chunk.id.clone(), chunk);
            }
        }
        Self {
            id,
            metadata,
            contents: Arc::new(contents),
        }
    }

    /// How many chunks it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.contents.order.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.contents.order.is_empty()
    }

    /// The chunks' names, in order.
    #[must_use]
    pub fn chunk_ids(&self) -> &[ChunkId] {
        &self.contents.order
    }

    /// The chunk of that name, if the state holds it.
    #[must_use]
    pub fn chunk(&self, id: &ChunkId) -> Option<&Arc<Chunk>> {
        self.contents.chunks.get(id)
    }

    /// The chunks, in order.
    pub fn chunks(&self) -> impl DoubleEndedIterator<Item = &Arc<Chunk>> {
        let contents = &self.contents;
        contents
            .order
            .iter()
            .filter_map(|id| contents.chunks.get(id))
    }

    /// The position of a chunk, counted from 0.
    #[must_use]
    pub fn position(&self, id: &ChunkId) -> Option<usize> {
        self.contents.position(id)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SerializedState<Chunks> {
    id: StateId,
    chunk_ids: Vec<ChunkId>,
    chunks: Chunks,
    metadata: StateMetadata,
}

impl Serialize for ThreadState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct InOrder<'a>(&'a ThreadState);
        impl Serialize for InOrder<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.chunks().map(|chunk| (&chunk.id, &**chunk)))
            }
        }
        SerializedState {
            id: self.id.clone(),
            chunk_ids: self.contents.order.clone(),
            chunks: InOrder(self),
            metadata: self.metadata.clone(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ThreadState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let serialized = SerializedState::<HashMap<ChunkId, Chunk>>::deserialize(deserializer)?;
        let mut chunks = serialized.chunks;
        let mut ordered = Vec::with_capacity(chunks.len());
        for id in serialized.chunk_ids {
            let missing = || serde::de::Error::custom(format!("{id} is named and not there"));
            ordered.push(Arc::new(chunks.remove(&id).ok_or_else(missing)?));
        }
        Ok(Self::new(serialized.id, serialized.metadata, ordered))
    }
}
