//! Reads and writes the person's entities, for every interface. They are written under the folder's lock, shared with other
//! machines, and found by recall at once.
//!
//! Not here: what a change does to the files (`daybook_engine::files::entities`).

use anyhow::{Result, bail};
use daybook_domain::Scope;
use daybook_domain::page::read_all;
use daybook_engine::files::entities::manage::{Entity, read};
use daybook_engine::files::entities::{Card, EntityError, list};
use daybook_engine::files::layout::folder;
use daybook_engine::files::own_secrets::masked;
use daybook_engine::files::reindex::reindex;
use daybook_engine::files::stamp::CommitStamp;
use daybook_engine::files::{FilesConfig, Folder, LockOutcome, WriterLock};
use daybook_engine::jobs::WorkLimits;
use daybook_text::redact::Redactor;
use serde::Serialize;
use utoipa::ToSchema;

use super::scope_choice::busy;
use super::{RequestError, person_scope};
use crate::process::block_on;
use crate::wiring::Daybook;

/// An entity with everything that is kept of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShownEntity {
    /// Its word.
    #[schema(example = "tidepool")]
    entity: String,
    /// Its name; `null` when its file has no readable head.
    name: Option<String>,
    /// What it is.
    description: Option<String>,
    /// Its other names.
    aliases: Vec<String>,
    /// What is kept of it.
    records: Vec<ShownRecord>,
    /// Entities that its records link to.
    links: Vec<String>,
    /// Entities whose records link to it.
    linked_from: Vec<String>,
}

/// A record of an entity.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShownRecord {
    /// Its name.
    record: String,
    /// Its text.
    content: String,
}

impl From<Entity> for ShownEntity {
    fn from(entity: Entity) -> Self {
        let (name, description) = match entity.card {
            Some(card) => (Some(card.name), Some(card.description)),
            None => (None, None),
        };
        let records = entity.records.into_iter();
        Self {
            entity: entity.entity,
            name,
            description,
            aliases: entity.aliases,
            records: records
                .map(|(record, content)| ShownRecord { record, content })
                .collect(),
            links: entity.links,
            linked_from: entity.linked_from,
        }
    }
}

/// An entity in a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShownCard {
    /// Its word.
    #[schema(example = "tidepool")]
    pub(crate) entity: String,
    /// Its name; `null` when its file has no readable head.
    name: Option<String>,
    /// What it is.
    description: Option<String>,
}

/// The entities of the person, in the order of their index, without secrets.
pub(crate) fn list_cards(daybook: &Daybook, limit: usize) -> Vec<ShownCard> {
    let redactor = Redactor::current();
    let mask = |text: String| masked(&redactor, &text).into_owned();
    let listed = list(&folder(&daybook.root, &person_scope(daybook)), limit);
    let listed = listed.into_iter().map(|listed| {
        let card = listed.card;
        let (name, description) = card.map(|card| (card.name, card.description)).unzip();
        ShownCard {
            entity: listed.entity,
            name: name.map(mask),
            description: description.map(mask),
        }
    });
    listed.collect()
}

/// The entity that `name` names, without its secrets.
pub(crate) fn read_entity(daybook: &Daybook, name: &str) -> Result<ShownEntity> {
    let read = read(&folder(&daybook.root, &person_scope(daybook)), name);
    match read {
        Ok(entity) => Ok(shown(entity).into()),
        Err(EntityError::Refused(why)) => bail!(RequestError::NotFound(why)),
        Err(error) => Err(error.into()),
    }
}

/// The entity without its secrets: a person may have written some into the file.
pub(crate) fn shown(entity: Entity) -> Entity {
    let redactor = Redactor::current();
    let mask = |text: String| masked(&redactor, &text).into_owned();
    Entity {
        card: entity.card.map(|card| Card {
            name: mask(card.name),
            description: mask(card.description),
        }),
        aliases: entity.aliases.into_iter().map(mask).collect(),
        records: entity
            .records
            .into_iter()
            .map(|(name, body)| (mask(name), mask(body)))
            .collect(),
        ..entity
    }
}

/// Runs `work` with the lock on the person's memory folder.
pub(crate) fn write_entities<T>(
    daybook: &Daybook,
    work: impl FnOnce(&WriterLock<'_>, &CommitStamp, &Redactor) -> Result<T, EntityError>,
) -> Result<T> {
    let scope = person_scope(daybook);
    let folder = Folder::open(folder(&daybook.root, &scope), FilesConfig::default())?;
    let lock = match folder.try_lock(WorkLimits::default().folder_wait)? {
        LockOutcome::Held(lock) => lock,
        LockOutcome::Busy => bail!(busy(&scope)),
    };
    let stamp = daybook.stamp();
    if let Some(sharing) = daybook.sharing() {
        block_on(async { Ok(sharing.sync(&scope, &lock, &stamp).await?) })?;
    }
    let done = work(&lock, &stamp, &Redactor::current())?;
    block_on(index_entities(daybook, &scope, lock, &stamp))?;
    Ok(done)
}

async fn index_entities(
    daybook: &Daybook,
    scope: &Scope,
    lock: WriterLock<'_>,
    stamp: &CommitStamp,
) -> Result<()> {
    let now = daybook.clock.now();
    let known = read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?;
    if !known.iter().any(|state| state.scope == *scope) {
        daybook.store.touch_scope(scope, now).await?;
    }
    match daybook.sharing() {
        Some(sharing) => {
            sharing.sync_and_reindex(scope, &lock, stamp).await?;
        }
        None => {
            drop(lock);
            reindex(&*daybook.store, &daybook.root, scope, now).await?;
        }
    }
    Ok(())
}

/// The path of a file of the person's memory, below the data folder.
pub(crate) fn below(daybook: &Daybook, file: &str) -> String {
    let folder = folder(&daybook.root, &person_scope(daybook));
    let below = folder.strip_prefix(&daybook.root).unwrap_or(&folder);
    format!("{}/{file}", below.display())
}
