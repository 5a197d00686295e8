//! The interface of a language model: messages in, an answer and its tokens out.
//!
//! `llm` implements [`Model`] over three wires, the testkit scripts it, and users of the library may bring
//! their own. Retries, limits and structured answers belong to the implementation; prompts, the use of an
//! answer and limits on spending do not. Requests and replies serialize, so that a conversation with a model
//! can be recorded and replayed.
//!
//! Not here: prompts, prices, the name of a vendor.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::BoxError;
use crate::session::Session;

/// Who speaks in a message.
///
/// ```
/// use daybook_domain::model::{Message, Role};
/// assert_eq!(Message::outcome("c1", "two lines").role, Role::Tool);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// What the engine demands.
    System,
    /// What the engine asks, and the material that it hands over.
    User,
    /// The model.
    Assistant,
    /// The outcome of a tool that the model called.
    Tool,
}

/// One message of a conversation with a model.
///
/// ```
/// use daybook_domain::model::{Message, Role};
/// let question = Message::new(Role::User, "How many lines has notes.txt?");
/// let outcome = Message::outcome("c1", "two lines");
/// assert!(question.answers.is_none());
/// assert_eq!(outcome.answers.as_deref(), Some("c1"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The text.
    pub text: String,
    /// What the model calls; of an assistant alone.
    pub calls: Vec<ToolCall>,
    /// The call that is answered; of a tool alone.
    pub answers: Option<String>,
}

impl Message {
    /// A message of words alone.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            text: text.into(),
            calls: Vec::new(),
            answers: None,
        }
    }

    /// The outcome of the call `id`.
    pub fn outcome(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            answers: Some(id.into()),
            ..Self::new(Role::Tool, text)
        }
    }
}

/// A tool that the model may call.
///
/// ```
/// use daybook_domain::model::Tool;
/// let read = Tool {
///     name: "read".to_owned(),
///     description: "Reads a file.".to_owned(),
///     arguments: serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}}),
/// };
/// assert_eq!(read.arguments["type"], "object");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Letters, digits, `_` and `-`; at most 64.
    pub name: String,
    /// When to use it, for the model.
    pub description: String,
    /// A JSON schema of its arguments, an object.
    pub arguments: serde_json::Value,
}

/// A call of a tool.
///
/// ```
/// use daybook_domain::model::ToolCall;
/// let call = ToolCall { id: "c1".into(), name: "read".into(), arguments: r#"{"path":"notes.txt"}"#.into() };
/// let arguments: serde_json::Value = serde_json::from_str(&call.arguments)?;
/// assert_eq!(arguments["path"], "notes.txt");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// By which the outcome names the call. Unique within one answer.
    pub id: String,
    /// As the model wrote it; such a tool may not exist.
    pub name: String,
    /// As the model wrote them: JSON if it did well.
    pub arguments: String,
}

/// What form the answer must have.
///
/// ```
/// use daybook_domain::model::AnswerSchema;
/// let count = AnswerSchema {
///     name: "count".to_owned(),
///     schema: serde_json::json!({
///         "type": "object", "properties": {"lines": {"type": "integer"}},
///         "required": ["lines"], "additionalProperties": false,
///     }),
/// };
/// assert_eq!(count.schema["required"][0], "lines");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerSchema {
    /// Letters, digits, `_` and `-`; at most 64.
    pub name: String,
    /// A JSON schema within what strict modes accept: every property required, none beyond those named.
    pub schema: serde_json::Value,
}

/// One question.
///
/// ```
/// use daybook_domain::model::{Message, ModelRequest, Role};
/// let question = vec![Message::new(Role::User, "Hello!")];
/// let request = ModelRequest { temperature: Some(0.3), ..ModelRequest::new(question, 1_024) };
/// assert!(request.tools.is_empty() && request.answer.is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The conversation, oldest first; system messages come before all others.
    pub messages: Vec<Message>,
    /// Offered tools.
    pub tools: Vec<Tool>,
    /// The form of the answer. Without one the answer is free text.
    pub answer: Option<AnswerSchema>,
    /// 0 to 2; nothing leaves it to the provider.
    pub temperature: Option<f32>,
    /// Most tokens of the answer, thoughts included.
    pub max_tokens: u32,
}

