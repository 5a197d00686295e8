//! Runs calls of tools: checks the arguments, calls the service, and renders the answer.
//!
//! The answer to bad arguments names the fault and what is allowed; the client's agent reads
//! it and tries again.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use daybook_domain::{Origin, Scope, Tenant};
use daybook_engine::recall::interface_use::InterfaceUse;
use daybook_engine::recall::search::RecallResult;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::{self, BUDGET};
use super::arguments::{AROUND, count, parse_arguments, within};
use super::call::McpCall;
use super::entities;
use super::graph;
use super::history;
use super::mem0;
use super::memory_tool;
use super::resources::memory_file;
use super::tools::ToolKind;
use crate::process::block_on;
use crate::service::agent_answer::{AgentAnswer, render_recalled};
use crate::service::caller::{NamedCaller, named_caller, reach_of};
use crate::service::context::{ContextQuery, context_at, context_in};
use crate::service::current_place::CurrentPlace;
use crate::service::notes::{NoteAuthor, NoteScope, save_note};
use crate::service::recall::{RecallQuery, answer_query, parse_layer, recall_json};
use crate::service::show::load_cited;

/// Default number of answers to a question.
const ANSWERS: u64 = 8;
/// Most answers to a question.
const MOST_ANSWERS: u64 = 50;

