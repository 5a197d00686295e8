//! Computes one change of an entity: whether it is allowed, what it replaces, and the resulting files.
//!
//! Not here: reading and writing the files.

use std::collections::BTreeMap;

use daybook_domain::{EntityChange, EntityWrite, EventId};

use super::format::{self, Card};
use super::{CONTENT, ENTITY, EntityError, RECORD};
use crate::extract::entity_tools::{MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS};
use crate::files::error::FilesError;
use crate::files::layout::ENTITY_INDEX;
use crate::files::name::FileName;
use crate::files::path::FilePath;
use daybook_text::redact::Redactor;

/// Reads a file of the memory folder; `None` if it is missing.
pub(super) type ReadFile<'a> = &'a dyn Fn(&FilePath) -> Result<Option<String>, FilesError>;

/// Validates a change and redacts its secrets. Returns the change and the number of secrets hidden.
pub(super) fn check_change(
    redactor: &Redactor,
    entity: &str,
    change: &EntityChange,
) -> Result<(EntityWrite, usize), EntityError> {
    let entity = parse_entity(entity)?;
    let mut secrets = 0;
    let mut hidden = |text: &str| {
        let redacted = redactor.redact(text);
        secrets += redacted.findings.len();
        redacted.text.into_owned()
    };
    let change = match change {
        EntityChange::Card { name, description } => EntityChange::Card {
            name: one_line("Name", &hidden(name), MAX_NAME_CHARS)?,
            description: one_line("Description", &hidden(description), MAX_DESCRIPTION_CHARS)?,
        },
        EntityChange::Record { record, content } => EntityChange::Record {
            record: one_line("Record name", &hidden(record), RECORD)?,
            content: check_length(hidden(content))?,
        },
    };
    let over = None;
    let write = EntityWrite {
        entity,
        change,
        over,
    };
    Ok((write, secrets))
}

fn check_length(content: String) -> Result<String, EntityError> {
    if content.len() <= CONTENT {
        return Ok(content);
    }
    let limit = format!("Content must be at most {CONTENT} bytes; use several records.");
    Err(EntityError::Refused(limit))
}

/// The files that a change results in.
pub(super) struct PlannedChange {
    /// The files with their new text.
    pub(super) files: Vec<(FilePath, String)>,
    /// Whether the file, or the record, is new.
    pub(super) created: bool,
}

/// Computes the files that a change results in.
pub(super) fn plan_change(
    write: &EntityWrite,
    read: ReadFile<'_>,
) -> Result<PlannedChange, EntityError> {
    let path = path_of(&write.entity);
    let index_path = FilePath::engine_file(ENTITY_INDEX);
    let index = read(&index_path)?.unwrap_or_default();
    let old = read(&path)?;
    let (created, text) = match &write.change {
        EntityChange::Card { name, description } => {
            let (name, description) = (name.clone(), description.clone());
            let card = Card { name, description };
            let text = format::with_card(old.as_deref(), &write.entity, &card);
            (old.is_none(), text)
        }
        EntityChange::Record { record, content } => {
            let old = require_entity(&write.entity, old, &index)?;
            let (text, added) = format::with_record(&old, record, content);
            (added, text)
        }
    };
    let mut files = vec![(path, text)];
    if write.record().is_none() {
        files.push((index_path, format::with_entity(&index, &write.entity)));
    }
    Ok(PlannedChange { files, created })
}

/// The text of an existing entity; refused if the index does not list it or its file is missing.
fn require_entity(entity: &str, text: Option<String>, index: &str) -> Result<String, EntityError> {
    let is_listed = format::parse_index(index)
        .iter()
        .any(|listed| listed == entity);
    match text {
        Some(text) if is_listed => Ok(text),
        None if is_listed => Err(EntityError::Refused(format!(
            "Entity file missing for {entity}. Create it first."
        ))),
        Some(_) | None => Err(EntityError::Refused(format!(
            "Unknown entity: {entity}. Create it first."
        ))),
    }
}

/// Fingerprint of the card or record that a change would replace; `None` if there is none.
pub(super) fn current_fingerprint(
    write: &EntityWrite,
    read: ReadFile<'_>,
) -> Result<Option<u64>, FilesError> {
    let Some(text) = read(&path_of(&write.entity))? else {
        return Ok(None);
    };
    Ok(match write.record() {
        None => format::card(&text).map(|card| fingerprint(&[&card.name, &card.description])),
        Some(record) => format::record(&text, record).map(|body| fingerprint(&[&body])),
    })
}

