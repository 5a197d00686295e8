//! Builds the messages for an agent's model from a thread's state and recalled memory, within a budget.

use anyhow::Result;
use daybook_domain::SessionId;
use daybook_domain::seams::SessionCatalog;
use daybook_domain::working::ChunkType;
use daybook_engine::jobs::is_named_agent;
use daybook_llm::Wire;
use daybook_working::context::{
    ContextOptions, ContextStyle, OmissionReason, ThreadContext, build,
};
use serde_json::{Map, Value, json};

use super::answers::names;
use crate::service::RequestError;
use crate::service::agent_answer::render_recalled;
use crate::service::caller::NamedCaller;
use crate::service::recall::{RecallQuery, answer_query};
use crate::wiring::Daybook;

/// Most answers that are recalled.
const RECALLED: usize = 10;

/// The format of the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum MessageFormat {
    OpenAi,
    Anthropic,
    /// Daybook's own: `role`, `text`, `calls`, `answers`.
    #[default]
    Neutral,
}

/// Options of a thread's context.
#[derive(Debug, Clone, Default)]
pub(crate) struct ThreadContextQuery {
    /// The model's whole window.
    pub(crate) max_tokens: u32,
    /// Tokens of the window that are kept free for the answer.
    pub(crate) answer_tokens: u32,
    /// Tokens of the window that the schemas of tools take.
    pub(crate) tools_tokens: u32,
    pub(crate) system: Option<String>,
    /// The question that memory is searched for.
    pub(crate) recall: Option<String>,
    /// Chunks of these types are left out.
    pub(crate) exclude: Vec<ChunkType>,
    pub(crate) format: MessageFormat,
    pub(crate) style: ContextStyle,
}

/// Builds the messages of a thread, and lists the chunks in them.
pub(crate) async fn context(
    daybook: &Daybook,
    thread: &SessionId,
    query: &ThreadContextQuery,
) -> Result<Value> {
    let state = super::state(daybook, thread, None).await?;
    let recalled = match &query.recall {
        Some(question) => recall(daybook, thread, question).await?,
        None => None,
    };
    let options = ContextOptions {
        system: query.system.as_deref(),
        recalled: recalled.as_deref(),
        tools_tokens: query.tools_tokens,
        exclude_types: &query.exclude,
        style: query.style,
        ..ContextOptions::new(query.max_tokens, query.answer_tokens)
    };
    let manager = daybook.thread_manager()?;
    let context = build(&state, &options, &*manager.config().count);
    let context = context.map_err(|error| RequestError::Invalid(error.to_string()))?;
    Ok(context_json(
        thread,
        &state.id.to_string(),
        &context,
        query.format,
    ))
}

/// Renders what memory holds about `question` for agents, without answers from this thread itself.
async fn recall(daybook: &Daybook, thread: &SessionId, question: &str) -> Result<Option<String>> {
    if !daybook.settings.has_memory_for(&thread.agent) {
        return Ok(None);
    }
    let query = RecallQuery {
        text: question.to_owned(),
        limit: RECALLED,
        strict: true,
        caller: Some(caller_of(daybook, thread).await?),
        ..RecallQuery::default()
    };
    let mut found = answer_query(daybook, &query).await?;
    found
        .answers
        .retain(|answer| answer.session.as_ref() != Some(thread));
    Ok((!found.answers.is_empty()).then(|| render_recalled(daybook, &found).text))
}

/// Who a thread's agent is to memory: the agent, the user, the room and the team of its session. The agent of a thread
/// without one is not named.
async fn caller_of(daybook: &Daybook, thread: &SessionId) -> Result<NamedCaller> {
    let session = SessionCatalog::session(&*daybook.store, thread).await?;
    let Some(session) = session else {
        return Ok(NamedCaller::default());
    };
    let is_named = is_named_agent(&thread.agent);
    Ok(NamedCaller {
        agent: is_named.then(|| thread.agent.clone()),
        user: session.user,
        room_id: session.venue.room_id,
        team: session.venue.team,
        project: None,
    })
}

fn context_json(
    thread: &SessionId,
    state: &str,
    context: &ThreadContext,
    format: MessageFormat,
) -> Value {
    let mut fields = match messages(context, format) {
        Value::Object(fields) => fields,
        messages => Map::from_iter([("messages".to_owned(), messages)]),
    };
    let left_out = context.left_out.iter().map(|left| {
        let why = match left.why {
            OmissionReason::Filtered => "filtered",
            OmissionReason::NoRoom => "no_room",
        };
        json!({ "chunk": left.chunk, "why": why })
    });
    let about = [
        ("thread", json!(thread.to_string())),
        ("state", json!(state)),
        ("tokens", json!(context.tokens)),
        ("included", json!(names(&context.included))),
        ("shortened", json!(names(&context.shortened))),
        ("left_out", left_out.collect()),
        ("recalled", json!(context.recalled)),
    ];
    fields.extend(about.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(fields)
}

fn messages(context: &ThreadContext, format: MessageFormat) -> Value {
    match format {
        MessageFormat::OpenAi => Wire::OpenAi.messages(&context.messages),
        MessageFormat::Anthropic => Wire::Anthropic.messages(&context.messages),
        MessageFormat::Neutral => json!(context.messages),
    }
}
