//! Lists, finds and searches memories in mem0's form.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use daybook_domain::index::MemoryLayer;
use daybook_domain::page::read_all;
use daybook_domain::{Reach, Scope, ScopeKind};
use daybook_engine::files::persons_lines::words_of;
use daybook_engine::jobs::memories::Memory;
use serde::Serialize;
use serde_json::json;

use super::attributes::Attributes;
use super::filter::Filter;
use super::{AllOwners, Mem0Memory, Owners};
use crate::service::RequestError;
use crate::service::memories::{by_id, memories_of};
use crate::service::memory_history::history_of;
use crate::service::recall::{RecallQuery, answer_query_in, reindex_edited_files};
use crate::service::scope_choice::ScopeChoice;
use crate::terminal::output::rfc3339;
use crate::wiring::Daybook;

/// Answers that are asked of recall for each that is wanted: a filter may leave some out.
const SPARE: usize = 4;
/// Most answers that are asked of recall.
const MOST: usize = 2_000;

/// Which memories are wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    pub(crate) filter: Filter,
    /// Whether memories after their last day are wanted, too.
    pub(crate) expired: bool,
}

/// Who owns memories, in mem0's words.
#[derive(Debug, Serialize)]
pub(crate) struct Entity {
    id: String,
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    total_memories: usize,
    created_at: Option<String>,
    updated_at: Option<String>,
}

/// A change of a memory, in mem0's words.
#[derive(Debug, Serialize)]
pub(crate) struct HistoryEntry {
    id: String,
    memory_id: String,
    old_memory: Option<String>,
    new_memory: Option<String>,
    event: &'static str,
    created_at: Option<String>,
    updated_at: Option<String>,
    is_deleted: bool,
    user_id: Option<String>,
    metadata: serde_json::Map<String, serde_json::Value>,
    input: Vec<serde_json::Value>,
}

/// The memories that are wanted, newest first, with what Daybook knows of each.
pub(super) async fn found(daybook: &Daybook, wanted: &Wanted) -> Result<Vec<(Memory, Mem0Memory)>> {
    let today = today(daybook);
    let mut found = Vec::new();
    for scope in scopes(daybook, &wanted.filter).await? {
        let attributes = Attributes::load(daybook, &scope)?;
        for memory in memories_of(daybook, &scope).await? {
            let Some(shown) = Mem0Memory::of(&memory, &attributes) else {
                continue;
            };
            let is_wanted = wanted.expired || !shown.is_expired(&today);
            if is_wanted && wanted.filter.fits(&json!(shown)) {
                found.push((memory, shown));
            }
        }
    }
    found.sort_by(|(_, a), (_, b)| (&b.created_at, &a.id).cmp(&(&a.created_at, &b.id)));
    Ok(found)
}

/// The memories that are wanted, newest first.
pub(crate) async fn list(daybook: &Daybook, wanted: &Wanted) -> Result<Vec<Mem0Memory>> {
    let found = found(daybook, wanted).await?;
    Ok(found.into_iter().map(|(_, shown)| shown).collect())
}

/// The wanted memories that answer a question, best first.
pub(crate) async fn search(
    daybook: &Daybook,
    question: &str,
    (wanted, limit): (&Wanted, usize),
    threshold: f64,
) -> Result<Vec<Mem0Memory>> {
    let listed = list(daybook, wanted).await?;
    let mut by_id: BTreeMap<&str, &Mem0Memory> = listed
        .iter()
        .map(|memory| (memory.id.as_str(), memory))
        .collect();
    let query = RecallQuery {
        text: question.to_owned(),
        limit: (limit * SPARE).min(MOST),
        layers: vec![MemoryLayer::Observation],
        ..RecallQuery::default()
    };
    reindex_edited_files(daybook).await?;
    let reach = Reach::Scopes(scopes(daybook, &wanted.filter).await?);
    let recalled = answer_query_in(daybook, &query, reach).await?;
    let answers = recalled.answers.iter().filter_map(|answer| {
        let id = answer.observation.as_ref()?.to_string();
        let memory = by_id.remove(id.as_str())?.clone();
        (answer.score >= threshold).then_some(Mem0Memory {
            score: Some(answer.score),
            ..memory
        })
    });
    Ok(answers.take(limit).collect())
}

/// The memory with an id.
pub(super) async fn one(daybook: &Daybook, id: &str) -> Result<(Memory, Mem0Memory)> {
    let memory = by_id(daybook, &ScopeChoice::default(), id).await?;
    let attributes = Attributes::load(daybook, &memory.scope)?;
    match Mem0Memory::of(&memory, &attributes) {
        Some(shown) => Ok((memory, shown)),
        None => bail!(RequestError::NotFound(format!(
            "the memory {id} belongs to {}, which is no user and no agent",
            memory.scope
        ))),
    }
}

