//! The forms of requests and answers about threads. The doc comments here are published in openapi.json.

use daybook_domain::working::ChunkType;
use daybook_working::context::ContextStyle;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strum::VariantArray;
use utoipa::{IntoParams, ToSchema};

use super::fault::HttpFault;
use crate::threads::{EventResult, MessageFormat, ThreadContextQuery, ThreadListing};

/// A request for a thread.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateRequest {
    /// Its name; a session's label or id continues that session. Generated when left out.
    #[schema(min_length = 1, max_length = 200, example = "2026-03-02-tides")]
    pub(super) name: Option<String>,
    /// The agent that it belongs to; `agent` when left out.
    #[schema(min_length = 1, max_length = 64, example = "harbour-bot")]
    pub(super) agent: Option<String>,
    /// Whose words its human events are, where that is not the person of the data folder.
    #[schema(min_length = 1, max_length = 200, example = "ada")]
    pub(super) user: Option<String>,
    /// The room that it is held in: what is learned is the room's alone. Once the session exists, another room is
    /// refused.
    #[schema(min_length = 1, max_length = 512, example = "!pier:example.org")]
    pub(super) room_id: Option<String>,
    /// The thread of the room.
    #[schema(min_length = 1, max_length = 512, example = "$thread-1")]
    pub(super) thread_id: Option<String>,
    /// The team of agents that holds it, by its name or its members: what is learned is the team's.
    #[schema(min_length = 1, max_length = 512, example = "alpha+beta")]
    pub(super) team: Option<String>,
    /// Whose memory everything that is learned becomes, in place of what the rules choose: a scope that this agent takes
    /// part in, such as `agent/harbour-bot`.
    #[schema(min_length = 1, max_length = 512, example = "agent/harbour-bot")]
    pub(super) scope: Option<String>,
    /// Fork this thread: the fork has its agent, user, room and team.
    pub(super) from: Option<String>,
    /// The id of the state to fork; the current one when left out.
    pub(super) state: Option<String>,
}

/// The threads to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// Most threads.
    #[serde(default = "default_limit")]
    #[param(minimum = 1, maximum = 1000, default = 50, example = 20)]
    pub(super) limit: usize,
    /// The value of `next` of the page before.
    pub(super) after: Option<String>,
}

fn default_limit() -> usize {
    50
}

/// Threads.
#[derive(Serialize, ToSchema)]
pub(super) struct ListAnswer {
    pub(super) threads: Vec<ThreadListing>,
    /// The value of `after` for the next page; `null` on the last.
    pub(super) next: Option<String>,
}

/// A thread that was deleted.
#[derive(Serialize, ToSchema)]
pub(super) struct DeletedAnswer {
    /// The thread, as `agent:id`.
    pub(super) thread: String,
    /// Always true.
    pub(super) deleted: bool,
}

/// The state to show.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StateQuery {
    /// The id of an earlier state; the current one when left out.
    pub(super) state: Option<String>,
    /// All states up to the current one.
    #[serde(default)]
    pub(super) history: bool,
}

/// Whether the answer waits for the events.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DispatchQuery {
    /// Whether the answer holds the results of the events; otherwise only that they are on disk.
    #[serde(default = "default_wait")]
    #[param(default = true)]
    pub(super) wait: bool,
}

fn default_wait() -> bool {
    true
}

/// One event, or several.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it describes a body that is read as it comes")]
pub(super) enum EventBody {
    One(ThreadEventShape),
    Several(Vec<ThreadEventShape>),
}

/// One event, with Team9's field names. A type that Team9 does not have is your own.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes a body that is read as it comes")]
pub(super) struct ThreadEventShape {
    /// What: `USER_MESSAGE`, `LLM_TEXT_RESPONSE`, `LLM_TOOL_CALL`, `TOOL_RESULT`, …
    #[schema(example = "USER_MESSAGE")]
    r#type: String,
    /// When, in milliseconds since 1970 UTC; now when left out.
    timestamp: Option<i64>,
    /// Further fields; `eventId` makes sending it again safe.
    metadata: Option<Map<String, Value>>,
    /// The fields of its type: `content`, `toolName`, `callId`, …
    #[serde(flatten)]
    fields: Map<String, Value>,
}

