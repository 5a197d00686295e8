//! Putting one file into its place without ever losing what a person put there.
//!
//! Between looking at a file and replacing it, a person may save it. So the new text and the old file
//! *trade places* in one step, and what came out is looked at afterwards: if it is not the version
//! that we meant to replace, it is a person's, and gets its place back. Where the system cannot
//! trade, the look comes just before the rename, and an edit saved within those microseconds is
//! replaced. An editor that opened a file before the trade and writes into it after the look writes
//! into a file without a name; no program that replaces files can see that.
//!
//! A kill may come between trade and look. The new text of change `n` waits at place `n` before the
//! intent is recorded, and what the trade took out waits there after. So the waiting place tells
//! whether a trade was made: a file that was put in place, and deleted or put back to the base by the
//! person since, stays as they left it. An edit that was taken out by a trade and not looked at is
//! found there too ([`Swap::give_back`]).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::objs::Kind;

use super::atomic;
use super::error::FilesError;
use super::folder::Folder;
use super::intent::waiting_place;
use super::objects;
use super::path::FilePath;
use super::reader::read_private;
use super::steps::Step;
use super::tree::Change;

/// Most times in a row that a person's file gets its place back while they go on saving.
const MAX_TRADES: usize = 8;

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Swapped {
    /// It is as the change wants it.
    Done,
    /// A person's version stands there and stays.
    Kept,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Nothing,
    File(ObjectId),
    /// A folder, a link, a file too large to be ours: a person's in any case.
    Other,
}

/// One change on its way into the work tree.
pub(super) struct Swap<'a> {
    pub(super) folder: &'a Folder,
    pub(super) number: usize,
    pub(super) change: &'a Change,
}

