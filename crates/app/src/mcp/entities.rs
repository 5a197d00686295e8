//! The tools that keep entities, in the memory of the person.

use anyhow::{Result, bail};
use daybook_engine::extract::entity_tools::MAX_LISTED_ENTITIES;
use daybook_engine::files::WriterLock;
use daybook_engine::files::entities::{self as kept, Card, EntityError, SavedEntity};
use daybook_engine::files::layout::folder;
use daybook_engine::files::stamp::CommitStamp;
use daybook_text::names::redact_name;
use daybook_text::redact::Redactor;
use serde::Deserialize;
use serde_json::json;

use super::answer::nothing_yet;
use super::arguments::count;
use super::call::McpCall;
use crate::service::agent_answer::{AgentAnswer, MAX_BYTES};
use crate::service::entities::{below, write_entities};
use crate::service::person_scope;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateEntityArguments {
    entity: String,
    name: String,
    description: String,
}

pub(super) fn create(call: &McpCall<'_>, given: &CreateEntityArguments) -> Result<AgentAnswer> {
    let card = Card {
        name: given.name.clone(),
        description: given.description.clone(),
    };
    let entity = given.entity.trim();
    let (saved, path) = write(call, |lock, stamp, redactor| {
        kept::create(lock, stamp, redactor, entity, &card)
    })?;
    let text = kept::change_message(entity, None, saved.created, saved.secrets);
    let data = json!({
        "summary": text, "entity": entity, "created": saved.created, "path": path,
    });
    Ok(AgentAnswer { text, data })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UpsertRecordArguments {
    entity: String,
    record: String,
    content: String,
}

pub(super) fn upsert(call: &McpCall<'_>, given: &UpsertRecordArguments) -> Result<AgentAnswer> {
    let (entity, record) = (given.entity.trim(), given.record.trim());
    if given.content.is_empty() {
        return Err(EntityError::Refused("Content is required.".to_owned()).into());
    }
    let (saved, path) = write(call, |lock, stamp, redactor| {
        kept::upsert(lock, stamp, redactor, entity, record, &given.content)
    })?;
    let record = &*redact_name(&Redactor::current(), record);
    let text = kept::change_message(entity, Some(record), saved.created, saved.secrets);
    let data = json!({
        "summary": text, "entity": entity, "record": record, "created": saved.created,
        "path": path,
    });
    Ok(AgentAnswer { text, data })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListEntitiesArguments {
    #[serde(default, deserialize_with = "count")]
    limit: Option<u64>,
}

pub(super) fn list(call: &McpCall<'_>, asked: &ListEntitiesArguments) -> Result<AgentAnswer> {
    let limit = match asked.limit {
        None => usize::MAX,
        Some(limit) if (1..=MAX_LISTED_ENTITIES as u64).contains(&limit) => usize::try_from(limit)?,
        Some(limit) => bail!("limit is {limit}; give 1 to {MAX_LISTED_ENTITIES}"),
    };
    let none = json!({ "summary": "No memory entities.", "count": 0 });
    let Some(daybook) = call.memory.existing()? else {
        return Ok(nothing_yet(none));
    };
    let folder = folder(&daybook.root, &person_scope(&daybook));
    let found = kept::list(&folder, limit);
    if found.is_empty() {
        let text = "No memory entities.".to_owned();
        return Ok(AgentAnswer { text, data: none });
    }
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for listed in &found {
        let line = listed.line();
        used += line.len() + 1;
        if used > MAX_BYTES - 200 {
            let left = found.len() - lines.len();
            let index = below(&daybook, "INDEX.md");
            lines.push(format!(
                "{left} more did not fit; `read` {index} lists all."
            ));
            break;
        }
        lines.push(line);
    }
    let text = lines.join("\n");
    let data = json!({ "summary": text, "count": found.len() });
    Ok(AgentAnswer { text, data })
}

/// Runs `work` on the person's memory folder, one call at a time. Returns its result, and the path below the data folder.
fn write(
    call: &McpCall<'_>,
    work: impl FnOnce(&WriterLock<'_>, &CommitStamp, &Redactor) -> Result<SavedEntity, EntityError>,
) -> Result<(SavedEntity, String)> {
    let _turn = call.memory.writing();
    call.check_cancelled()?;
    let daybook = call.memory.existing_or_new()?;
    let saved = write_entities(&daybook, work)?;
    let path = below(&daybook, &saved.path);
    Ok((saved, path))
}
