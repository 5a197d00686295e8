//! Replaces one file in the work tree without ever losing a person's edit.
//!
//! Between checking a file and replacing it, a person may save it. So the new text and the old file are
//! exchanged in one step, and the displaced file is checked afterwards: if it is not the version that was
//! meant to be replaced, it is a person's, and is moved back. Where the system cannot exchange files, the
//! check comes just before the rename, and an edit saved within those microseconds is overwritten. An
//! editor that opened a file before the exchange and writes into it after the check writes into a file
//! without a name; no program that replaces files can detect that.
//!
//! A kill may come between the exchange and the check. The new text of change `n` is staged at path `n`
//! before the intent is recorded, and the exchange leaves the displaced file there. So the staged path
//! shows whether an exchange was made: a file that was put in place, and deleted or reverted by the person
//! since, stays as they left it. An edit that was displaced and not checked is found there too
//! ([`FileReplacement::restore_displaced`]).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::objs::Kind;

use super::atomic;
use super::error::FilesError;
use super::folder::Folder;
use super::intent::staged_path;
use super::objects;
use super::path::FilePath;
use super::reader::read_private;
use super::steps::WriteStep;
use super::tree::FileChange;

/// Most exchanges in a row for one file while a person keeps saving it.
const MAX_EXCHANGES: usize = 8;

/// Result of replacing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplacementOutcome {
    /// The file is as the change requires.
    Done,
    /// The file is a person's version, and stays.
    Kept,
}

/// What a path holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathState {
    Nothing,
    File(ObjectId),
    /// A folder, a link, a file too large to be the engine's: a person's in any case.
    Other,
}

/// One change to be applied to the work tree.
pub(super) struct FileReplacement<'a> {
    pub(super) folder: &'a Folder,
    pub(super) number: usize,
    pub(super) change: &'a FileChange,
}