impl Swap<'_> {
    /// Makes the change, unless a person's version stands in its place. Safe to repeat.
    pub(super) fn make(&self) -> Result<Swapped, FilesError> {
        self.folder.reach(Step::SwapFile)?;
        let waits = self.waiting_standing()?;
        if self.is_stray(waits) {
            // Nothing may take the waiting place from it.
            return Ok(Swapped::Kept);
        }
        match (self.change.base, self.change.new) {
            (None, Some(new)) => self.add(new, waits),
            (Some(base), Some(new)) => self.replace(base, new, waits),
            (Some(base), None) => self.delete(base, waits),
            (None, None) => Ok(Swapped::Done),
        }
    }

    /// Returns an edit that a stopped writer took out of its place, if its place still is as that
    /// writer left it. If the person has written there since, the edit waits on, for
    /// [`stray`](Self::stray).
    pub(super) fn give_back(&self) -> Result<(), FilesError> {
        let Some(stray) = self.stray()? else {
            return Ok(());
        };
        match (self.standing()?, self.change.new) {
            (Standing::File(found), Some(new)) if found == new => {
                self.trade(Standing::File(new), stray)?;
            }
            (Standing::Nothing, None) => {
                self.put_new()?;
            }
            (Standing::Nothing | Standing::File(_) | Standing::Other, _) => {}
        }
        Ok(())
    }

    /// What waits at our place and is neither version of the change: a person's.
    pub(super) fn stray(&self) -> Result<Option<Standing>, FilesError> {
        let waits = self.waiting_standing()?;
        Ok(self.is_stray(waits).then_some(waits))
    }

    fn is_stray(&self, waits: Standing) -> bool {
        match waits {
            Standing::Nothing => false,
            Standing::File(id) => ![self.change.base, self.change.new].contains(&Some(id)),
            Standing::Other => true,
        }
    }

    pub(super) fn waiting(&self) -> PathBuf {
        waiting_place(self.folder, self.number)
    }

    fn add(&self, new: ObjectId, waits: Standing) -> Result<Swapped, FilesError> {
        if self.standing()? == Standing::File(new) {
            return Ok(Swapped::Done);
        }
        if waits != Standing::File(new) {
            return Ok(Swapped::Kept);
        }
        self.folder.reach(Step::Trade)?;
        let is_added = self.put_new()?;
        Ok(if is_added {
            Swapped::Done
        } else {
            Swapped::Kept
        })
    }

    fn replace(
        &self,
        base: ObjectId,
        new: ObjectId,
        waits: Standing,
    ) -> Result<Swapped, FilesError> {
        match self.standing()? {
            Standing::File(found) if found == new => Ok(Swapped::Done),
            Standing::File(found) if found == base && waits == Standing::File(new) => {
                self.trade(Standing::File(base), Standing::File(new))
            }
            Standing::Nothing | Standing::File(_) | Standing::Other => Ok(Swapped::Kept),
        }
    }

    fn delete(&self, base: ObjectId, waits: Standing) -> Result<Swapped, FilesError> {
        match self.standing()? {
            Standing::Nothing => return Ok(Swapped::Done),
            Standing::File(found) if found == base && waits == Standing::Nothing => {}
            Standing::File(_) | Standing::Other => return Ok(Swapped::Kept),
        }
        self.folder.reach(Step::Trade)?;
        let taken = fs::rename(self.place(), self.waiting());
        if taken.as_ref().is_err_and(is_absence) {
            return Ok(Swapped::Done);
        }
        taken.map_err(self.failed("take away"))?;
        self.folder.reach(Step::Inspect)?;
        if self.waiting_standing()? == Standing::File(base) {
            self.remove_empty_folders();
            return Ok(Swapped::Done);
        }
        // Not what we meant to delete. If the person has saved again by now, that is the newer one.
        self.put_new()?;
        Ok(Swapped::Kept)
    }

    /// Trades what waits (`inside`) for what stands, expecting `old` to come out, until what comes
    /// out is what was expected.
    fn trade(&self, mut old: Standing, mut inside: Standing) -> Result<Swapped, FilesError> {
        let ours = self.change.new.map(Standing::File);
        for _ in 0..MAX_TRADES {
            self.folder.reach(Step::Trade)?;
            match self.exchange() {
                Ok(()) => {}
                // The person has deleted the file since, and that is the newer act. An edit of theirs
                // that waits is kept by the history (`recover`).
                Err(error) if is_absence(&error) => return Ok(Swapped::Kept),
                Err(error) => return Err(self.failed("replace")(error)),
            }
            self.folder.reach(Step::Inspect)?;
            let out = self.waiting_standing()?;
            if out == old || out == Standing::Nothing {
                return Ok(if Some(inside) == ours {
                    Swapped::Done
                } else {
                    Swapped::Kept
                });
            }
            (old, inside) = (inside, out);
        }
        Ok(Swapped::Kept)
    }

    fn exchange(&self) -> io::Result<()> {
        if self.folder.may_exchange && atomic::exchange(&self.waiting(), &self.place())? {
            return Ok(());
        }
        // A rename would bring a deleted file back; where we cannot trade, we look once more.
        fs::symlink_metadata(self.place())?;
        fs::rename(self.waiting(), self.place())
    }

    /// Puts what waits where nothing stands; `false` if something does, or bars the way.
    fn put_new(&self) -> Result<bool, FilesError> {
        if !self.make_folders()? {
            return Ok(false);
        }
        atomic::rename_new(&self.waiting(), &self.place()).map_err(self.failed("create"))
    }

    fn standing(&self) -> Result<Standing, FilesError> {
        if !self.is_reachable()? {
            return Ok(Standing::Nothing);
        }
        self.standing_at(&self.place())
    }

    fn waiting_standing(&self) -> Result<Standing, FilesError> {
        self.standing_at(&self.waiting())
    }

    fn standing_at(&self, place: &Path) -> Result<Standing, FilesError> {
        let found = match fs::symlink_metadata(place) {
            Err(error) if is_absence(&error) => return Ok(Standing::Nothing),
            found => found.map_err(self.failed("look at"))?,
        };
        if !found.is_file() {
            return Ok(Standing::Other);
        }
        match read_private(place, self.folder.config().max_file_bytes) {
            Ok(Some(bytes)) => Ok(Standing::File(objects::hash(
                self.folder,
                Kind::Blob,
                &bytes,
            )?)),
            Ok(None) => Ok(Standing::Nothing),
            Err(error) if is_absence(&error) => Ok(Standing::Nothing),
            // We wrote nothing that we may not read, that is no file, or that is longer.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput
                ) =>
            {
                Ok(Standing::Other)
            }
            Err(error) => Err(self.failed("read")(error)),
        }
    }

    /// Whether the way to the file leads through plain folders only. A link could lead anywhere.
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

    /// Makes the folders that are missing; `false` if something else stands in the way.
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

    // git has no empty folders. One that is not empty refuses, which is all the check it takes.
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

/// The folders in which `changes` rename something, and those above them, which may be new.
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
