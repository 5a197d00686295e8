//! Takes changes of memory files back: those of one commit, or all since one.
//!
//! History only grows: the result is a new commit. What it means for the memory follows from it as from any change
//! that a person makes (`persons_changes`); what no file shows is recorded in the commit's message, as
//! [`MemoryTrailer`]s.

use std::collections::BTreeSet;

use daybook_domain::ObservationId;

use super::changes::FileChanges;
use super::error::FilesError;
use super::folder::Folder;
use super::history::{BlobId, Commit, CommitHash};
use super::path::FilePath;
use super::revert::revert;
use super::states::SEARCHED_COMMITS;
use super::write::FolderSnapshot;

/// A line of a commit's message about an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryTrailer {
    /// It was withdrawn.
    Forgot(ObservationId),
    /// It was reinstated.
    Remembered(ObservationId),
}

const FORGOT: &str = "Forgot: ";
const REMEMBERED: &str = "Remembered: ";

impl MemoryTrailer {
    /// The line.
    #[must_use]
    pub fn line(self) -> String {
        match self {
            Self::Forgot(id) => format!("{FORGOT}{id}"),
            Self::Remembered(id) => format!("{REMEMBERED}{id}"),
        }
    }

    /// What takes it back.
    #[must_use]
    pub fn inverse(self) -> Self {
        match self {
            Self::Forgot(id) => Self::Remembered(id),
            Self::Remembered(id) => Self::Forgot(id),
        }
    }

    fn id(self) -> ObservationId {
        match self {
            Self::Forgot(id) | Self::Remembered(id) => id,
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let id = |digits: &str| Some(ObservationId(u64::from_str_radix(digits.trim(), 16).ok()?));
        match (line.strip_prefix(FORGOT), line.strip_prefix(REMEMBERED)) {
            (Some(digits), _) => Some(Self::Forgot(id(digits)?)),
            (None, Some(digits)) => Some(Self::Remembered(id(digits)?)),
            (None, None) => None,
        }
    }
}

impl Folder {
    /// What a commit did to observations.
    ///
    /// # Errors
    /// If the history is damaged, like everything below.
    pub fn trailers(&self, commit: CommitHash) -> Result<Vec<MemoryTrailer>, FilesError> {
        let message = self.message(commit)?;
        Ok(message.lines().filter_map(MemoryTrailer::parse).collect())
    }

    /// What takes back all that commits after `target` did to observations.
    pub fn trailers_back_to(&self, target: CommitHash) -> Result<Vec<MemoryTrailer>, FilesError> {
        let mut first: Vec<MemoryTrailer> = Vec::new();
        let commits = self.log(SEARCHED_COMMITS)?;
        for commit in commits.iter().take_while(|commit| commit.id != target) {
            for trailer in self.trailers(commit.id)? {
                // The oldest one decides what held at the target.
                first.retain(|later| later.id() != trailer.id());
                first.push(trailer);
            }
        }
        Ok(first.into_iter().map(MemoryTrailer::inverse).collect())
    }
}

/// The changes that take back what `target` changed, and nothing else: what was changed again since stays.
///
/// # Errors
/// If the history is damaged.
pub fn undo_changes(
    folder: &Folder,
    snapshot: &FolderSnapshot<'_>,
    target: &Commit,
) -> Result<FileChanges, FilesError> {
    let parent = target.parents.first().copied();
    let mut changes = FileChanges::none();
    for diff in folder.diff(parent, Some(target.id))? {
        let path = diff.path;
        if snapshot.skipped_at(&path).is_some() {
            continue;
        }
        let was = match parent {
            Some(parent) => folder.read_at(parent, &path)?,
            None => None,
        };
        let made = folder.read_at(target.id, &path)?;
        let now = snapshot.read(&path)?;
        match taken_back(made, now.clone(), was) {
            after if after == now => {}
            Some(bytes) => changes.write(path, bytes),
            None => changes.delete(path),
        }
    }
    Ok(changes)
}

/// A file without the change from `was` to `made`.
fn taken_back(
    made: Option<Vec<u8>>,
    now: Option<Vec<u8>>,
    was: Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    if now == made {
        return was;
    }
    // A file that was deleted or created again since is another one.
    let (Some(made), Some(present)) = (made, now.clone()) else {
        return now;
    };
    let texts = [was.unwrap_or_default(), made, present].map(String::from_utf8);
    let [Ok(was), Ok(made), Ok(present)] = texts else {
        return now;
    };
    Some(revert(&was, &made, &present).into_bytes()).filter(|bytes| !bytes.is_empty())
}

/// The changes that bring all files to their state in `target`.
///
/// # Errors
/// If the history is damaged.
pub fn restore_changes(
    folder: &Folder,
    snapshot: &FolderSnapshot<'_>,
    target: CommitHash,
) -> Result<FileChanges, FilesError> {
    let wanted = folder.files_at(target)?;
    let present: BTreeSet<(FilePath, BlobId)> = snapshot
        .files()
        .map(|(path, blob)| (path.clone(), blob))
        .collect();
    let mut changes = FileChanges::none();
    for (path, _) in &present {
        if !wanted.contains_key(path) {
            changes.delete(path.clone());
        }
    }
    for (path, blob) in wanted {
        if !present.contains(&(path.clone(), blob))
            && let Some(bytes) = folder.read_at(target, &path)?
        {
            changes.write(path, bytes);
        }
    }
    changes.retain(|path| snapshot.skipped_at(path).is_none());
    Ok(changes)
}

#[cfg(test)]
#[path = "take_back_tests.rs"]
mod tests;