/// Fingerprint of the card or record after the change.
fn new_fingerprint(write: &EntityWrite) -> u64 {
    match &write.change {
        EntityChange::Card { name, description } => fingerprint(&[name, description]),
        EntityChange::Record { content, .. } => fingerprint(&[&normalized(content)]),
    }
}

/// The content trimmed and with `
/// ` line ends, as it is read back from a file.
fn normalized(content: &str) -> String {
    let lines: Vec<&str> = content.trim().lines().collect();
    lines.join("\n").trim().to_owned()
}

fn fingerprint(parts: &[&str]) -> u64 {
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    // Half of a strong hash is enough to distinguish two texts of one place.
    EventId::of(&parts).0 as u64
}

/// Files with pending changes applied in memory.
pub(super) struct Overlay<R> {
    read: R,
    texts: BTreeMap<FilePath, String>,
    /// Changed cards and records, each with the fingerprint it had before the first change.
    ours: Vec<(EntityWrite, Option<u64>)>,
}

impl<R: Fn(&FilePath) -> Result<Option<String>, FilesError>> Overlay<R> {
    /// An overlay without changes.
    pub(super) fn over(read: R) -> Self {
        Self {
            read,
            texts: BTreeMap::new(),
            ours: Vec::new(),
        }
    }

    pub(super) fn text(&self, path: &FilePath) -> Result<Option<String>, FilesError> {
        match self.texts.get(path) {
            Some(text) => Ok(Some(text.clone())),
            None => (self.read)(path),
        }
    }

    /// Computes a change without applying it.
    pub(super) fn plan(&self, write: &EntityWrite) -> Result<PlannedChange, EntityError> {
        plan_change(write, &|path| self.text(path))
    }

    pub(super) fn current_fingerprint(
        &self,
        write: &EntityWrite,
    ) -> Result<Option<u64>, FilesError> {
        current_fingerprint(write, &|path| self.text(path))
    }

    /// Applies a change, whatever it replaces.
    pub(super) fn apply(&mut self, write: &EntityWrite) -> Result<PlannedChange, EntityError> {
        let before = self.current_fingerprint(write)?;
        let planned = self.plan(write)?;
        if !self.ours.iter().any(|(ours, _)| ours.is_for(write)) {
            self.ours.push((write.clone(), before));
        }
        self.texts.extend(planned.files.iter().cloned());
        Ok(planned)
    }

    /// Applies a staged change unless its place was edited since it was staged. Returns whether the change
    /// is in effect.
    ///
    /// Of staged changes that replace the same text, the last one wins.
    pub(super) fn apply_staged(&mut self, write: &EntityWrite) -> Result<bool, FilesError> {
        let now = self.current_fingerprint(write)?;
        if now == Some(new_fingerprint(write)) {
            return Ok(true);
        }
        let ours = self.ours.iter().find(|(ours, _)| ours.is_for(write));
        let is_over_same = ours.is_some_and(|(_, before)| *before == write.over);
        if now != write.over && !is_over_same {
            return Ok(false);
        }
        match self.apply(write) {
            Ok(_) => Ok(true),
            // The entity was deleted meanwhile.
            Err(EntityError::Refused(_)) => Ok(false),
            Err(EntityError::Files(error)) => Err(error),
        }
    }

    pub(super) fn into_texts(self) -> BTreeMap<FilePath, String> {
        self.texts
    }
}

pub(super) fn path_of(entity: &str) -> FilePath {
    FilePath::page("entities", &FileName::folder(entity))
}

pub(super) fn parse_entity(entity: &str) -> Result<String, EntityError> {
    let entity = entity.trim();
    let is_word = !entity.is_empty() && entity.bytes().all(|byte| byte.is_ascii_lowercase());
    if !is_word {
        let rule = "Entity must be a lowercase english word (a-z only, no underscores).";
        return Err(EntityError::Refused(rule.to_owned()));
    }
    if entity.len() > ENTITY {
        let rule = format!("Entity must be at most {ENTITY} letters.");
        return Err(EntityError::Refused(rule));
    }
    Ok(entity.to_owned())
}

fn one_line(what: &str, text: &str, limit: usize) -> Result<String, EntityError> {
    let text = text.trim();
    let fault = match text {
        "" => "is required.".to_owned(),
        text if text.chars().count() > limit => format!("must be at most {limit} characters."),
        text if text.contains(['\n', '\r']) => "must be a single line.".to_owned(),
        text => return Ok(text.to_owned()),
    };
    Err(EntityError::Refused(format!("{what} {fault}")))
}
