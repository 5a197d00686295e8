//! What a person does to their entities: reading, renaming, joining and deleting them, and giving them other names.
//!
//! Each change takes the folder's writer lock and is one commit, so that the history has what was before. Links of
//! other entities, `[[word]]`, follow a renamed or merged entity.
//!
//! Not here: creating entities and writing records (`mod.rs`), which agents do, too.

use std::path::Path;

use super::change::{parse_entity, path_of};
use super::format::{self, Card};
use super::{EntityError, SUBJECT, disk_reader, ignore_outcome, list_entities, text};
use crate::files::changes::FileChanges;
use crate::files::error::FilesError;
use crate::files::layout::ENTITY_INDEX;
use crate::files::lock::WriterLock;
use crate::files::path::FilePath;
use crate::files::stamp::CommitStamp;
use crate::files::write::FolderSnapshot;
use daybook_text::redact::Redactor;
use daybook_text::tokens::index_text;

/// Most other names of one entity.
const ALIASES: usize = 20;
/// Longest other name, in characters.
const ALIAS: usize = 60;

/// One entity with everything that is kept of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// Its word.
    pub entity: String,
    /// Its card; `None` when its file has no readable head.
    pub card: Option<Card>,
    /// Other names.
    pub aliases: Vec<String>,
    /// Its records by name, in the order of the file.
    pub records: Vec<(String, String)>,
    /// Entities that its records link to.
    pub links: Vec<String>,
    /// Entities whose records link to it.
    pub linked_from: Vec<String>,
}

/// Reads the entity that `name` names: by its word, or by its name or another name of it, in any case.
///
/// # Errors
/// [`EntityError::Refused`] if there is no such entity.
pub fn read(folder: &Path, name: &str) -> Result<Entity, EntityError> {
    let all = read_all(folder);
    let wanted = name.trim().to_lowercase();
    let is_named = |entity: &&Entity| {
        let names = entity
            .aliases
            .iter()
            .chain(entity.card.as_ref().map(|card| &card.name));
        names.into_iter().any(|name| name.to_lowercase() == wanted)
    };
    let found = all.iter().find(|entity| entity.entity == wanted);
    let found = found.or_else(|| all.iter().find(is_named));
    let Some(found) = found else {
        return Err(refused(format!("Unknown entity: {}.", name.trim())));
    };
    let links_here = |other: &&Entity| other.links.contains(&found.entity);
    let linked_from = all.iter().filter(links_here);
    Ok(Entity {
        linked_from: linked_from.map(|other| other.entity.clone()).collect(),
        ..found.clone()
    })
}

/// A place in an entity that holds all words that were searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityMatch {
    /// The entity's word.
    pub entity: String,
    /// The record; `None` for its card and other names.
    pub record: Option<String>,
    /// The text that holds the words.
    pub text: String,
}

/// Cards and records that hold every word of `words`, at most `limit`, by entity. Words are compared by the same rule
/// as in recall.
#[must_use]
pub fn search(folder: &Path, words: &str, limit: usize) -> Vec<EntityMatch> {
    let wanted = index_text(words);
    let holds = |text: &str| {
        let tokens = index_text(text);
        let mut tokens = tokens.split(' ').collect::<Vec<_>>();
        tokens.sort_unstable();
        let has = |word: &str| tokens.binary_search(&word).is_ok();
        !wanted.is_empty() && wanted.split(' ').all(has)
    };
    let mut found = Vec::new();
    for entity in read_all(folder) {
        let card = entity.card.as_ref();
        let card = card.map(|card| format!("{} — {}", card.name, card.description));
        let about = [
            Some(entity.entity.clone()),
            card,
            Some(entity.aliases.join(", ")),
        ];
        let about: Vec<String> = about
            .into_iter()
            .flatten()
            .filter(|it| !it.is_empty())
            .collect();
        let places = std::iter::once((None, about.join("; "))).chain(
            entity
                .records
                .iter()
                .map(|(name, body)| (Some(name.clone()), format!("{name}: {body}"))),
        );
        found.extend(
            places
                .filter(|(_, text)| holds(text))
                .map(|(record, text)| EntityMatch {
                    entity: entity.entity.clone(),
                    record,
                    text,
                }),
        );
    }
    found.truncate(limit);
    found
}

