//! The tools about what is remembered, how it came to be, and what the person wants changed.
//!
//! A change that an agent requests is a commit of the person's through an agent, which `daybook undo` takes back.

use anyhow::{Result, bail};
use daybook_domain::Scope;
use daybook_engine::recall::interface_use::InterfaceUse;
use daybook_text::fence::{NOTICE, enclose, one_line};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::arguments::{count, within};
use super::call::McpCall;
use crate::process::block_on;
use crate::service::agent_answer::{AgentAnswer, MAX_MEMORY_BYTES, cut, with_notice};
use crate::service::caller::{named_caller, reach_of};
use crate::service::history::{
    DiffStates, HistoryCommit, SHORT_ID, StateDiff, commits, diff as compare, parse_file,
};
use crate::service::line_origin::{LineOrigin, why as explain};
use crate::service::memories::{
    ListQuery, ListedMemory, described, find_memories, find_one, list as list_memories, none_found,
    parse_kind,
};
use crate::service::memory_changes::{
    MemoryChange, RequestedBy, edit as edit_line, edit_there, forget as forget_memories,
    forget_there,
};
use crate::service::scope_choice::{ScopeChoice, open_folder};
use crate::wiring::Daybook;

/// Default and most items of a list.
const ITEMS: (u64, u64) = (20, 100);
/// Most matches that a refusal names.
const MATCHES: usize = 10;

/// The scope that a call names, for the caller that it names.
macro_rules! choice {
    ($asked:ident, $daybook:ident) => {
        ScopeChoice {
            scope: $asked.scope.clone(),
            project: None,
            caller: Some(named_caller!($asked).held_in(&$daybook.settings.venue)),
        }
    };
}

/// Renders an answer: what of it fits, enclosed as recalled memory.
fn answer(call: &McpCall<'_>, what: &str, lines: &[String], data: &impl Serialize) -> AgentAnswer {
    let body = cut(&lines.join("\n"), MAX_MEMORY_BYTES);
    let text = enclose(&format!("{what} ({NOTICE}):\n{body}\n"));
    call.record_shown(InterfaceUse::Text(text.clone()));
    let data = match json!(data) {
        data if data.to_string().len() <= MAX_MEMORY_BYTES => data,
        _ => json!({ "left_out": "the answer is too long; ask for less, or read the text" }),
    };
    AgentAnswer {
        text,
        data: with_notice(data),
    }
}

fn opened(call: &McpCall<'_>) -> Result<std::sync::Arc<Daybook>> {
    match call.memory.existing()? {
        Some(daybook) => Ok(daybook),
        None => bail!("nothing is remembered yet"),
    }
}