impl ModelRequest {
    /// A question in free text, without tools, at the provider's own temperature.
    #[must_use]
    pub fn new(messages: Vec<Message>, max_tokens: u32) -> Self {
        Self {
            messages,
            tools: Vec::new(),
            answer: None,
            temperature: None,
            max_tokens,
        }
    }
}

/// Tokens as the provider counted them.
///
/// ```
/// use daybook_domain::model::Usage;
/// let mut all = Usage::default();
/// all += Usage { input: 1_200, cached: 1_000, output: 40 };
/// assert_eq!(all.input, 1_200);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read by the model, `cached` included.
    pub input: u64,
    /// Of those, read from the provider's cache.
    pub cached: u64,
    /// Written by the model, thoughts included.
    pub output: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
    }
}

/// Why the model stopped.
///
/// ```
/// use daybook_domain::model::FinishReason;
/// let is_whole = |finish| matches!(finish, FinishReason::Stop | FinishReason::Tools);
/// assert!(is_whole(FinishReason::Stop) && !is_whole(FinishReason::Length));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It ran into [`ModelRequest::max_tokens`], or its own limit: the answer is a beginning.
    Length,
    /// It wants tools called.
    Tools,
    /// The provider's filter cut the answer off.
    Filtered,
}

/// An answer.
///
/// ```
/// use daybook_domain::model::{FinishReason, ModelReply};
/// let reply = ModelReply {
///     text: "It has two lines.".to_owned(),
///     answer: None,
///     calls: Vec::new(),
///     finish: FinishReason::Stop,
///     usage: None,
///     requests: 1,
/// };
/// assert!(reply.calls.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The model's text, thoughts removed.
    pub text: String,
    /// The answer in the demanded form, if one was demanded and the text holds it. Its schema was
    /// checked.
    pub answer: Option<serde_json::Value>,
    /// What it calls.
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub finish: FinishReason,
    /// Of all tries and repairs that this answer took; `None` if the provider did not report it.
    pub usage: Option<Usage>,
    /// Requests that reached the provider for this answer, at least 1.
    pub requests: u32,
}

/// Why there is no answer.
///
/// ```
/// use daybook_domain::model::ModelError;
/// let error = ModelError::TooLong { model: "home/qwen3".into(), message: "40,000 of 32,768 tokens".into() };
/// assert_eq!(error.to_string(), "the question is too long for home/qwen3: 40,000 of 32,768 tokens");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The provider is overloaded, unreachable or asks to wait; tries were made.
    #[error("{model} could not be reached: {message}")]
    Unavailable {
        /// Which model.
        model: String,
        /// What failed, without keys.
        message: String,
        /// How long the provider asks callers to wait.
        retry_after: Option<Duration>,
    },
    /// The key or the account is not accepted.
    #[error("{model} refuses access: {message}")]
    Denied {
        /// Which model.
        model: String,
        /// The provider's message.
        message: String,
    },
    /// The question is longer than the model can read.
    #[error("the question is too long for {model}: {message}")]
    TooLong {
        /// Which model.
        model: String,
        /// The provider's message.
        message: String,
    },
    /// The model will not answer this question.
    #[error("{model} refuses to answer: {message}")]
    Refused {
        /// Which model.
        model: String,
        /// The model's message.
        message: String,
    },
    /// The answer cannot be understood, also after a repair.
    #[error("the answer of {model} cannot be understood: {message}")]
    Malformed {
        /// Which model.
        model: String,
        /// What is wrong with it.
        message: String,
    },
    /// The provider finds fault with the request itself: a wrong model name, an unknown parameter.
    #[error("{model} finds fault with the request: {message}")]
    BadRequest {
        /// Which model.
        model: String,
        /// The provider's message.
        message: String,
    },
    /// The caller cancelled the call.
    #[error("the question to {model} was cancelled")]
    Cancelled {
        /// Which model.
        model: String,
    },
    /// Anything else.
    #[error("{model}: {source}")]
    Other {
        /// Which model.
        model: String,
        /// What happened.
        #[source]
        source: BoxError,
    },
}

