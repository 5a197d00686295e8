//! What requests and answers about threads look like. The descriptions here are the published ones.

use daybook_domain::working::ChunkType;
use daybook_engine::working::context::Style;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::fault::Fault;
use crate::threads::{Applied, ContextAsked, Listed, Manner};

/// A thread that is wanted.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateRequest {
    /// Its name; a session's label or id goes on with that session. One of its own when left out.
    #[schema(min_length = 1, max_length = 200, example = "2026-03-02-tides")]
    pub(super) name: Option<String>,
    /// Whose it is; `agent` when left out.
    #[schema(min_length = 1, max_length = 64, example = "harbour-bot")]
    pub(super) agent: Option<String>,
    /// Begin with what this thread holds; without `name` and `agent`.
    pub(super) from: Option<String>,
    /// Or held: the id of one of its states.
    pub(super) state: Option<String>,
}

/// Which threads.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// Most threads.
    #[serde(default = "fifty")]
    #[param(minimum = 1, maximum = 1000, default = 50)]
    pub(super) limit: usize,
}

fn fifty() -> usize {
    50
}

/// Threads.
#[derive(Serialize, ToSchema)]
pub(super) struct ListAnswer {
    pub(super) threads: Vec<Listed>,
}

/// A thread that is gone.
#[derive(Serialize, ToSchema)]
pub(super) struct DeletedAnswer {
    /// The thread, as `agent:id`.
    pub(super) thread: String,
    /// Always true.
    pub(super) deleted: bool,
}

/// Which state.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StateQuery {
    /// The id of an earlier state; the present one when left out.
    pub(super) state: Option<String>,
    /// All states that there were.
    #[serde(default)]
    pub(super) history: bool,
}

/// Whether to wait.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DispatchQuery {
    /// Whether the answer says what the events came to; without, only that they are on disk.
    #[serde(default = "yes")]
    #[param(default = true)]
    pub(super) wait: bool,
}

fn yes() -> bool {
    true
}

/// One event, or several.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it describes a body that is read as it comes")]
pub(super) enum EventBody {
    One(EventShape),
    Several(Vec<EventShape>),
}

/// Something that happened, with the seed's names. A type that the seed does not have is your own.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes a body that is read as it comes")]
pub(super) struct EventShape {
    /// What: `USER_MESSAGE`, `LLM_TEXT_RESPONSE`, `LLM_TOOL_CALL`, `TOOL_RESULT`, …
    #[schema(example = "USER_MESSAGE")]
    r#type: String,
    /// When, in milliseconds since 1970 UTC; now when left out.
    timestamp: Option<i64>,
    /// Whatever else is known of it; `eventId` makes sending it again safe.
    metadata: Option<Map<String, Value>>,
    /// The fields of its type: `content`, `toolName`, `callId`, …
    #[serde(flatten)]
    fields: Map<String, Value>,
}

/// What events came to, in their order.
#[derive(Serialize, ToSchema)]
pub(super) struct DispatchAnswer {
    pub(super) results: Vec<Applied>,
}

/// What is to be condensed.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CompactRequest {
    /// Ids of chunks; all that can be when left out.
    #[serde(default)]
    #[schema(max_items = 1000)]
    pub(super) chunks: Vec<String>,
}

/// Whether a thread stands still.
#[derive(Serialize, ToSchema)]
pub(super) struct PausedAnswer {
    /// The thread, as `agent:id`.
    pub(super) thread: String,
    /// Whether it does now.
    pub(super) paused: bool,
    /// Whether it did before.
    pub(super) was_paused: bool,
}

/// What is to be sent to a model.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ContextRequest {
    /// The model's whole window, in tokens.
    #[schema(minimum = 1, example = 8192)]
    max_tokens: u32,
    /// Of these, kept free for the answer.
    #[serde(default = "answer")]
    #[schema(default = 1024)]
    answer_tokens: u32,
    /// Of these, taken by the schemas of tools.
    #[serde(default)]
    tools_tokens: u32,
    /// The system prompt; never left out.
    system: Option<String>,
    /// Put in what memory says about this, of at most 4096 bytes.
    #[schema(min_length = 1, max_length = 4096)]
    pub(super) recall: Option<String>,
    /// Chunks of these types are left out, such as `ENVIRONMENT`.
    #[serde(default)]
    exclude_types: Vec<String>,
    /// Whose way of writing messages.
    #[serde(default)]
    wire: WireName,
    /// How calls are written.
    #[serde(default)]
    style: StyleName,
}

fn answer() -> u32 {
    1024
}

/// Whose way of writing messages.
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

impl TryFrom<ContextRequest> for ContextAsked {
    type Error = Fault;

    fn try_from(asked: ContextRequest) -> Result<Self, Fault> {
        let types = asked.exclude_types.iter().map(|word| {
            let found = ChunkType::ALL.into_iter().find(|kind| kind.word() == word);
            found.ok_or_else(|| {
                let all = ChunkType::ALL.map(ChunkType::word).join(", ");
                Fault::request(format!("exclude_types: {word} is none of {all}"))
            })
        });
        Ok(Self {
            max_tokens: asked.max_tokens,
            answer_tokens: asked.answer_tokens,
            tools_tokens: asked.tools_tokens,
            system: asked.system,
            recall: asked.recall,
            exclude: types.collect::<Result<_, _>>()?,
            manner: match asked.wire {
                WireName::OpenAi => Manner::OpenAi,
                WireName::Anthropic => Manner::Anthropic,
                WireName::Neutral => Manner::Neutral,
            },
            style: match asked.style {
                StyleName::Native => Style::Native,
                StyleName::Tagged => Style::Tagged,
            },
        })
    }
}