async fn one_scope(call: &McpCall<'_>, daybook: &Daybook, choice: ScopeChoice) -> Result<Scope> {
    choice.one(daybook, call.folder()?.as_deref()).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryArguments {
    file: Option<String>,
    scope: Option<String>,
    #[serde(default, deserialize_with = "count")]
    limit: Option<u64>,
    agent: Option<String>,
    user: Option<String>,
    room_id: Option<String>,
    team: Option<String>,
    project: Option<String>,
}

pub(super) fn history(call: &McpCall<'_>, asked: HistoryArguments) -> Result<AgentAnswer> {
    let limit = within("limit", asked.limit.unwrap_or(ITEMS.0), 1, ITEMS.1)?;
    let daybook = opened(call)?;
    let (scope, found) = call.read(async {
        let scope = one_scope(call, &daybook, choice!(asked, daybook)).await?;
        let folder = open_folder(&daybook, &scope).await?;
        let file = asked.file.map(|file| parse_file(&daybook, &scope, &file));
        let found = commits(&folder, file.transpose()?.as_ref(), limit)?;
        Ok((scope, found))
    })?;
    let lines: Vec<String> = found.iter().map(commit_line).collect();
    let data = json!({ "scope": scope.to_string(), "commits": found });
    let what = format!("Changes of the memory of {scope}, newest first");
    Ok(answer(call, &what, &lines, &data))
}

fn commit_line(commit: &HistoryCommit) -> String {
    let (id, time) = (&commit.id[..SHORT_ID], commit.time.as_deref());
    let time = time.unwrap_or("undated");
    one_line(&format!(
        "{id} {time} {}: {}",
        commit.author, commit.subject
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DiffArguments {
    from: Option<String>,
    to: Option<String>,
    at: Option<String>,
    file: Option<String>,
    scope: Option<String>,
    agent: Option<String>,
    user: Option<String>,
    room_id: Option<String>,
    team: Option<String>,
    project: Option<String>,
}

pub(super) fn diff(call: &McpCall<'_>, asked: DiffArguments) -> Result<AgentAnswer> {
    let daybook = opened(call)?;
    let states = DiffStates {
        from: asked.from,
        to: asked.to,
        at: asked.at,
    };
    let found = call.read(async {
        let scope = one_scope(call, &daybook, choice!(asked, daybook)).await?;
        let folder = open_folder(&daybook, &scope).await?;
        let file = asked.file.map(|file| parse_file(&daybook, &scope, &file));
        compare(
            &daybook,
            (&scope, &folder),
            &states,
            file.transpose()?.as_ref(),
        )
    })?;
    let what = format!("What changed in the memory of {}", found.scope);
    Ok(answer(call, &what, &diff_lines(&found), &found))
}

fn diff_lines(diff: &StateDiff) -> Vec<String> {
    let mut lines = vec![commit_line(&diff.to)];
    for file in &diff.files {
        lines.push(format!("{} ({})", file.file, file.change));
        for line in &file.lines {
            let sign = if line.change == "added" { '+' } else { '-' };
            lines.push(format!("{sign} {}", line.text));
        }
    }
    lines
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WhyArguments {
    line: String,
    scope: Option<String>,
    agent: Option<String>,
    user: Option<String>,
    room_id: Option<String>,
    team: Option<String>,
    project: Option<String>,
}

pub(super) fn why(call: &McpCall<'_>, asked: WhyArguments) -> Result<AgentAnswer> {
    let daybook = opened(call)?;
    let origin = call.read(async {
        let here = call.folder()?;
        let choice = choice!(asked, daybook);
        let memory = find_one(&daybook, &choice, here.as_deref(), &asked.line).await?;
        let reach = reach_of(&daybook, choice.caller.as_ref()).await?;
        explain(&daybook, &memory, &reach).await
    })?;
    Ok(answer(
        call,
        "Where this comes from",
        &origin_lines(&origin),
        &origin,
    ))
}

fn origin_lines(origin: &LineOrigin) -> Vec<String> {
    let mut lines = vec![origin.line.clone()];
    lines.push(format!("{} {}", origin.scope, origin.shown_in.join(", ")));
    lines.extend(
        origin
            .since
            .iter()
            .map(|since| format!("since {}", commit_line(since))),
    );
    lines.extend(
        origin
            .before
            .iter()
            .map(|before| format!("before: {before}")),
    );
    lines.extend(origin.observations.iter().map(memory_line));
    for source in &origin.sources {
        let text = source.text.as_deref().unwrap_or_default();
        lines.push(format!(
            "[{}] {}: {}",
            source.citation,
            source.by,
            one_line(text)
        ));
    }
    lines
}

fn memory_line(memory: &ListedMemory) -> String {
    let stated = if memory.stated { "stated" } else { "concluded" };
    let citation = memory.citations.first().map(|it| format!(" [{it}]"));
    let (id, citation) = (&memory.id[..SHORT_ID], citation.unwrap_or_default());
    let (kind, trust) = (memory.kind, memory.trust);
    one_line(&format!(
        "{id} {} ({kind}, {stated}, trust {trust}){citation}",
        memory.text
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArguments {
    kind: Option<String>,
    query: Option<String>,
    after: Option<String>,
    scope: Option<String>,
    #[serde(default, deserialize_with = "count")]
    limit: Option<u64>,
    agent: Option<String>,
    user: Option<String>,
    room_id: Option<String>,
    team: Option<String>,
    project: Option<String>,
}

pub(super) fn list(call: &McpCall<'_>, asked: ListArguments) -> Result<AgentAnswer> {
    let kind = asked.kind.as_deref().map(parse_kind).transpose()?;
    let query = ListQuery {
        kinds: kind.into_iter().collect(),
        words: asked.query,
        limit: within("limit", asked.limit.unwrap_or(ITEMS.0), 1, ITEMS.1)?,
        after: asked.after,
    };
    let daybook = opened(call)?;
    let found = call.read(async {
        let scope = one_scope(call, &daybook, choice!(asked, daybook)).await?;
        list_memories(&daybook, &scope, &query).await
    })?;
    let mut lines: Vec<String> = found.memories.iter().map(memory_line).collect();
    lines.extend(found.next.iter().map(|next| format!("more: after {next}")));
    let what = format!("What {} remembers, {} in all", found.scope, found.total);
    Ok(answer(call, &what, &lines, &found))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ForgetArguments {
    memory: String,
    scope: Option<String>,
    agent: Option<String>,
    user: Option<String>,
    room_id: Option<String>,
    team: Option<String>,
    project: Option<String>,
}

pub(super) fn forget(call: &McpCall<'_>, asked: ForgetArguments) -> Result<AgentAnswer> {
    let daybook = opened(call)?;
    let here = call.folder()?;
    let _turn = call.memory.writing();
    call.check_cancelled()?;
    let (forgotten, changes) = block_on(async {
        let choice = choice!(asked, daybook);
        if let Some((_, change)) =
            forget_there(&daybook, &choice, here.as_deref(), &asked.memory).await?
        {
            return Ok((1, vec![change]));
        }
        let found = find_memories(&daybook, &choice, here.as_deref(), &asked.memory).await?;
        if found.exact.is_empty() {
            if found.near.is_empty() {
                bail!(none_found(&asked.memory));
            }
            let list: String = found.near.iter().take(MATCHES).map(described).collect();
            bail!(
                "nothing has exactly this id or text; ask the person which of these, and give its id:\n{list}"
            );
        }
        let changes = forget_memories(&daybook, &found.exact, RequestedBy::Agent).await?;
        Ok((found.exact.len(), changes))
    })?;
    let data = json!({ "forgotten": forgotten, "changes": changes });
    let text = format!("Forgotten: {forgotten}.{}", taken_back(&changes));
    Ok(AgentAnswer { text, data })
}

/// How a change is taken back; empty where a mem0 server made it.
fn taken_back(changes: &[MemoryChange]) -> &'static str {
    match changes.iter().any(|change| change.commit.is_some()) {
        true => " `daybook undo` takes it back.",
        false => "",
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EditArguments {
    line: String,
    words: String,
    scope: Option<String>,
    agent: Option<String>,
    user: Option<String>,
    room_id: Option<String>,
    team: Option<String>,
    project: Option<String>,
}

pub(super) fn edit(call: &McpCall<'_>, asked: EditArguments) -> Result<AgentAnswer> {
    let daybook = opened(call)?;
    let here = call.folder()?;
    let _turn = call.memory.writing();
    call.check_cancelled()?;
    let (change, secrets) = block_on(async {
        let choice = choice!(asked, daybook);
        let named = (asked.line.as_str(), asked.words.as_str());
        if let Some(edited) = edit_there(&daybook, &choice, here.as_deref(), named).await? {
            return Ok(edited);
        }
        let memory = find_one(&daybook, &choice, here.as_deref(), &asked.line).await?;
        edit_line(&daybook, &memory, &asked.words, RequestedBy::Agent).await
    })?;
    let undo = taken_back(std::slice::from_ref(&change));
    let text = format!("Changed in {}.{undo}", change.scope);
    let data = json!({ "change": change, "secrets_hidden": secrets });
    Ok(AgentAnswer { text, data })
}
