//! Chunks: what a state is made of.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::ids::{ChunkId, IdSource, OperationId};
use crate::time::Timestamp;

/// What sort of thing a chunk holds.
///
/// ```
/// use daybook_domain::working::{ChunkType, RetentionStrategy};
/// let (priority, retention, is_mutable) = ChunkType::WorkingFlow.defaults();
/// assert_eq!((priority, retention, is_mutable), (500, RetentionStrategy::BatchCompressible, true));
/// assert_eq!(ChunkType::WorkingFlow.as_str(), "WORKING_FLOW");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum ChunkType {
    /// Instructions and faults of the system around the agent.
    System,
    /// What the agent is.
    Agent,
    /// How the agent shall go about its work.
    Workflow,
    /// A task that another agent gave.
    Delegation,
    /// What the agent's environment reported.
    Environment,
    /// The conversation: the person's words, and the agent's words and actions.
    WorkingFlow,
    /// The agent's result.
    Output,
}

impl ChunkType {
    /// Team9's word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Priority, retention and whether it may be replaced, unless the chunk sets them.
    #[must_use]
    pub fn defaults(self) -> (i32, RetentionStrategy, bool) {
        use RetentionStrategy::{BatchCompressible, Compressible, Critical};
        match self {
            Self::System => (1000, Critical, false),
            Self::Agent => (900, Critical, false),
            Self::Workflow => (800, Critical, false),
            Self::Delegation => (700, Compressible, true),
            Self::Environment => (600, Compressible, false),
            Self::WorkingFlow => (500, BatchCompressible, true),
            Self::Output => (400, Compressible, false),
        }
    }
}

/// What part of the conversation a [`ChunkType::WorkingFlow`] chunk is.
///
/// ```
/// use daybook_domain::working::WorkingFlowSubType;
/// assert_eq!(WorkingFlowSubType::AgentAction.as_str(), "AGENT_ACTION");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum WorkingFlowSubType {
    /// The summary of chunks that were compacted.
    Compacted,
    /// A person's words.
    User,
    /// The agent's thoughts and plans.
    Thinking,
    /// The agent's words.
    Response,
    /// A call: of a tool, a skill, another agent.
    AgentAction,
    /// The outcome of a call.
    ActionResponse,
}

impl WorkingFlowSubType {
    /// Team9's word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What may become of a chunk when room is needed (Team9's retention strategies).
///
/// ```
/// use daybook_domain::working::RetentionStrategy;
/// assert!(RetentionStrategy::Disposable.is_compactable());
/// assert!(!RetentionStrategy::Critical.is_compactable());
/// ```
#[doc(alias = "ChunkRetentionStrategy")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RetentionStrategy {
    /// It stays as it is.
    Critical,
    /// It is condensed by itself.
    Compressible,
    /// It is condensed together with its neighbours: a call with its outcome.
    BatchCompressible,
    /// It goes first, without a summary.
    Disposable,
    /// It stays while the session lasts, and goes when it ends.
    Ephemeral,
}

impl RetentionStrategy {
    /// Whether a compaction may take the chunk.
    #[must_use]
    pub fn is_compactable(self) -> bool {
        match self {
            Self::Compressible | Self::BatchCompressible | Self::Disposable => true,
            Self::Critical | Self::Ephemeral => false,
        }
    }
}

/// A part of [`ChunkContent::Mixed`].
///
/// ```
/// use daybook_domain::working::{ChunkContent, ContentPart};
/// let parts = vec![ContentPart::Text { text: "As you see:".to_owned() }];
/// assert_eq!(ChunkContent::Mixed { parts }.to_text(), "As you see:");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ContentPart {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// Base64 or a URL.
        data: String,
        /// Such as `image/png`.
        mime_type: String,
        /// What it shows, in words.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        alt_text: Option<String>,
    },
}

/// What a chunk holds.
///
/// ```
/// use daybook_domain::working::ChunkContent;
/// let words = ChunkContent::text("Deploys happen on Tuesdays.");
/// assert_eq!(words.to_text(), "Deploys happen on Tuesdays.");
/// assert_eq!(words.field("callId"), None);
///
/// let call: ChunkContent = serde_json::from_str(r#"{"type":"TEXT","text":"Tool call","callId":"c1"}"#)?;
/// assert_eq!(call.str_field("callId"), Some("c1"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChunkContent {
    /// Words, fields, or both.
    Text {
        /// The words.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        text: Option<String>,
        /// Further fields that the reducer sets, by name.
        #[serde(flatten)]
        fields: Map<String, Value>,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// Base64 or a URL.
        data: String,
        /// Such as `image/png`.
        mime_type: String,
        /// What it shows, in words.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        alt_text: Option<String>,
    },
    /// Words and pictures.
    Mixed {
        /// In order.
        parts: Vec<ContentPart>,
    },
    /// What another chunk holds.
    #[serde(rename_all = "camelCase")]
    ChunkRef {
        /// That chunk.
        chunk_id: ChunkId,
    },
}

