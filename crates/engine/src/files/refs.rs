//! Reads the branch that a folder is on, and advances it.
//!
//! Writes go to whatever branch HEAD names, as git's would; `main` unless a person switched. A branch moves
//! by compare-and-set under git's own lock, so a person who commits at the same moment either comes first
//! (and the engine builds on that commit) or gets git's error.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use gix::ObjectId;
use gix::refs::{FullName, Target};
use gix::state::InProgress;

use super::atomic;
use super::error::FilesError;
use super::folder::{Folder, MAIN_BRANCH};
use super::git_lock::{self, GitReplaceOutcome};

/// Result of an attempt to advance a branch.
#[derive(PartialEq, Eq)]
pub(super) enum AdvanceOutcome {
    Done,
    /// A person had moved it, and it stays there.
    Elsewhere,
}

/// A branch to write to.
pub(super) struct Branch<'a> {
    folder: &'a Folder,
    repo: &'a gix::Repository,
    name: FullName,
}

impl<'a> Branch<'a> {
    /// The branch that HEAD names.
    ///
    /// # Errors
    /// [`FilesError::PersonAtWork`] if there is none, or during a merge and the like: the work tree then
    /// holds neither version of some file, and its changes are not yet a person's edit.
    pub(super) fn current(
        folder: &'a Folder,
        repo: &'a gix::Repository,
    ) -> Result<Self, FilesError> {
        let path = || folder.root().to_owned();
        if let Some(doing) = repo.state().map(|state| operation_name(&state)) {
            return Err(FilesError::PersonAtWork {
                path: path(),
                doing,
            });
        }
        let head = repo
            .find_reference("HEAD")
            .map_err(FilesError::git("find the branch", folder.root()))?;
        match head.target().try_name() {
            Some(name) => Ok(Self {
                folder,
                repo,
                name: name.to_owned(),
            }),
            None => Err(FilesError::PersonAtWork {
                path: path(),
                doing: "looking at an old commit",
            }),
        }
    }

    /// Refuses any branch other than the shared one.
    pub(super) fn require_shared(&self) -> Result<(), FilesError> {
        if self.name.shorten() == MAIN_BRANCH {
            return Ok(());
        }
        Err(FilesError::PersonAtWork {
            path: self.folder.root().to_owned(),
            doing: "working on a branch of its own, while others share `main`",
        })
    }

    /// Its newest commit; `None` before the first.
    pub(super) fn commit(&self) -> Result<Option<ObjectId>, FilesError> {
        let found =
            self.repo
                .try_find_reference(self.name.as_ref())
                .and_then(|found| match found {
                    None => Ok(None),
                    Some(mut found) => Ok(Some(found.peel_to_id()?.detach())),
                });
        found.map_err(FilesError::git("read the branch", self.folder.root()))
    }

    /// Moves the branch to `to`, if it is still at `from`. `who` and `why` are written to the reflog.
    pub(super) fn advance(
        &self,
        from: Option<ObjectId>,
        to: ObjectId,
        who: &gix::actor::Signature,
        why: &str,
    ) -> Result<AdvanceOutcome, FilesError> {
        let name = self.file()?;
        let is_there = || self.is_at(from);
        match git_lock::replace(
            self.folder,
            &name,
            format!("{to}\n").as_bytes(),
            true,
            is_there,
        )? {
            GitReplaceOutcome::HeldByGit(path) => return Err(FilesError::GitLocked { path }),
            GitReplaceOutcome::Refused => return Ok(AdvanceOutcome::Elsewhere),
            GitReplaceOutcome::Done => {}
        }
        let failed = |doing| FilesError::io(doing, self.folder.root());
        let place = self.folder.git_dir().join(&name);
        if let (true, Some(parent)) = (self.folder.is_power_safe(), place.parent()) {
            atomic::sync(&[parent.to_owned()]).map_err(failed("bring the branch to disk in"))?;
        }
        self.append_reflog(&name, from, to, who, why)
            .map_err(failed("write the reflog of"))?;
        Ok(AdvanceOutcome::Done)
    }

    /// Removes a lock that a stopped writer of ours left on this branch.
    pub(super) fn break_stale_lock(&self) -> Result<(), FilesError> {
        git_lock::break_stale(self.folder, &self.file()?)
    }

    /// Its file inside `.git`, whether or not it is packed.
    pub(super) fn file(&self) -> Result<Cow<'_, Path>, FilesError> {
        gix::path::from_bstr(self.name.as_bstr())
            .map_err(FilesError::git("name the branch", self.folder.root()))
    }

    // Read from the files, not through a cache: this is the compare of a compare-and-set.
    fn is_at(&self, expected: Option<ObjectId>) -> Result<bool, FilesError> {
        let found = self
            .repo
            .try_find_reference(self.name.as_ref())
            .map_err(FilesError::git("read the branch", self.folder.root()))?;
        Ok(match (found.map(|found| found.inner.target), expected) {
            (None, None) => true,
            (Some(Target::Object(found)), Some(expected)) => found == expected,
            (Some(_), _) | (None, Some(_)) => false,
        })
    }

    // A reflog is a convenience: this order can cost one line of it after a kill, and nothing else.
    fn append_reflog(
        &self,
        name: &Path,
        from: Option<ObjectId>,
        to: ObjectId,
        who: &gix::actor::Signature,
        why: &str,
    ) -> io::Result<()> {
        let from = from.unwrap_or_else(|| ObjectId::null(to.kind()));
        let mut line = format!("{from} {to} ").into_bytes();
        who.write_to(&mut line)?;
        line.extend_from_slice(
            format!("\t{}\n", why.lines().next().unwrap_or_default()).as_bytes(),
        );
        for log in [Path::new("HEAD"), name] {
            let place = self.folder.git_dir().join("logs").join(log);
            if let Some(parent) = place.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::File::options()
                .create(true)
                .append(true)
                .open(place)?
                .write_all(&line)?;
        }
        Ok(())
    }
}

fn operation_name(state: &InProgress) -> &'static str {
    match state {
        InProgress::ApplyMailbox | InProgress::ApplyMailboxRebase => "applying patches",
        InProgress::Bisect => "a bisection",
        InProgress::CherryPick | InProgress::CherryPickSequence => "a cherry-pick",
        InProgress::Merge => "a merge",
        InProgress::Rebase | InProgress::RebaseInteractive => "a rebase",
        InProgress::Revert | InProgress::RevertSequence => "a revert",
    }
}
