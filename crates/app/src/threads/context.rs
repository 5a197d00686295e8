//! What an agent's model is sent: a thread's state and recalled memory, within a budget.

use anyhow::Result;
use daybook_domain::SessionId;
use daybook_domain::working::ChunkType;
use daybook_engine::working::context::{Context, ContextOptions, Style, Why, build};
use daybook_llm::Wire;
use serde_json::{Map, Value, json};

use super::shown::names;
use crate::desk::{self, Ask, Unfit};
use crate::mcp::recalled;
use crate::wiring::Daybook;

/// Most things that are recalled.
const RECALLED: usize = 10;

/// Whose way of writing messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Manner {
    OpenAi,
    Anthropic,
    /// Daybook's own: `role`, `text`, `calls`, `answers`.
    #[default]
    Neutral,
}

/// What somebody wants to send to a model.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContextAsked {
    /// The model's whole window.
    pub(crate) max_tokens: u32,
    /// Of these, kept free for the answer.
    pub(crate) answer_tokens: u32,
    /// Of these, taken by the schemas of tools.
    pub(crate) tools_tokens: u32,
    pub(crate) system: Option<String>,
    /// What memory is asked.
    pub(crate) recall: Option<String>,
    /// Chunks of these types are left out.
    pub(crate) exclude: Vec<ChunkType>,
    pub(crate) manner: Manner,
    pub(crate) style: Style,
}

/// The messages of a thread, and what is in them.
pub(crate) async fn context(
    daybook: &Daybook,
    thread: &SessionId,
    asked: &ContextAsked,
) -> Result<Value> {
    let state = super::state(daybook, thread, None).await?;
    let recalled = match &asked.recall {
        Some(question) => recall(daybook, thread, question).await?,
        None => None,
    };
    let options = ContextOptions {
        system: asked.system.as_deref(),
        recalled: recalled.as_deref(),
        tools_tokens: asked.tools_tokens,
        exclude_types: &asked.exclude,
        style: asked.style,
        ..ContextOptions::new(asked.max_tokens, asked.answer_tokens)
    };
    let manager = daybook.manager()?;
    let context = build(&state, &options, &*manager.config().count);
    let context = context.map_err(|error| Unfit::Request(error.to_string()))?;
    Ok(shown(thread, &state.id.to_string(), &context, asked.manner))
}

/// What memory says about `question`, as agents are told it: nothing that this thread itself said.
async fn recall(daybook: &Daybook, thread: &SessionId, question: &str) -> Result<Option<String>> {
    let ask = Ask {
        text: question.to_owned(),
        limit: RECALLED,
        strict: true,
        ..Ask::default()
    };
    let mut found = desk::ask(daybook, &ask).await?;
    found
        .answers
        .retain(|answer| answer.session.as_ref() != Some(thread));
    Ok((!found.answers.is_empty()).then(|| recalled(daybook, &found).text))
}

fn shown(thread: &SessionId, state: &str, context: &Context, manner: Manner) -> Value {
    let mut shown = match messages(context, manner) {
        Value::Object(fields) => fields,
        messages => Map::from_iter([("messages".to_owned(), messages)]),
    };
    let left_out = context.left_out.iter().map(|left| {
        let why = match left.why {
            Why::Filtered => "filtered",
            Why::NoRoom => "no_room",
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
    shown.extend(about.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(shown)
}

fn messages(context: &Context, manner: Manner) -> Value {
    match manner {
        Manner::OpenAi => Wire::OpenAi.messages(&context.messages),
        Manner::Anthropic => Wire::Anthropic.messages(&context.messages),
        Manner::Neutral => json!(context.messages),
    }
}