impl ChunkContent {
    /// Words alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: Some(text.into()),
            fields: Map::new(),
        }
    }

    /// A field, where there are any.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Text { fields, .. } => fields.get(name),
            Self::Image { .. } | Self::Mixed { .. } | Self::ChunkRef { .. } => None,
        }
    }

    /// A field that is a string.
    #[must_use]
    pub fn str_field(&self, name: &str) -> Option<&str> {
        self.field(name).and_then(Value::as_str)
    }
}

/// Where a chunk comes from.
///
/// ```
/// use daybook_domain::Timestamp;
/// use daybook_domain::working::ChunkMetadata;
/// let metadata = ChunkMetadata { created_at: Timestamp(1), ..ChunkMetadata::default() };
/// assert_eq!(serde_json::to_string(&metadata).unwrap(), r#"{"createdAt":1}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChunkMetadata {
    /// When, in milliseconds since 1970 UTC.
    pub created_at: Timestamp,
    /// The chunks that it replaces, or was made from.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub parent_ids: Vec<ChunkId>,
    /// What put it into its first state.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source_operation: Option<OperationId>,
    /// Whatever else is known of it; the engine keeps `eventType`, `timestamp` and `seq` there.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub custom: Map<String, Value>,
}

/// One thing that an agent holds in mind. Never changes: a changed one is another chunk.
///
/// ```
/// use daybook_domain::working::{Chunk, ChunkType, ChunkContent, IdSource, RetentionStrategy, WorkingFlowSubType};
/// # use daybook_domain::{EventSeq, SessionId, Tenant, Timestamp};
/// # let thread = SessionId { tenant: Tenant::local(), agent: "agent".into(), host_id: "thread_1".into() };
/// # let now = Timestamp(0);
/// let mut ids = IdSource::new(&thread, EventSeq(1));
/// let words = ChunkContent::text("Deploys happen on Tuesdays.");
/// let chunk = Chunk::new(ids.chunk(), ChunkType::WorkingFlow, words, now)
///     .part(WorkingFlowSubType::User)
///     .kept(RetentionStrategy::Critical);
/// assert!(chunk.is(WorkingFlowSubType::User) && chunk.call_id().is_none());
///
/// let edited = chunk.derive(&mut ids, now);
/// assert_eq!(edited.metadata.parent_ids, [chunk.id]);
/// ```
#[doc(alias = "MemoryChunk")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chunk {
    /// Its name.
    pub id: ChunkId,
    /// What sort of thing it is.
    #[serde(rename = "type")]
    pub kind: ChunkType,
    /// What part of the conversation it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sub_type: Option<WorkingFlowSubType>,
    /// What it holds.
    pub content: ChunkContent,
    /// What may become of it.
    pub retention_strategy: RetentionStrategy,
    /// Whether a person or a tool may edit it.
    pub mutable: bool,
    /// The higher, the later it is left out where room is short.
    pub priority: i32,
    /// Where it comes from.
    pub metadata: ChunkMetadata,
}

impl Chunk {
    /// A chunk with its type's defaults.
    ///
    /// ```
    /// use daybook_domain::working::{Chunk, ChunkType, ChunkContent, RetentionStrategy};
    /// use daybook_domain::Timestamp;
    /// let system = Chunk::new("chunk_rules".into(), ChunkType::System, ChunkContent::text("Be brief."), Timestamp(0));
    /// assert_eq!(system.retention_strategy, RetentionStrategy::Critical);
    /// assert_eq!(system.priority, 1000);
    /// ```
    #[must_use]
    pub fn new(id: ChunkId, kind: ChunkType, content: ChunkContent, now: Timestamp) -> Self {
        let (priority, retention_strategy, mutable) = kind.defaults();
        Self {
            id,
            kind,
            sub_type: None,
            content,
            retention_strategy,
            mutable,
            priority,
            metadata: ChunkMetadata {
                created_at: now,
                ..ChunkMetadata::default()
            },
        }
    }

    /// Another chunk that takes this one's place: a new name, this one as its parent, all else the same.
    #[must_use]
    pub fn derive(&self, ids: &mut IdSource, now: Timestamp) -> Self {
        let mut derived = self.clone();
        derived.metadata.parent_ids = vec![std::mem::replace(&mut derived.id, ids.chunk())];
        derived.metadata.created_at = now;
        derived.metadata.source_operation = None;
        derived
    }

    /// The chunk, kept in that way.
    #[must_use]
    pub fn kept(mut self, retention: RetentionStrategy) -> Self {
        self.retention_strategy = retention;
        self
    }

    /// The chunk, as that part of the conversation.
    #[must_use]
    pub fn part(mut self, sub_type: WorkingFlowSubType) -> Self {
        self.sub_type = Some(sub_type);
        self
    }

    /// Whether it is that part of the conversation.
    #[must_use]
    pub fn is(&self, sub_type: WorkingFlowSubType) -> bool {
        self.sub_type == Some(sub_type)
    }

    /// The call that it makes or answers, by the host's id.
    #[must_use]
    pub fn call_id(&self) -> Option<&str> {
        let call = |name| self.content.str_field(name);
        call("callId").or_else(|| call("subAgentId"))
    }
}
