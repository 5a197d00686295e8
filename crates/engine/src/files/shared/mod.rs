//! A folder whose history other machines share.
//!
//! The store keeps git's own objects and where the one branch stands ([`TreeStore`]); every folder is
//! a checkout of it. [`Shared::bring_together`] commits what a person edited here, takes in what was
//! written elsewhere, merges the two if both happened, and hands the result over, until both ends are
//! one commit. What it changes in the folder goes through an intent, like any write; what it hands over
//! takes effect in one step, by compare-and-set. So it may be stopped anywhere and done again.
//!
//! A folder that shares its history stays on the branch `main`: other branches are the person's own.
//!
//! Not here: when it is done (`jobs`), how texts are put together (`union`).

mod exchange;
pub mod health;
mod known;
mod merge;
mod travel;
mod union;

use daybook_domain::seams::TreeStore;
use daybook_domain::{Scope, StoreError, TreeHead};
use gix::ObjectId;

use self::known::Known;
use super::commit::{Head, MAX_ATTEMPTS, Work};
use super::error::FilesError;
use super::folder::Folder;
use super::history::CommitId;
use super::index::Index;
use super::intent::Intent;
use super::lock::WriterLock;
use super::objects::{StagedFor, read_blob};
use super::path::FilePath;
use super::recover;
use super::stamp::Stamp;
use super::tree::changes_between;
use super::withheld;
use super::write::{promise, wait};

/// Where one scope's history is shared.
#[derive(Clone, Copy)]
pub struct Shared<'a> {
    /// The store.
    pub trees: &'a dyn TreeStore,
    /// Whose memory.
    pub scope: &'a Scope,
}

/// What bringing a folder and the shared history together came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Together {
    /// Where both are now; nothing if nobody ever wrote.
    pub head: Option<CommitId>,
    /// Objects that came from elsewhere.
    pub taken: u64,
    /// Objects that were handed over.
    pub given: u64,
    /// Whether both sides had something new.
    pub merged: bool,
    /// Files that a person edited here meanwhile: theirs stand.
    pub kept: Vec<FilePath>,
}

/// Why a folder and the shared history could not be brought together. Nothing is lost; do it again.
#[derive(Debug, thiserror::Error)]
pub enum SharedError {
    /// What the disk or the folder's repository says.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// What the store says.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Shared<'_> {
    /// Makes the folder's history and the shared one the same. Safe to repeat.
    ///
    /// # Errors
    /// See [`SharedError`].
    pub async fn bring_together(
        &self,
        lock: &WriterLock<'_>,
        stamp: &Stamp,
    ) -> Result<Together, SharedError> {
        let mut together = Together::default();
        for _ in 0..MAX_ATTEMPTS {
            lock.settle(stamp)?;
            let there = self.trees.tree_head(self.scope).await?;
            if let Some(there) = &there {
                together.taken += self.take_in(lock, stamp, there).await?;
            }
            let commit = there.as_ref().map(|there| travel::id_of(there.commit));
            let Some(met) = meet(lock, stamp, commit, &mut together)? else {
                return Ok(together);
            };
            together.head = Some(CommitId(met));
            let beside = beside(lock, there.as_ref())?;
            let is_shared = there
                .as_ref()
                .is_some_and(|there| commit == Some(met) && there.beside == beside);
            if is_shared {
                return Ok(together);
            }
            together.given += self.give(lock, stamp, commit, met).await?;
            let seen = there.as_ref().map_or(0, |there| there.version);
            let name = travel::name_of(met);
            let advanced = self.trees.advance_tree(self.scope, seen, name, &beside);
            if advanced.await?.is_some() {
                let known = Known::load(lock.folder())?;
                let whole = Some(met);
                Known { whole, ..known }.save(lock.folder())?;
                return Ok(together);
            }
        }
        let contended = format!("others write the memory of {} all the time", self.scope);
        Err(StoreError::Busy(contended.into()).into())
    }
}

/// Moves the folder to a commit that has both histories in it, and says which; nothing if there is
/// none on either side.
fn meet(
    lock: &WriterLock<'_>,
    stamp: &Stamp,
    theirs: Option<ObjectId>,
    together: &mut Together,
) -> Result<Option<ObjectId>, FilesError> {
    let work = Work::new(lock.folder(), stamp)?;
    work.branch()?.must_be_shared()?;
    let head = work.head()?;
    let Some(theirs) = theirs.filter(|theirs| head.commit != Some(*theirs)) else {
        return Ok(head.commit);
    };
    let base = match head.commit {
        None => None,
        Some(ours) => work
            .repo
            .merge_base(ours, theirs)
            .map_err(FilesError::git("compare histories", work.folder.root()))?
            .map(gix::Id::detach),
    };
    match head.commit {
        Some(_) if base == Some(theirs) => Ok(head.commit),
        ours if base == ours => go_to(&work, &head, together, |_| Ok(theirs)),
        None => go_to(&work, &head, together, |_| Ok(theirs)),
        Some(ours) => {
            together.merged = true;
            go_to(&work, &head, together, |staging| {
                merge::merge(&work, staging, ours, theirs)
            })
        }
    }
}

/// Moves the folder to the commit that `make` stages, or that is there already.
fn go_to(
    work: &Work<'_>,
    head: &Head,
    together: &mut Together,
    make: impl FnOnce(&mut super::objects::Staging<'_>) -> Result<ObjectId, FilesError>,
) -> Result<Option<ObjectId>, FilesError> {
    let mut staging = work.staging(StagedFor::Intent);
    let new = make(&mut staging)?;
    // A merge's objects are staged only: published early they are at worst of no use to anybody.
    staging.publish()?;
    let mut staging = work.staging(StagedFor::Intent);
    let changes = changes_between(&head.tree, &work.tree_of(Some(new))?);
    for (number, change) in changes.iter().enumerate() {
        if let Some(id) = change.new {
            let bytes = read_blob(work.folder, &work.repo, id)?;
            wait(work, &mut staging, number, &change.path, &bytes)?;
        }
    }
    let intent = Intent {
        base: head.commit,
        new,
    };
    promise(work, staging, intent)?;
    Intent::record(work.folder)?;
    let carried = recover::carry_out(work, intent)?;
    together.kept.extend(carried.kept);
    let after = work.commit_edits()?;
    Index::follow(work.folder, &after.head.tree, &after.scan)?;
    Ok(after.head.commit)
}

/// What is withheld here and there, together; noted here.
fn beside(lock: &WriterLock<'_>, there: Option<&TreeHead>) -> Result<String, FilesError> {
    let ours = withheld::load(lock)?;
    let mut both = withheld::parse(there.map_or("", |there| there.beside.as_str()));
    for (file, markers) in &ours {
        both.entry(file.clone())
            .or_default()
            .extend(markers.iter().cloned());
    }
    if both != ours {
        withheld::save(lock, &both)?;
    }
    Ok(withheld::spelled(&both))
}

/// Whether this folder is at the shared commit, with a history that was seen to be whole. Reads the
/// branch and one note.
pub(crate) fn is_level(folder: &Folder, shared: &TreeHead) -> Result<bool, FilesError> {
    let commit = travel::id_of(shared.commit);
    let is_there = folder.head()? == Some(CommitId(commit));
    Ok(is_there && Known::load(folder)?.whole == Some(commit))
}

#[cfg(test)]
mod tests;