/// Gives an entity another word. Links to it follow.
///
/// # Errors
/// [`EntityError::Refused`] if there is no such entity, or `to` is taken or no word.
pub fn rename(
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    from: &str,
    to: &str,
) -> Result<(), EntityError> {
    let (from, to) = (parse_entity(from)?, parse_entity(to)?);
    let message = format!("{SUBJECT}rename {from} to {to}");
    write(lock, stamp, &message, |snapshot, changes| {
        let old = require(snapshot, &from)?;
        if text(snapshot, &path_of(&to))?.is_some() {
            let rule = format!("There is an entity {to} already; merge {from} into it instead.");
            return Err(refused(rule));
        }
        let heading = format!("# {from}\n");
        let renamed = old.replacen(&heading, &format!("# {to}\n"), 1);
        changes.delete(path_of(&from));
        changes.write(path_of(&to), renamed);
        let index = index_file(snapshot)?;
        let index = format::with_entity(&format::without_entity(&index, &from), &to);
        changes.write(FilePath::engine_file(ENTITY_INDEX), index);
        relink(snapshot, changes, &from, &to)
    })
}

/// Deletes an entity. Its file stays in the folder's history.
///
/// # Errors
/// [`EntityError::Refused`] if there is no such entity.
pub fn delete(lock: &WriterLock<'_>, stamp: &CommitStamp, entity: &str) -> Result<(), EntityError> {
    let entity = parse_entity(entity)?;
    let message = format!("{SUBJECT}delete {entity}");
    write(lock, stamp, &message, |snapshot, changes| {
        let index = index_file(snapshot)?;
        let is_there = text(snapshot, &path_of(&entity))?.is_some();
        if !is_there && !format::parse_index(&index).contains(&entity) {
            return Err(refused(format!("Unknown entity: {entity}.")));
        }
        if is_there {
            changes.delete(path_of(&entity));
        }
        let index = format::without_entity(&index, &entity);
        changes.write(FilePath::engine_file(ENTITY_INDEX), index);
        Ok(())
    })
}

/// Moves the records of `from` to `into`, whose card stays. The word and the name of `from` become other names of
/// `into`. A record whose name `into` has with other words is added under `<name> (<from>)`.
///
/// # Errors
/// [`EntityError::Refused`] if one of them does not exist, or they are one.
pub fn merge(
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    from: &str,
    into: &str,
) -> Result<(), EntityError> {
    let (from, into) = (parse_entity(from)?, parse_entity(into)?);
    if from == into {
        return Err(refused(format!("{from} is that entity already.")));
    }
    let message = format!("{SUBJECT}merge {from} into {into}");
    write(lock, stamp, &message, |snapshot, changes| {
        let (old, kept) = (require(snapshot, &from)?, require(snapshot, &into)?);
        changes.delete(path_of(&from));
        changes.write(path_of(&into), merged(&from, &old, kept));
        let index = format::without_entity(&index_file(snapshot)?, &from);
        changes.write(FilePath::engine_file(ENTITY_INDEX), index);
        relink(snapshot, changes, &from, &into)
    })
}

/// Adds another name to an entity, by which it is read and found.
///
/// # Errors
/// [`EntityError::Refused`] if there is no such entity, or the name is empty, too long or one too many.
pub fn add_alias(
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    redactor: &Redactor,
    (entity, alias): (&str, &str),
) -> Result<(), EntityError> {
    let entity = parse_entity(entity)?;
    let alias = redactor.redact(alias.trim()).text.into_owned();
    if alias.is_empty() || alias.contains(['\n', '\r']) || alias.chars().count() > ALIAS {
        let rule = format!("Another name must be one line of at most {ALIAS} characters.");
        return Err(refused(rule));
    }
    let message = format!("{SUBJECT}name {entity}");
    write(lock, stamp, &message, |snapshot, changes| {
        let old = require(snapshot, &entity)?;
        let mut aliases = format::aliases(&old);
        if aliases.len() >= ALIASES {
            return Err(refused(format!(
                "{entity} has {ALIASES} other names already."
            )));
        }
        if !aliases.contains(&alias) {
            aliases.push(alias.clone());
        }
        changes.write(path_of(&entity), format::with_aliases(&old, &aliases));
        Ok(())
    })
}

