//! Changes of what is remembered, as a person requests them: by themselves, or through an agent.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use daybook_domain::{Scope, ScopeKind};
use daybook_engine::files::layout::CURATED;
use daybook_engine::files::stamp::Person;
use daybook_engine::jobs;
use daybook_engine::jobs::memories::Memory;
use daybook_engine::jobs::persons_word::{ChangeOutcome, PersonsChange, change};
use daybook_engine::stop::Stop;
use daybook_text::redact::Redactor;
use serde::Serialize;
use utoipa::ToSchema;

use super::memories::{by_id, find_memories};
use super::scope_choice::{ScopeChoice, busy};
use super::{RequestError, agent_memory};
use crate::process::{block_on, run_on_new_thread};
use crate::terminal::silent::HiddenUpdate;
use crate::wiring::Daybook;

/// Longest new words of a line, in bytes.
const EDIT_BYTES: usize = 16 * 1024;

/// Who requests a change of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestedBy {
    /// The person, at the command line or in the window.
    Person,
    /// An agent, over HTTP or MCP: the history says so.
    Agent,
}

/// The person as the author of what an agent does for them.
pub(crate) fn through_agent(daybook: &Daybook) -> Person {
    Person::named(&format!("{} (through an agent)", daybook.settings.person))
}

/// The author of a change in the history.
pub(crate) fn author(daybook: &Daybook, by: RequestedBy) -> Person {
    match by {
        RequestedBy::Person => Person::named(&daybook.settings.person),
        RequestedBy::Agent => through_agent(daybook),
    }
}

/// A change that was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MemoryChange {
    /// Whose memory it was made in.
    pub(crate) scope: String,
    /// The commit that made it, and that `daybook undo` takes back; `null` when everything was so already,
    /// or where a mem0 server keeps the memory.
    pub(crate) commit: Option<String>,
}

/// Makes a change of a scope's memory.
pub(crate) async fn make_change(
    daybook: &Daybook,
    scope: &Scope,
    wanted: &PersonsChange,
    by: RequestedBy,
) -> Result<MemoryChange> {
    let (worker, _lock) = daybook.worker().await?;
    match change(&worker, scope, wanted, &author(daybook, by)).await? {
        ChangeOutcome::Made(commit) => Ok(MemoryChange {
            scope: scope.to_string(),
            commit: Some(commit.to_string()),
        }),
        ChangeOutcome::Unchanged => Ok(MemoryChange {
            scope: scope.to_string(),
            commit: None,
        }),
        ChangeOutcome::Busy => bail!(busy(scope)),
    }
}

/// Adds to memories that several projects share, and that the person's own file repeats, those that they repeat.
async fn with_sources(daybook: &Daybook, memories: &[Memory]) -> Result<Vec<Memory>> {
    let mut all = memories.to_vec();
    for memory in memories {
        let Some(observation) = memory.observation() else {
            continue;
        };
        let held = daybook.store.observations(&memory.scope).await?;
        if held.iter().any(|one| one.id == observation.id) {
            continue;
        }
        let anywhere = ScopeChoice::default();
        let found = find_memories(daybook, &anywhere, None, &observation.text).await?;
        // Words that a room, a team or an agent has in common with the person are not theirs to withdraw.
        let is_shared = |one: &Memory| one.scope.kind == ScopeKind::Project;
        let is_new =
            |one: &Memory| is_shared(one) && !one.observations.is_empty() && !all.contains(one);
        let sources: Vec<Memory> = found.exact.into_iter().filter(is_new).collect();
        all.extend(sources);
    }
    Ok(all)
}

/// Forgets memories, one commit for each scope.
pub(crate) async fn forget(
    daybook: &Daybook,
    memories: &[Memory],
    by: RequestedBy,
) -> Result<Vec<MemoryChange>> {
    let memories = with_sources(daybook, memories).await?;
    let scopes: BTreeSet<&Scope> = memories.iter().map(|memory| &memory.scope).collect();
    let mut changes = Vec::new();
    for scope in scopes {
        let here = memories.iter().filter(|memory| memory.scope == *scope);
        let wanted = PersonsChange::Forget(here.cloned().collect());
        changes.push(make_change(daybook, scope, &wanted, by).await?);
    }
    Ok(changes)
}

/// Gives the memory with this id other words. One that no file shows yet is written into the files first.
pub(crate) async fn edit_by_id(
    daybook: &Daybook,
    choice: &ScopeChoice,
    (id, words): (&str, &str),
    by: RequestedBy,
) -> Result<(MemoryChange, usize)> {
    if let Some(edited) = edit_there(daybook, choice, None, (id, words)).await? {
        return Ok(edited);
    }
    let mut memory = by_id(daybook, choice, id).await?;
    if memory.lines.is_empty() {
        run_on_new_thread(|| block_on(write_due_files(daybook)))?;
        memory = by_id(daybook, choice, id).await?;
    }
    edit(daybook, &memory, words, by).await
}

/// Gives a memory that a mem0 server keeps other words; `None` where it keeps none of this name.
pub(crate) async fn edit_there(
    daybook: &Daybook,
    choice: &ScopeChoice,
    here: Option<&Path>,
    (name, words): (&str, &str),
) -> Result<Option<(MemoryChange, usize)>> {
    let Some(kept) = agent_memory::find(daybook, choice, here, name).await? else {
        return Ok(None);
    };
    let words = checked_words(words)?;
    let redacted = Redactor::current().redact(&words);
    kept.update(&redacted.text).await?;
    let change = MemoryChange {
        scope: kept.scope.to_string(),
        commit: None,
    };
    Ok(Some((change, redacted.findings.len())))
}

/// Forgets a memory that a mem0 server keeps, and returns its id; `None` where it keeps none of this name.
pub(crate) async fn forget_there(
    daybook: &Daybook,
    choice: &ScopeChoice,
    here: Option<&Path>,
    name: &str,
) -> Result<Option<(String, MemoryChange)>> {
    let Some(kept) = agent_memory::find(daybook, choice, here, name).await? else {
        return Ok(None);
    };
    kept.delete().await?;
    let change = MemoryChange {
        scope: kept.scope.to_string(),
        commit: None,
    };
    Ok(Some((kept.memory.id, change)))
}

/// New words on one line, if they are words.
fn checked_words(words: &str) -> Result<String> {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() || words.len() > EDIT_BYTES {
        bail!(RequestError::Invalid(format!(
            "new words are 1 to {EDIT_BYTES} bytes; `daybook forget` removes a line"
        )));
    }
    Ok(words)
}

/// Writes the memory files that are due; no session is read.
async fn write_due_files(daybook: &Daybook) -> Result<()> {
    let (mut worker, _lock) = daybook.attended_worker().await?;
    worker.limits.proposals = false;
    jobs::write_due(&worker, &Stop::default(), &HiddenUpdate).await?;
    Ok(())
}

/// Gives a line of a memory file other words. Returns the change, and how many secrets in the words were hidden.
pub(crate) async fn edit(
    daybook: &Daybook,
    memory: &Memory,
    words: &str,
    by: RequestedBy,
) -> Result<(MemoryChange, usize)> {
    let words = checked_words(words)?;
    let Some(line) = memory.lines.first() else {
        bail!(RequestError::Conflict(format!(
            "no memory file shows it; `daybook pin` puts it into {CURATED} first"
        )));
    };
    let redacted = Redactor::current().redact(&words);
    let (secrets, words) = (redacted.findings.len(), redacted.text.into_owned());
    let wanted = PersonsChange::Edit(line.clone(), words);
    let made = make_change(daybook, &memory.scope, &wanted, by).await?;
    Ok((made, secrets))
}
