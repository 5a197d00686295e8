//! What may happen in a thread, with Team9's names.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{ModelReply, ToolCall};

/// How far a thing to do has come.
///
/// ```
/// use daybook_domain::working::TodoStatus;
/// assert_eq!(serde_json::to_string(&TodoStatus::InProgress).unwrap(), r#""in_progress""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
    /// Given up.
    Cancelled,
}

/// A thing to do.
///
/// ```
/// use daybook_domain::working::{EventType, TodoItem, TodoStatus};
/// let write = TodoItem {
///     id: "1".to_owned(),
///     content: "Write the test first".to_owned(),
///     status: TodoStatus::Pending,
///     children: Vec::new(),
/// };
/// assert_eq!(EventType::TodoSet { todos: vec![write] }.name(), "TODO_SET");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    /// By which later events name it.
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// How far it has come.
    pub status: TodoStatus,
    /// Its parts.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub children: Vec<TodoItem>,
}

/// Tokens of an answer, as its provider counted them.
///
/// ```
/// use daybook_domain::working::EventType;
/// use daybook_domain::working::event::ResponseUsage;
/// let response = EventType::LlmTextResponse {
///     content: "Done.".to_owned(),
///     model: None,
///     usage: Some(ResponseUsage { input_tokens: 1_200, output_tokens: 3 }),
/// };
/// assert_eq!(response.name(), "LLM_TEXT_RESPONSE");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResponseUsage {
    /// Read by the model.
    pub input_tokens: u64,
    /// Written by the model.
    pub output_tokens: u64,
}

