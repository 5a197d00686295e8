//! Builds the messages for an agent's model from a thread's state and recalled memory, within a budget.

use std::collections::HashSet;

use anyhow::Result;
use daybook_domain::seams::SessionCatalog;
use daybook_domain::working::{ChunkType, ThreadState, WorkingFlowSubType};
use daybook_domain::{EventSeq, SessionId};
use daybook_engine::jobs::is_named_agent;
use daybook_engine::recall::confidence::Likelihood;
use daybook_engine::recall::search::ANSWERS;
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
/// Most of them from the thread's own events that were condensed.
const RECALLED_OWN: usize = 5;

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
        Some(question) => recall(daybook, thread, &state, question).await?,
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

/// Renders what memory holds about `question` for agents. What the thread itself holds as it was is not repeated; what of it
/// was condensed is recalled, whether or not it surely answers the question.
async fn recall(
    daybook: &Daybook,
    thread: &SessionId,
    state: &ThreadState,
    question: &str,
) -> Result<Option<String>> {
    if !daybook.settings.has_memory_for(&thread.agent) {
        return Ok(None);
    }
    let query = RecallQuery {
        text: question.to_owned(),
        limit: ANSWERS,
        caller: Some(caller_of(daybook, thread).await?),
        ..RecallQuery::default()
    };
    let mut found = answer_query(daybook, &query).await?;
    let is_likely = found.confidence.label == Likelihood::Likely;
    let held = held_events(state);
    let mut own = 0;
    found.answers.retain(|answer| {
        if answer.session.as_ref() != Some(thread) {
            return is_likely;
        }
        let is_condensed = answer.events.iter().any(|seq| !held.contains(seq));
        own += usize::from(is_condensed);
        is_condensed && own <= RECALLED_OWN
    });
    found.answers.truncate(RECALLED);
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

/// The events whose chunks the state holds as they were.
fn held_events(state: &ThreadState) -> HashSet<EventSeq> {
    let whole = state.chunks().filter(|chunk| {
        !chunk.is(WorkingFlowSubType::Compacted) && !chunk.metadata.custom.contains_key("pruned")
    });
    let seqs = whole.filter_map(|chunk| chunk.metadata.custom.get("seq")?.as_u64());
    seqs.map(EventSeq).collect()
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