/// An answer that failed, and what it may have cost all the same.
///
/// ```
/// use daybook_domain::model::{ModelError, ModelFailure, FailureCost};
/// let error = ModelError::Denied { model: "home/qwen3".into(), message: "no such key".into() };
/// let failure = ModelFailure { error, spent: FailureCost::Nothing };
/// assert_eq!(failure.to_string(), "home/qwen3 refuses access: no such key");
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct ModelFailure {
    /// What happened.
    #[source]
    pub error: ModelError,
    /// What it may have cost.
    pub spent: FailureCost,
}

/// What a failed call may have cost.
///
/// ```
/// use daybook_domain::model::FailureCost;
/// // What a cap must reckon with.
/// let is_known = |spent| !matches!(spent, FailureCost::Unknown);
/// assert!(is_known(FailureCost::Nothing) && !is_known(FailureCost::Unknown));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCost {
    /// Nothing was sent, or the provider turned it away unread.
    Nothing,
    /// What the provider reported, for everything that was sent.
    Reported(Usage),
    /// Something was sent and its cost is unknown: the worst case must be assumed.
    Unknown,
}

/// A language model.
///
/// A call may be dropped at any time; what it had sent by then counts as [`FailureCost::Unknown`].
///
/// ```
/// use daybook_domain::model::{FinishReason, Model, ModelFailure, ModelReply, ModelRequest};
///
/// /// Answers with the last message.
/// struct Echo;
///
/// #[async_trait::async_trait]
/// impl Model for Echo {
///     fn name(&self) -> &str {
///         "local/echo"
///     }
///
///     fn context_tokens(&self) -> u32 {
///         8_192
///     }
///
///     fn count_tokens(&self, text: &str) -> u32 {
///         u32::try_from(text.len()).unwrap_or(u32::MAX)
///     }
///
///     async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
///         let text = request.messages.last().map(|last| last.text.clone());
///         Ok(ModelReply {
///             text: text.unwrap_or_default(),
///             answer: None,
///             calls: Vec::new(),
///             finish: FinishReason::Stop,
///             usage: None,
///             requests: 1,
///         })
///     }
/// }
/// assert_eq!(Echo.most_requests(), 1);
/// ```
#[doc(alias = "ILLMAdapter")]
#[async_trait]
pub trait Model: Send + Sync {
    /// Its name for people, prices and records: `provider/model`.
    fn name(&self) -> &str;

    /// Most tokens of question and answer together.
    fn context_tokens(&self) -> u32;

    /// How many tokens `text` is, or a little more than that; never less.
    fn count_tokens(&self, text: &str) -> u32;

    /// Most requests that one [`Model::ask`] may send and be billed for, tries and repairs included.
    fn most_requests(&self) -> u32 {
        1
    }

    /// Sends a request and returns the model's answer.
    ///
    /// # Errors
    /// See [`ModelError`]; a failure carries what it may have cost.
    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure>;
}

/// Chooses the model that answers about a session.
///
/// Sessions may be charged to different payers, or kept from some model; the caller therefore asks anew for
/// each request.
///
/// ```
/// use std::sync::Arc;
/// use daybook_domain::model::{Model, ModelForSession};
///
/// fn one_for_all(model: Arc<dyn Model>) -> Arc<ModelForSession> {
///     Arc::new(move |_session| model.clone())
/// }
/// ```
pub type ModelForSession = dyn Fn(&Session) -> Arc<dyn Model> + Send + Sync;