/// The text of `kept` with what `old`, the file of `from`, adds to it.
fn merged(from: &str, old: &str, mut kept: String) -> String {
    let has = format::records(&kept);
    for (name, body) in format::records(old) {
        let same_name = has.iter().find(|(known, _)| *known == name);
        let name = match same_name {
            Some((_, known)) if *known == body => continue,
            Some(_) => format!("{name} ({from})"),
            None => name,
        };
        kept = format::with_record(&kept, &name, &body).0;
    }
    let mut aliases = format::aliases(&kept);
    let names = format::card(old).map(|card| card.name);
    for name in [from.to_owned()]
        .into_iter()
        .chain(names)
        .chain(format::aliases(old))
    {
        if !aliases.contains(&name) && aliases.len() < ALIASES {
            aliases.push(name);
        }
    }
    format::with_aliases(&kept, &aliases)
}

/// All entities that the index lists and whose file is there.
fn read_all(folder: &Path) -> Vec<Entity> {
    let read = disk_reader(folder.to_owned());
    let listed = list_entities(usize::MAX, &|path| Ok(read(path)));
    let entities = listed.into_iter().filter_map(|listed| {
        let text = read(&path_of(&listed.entity))?;
        Some(Entity {
            card: listed.card,
            aliases: format::aliases(&text),
            records: format::records(&text),
            links: links(&text),
            linked_from: Vec::new(),
            entity: listed.entity,
        })
    });
    entities.collect()
}

/// The words in `[[…]]`, each once.
fn links(text: &str) -> Vec<String> {
    let mut links: Vec<String> = Vec::new();
    for part in text.split("[[").skip(1) {
        if let Some((word, _)) = part.split_once("]]")
            && parse_entity(word).is_ok_and(|parsed| parsed == word)
            && !links.iter().any(|known| known == word)
        {
            links.push(word.to_owned());
        }
    }
    links
}

/// Points the links of all entities to another word.
fn relink(
    snapshot: &FolderSnapshot<'_>,
    changes: &mut FileChanges,
    from: &str,
    to: &str,
) -> Result<(), EntityError> {
    let (old, new) = (format!("[[{from}]]"), format!("[[{to}]]"));
    for entity in format::parse_index(&index_file(snapshot)?) {
        let (before, path) = match entity == from {
            true => continue,
            false => (text(snapshot, &path_of(&entity))?, path_of(&entity)),
        };
        if let Some(before) = before.filter(|before| before.contains(&old)) {
            let pending = changes.text_of(&path).unwrap_or(before);
            changes.write(path, pending.replace(&old, &new));
        }
    }
    Ok(())
}

/// The file of an entity that is listed and there.
fn require(snapshot: &FolderSnapshot<'_>, entity: &str) -> Result<String, EntityError> {
    let unknown = || refused(format!("Unknown entity: {entity}."));
    text(snapshot, &path_of(entity))?.ok_or_else(unknown)
}

fn index_file(snapshot: &FolderSnapshot<'_>) -> Result<String, FilesError> {
    Ok(text(snapshot, &FilePath::engine_file(ENTITY_INDEX))?.unwrap_or_default())
}

fn refused(why: String) -> EntityError {
    EntityError::Refused(why)
}

/// Plans changes and commits them. A refusal changes nothing.
fn write(
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    message: &str,
    plan: impl Fn(&FolderSnapshot<'_>, &mut FileChanges) -> Result<(), EntityError>,
) -> Result<(), EntityError> {
    let mut why = None;
    let outcome = lock.write(stamp, message, &|| true, |snapshot| {
        let mut changes = FileChanges::none();
        match plan(snapshot, &mut changes) {
            Ok(()) => {
                why = changes
                    .iter()
                    .find_map(|(path, _)| snapshot.skipped_at(path))
                    .map(|skipped| format!("{skipped}; it must be put right first."));
            }
            Err(EntityError::Refused(refused)) => why = Some(refused),
            Err(EntityError::Files(error)) => return Err(error),
        }
        Ok(match why {
            Some(_) => FileChanges::none(),
            None => changes,
        })
    })?;
    ignore_outcome(outcome);
    why.map_or(Ok(()), |why| Err(EntityError::Refused(why)))
}

#[cfg(test)]
#[path = "manage_tests.rs"]
mod tests;
