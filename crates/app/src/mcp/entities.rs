//! The tools that keep entities, in the memory of the person.

use anyhow::{Result, bail};
use daybook_domain::Scope;
use daybook_engine::extract::entity_tools::LISTED;
use daybook_engine::files::entities::{self as kept, Card, EntityError, Saved};
use daybook_engine::files::layout::folder;
use daybook_engine::files::reindex::reindex;
use daybook_engine::files::stamp::Stamp;
use daybook_engine::files::{FilesConfig, Folder, LockOutcome, WriterLock};
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::jobs::WorkLimits;
use serde::Deserialize;
use serde_json::json;

use super::answer::{ANSWER, Told, nothing_yet};
use super::arguments::count;
use super::calls::Call;
use crate::desk::person;
use crate::wiring::{Daybook, block_on};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Create {
    entity: String,
    name: String,
    description: String,
}

pub(super) fn create(call: &Call<'_>, given: &Create) -> Result<Told> {
    let card = Card {
        name: given.name.clone(),
        description: given.description.clone(),
    };
    let entity = given.entity.trim();
    let (saved, path) = write(call, |lock, stamp, redactor| {
        kept::create(lock, stamp, redactor, entity, &card)
    })?;
    let text = kept::told(entity, None, saved.created, saved.secrets);
    let data = json!({
        "summary": text, "entity": entity, "created": saved.created, "path": path,
    });
    Ok(Told { text, data })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Upsert {
    entity: String,
    record: String,
    content: String,
}

pub(super) fn upsert(call: &Call<'_>, given: &Upsert) -> Result<Told> {
    let (entity, record) = (given.entity.trim(), given.record.trim());
    if given.content.is_empty() {
        return Err(EntityError::Refused("Content is required.".to_owned()).into());
    }
    let (saved, path) = write(call, |lock, stamp, redactor| {
        kept::upsert(lock, stamp, redactor, entity, record, &given.content)
    })?;
    let text = kept::told(entity, Some(record), saved.created, saved.secrets);
    let data = json!({
        "summary": text, "entity": entity, "record": record, "created": saved.created,
        "path": path,
    });
    Ok(Told { text, data })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    #[serde(default, deserialize_with = "count")]
    limit: Option<u64>,
}

pub(super) fn list(call: &Call<'_>, asked: &List) -> Result<Told> {
    let limit = match asked.limit {
        None => usize::MAX,
        Some(limit) if (1..=LISTED as u64).contains(&limit) => usize::try_from(limit)?,
        Some(limit) => bail!("limit is {limit}; give 1 to {LISTED}"),
    };
    let none = json!({ "summary": "No memory entities.", "count": 0 });
    let Some(daybook) = call.memory.existing()? else {
        return Ok(nothing_yet(none));
    };
    let folder = folder(&daybook.root, &person(&daybook));
    let found = kept::list(&folder, limit);
    if found.is_empty() {
        let text = "No memory entities.".to_owned();
        return Ok(Told { text, data: none });
    }
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for listed in &found {
        let line = listed.line();
        used += line.len() + 1;
        if used > ANSWER - 200 {
            let left = found.len() - lines.len();
            let index = below(&daybook, &person(&daybook), "INDEX.md");
            lines.push(format!(
                "{left} more did not fit; `read` {index} lists all."
            ));
            break;
        }
        lines.push(line);
    }
    let text = lines.join("\n");
    let data = json!({ "summary": text, "count": found.len() });
    Ok(Told { text, data })
}

/// Writes with the person's memory folder held, and says where below the root.
fn write(
    call: &Call<'_>,
    work: impl FnOnce(&WriterLock<'_>, &Stamp, &Redactor) -> Result<Saved, EntityError>,
) -> Result<(Saved, String)> {
    let _turn = call.memory.writing();
    call.go_on()?;
    let daybook = call.memory.existing_or_new()?;
    let scope = person(&daybook);
    let folder = Folder::open(folder(call.memory.root(), &scope), FilesConfig::default())?;
    let lock = match folder.try_lock(WorkLimits::default().folder_wait)? {
        LockOutcome::Held(lock) => lock,
        LockOutcome::Busy => bail!("another process is writing the memory of {scope}; try again"),
    };
    let stamp = daybook.stamp();
    if let Some(sharing) = daybook.sharing() {
        block_on(async { Ok(sharing.meet(&scope, &lock, &stamp).await?) })?;
    }
    let saved = work(&lock, &stamp, &Redactor::standard())?;
    block_on(found_from_now_on(&daybook, &scope, lock, &stamp))?;
    let path = below(&daybook, &scope, &saved.path);
    Ok((saved, path))
}

async fn found_from_now_on(
    daybook: &Daybook,
    scope: &Scope,
    lock: WriterLock<'_>,
    stamp: &Stamp,
) -> Result<()> {
    let now = daybook.clock.now();
    let known = daybook.store.scopes(&daybook.tenant).await?;
    if !known.iter().any(|state| state.scope == *scope) {
        daybook.store.touch_scope(scope, now).await?;
    }
    match daybook.sharing() {
        Some(sharing) => {
            sharing.hand_over(scope, &lock, stamp).await?;
        }
        None => {
            drop(lock);
            reindex(&*daybook.store, &daybook.root, scope, now).await?;
        }
    }
    Ok(())
}

fn below(daybook: &Daybook, scope: &Scope, file: &str) -> String {
    let folder = folder(&daybook.root, scope);
    let below = folder.strip_prefix(&daybook.root).unwrap_or(&folder);
    format!("{}/{file}", below.display())
}