impl FileReplacement<'_> {
    /// Applies the change, unless the path holds a person's version. Safe to repeat.
    pub(super) fn apply(&self) -> Result<ReplacementOutcome, FilesError> {
        self.folder.reach(WriteStep::ReplaceFile)?;
        let staged = self.staged_state()?;
        if self.is_conflicting_edit(staged) {
            // Nothing may overwrite the displaced edit at the staged path.
            return Ok(ReplacementOutcome::Kept);
        }
        match (self.change.base, self.change.new) {
            (None, Some(new)) => self.add(new, staged),
            (Some(base), Some(new)) => self.replace(base, new, staged),
            (Some(base), None) => self.delete(base, staged),
            (None, None) => Ok(ReplacementOutcome::Done),
        }
    }

    /// Moves back an edit that a stopped writer displaced, if its path is still as that writer left it. If
    /// the person has written there since, the edit remains at the staged path, for
    /// [`conflicting_edit`](Self::conflicting_edit).
    pub(super) fn restore_displaced(&self) -> Result<(), FilesError> {
        let Some(displaced) = self.conflicting_edit()? else {
            return Ok(());
        };
        match (self.state()?, self.change.new) {
            (PathState::File(found), Some(new)) if found == new => {
                self.exchange_files(PathState::File(new), displaced)?;
            }
            (PathState::Nothing, None) => {
                self.place_new()?;
            }
            (PathState::Nothing | PathState::File(_) | PathState::Other, _) => {}
        }
        Ok(())
    }

    /// A person's edit at the staged path: a file that is neither version of the change.
    pub(super) fn conflicting_edit(&self) -> Result<Option<PathState>, FilesError> {
        let staged = self.staged_state()?;
        Ok(self.is_conflicting_edit(staged).then_some(staged))
    }

    fn is_conflicting_edit(&self, staged: PathState) -> bool {
        match staged {
            PathState::Nothing => false,
            PathState::File(id) => ![self.change.base, self.change.new].contains(&Some(id)),
            PathState::Other => true,
        }
    }

    pub(super) fn staged_path(&self) -> PathBuf {
        staged_path(self.folder, self.number)
    }

    fn add(&self, new: ObjectId, staged: PathState) -> Result<ReplacementOutcome, FilesError> {
        if self.state()? == PathState::File(new) {
            return Ok(ReplacementOutcome::Done);
        }
        if staged != PathState::File(new) {
            return Ok(ReplacementOutcome::Kept);
        }
        self.folder.reach(WriteStep::ExchangeFiles)?;
        let is_added = self.place_new()?;
        Ok(if is_added {
            ReplacementOutcome::Done
        } else {
            ReplacementOutcome::Kept
        })
    }

    fn replace(
        &self,
        base: ObjectId,
        new: ObjectId,
        staged: PathState,
    ) -> Result<ReplacementOutcome, FilesError> {
        match self.state()? {
            PathState::File(found) if found == new => Ok(ReplacementOutcome::Done),
            PathState::File(found) if found == base && staged == PathState::File(new) => {
                self.exchange_files(PathState::File(base), PathState::File(new))
            }
            PathState::Nothing | PathState::File(_) | PathState::Other => {
                Ok(ReplacementOutcome::Kept)
            }
        }
    }

    fn delete(&self, base: ObjectId, staged: PathState) -> Result<ReplacementOutcome, FilesError> {
        match self.state()? {
            PathState::Nothing => return Ok(ReplacementOutcome::Done),
            PathState::File(found) if found == base && staged == PathState::Nothing => {}
            PathState::File(_) | PathState::Other => return Ok(ReplacementOutcome::Kept),
        }
        self.folder.reach(WriteStep::ExchangeFiles)?;
        let taken = fs::rename(self.place(), self.staged_path());
        if taken.as_ref().is_err_and(is_absence) {
            return Ok(ReplacementOutcome::Done);
        }
        taken.map_err(self.failed("take away"))?;
        self.folder.reach(WriteStep::InspectDisplaced)?;
        if self.staged_state()? == PathState::File(base) {
            self.remove_empty_folders();
            return Ok(ReplacementOutcome::Done);
        }
        // Not the version to be deleted. If the person has saved again by now, theirs is the newer one.
        self.place_new()?;
        Ok(ReplacementOutcome::Kept)
    }

    /// Exchanges the staged file (`inside`) with the file in place, expecting `old` to be displaced, until
    /// the displaced file is the expected one.
    fn exchange_files(
        &self,
        mut old: PathState,
        mut inside: PathState,
    ) -> Result<ReplacementOutcome, FilesError> {
        let ours = self.change.new.map(PathState::File);
        for _ in 0..MAX_EXCHANGES {
            self.folder.reach(WriteStep::ExchangeFiles)?;
            match self.exchange_once() {
                Ok(()) => {}
                // The person has deleted the file since, and that is the newer act. A displaced edit of
                // theirs is kept in the history (`recover`).
                Err(error) if is_absence(&error) => return Ok(ReplacementOutcome::Kept),
                Err(error) => return Err(self.failed("replace")(error)),
            }
            self.folder.reach(WriteStep::InspectDisplaced)?;
            let out = self.staged_state()?;
            if out == old || out == PathState::Nothing {
                return Ok(if Some(inside) == ours {
                    ReplacementOutcome::Done
                } else {
                    ReplacementOutcome::Kept
                });
            }
            (old, inside) = (inside, out);
        }
        Ok(ReplacementOutcome::Kept)
    }

    fn exchange_once(&self) -> io::Result<()> {
        if self.folder.may_exchange && atomic::exchange(&self.staged_path(), &self.place())? {
            return Ok(());
        }
        // A rename would bring a deleted file back; where files cannot be exchanged, the path is checked
        // once more.
        fs::symlink_metadata(self.place())?;
        fs::rename(self.staged_path(), self.place())
    }

    /// Moves the staged file to a free path; `false` if the path, or a folder above it, is taken.
    fn place_new(&self) -> Result<bool, FilesError> {
        if !self.make_folders()? {
            return Ok(false);
        }
        atomic::rename_new(&self.staged_path(), &self.place()).map_err(self.failed("create"))
    }

    fn state(&self) -> Result<PathState, FilesError> {
        if !self.is_reachable()? {
            return Ok(PathState::Nothing);
        }
        self.state_of(&self.place())
    }

    fn staged_state(&self) -> Result<PathState, FilesError> {
        self.state_of(&self.staged_path())
    }

    fn state_of(&self, place: &Path) -> Result<PathState, FilesError> {
        let found = match fs::symlink_metadata(place) {
            Err(error) if is_absence(&error) => return Ok(PathState::Nothing),
            found => found.map_err(self.failed("look at"))?,
        };
        if !found.is_file() {
            return Ok(PathState::Other);
        }
        match read_private(place, self.folder.config().max_file_bytes) {
            Ok(Some(bytes)) => Ok(PathState::File(objects::hash(
                self.folder,
                Kind::Blob,
                &bytes,
            )?)),
            Ok(None) => Ok(PathState::Nothing),
            Err(error) if is_absence(&error) => Ok(PathState::Nothing),
            // The engine writes nothing that it may not read, that is no file, or that is longer.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput
                ) =>
            {
                Ok(PathState::Other)
            }
            Err(error) => Err(self.failed("read")(error)),
        }
    }

    /// Whether the path to the file leads through plain folders only. A link could lead anywhere.
    fn is_reachable(&self) -> Result<bool, FilesError> {
        for folder in self.change.path.folders() {
            match fs::symlink_metadata(self.folder.root().join(folder)) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Ok(false),
                Err(error) if is_absence(&error) => return Ok(false),
                Err(error) => return Err(self.failed("look at")(error)),
            }
        }
        Ok(true)
    }

    /// Creates missing folders; `false` if something else is in the way.
    fn make_folders(&self) -> Result<bool, FilesError> {
        for folder in self.change.path.folders() {
            match fs::create_dir(self.folder.root().join(folder)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(self.failed("create the folder of")(error));
                }
                _ => {}
            }
            if !fs::symlink_metadata(self.folder.root().join(folder))
                .is_ok_and(|found| found.is_dir())
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    // git has no empty folders. A folder that is not empty refuses to be removed, so no other check is
    // needed.
    fn remove_empty_folders(&self) {
        let folders: Vec<_> = self.change.path.folders().collect();
        for folder in folders.iter().rev() {
            if fs::remove_dir(self.folder.root().join(folder)).is_err() {
                return;
            }
        }
    }

    fn place(&self) -> PathBuf {
        self.change.path.under(self.folder.root())
    }

    fn failed(&self, doing: &'static str) -> impl FnOnce(io::Error) -> FilesError {
        FilesError::io(doing, self.place())
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// The folders in which `changes` rename files, and those above them, which may be new.
pub(super) fn folders_of<'a>(
    folder: &Folder,
    changes: impl Iterator<Item = &'a FilePath>,
) -> Vec<PathBuf> {
    let mut folders = std::collections::BTreeSet::from([folder.root().to_owned()]);
    for path in changes {
        folders.extend(path.folders().map(|part| folder.root().join(part)));
    }
    folders
        .into_iter()
        .filter(|folder| folder.is_dir())
        .collect()
}