/// Who ended a task.
///
/// ```
/// use daybook_domain::working::EventType;
/// use daybook_domain::working::event::TerminatedBy;
/// let stopped = EventType::TaskTerminated { terminated_by: TerminatedBy::User, reason: None };
/// assert_eq!(stopped.name(), "TASK_TERMINATED");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminatedBy {
    /// The person.
    User,
    /// The system around the agent.
    System,
    /// The agent that gave the task.
    Parent,
}

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident = $word:literal { $($(#[$field_meta:meta])* $field:ident: $type:ty),* $(,)? })*) => {
        /// What happened.
        ///
        /// ```
        /// use daybook_domain::working::EventType;
        /// let called: EventType = serde_json::from_str(
        ///     r#"{"type":"LLM_TOOL_CALL","toolName":"read","callId":"c1","arguments":{"path":"a.txt"}}"#,
        /// )?;
        /// assert_eq!(called.name(), "LLM_TOOL_CALL");
        /// assert!(EventType::WORDS.contains(&"LLM_TOOL_CALL"));
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "type", rename_all_fields = "camelCase")]
        pub enum EventType {
            $(
                $(#[$doc])*
                #[serde(rename = $word)]
                $name { $($(#[$field_meta])* $field: $type),* },
            )*
            /// A type of the host's own.
            #[serde(skip)]
            Custom {
                /// Its name.
                name: String,
                /// Its fields.
                fields: Map<String, Value>,
            },
        }

        impl EventType {
            /// Team9's words for its types, in its order.
            pub const WORDS: &[&str] = &[$($word),*];

            /// Team9's word, or the host's.
            #[must_use]
            pub fn name(&self) -> Cow<'static, str> {
                match self {
                    $(Self::$name { .. } => Cow::Borrowed($word),)*
                    Self::Custom { name, .. } => Cow::Owned(name.clone()),
                }
            }
        }
    };
}

events! {
    /// A person wrote a message.
    UserMessage = "USER_MESSAGE" {
        /// What.
        content: String,
        /// What came with it, as the host has it.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        attachments: Vec<Value>,
    }
    /// The calling agent wrote a message.
    ParentAgentMessage = "PARENT_AGENT_MESSAGE" {
        /// Which agent.
        parent_agent_id: String,
        /// What.
        content: String,
        /// What it is about.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        task_context: Option<Value>,
    }
    /// The agent wrote a message.
    LlmTextResponse = "LLM_TEXT_RESPONSE" {
        /// What.
        content: String,
        /// Which model wrote it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        model: Option<String>,
        /// What it cost.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        usage: Option<ResponseUsage>,
    }
    /// The agent calls a tool.
    LlmToolCall = "LLM_TOOL_CALL" {
        /// Which.
        tool_name: String,
        /// By which the outcome names the call.
        call_id: String,
        /// With what.
        #[serde(default)]
        arguments: Value,
    }
    /// The agent calls a skill.
    LlmSkillCall = "LLM_SKILL_CALL" {
        /// Which.
        skill_name: String,
        /// By which the outcome names the call.
        call_id: String,
        /// With what.
        #[serde(default)]
        input: Value,
    }
    /// The agent calls another agent.
    LlmSubagentSpawn = "LLM_SUBAGENT_SPAWN" {
        /// By which the outcome names it.
        sub_agent_id: String,
        /// What sort of agent.
        agent_type: String,
        /// What it shall do.
        task: String,
        /// How.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        config: Option<Value>,
    }
    /// The agent writes a message to an agent that it called.
    LlmSubagentMessage = "LLM_SUBAGENT_MESSAGE" {
        /// To which.
        sub_agent_id: String,
        /// What.
        content: String,
    }
    /// The agent asks the person.
    LlmClarification = "LLM_CLARIFICATION" {
        /// What.
        question: String,
        /// Why it asks.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        needed_info: Vec<String>,
    }
    /// A tool answered.
    ToolResult = "TOOL_RESULT" {
        /// Which.
        tool_name: String,
        /// Whose call.
        call_id: String,
        /// What.
        #[serde(default)]
        result: Value,
        /// Whether it succeeded.
        success: bool,
    }
    /// A skill answered.
    SkillResult = "SKILL_RESULT" {
        /// Which.
        skill_name: String,
        /// Whose call.
        call_id: String,
        /// What.
        #[serde(default)]
        result: Value,
        /// Whether it succeeded.
        success: bool,
    }
    /// An agent that was called answered.
    SubagentResult = "SUBAGENT_RESULT" {
        /// Which.
        sub_agent_id: String,
        /// What.
        #[serde(default)]
        result: Value,
        /// Whether it succeeded.
        success: bool,
    }
    /// A tool failed.
    ToolError = "TOOL_ERROR" {
        /// Which.
        tool_name: String,
        /// Whose call.
        call_id: String,
        /// How.
        error: String,
        /// More of it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        error_details: Option<Value>,
    }
    /// A skill failed.
    SkillError = "SKILL_ERROR" {
        /// Which.
        skill_name: String,
        /// Whose call.
        call_id: String,
        /// How.
        error: String,
        /// More of it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        error_details: Option<Value>,
    }
    /// An agent that was called failed.
    SubagentError = "SUBAGENT_ERROR" {
        /// Which.
        sub_agent_id: String,
        /// How.
        error: String,
        /// More of it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        error_details: Option<Value>,
    }
    /// The system around the agent failed.
    SystemError = "SYSTEM_ERROR" {
        /// The fault's name.
        code: String,
        /// How.
        error: String,
        /// More of it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        error_details: Option<Value>,
    }
    /// The task is done.
    TaskCompleted = "TASK_COMPLETED" {
        /// With what.
        #[serde(default)]
        result: Value,
        /// In short.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        summary: Option<String>,
    }
    /// The agent gave the task up.
    TaskAbandoned = "TASK_ABANDONED" {
        /// Why.
        reason: String,
        /// What there is.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        partial_result: Option<Value>,
    }
    /// The task was ended from outside.
    TaskTerminated = "TASK_TERMINATED" {
        /// Who.
        terminated_by: TerminatedBy,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<String>,
    }
    /// What is to be done.
    TodoSet = "TODO_SET" {
        /// All of it.
        todos: Vec<TodoItem>,
    }
    /// A thing is done.
    TodoCompleted = "TODO_COMPLETED" {
        /// Which.
        todo_id: String,
        /// With what.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        result: Option<Value>,
    }
    /// A thing has parts.
    TodoExpanded = "TODO_EXPANDED" {
        /// Which.
        todo_id: String,
        /// Its parts.
        sub_items: Vec<TodoItem>,
    }
    /// A thing is another one now.
    TodoUpdated = "TODO_UPDATED" {
        /// Which.
        todo_id: String,
        /// What is to be done.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        content: Option<String>,
        /// How far it has come.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        status: Option<TodoStatus>,
    }
    /// A thing is not to be done any more.
    TodoDeleted = "TODO_DELETED" {
        /// Which.
        todo_id: String,
    }
    /// Chunks that must stay.
    MemoryMarkCritical = "MEMORY_MARK_CRITICAL" {
        /// Their ids; ids that the state does not hold are passed over.
        chunk_ids: Vec<super::ChunkId>,
    }
    /// Chunks that shall go. Critical ones stay.
    MemoryForget = "MEMORY_FORGET" {
        /// Their ids; ids that the state does not hold are passed over.
        chunk_ids: Vec<super::ChunkId>,
    }
    /// The agent wants room.
    MemoryCompactManual = "MEMORY_COMPACT_MANUAL" {
        /// Which chunks shall be compacted; without any, all that can be.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        chunk_ids: Option<Vec<super::ChunkId>>,
    }
    /// The host's own count shows that room is needed.
    MemoryCompactAuto = "MEMORY_COMPACT_AUTO" {
        /// Its limit.
        threshold: u64,
        /// What it counted.
        current_size: u64,
    }
    /// Something from outside.
    ExternalInject = "EXTERNAL_INJECT" {
        /// From where.
        source: String,
        /// What.
        content: String,
    }
    /// A time has come.
    ExternalTimer = "EXTERNAL_TIMER" {
        /// Which timer.
        timer_id: String,
        /// What it was set for.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        payload: Option<Value>,
    }
    /// The surroundings changed.
    EnvironmentChange = "ENVIRONMENT_CHANGE" {
        /// What of them.
        change_type: String,
        /// What it was.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        old_value: Option<Value>,
        /// What it is.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        new_value: Option<Value>,
    }
    /// Something is tried again.
    ExecutionRetry = "EXECUTION_RETRY" {
        /// What.
        retry_target: String,
        /// For which time, counted from 1.
        attempt_number: u32,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        previous_error: Option<String>,
    }
    /// The thread resumes, from an earlier state where one is named.
    ExecutionResume = "EXECUTION_RESUME" {
        /// From which.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        resume_from_state_id: Option<super::StateId>,
    }
    /// The thread is paused until it is resumed.
    ExecutionPause = "EXECUTION_PAUSE" {
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<String>,
    }
}

impl EventType {
    /// A person's words, without attachments.
    ///
    /// ```
    /// use daybook_domain::working::EventType;
    /// assert_eq!(EventType::user("Hello, agent!").name(), "USER_MESSAGE");
    /// ```
    pub fn user(content: impl Into<String>) -> Self {
        Self::UserMessage {
            content: content.into(),
            attachments: Vec::new(),
        }
    }

    /// The agent's words, without the model that wrote them.
    ///
    /// ```
    /// use daybook_domain::working::EventType;
    /// assert_eq!(EventType::assistant("Hello, Ada!").name(), "LLM_TEXT_RESPONSE");
    /// ```
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::LlmTextResponse {
            content: content.into(),
            model: None,
            usage: None,
        }
    }

    /// A call of a tool by the agent's model. `call_id` connects it with its result.
    ///
    /// ```
    /// use daybook_domain::working::EventType;
    /// let call = EventType::tool_call("read", "c1", serde_json::json!({"path": "notes.txt"}));
    /// assert_eq!(call.name(), "LLM_TOOL_CALL");
    /// ```
    pub fn tool_call(
        tool: impl Into<String>,
        call_id: impl Into<String>,
        arguments: Value,
    ) -> Self {
        Self::LlmToolCall {
            tool_name: tool.into(),
            call_id: call_id.into(),
            arguments,
        }
    }

    /// The result of the call with this id.
    ///
    /// ```
    /// use daybook_domain::working::EventType;
    /// assert_eq!(EventType::tool_result("read", "c1", "two lines".into()).name(), "TOOL_RESULT");
    /// ```
    pub fn tool_result(tool: impl Into<String>, call_id: impl Into<String>, result: Value) -> Self {
        Self::ToolResult {
            tool_name: tool.into(),
            call_id: call_id.into(),
            result,
            success: true,
        }
    }

    /// The events of a model's answer: its text, if any, then its calls, in their order. `model` is the
    /// name of the model. Arguments that are no JSON are kept as a string, as the model wrote them.
    ///
    /// ```
    /// use daybook_domain::model::{FinishReason, ModelReply, ToolCall};
    /// use daybook_domain::working::EventType;
    /// let call = ToolCall { id: "c1".into(), name: "read".into(), arguments: r#"{"path":"a.txt"}"#.into() };
    /// let reply = ModelReply {
    ///     text: "I look.".into(), answer: None, calls: vec![call],
    ///     finish: FinishReason::Tools, usage: None, requests: 1,
    /// };
    /// let words: Vec<_> = EventType::reply(&reply, "home/qwen3").iter().map(|event| event.name()).collect();
    /// assert_eq!(words, ["LLM_TEXT_RESPONSE", "LLM_TOOL_CALL"]);
    /// ```
    #[must_use]
    pub fn reply(reply: &ModelReply, model: &str) -> Vec<Self> {
        let words = (!reply.text.trim().is_empty()).then(|| Self::LlmTextResponse {
            content: reply.text.clone(),
            model: Some(model.to_owned()),
            usage: reply.usage.map(|usage| ResponseUsage {
                input_tokens: usage.input,
                output_tokens: usage.output,
            }),
        });
        let call = |call: &ToolCall| Self::LlmToolCall {
            tool_name: call.name.clone(),
            call_id: call.id.clone(),
            arguments: serde_json::from_str(&call.arguments)
                .unwrap_or_else(|_| call.arguments.clone().into()),
        };
        words
            .into_iter()
            .chain(reply.calls.iter().map(call))
            .collect()
    }

    /// The outcome of a model's call: the tool's result, or how it failed.
    ///
    /// ```
    /// use daybook_domain::model::ToolCall;
    /// use daybook_domain::working::EventType;
    /// let call = ToolCall { id: "c1".into(), name: "read".into(), arguments: "{}".into() };
    /// assert_eq!(EventType::outcome(&call, Ok("two lines".into())).name(), "TOOL_RESULT");
    /// assert_eq!(EventType::outcome(&call, Err("no such file".into())).name(), "TOOL_ERROR");
    /// ```
    #[must_use]
    pub fn outcome(call: &ToolCall, outcome: Result<Value, String>) -> Self {
        let (tool_name, call_id) = (call.name.clone(), call.id.clone());
        match outcome {
            Ok(result) => Self::ToolResult {
                tool_name,
                call_id,
                result,
                success: true,
            },
            Err(error) => Self::ToolError {
                tool_name,
                call_id,
                error,
                error_details: None,
            },
        }
    }
}