/// The memory with an id, in mem0's form.
pub(crate) async fn get(daybook: &Daybook, id: &str) -> Result<Mem0Memory> {
    one(daybook, id).await.map(|(_, shown)| shown)
}

/// What became of a memory, oldest first. One that no file shows yet was only added.
pub(crate) async fn history(daybook: &Daybook, id: &str) -> Result<Vec<HistoryEntry>> {
    let (memory, shown) = one(daybook, id).await?;
    let entry =
        |event, (old, new): (Option<String>, Option<String>), at: Option<String>| HistoryEntry {
            id: String::new(),
            memory_id: shown.id.clone(),
            old_memory: old,
            is_deleted: new.is_none(),
            new_memory: new,
            event,
            created_at: shown.created_at.clone(),
            updated_at: at,
            user_id: shown.owners.user_id.clone(),
            metadata: shown.metadata.clone(),
            input: Vec::new(),
        };
    let past = history_of(daybook, &memory, shown.id.clone()).await?;
    let changes = past.changes.into_iter().rev();
    let mut entries: Vec<HistoryEntry> = changes
        .map(|change| {
            let event = match (&change.before, &change.after) {
                (None, _) => "ADD",
                (Some(_), Some(_)) => "UPDATE",
                (Some(_), None) => "DELETE",
            };
            let (before, after) = (change.before, change.after);
            let words = (before.as_deref().map(words), after.as_deref().map(words));
            entry(event, words, change.commit.time)
        })
        .collect();
    if entries.is_empty() {
        let added = Some(shown.memory.clone());
        entries.push(entry("ADD", (None, added), shown.created_at.clone()));
    }
    for (number, entry) in entries.iter_mut().enumerate() {
        entry.id = format!("{}-{}", shown.id, number + 1);
    }
    Ok(entries)
}

/// The words of a line: without its citation, and the marks around a person's own words.
fn words(line: &str) -> String {
    let words = words_of(line);
    let quoted = words
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    quoted.map_or_else(|| words.clone(), str::to_owned)
}

/// Who owns memories.
pub(crate) async fn entities(daybook: &Daybook) -> Result<Vec<Entity>> {
    let mut all: BTreeMap<(&str, String), Entity> = BTreeMap::new();
    let expired = true;
    let listed = list(
        daybook,
        &Wanted {
            expired,
            ..Wanted::default()
        },
    )
    .await?;
    for memory in &listed {
        for (kind, name) in owners_of(&memory.owners) {
            let key = (kind, name.to_owned());
            let entity = all.entry(key).or_insert_with(|| Entity {
                id: format!("{kind}/{name}"),
                name: name.to_owned(),
                kind,
                total_memories: 0,
                created_at: memory.created_at.clone(),
                updated_at: memory.updated_at.clone(),
            });
            entity.total_memories += 1;
            entity.created_at = entity.created_at.take().min(memory.created_at.clone());
            entity.updated_at = entity.updated_at.take().max(memory.updated_at.clone());
        }
    }
    Ok(all.into_values().collect())
}

fn owners_of(owners: &AllOwners) -> impl Iterator<Item = (&'static str, &str)> {
    let named = [
        ("user", &owners.user_id),
        ("agent", &owners.agent_id),
        ("app", &owners.app_id),
        ("run", &owners.run_id),
    ];
    named
        .into_iter()
        .filter_map(|(kind, name)| Some((kind, name.as_deref()?)))
}

/// The scopes that memories which fit can be in.
async fn scopes(daybook: &Daybook, filter: &Filter) -> Result<Vec<Scope>> {
    let known = read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?;
    let (user, agent) = (filter.required("user_id"), filter.required("agent_id"));
    let may_hold = |scope: &Scope| match scope.kind {
        ScopeKind::User => user.is_none_or(|user| scope.name == user),
        ScopeKind::Agent => user.is_none() && agent.is_none_or(|agent| scope.name == agent),
        ScopeKind::Project | ScopeKind::Team | ScopeKind::Room => false,
    };
    let scopes = known.into_iter().map(|state| state.scope);
    let is_here = |scope: &Scope| !daybook.settings.is_in_mem0(scope);
    Ok(scopes.filter(may_hold).filter(is_here).collect())
}

/// The filter for all that belongs to these owners.
pub(crate) fn of_owners(owners: &Owners) -> Result<Filter> {
    let fields = json!(owners).as_object().cloned().unwrap_or_default();
    Filter::parse(fields)
}

/// The day, as mem0 writes the last day of a memory.
fn today(daybook: &Daybook) -> String {
    let now = rfc3339(daybook.clock.now()).unwrap_or_default();
    now.get(..10).unwrap_or_default().to_owned()
}