/// Runs a call of a tool.
pub(super) fn answer(
    call: &McpCall<'_>,
    kind: ToolKind,
    arguments: Map<String, Value>,
) -> Result<AgentAnswer> {
    call.check_cancelled()?;
    match kind {
        ToolKind::Recall => recall(call, &parse_arguments(arguments)?),
        ToolKind::Remember => remember(call, parse_arguments(arguments)?),
        ToolKind::Context => context(call, parse_arguments(arguments)?),
        ToolKind::Show => show(call, &parse_arguments(arguments)?),
        ToolKind::CreateEntity => entities::create(call, &parse_arguments(arguments)?),
        ToolKind::UpsertRecord => entities::upsert(call, &parse_arguments(arguments)?),
        ToolKind::ListEntities => entities::list(call, &parse_arguments(arguments)?),
        ToolKind::History => history::history(call, parse_arguments(arguments)?),
        ToolKind::Diff => history::diff(call, parse_arguments(arguments)?),
        ToolKind::Why => history::why(call, parse_arguments(arguments)?),
        ToolKind::List => history::list(call, parse_arguments(arguments)?),
        ToolKind::Forget => history::forget(call, parse_arguments(arguments)?),
        ToolKind::Edit => history::edit(call, parse_arguments(arguments)?),
        ToolKind::Memory => memory_tool::run(call, parse_arguments(arguments)?),
        ToolKind::Graph(tool) => graph::run(call, tool, arguments),
        ToolKind::Mem0(tool) => mem0::run(call, tool, arguments),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecallArguments {
    question: String,
    agent: Option<String>,
    user: Option<String>,
    room_id: Option<String>,
    team: Option<String>,
    project: Option<String>,
    #[serde(default, deserialize_with = "count")]
    limit: Option<u64>,
    scope: Option<String>,
    layer: Option<String>,
    #[serde(default)]
    tools: bool,
    #[serde(default)]
    strict: bool,
    at: Option<String>,
}

fn recall(call: &McpCall<'_>, asked: &RecallArguments) -> Result<AgentAnswer> {
    if asked.question.trim().is_empty() {
        bail!("the question is empty; say what you want to know");
    }
    let limit = within("limit", asked.limit.unwrap_or(ANSWERS), 1, MOST_ANSWERS)?;
    let layer = asked.layer.as_deref().map(parse_layer).transpose();
    let mut query = RecallQuery {
        text: asked.question.clone(),
        limit,
        layers: layer.map_err(|why| anyhow!(why))?.into_iter().collect(),
        scopes: asked.scope.iter().cloned().collect(),
        tools: asked.tools,
        strict: asked.strict,
        at: asked.at.clone(),
        ..RecallQuery::default()
    };
    let Some(daybook) = call.memory.existing()? else {
        return Ok(answer::nothing_yet(recall_json(&RecallResult::default())));
    };
    query.caller = Some(named_caller!(asked).held_in(&daybook.settings.venue));
    let recalled = call.read(answer_query(&daybook, &query))?;
    let answer = render_recalled(&daybook, &recalled);
    // Only answers that fit were shown, so only those are recorded.
    call.record_shown(InterfaceUse::Text(answer.text.clone()));
    Ok(answer)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RememberArguments {
    /// `words` in the last release.
    #[serde(alias = "words")]
    text: String,
    scope: Option<String>,
    #[serde(default)]
    everywhere: bool,
    agent: Option<String>,
    user: Option<String>,
    room_id: Option<String>,
    team: Option<String>,
    project: Option<String>,
}

fn remember(call: &McpCall<'_>, given: RememberArguments) -> Result<AgentAnswer> {
    if given.text.trim().is_empty() {
        bail!("the text is empty; say what to remember");
    }
    let caller = named_caller!(given);
    let whose = match (given.scope, given.everywhere) {
        (Some(_), true) => bail!("give either a scope or everywhere, not both"),
        (Some(name), false) => NoteScope::Named(name),
        (None, true) => NoteScope::Person,
        (None, false) => NoteScope::Current,
    };
    if let NoteScope::Named(name) = &whose
        && Scope::parse(&Tenant::local(), name).is_none()
    {
        bail!("\"{name}\" is not a scope; write for example project/tidepool or user/ada");
    }
    let folder = call.folder()?;
    let _turn = call.memory.writing();
    call.check_cancelled()?;
    let daybook = call.memory.existing_or_new()?;
    let caller = caller.held_in(&daybook.settings.venue);
    let note = block_on(save_note(
        &daybook,
        &given.text,
        &whose,
        folder.as_deref(),
        NoteAuthor {
            origin: Origin::Assistant,
            caller: Some(&caller),
        },
        call.stop,
    ))?;
    Ok(answer::saved_note(&note))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContextArguments {
    agent: Option<String>,
    user: Option<String>,
    room_id: Option<String>,
    team: Option<String>,
    folder: Option<PathBuf>,
    branch: Option<String>,
    project: Option<String>,
    #[serde(default, deserialize_with = "count")]
    budget: Option<u64>,
}

fn context(call: &McpCall<'_>, asked: ContextArguments) -> Result<AgentAnswer> {
    let budget = asked
        .budget
        .map(|budget| within("budget", budget, 1, BUDGET as u64));
    let budget = budget.transpose()?;
    let folder = match asked.folder {
        Some(folder) if folder.is_relative() && call.memory.is_served() => {
            bail!(
                "{} is not a whole path, such as /home/ada/tidepool",
                folder.display()
            )
        }
        Some(folder) => std::path::absolute(&folder)
            .map(Some)
            .with_context(|| format!("{} is not a folder", folder.display()))?,
        None => call.folder()?,
    };
    let Some(daybook) = call.memory.existing()? else {
        return Ok(answer::nothing_yet(json!({ "text": "" })));
    };
    let usual = daybook.settings.context_tokens.min(BUDGET);
    let query = ContextQuery {
        project: asked.project,
        branch: asked.branch,
        budget: Some(budget.unwrap_or(usual)),
        caller: NamedCaller {
            agent: asked.agent,
            user: asked.user,
            room_id: asked.room_id,
            team: asked.team,
            project: None,
        }
        .held_in(&daybook.settings.venue),
        ..ContextQuery::default()
    };
    let context = match folder {
        Some(folder) => call.read(context_in(&daybook, &folder, &query))?,
        None => {
            let nowhere = Path::new("");
            call.read(context_at(
                &daybook,
                CurrentPlace::unknown(),
                nowhere,
                &query,
            ))?
        }
    };
    call.record_shown(InterfaceUse::Text(context.assembled.text.clone()));
    Ok(answer::context(&context))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShowArguments {
    #[serde(alias = "citation")]
    target: String,
    #[serde(default, deserialize_with = "count")]
    around: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    offset: Option<u64>,
    agent: Option<String>,
    user: Option<String>,
    room_id: Option<String>,
    team: Option<String>,
    project: Option<String>,
}

fn show(call: &McpCall<'_>, asked: &ShowArguments) -> Result<AgentAnswer> {
    let target = asked.target.trim();
    let target = target.strip_prefix('[').unwrap_or(target);
    let target = target.strip_suffix(']').unwrap_or(target);
    let around = within("around", asked.around.unwrap_or(0), 0, AROUND.into())?;
    let offset = within("offset", asked.offset.unwrap_or(0), 0, u32::MAX.into())?;
    if target.is_empty() {
        bail!("the target is empty; give a citation such as 7f78:L636, or a memory file");
    }
    let Some(daybook) = call.memory.existing()? else {
        bail!("nothing is remembered yet, so there is no {target}");
    };
    let caller = named_caller!(asked).held_in(&daybook.settings.venue);
    let reach = call.read(reach_of(&daybook, Some(&caller)))?;
    if target.contains(['/', '\\']) || target.ends_with(".md") {
        let text = call.read(memory_file(&daybook, &reach, target))?;
        let answer = answer::page(target, &text, offset)?;
        call.record_shown(InterfaceUse::Text(answer.text.clone()));
        return Ok(answer);
    }
    let around = u32::try_from(around)?;
    let (session, events) = call.read(load_cited(&daybook, target, around, &reach))?;
    let text = answer::events_text(&daybook, &events);
    let mut answer = answer::page(target, &text, offset)?;
    answer.data["session"] = json!(session.id.to_string());
    call.record_shown(InterfaceUse::of_words(target, &session.id, &events));
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use daybook_engine::stop::Stop;

    use super::*;
    use crate::mcp::call::CANCELLED;
    use crate::mcp::memory::LazyMemory;

    #[test]
    fn a_cancelled_call_waits_no_longer_and_begins_nothing() {
        let memory = LazyMemory::new(PathBuf::from("/nowhere"), Vec::new());
        let stop = Stop::default();
        let call = McpCall {
            memory: &memory,
            stop: &stop,
            used: Mutex::default(),
        };
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| call.read(std::future::pending::<Result<()>>()));
            stop.request_end();
            let ended = waiting.join().expect("no panic");
            assert_eq!(ended.expect_err("it was cancelled").to_string(), CANCELLED);
        });
        let begun = answer(&call, ToolKind::Recall, Map::new());
        assert_eq!(begun.expect_err("it was cancelled").to_string(), CANCELLED);
    }
}
