//! Stores the observations that were withdrawn because their entries were deleted, so that they can be reinstated.
//!
//! The store forgets an observation's words and evidence when a person takes it back. This record is a line of JSON for
//! each in `.git/daybook`, on the machine that withdrew it. Where it is lost, a line that a person brings back stays
//! as their own text.

use daybook_domain::{Observation, ObservationId};
use daybook_text::redact::Redactor;
use serde::{Deserialize, Serialize};

use super::atomic;
use super::entry::EntryId;
use super::error::FilesError;
use super::folder::Folder;
use super::lock::WriterLock;

const NAME: &str = "withdrawn";
/// Most observations that are recorded; of more, those that were withdrawn last.
const RECORDED: usize = 1000;

/// A withdrawn observation, and the entry that it was shown in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WithdrawnObservation {
    entry: String,
    /// The observation as it was.
    pub observation: Observation,
}

impl WithdrawnObservation {
    /// The observation of an entry.
    #[must_use]
    pub fn new(entry: &EntryId, observation: Observation) -> Self {
        Self {
            entry: entry.as_str().to_owned(),
            observation,
        }
    }

    /// Whether it was shown in this entry.
    #[must_use]
    pub fn is_of(&self, entry: &EntryId) -> bool {
        self.entry == entry.as_str()
    }
}

/// The recorded observations, the oldest first. Those that hold a secret by present rules are left out.
///
/// # Errors
/// When the disk cannot be read.
pub fn load(folder: &Folder) -> Result<Vec<WithdrawnObservation>, FilesError> {
    let path = folder.private_path(NAME);
    let bytes = atomic::read(&path).map_err(FilesError::io("read", &path))?;
    let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
    let redactor = Redactor::current();
    let lines = text
        .lines()
        .filter(|line| redactor.redact(line).findings.is_empty());
    // A line that a crash or a person cut short is no record.
    Ok(lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
}

/// Records observations, before they are withdrawn.
///
/// # Errors
/// When the disk cannot be read or written.
pub fn add(lock: &WriterLock<'_>, withdrawn: &[WithdrawnObservation]) -> Result<(), FilesError> {
    let mut all = load(lock.folder())?;
    let is_new = |one: &WithdrawnObservation| {
        withdrawn
            .iter()
            .all(|new| new.observation.id != one.observation.id)
    };
    all.retain(is_new);
    all.extend(withdrawn.iter().cloned());
    save(lock, &all)
}

/// Removes observations from the record, after they were reinstated.
///
/// # Errors
/// When the disk cannot be read or written.
pub fn remove(lock: &WriterLock<'_>, ids: &[ObservationId]) -> Result<(), FilesError> {
    let mut all = load(lock.folder())?;
    all.retain(|one| !ids.contains(&one.observation.id));
    save(lock, &all)
}

/// Writes the record again without the secrets that present rules find in it.
///
/// # Errors
/// When the disk cannot be read or written.
pub fn redact(lock: &WriterLock<'_>) -> Result<(), FilesError> {
    if !lock.folder().private_path(NAME).exists() {
        return Ok(());
    }
    save(lock, &load(lock.folder())?)
}

fn save(lock: &WriterLock<'_>, all: &[WithdrawnObservation]) -> Result<(), FilesError> {
    let last = all.len().saturating_sub(RECORDED);
    let lines = all[last..].iter().filter_map(|one| {
        let line = serde_json::to_string(one).ok()?;
        Some(line + "\n")
    });
    lock.save_private(NAME, &lines.collect::<String>())
}