/// The results of events, in their order.
#[derive(Serialize, ToSchema)]
pub(super) struct DispatchAnswer {
    pub(super) results: Vec<EventResult>,
}

/// The chunks to compact.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CompactRequest {
    /// Ids of chunks; all that can be compacted when left out.
    #[serde(default)]
    #[schema(max_items = 1000)]
    pub(super) chunks: Vec<String>,
}

/// Whether a thread is paused.
#[derive(Serialize, ToSchema)]
pub(super) struct PausedAnswer {
    /// The thread, as `agent:id`.
    pub(super) thread: String,
    /// Whether it is paused now.
    pub(super) paused: bool,
    /// Whether it was paused before.
    pub(super) was_paused: bool,
}

/// Options of the context for a model.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ContextRequest {
    /// The model's whole window, in tokens.
    #[schema(minimum = 1, example = 8192)]
    max_tokens: u32,
    /// Tokens of the window that are kept free for the answer.
    #[serde(default = "default_answer_tokens")]
    #[schema(default = 1024)]
    answer_tokens: u32,
    /// Tokens of the window that the schemas of tools take.
    #[serde(default)]
    tools_tokens: u32,
    /// The system prompt; never left out.
    system: Option<String>,
    /// Include what memory holds about this question, of at most 4096 bytes.
    #[schema(min_length = 1, max_length = 4096)]
    pub(super) recall: Option<String>,
    /// Chunks of these types are left out, such as `ENVIRONMENT`.
    #[serde(default)]
    exclude_types: Vec<String>,
    /// The format of the messages.
    #[serde(default)]
    wire: WireName,
    /// How calls are written.
    #[serde(default)]
    style: StyleName,
}

fn default_answer_tokens() -> u32 {
    1024
}

/// The format of the messages.
#[derive(Deserialize, ToSchema, Clone, Copy, Default)]
#[serde(rename_all = "snake_case")]
enum WireName {
    /// OpenAI's, and most others'.
    #[serde(rename = "openai")]
    OpenAi,
    /// Anthropic's.
    Anthropic,
    /// Daybook's own: `role`, `text`, `calls`, `answers`.
    #[default]
    Neutral,
}

/// How calls are written.
#[derive(Deserialize, ToSchema, Clone, Copy, Default)]
#[serde(rename_all = "snake_case")]
enum StyleName {
    /// As tool use.
    #[default]
    Native,
    /// As text in elements; nothing needs tools.
    Tagged,
}

impl TryFrom<ContextRequest> for ThreadContextQuery {
    type Error = HttpFault;

    fn try_from(request: ContextRequest) -> Result<Self, HttpFault> {
        let types = request.exclude_types.iter().map(|word| {
            word.parse().map_err(|_| {
                let all = ChunkType::VARIANTS.iter().map(|kind| kind.as_str());
                let all = all.collect::<Vec<_>>().join(", ");
                HttpFault::request(format!("exclude_types: {word} is none of {all}"))
            })
        });
        Ok(Self {
            max_tokens: request.max_tokens,
            answer_tokens: request.answer_tokens,
            tools_tokens: request.tools_tokens,
            system: request.system,
            recall: request.recall,
            exclude: types.collect::<Result<_, _>>()?,
            format: match request.wire {
                WireName::OpenAi => MessageFormat::OpenAi,
                WireName::Anthropic => MessageFormat::Anthropic,
                WireName::Neutral => MessageFormat::Neutral,
            },
            style: match request.style {
                StyleName::Native => ContextStyle::Native,
                StyleName::Tagged => ContextStyle::Tagged,
            },
        })
    }
}
