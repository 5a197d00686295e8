//! One change of an entity as texts: what is allowed, what stands in its place, and the files as they
//! will be.
//!
//! Not here: where texts are read from and written to.

use std::collections::BTreeMap;

use daybook_domain::{EntityChange, EntityWrite, EventId};

use super::format::{self, Card};
use super::{CONTENT, ENTITY, EntityError, RECORD};
use crate::extract::entity_tools::{DESCRIPTION, NAME};
use crate::files::error::FilesError;
use crate::files::layout::ENTITY_INDEX;
use crate::files::name::FileName;
use crate::files::path::FilePath;
use crate::ingest::redact::Redactor;

/// Reads a file of the memory folder; nothing if there is none.
pub(super) type Read<'a> = &'a dyn Fn(&FilePath) -> Result<Option<String>, FilesError>;

/// The change as it may be made, without secrets, and how many were hidden in it.
pub(super) fn checked(
    redactor: &Redactor,
    entity: &str,
    change: &EntityChange,
) -> Result<(EntityWrite, usize), EntityError> {
    let entity = entity_word(entity)?;
    let mut secrets = 0;
    let mut hidden = |text: &str| {
        let redacted = redactor.redact(text);
        secrets += redacted.findings.len();
        redacted.text.into_owned()
    };
    let change = match change {
        EntityChange::Card { name, description } => EntityChange::Card {
            name: one_line("Name", &hidden(name), NAME)?,
            description: one_line("Description", &hidden(description), DESCRIPTION)?,
        },
        EntityChange::Record { record, content } => EntityChange::Record {
            record: one_line("Record name", &hidden(record), RECORD)?,
            content: fitting(hidden(content))?,
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

fn fitting(content: String) -> Result<String, EntityError> {
    if content.len() <= CONTENT {
        return Ok(content);
    }
    let limit = format!("Content must be at most {CONTENT} bytes; use several records.");
    Err(EntityError::Refused(limit))
}

/// A change that was worked out.
pub(super) struct Made {
    /// The files as they will be.
    pub(super) files: Vec<(FilePath, String)>,
    /// There was no such file, or record, before.
    pub(super) created: bool,
}

/// Works a change out.
pub(super) fn made(write: &EntityWrite, read: Read<'_>) -> Result<Made, EntityError> {
    let path = path_of(&write.entity);
    let index_path = FilePath::owned(ENTITY_INDEX);
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
            let old = known(&write.entity, old, &index)?;
            let (text, added) = format::with_record(&old, record, content);
            (added, text)
        }
    };
    let mut files = vec![(path, text)];
    if write.record().is_none() {
        files.push((index_path, format::with_listed(&index, &write.entity)));
    }
    Ok(Made { files, created })
}

/// The text of an entity that was made before.
fn known(entity: &str, text: Option<String>, index: &str) -> Result<String, EntityError> {
    let is_listed = format::listed(index).iter().any(|listed| listed == entity);
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

/// Fingerprint of what stands where a change would be made; nothing if nothing does.
pub(super) fn standing(write: &EntityWrite, read: Read<'_>) -> Result<Option<u64>, FilesError> {
    let Some(text) = read(&path_of(&write.entity))? else {
        return Ok(None);
    };
    Ok(match write.record() {
        None => format::card(&text).map(|card| fingerprint(&[&card.name, &card.description])),
        Some(record) => format::record(&text, record).map(|body| fingerprint(&[&body])),
    })
}

/// Fingerprint of what will stand there once it is made.
fn outcome(write: &EntityWrite) -> u64 {
    match &write.change {
        EntityChange::Card { name, description } => fingerprint(&[name, description]),
        EntityChange::Record { content, .. } => fingerprint(&[&unbroken(content)]),
    }
}

/// The content with line ends as a file's lines are read.
fn unbroken(content: &str) -> String {
    let lines: Vec<&str> = content.trim().lines().collect();
    lines.join("\n").trim().to_owned()
}

fn fingerprint(parts: &[&str]) -> u64 {
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    // Half of a strong hash is enough to tell two texts of one place apart.
    EventId::of(&parts).0 as u64
}

/// Files as they will be once some changes are made.
pub(super) struct Overlay<R> {
    read: R,
    texts: BTreeMap<FilePath, String>,
    /// Places that were written here, with what stood there at first.
    ours: Vec<(EntityWrite, Option<u64>)>,
}

impl<R: Fn(&FilePath) -> Result<Option<String>, FilesError>> Overlay<R> {
    /// Nothing is changed yet.
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

    /// Whether it would be new, without making it.
    pub(super) fn would_make(&self, write: &EntityWrite) -> Result<Made, EntityError> {
        made(write, &|path| self.text(path))
    }

    pub(super) fn standing(&self, write: &EntityWrite) -> Result<Option<u64>, FilesError> {
        standing(write, &|path| self.text(path))
    }

    /// Makes a change, whatever stands there.
    pub(super) fn make(&mut self, write: &EntityWrite) -> Result<Made, EntityError> {
        let before = self.standing(write)?;
        let made = self.would_make(write)?;
        if !self.ours.iter().any(|(ours, _)| ours.is_for(write)) {
            self.ours.push((write.clone(), before));
        }
        self.texts.extend(made.files.iter().cloned());
        Ok(made)
    }

    /// Makes a staged change unless somebody has written there since it was staged; says whether it
    /// stands there now. Of staged changes that were made over the same text, the last one stays.
    pub(super) fn make_staged(&mut self, write: &EntityWrite) -> Result<bool, FilesError> {
        let now = self.standing(write)?;
        if now == Some(outcome(write)) {
            return Ok(true);
        }
        let ours = self.ours.iter().find(|(ours, _)| ours.is_for(write));
        let is_over_same = ours.is_some_and(|(_, before)| *before == write.over);
        if now != write.over && !is_over_same {
            return Ok(false);
        }
        match self.make(write) {
            Ok(_) => Ok(true),
            // Somebody has taken the entity away.
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

pub(super) fn entity_word(entity: &str) -> Result<String, EntityError> {
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
