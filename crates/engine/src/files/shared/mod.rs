//! Synchronizes a folder with the history that several machines share.
//!
//! The store keeps git's own objects and the head of the one branch ([`TreeStore`]); every folder is a
//! checkout of it. [`SharedHistory::sync`] commits a person's edits here, fetches what was written
//! elsewhere, merges the two if both happened, and pushes the result, until both ends are one commit. Its
//! changes to the folder go through an intent, like any write; a push takes effect in one step, by
//! compare-and-set. So it may be stopped anywhere and repeated.
//!
//! A folder that shares its history stays on the branch `main`: other branches are the person's own.
//!
//! Not here: when a folder is synchronized (`jobs`), how texts are merged (`union`).

mod exchange;
mod fetch_state;
mod merge;
pub mod repair;
mod rewrite;
mod transfer;
mod union;

pub use rewrite::Rewritten;
pub(super) use union::{Hunk, MergedText, hunks, pieces, union};

use daybook_domain::seams::TreeStore;
use daybook_domain::{Scope, StoreError, TreeHead};
use gix::ObjectId;

use self::fetch_state::FetchState;
use super::commit::{CommitContext, MAX_ATTEMPTS};
use super::error::FilesError;
use super::folder::Folder;
use super::git_index::GitIndex;
use super::history::CommitHash;
use super::intent::Intent;
use super::lock::WriterLock;
use super::objects::{StagingPurpose, read_blob};
use super::path::FilePath;
use super::recover;
use super::stamp::CommitStamp;
use super::tree::{Head, changes_between};
use super::withheld;
use super::write::{persist_intent, stage_file};

/// The shared history of one scope.
#[derive(Clone, Copy)]
pub struct SharedHistory<'a> {
    /// The store.
    pub trees: &'a dyn TreeStore,
    /// The scope.
    pub scope: &'a Scope,
}

/// Result of synchronizing a folder with the shared history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// The common head; `None` if neither side has a commit.
    pub head: Option<CommitHash>,
    /// Objects that were fetched.
    pub fetched: u64,
    /// Objects that were pushed.
    pub pushed: u64,
    /// Whether both sides had new commits, which were merged.
    pub merged: bool,
    /// Files that a person edited here meanwhile: theirs stay in the work tree.
    pub kept: Vec<FilePath>,
}

/// Why a folder could not be synchronized. Nothing is lost; repeat it.
#[derive(Debug, thiserror::Error)]
pub enum SharedError {
    /// The disk or the folder's repository failed.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SharedHistory<'_> {
    /// Makes the folder's history and the shared one equal. Safe to repeat.
    ///
    /// # Errors
    /// See [`SharedError`].
    pub async fn sync(
        &self,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
    ) -> Result<SyncReport, SharedError> {
        let (report, _) = self.sync_to_head(lock, stamp).await?;
        Ok(report)
    }

    /// As [`Self::sync`]; also returns the shared head that the folder has now.
    async fn sync_to_head(
        &self,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
    ) -> Result<(SyncReport, Option<TreeHead>), SharedError> {
        let mut report = SyncReport::default();
        for _ in 0..MAX_ATTEMPTS {
            lock.settle(stamp)?;
            let there = self.trees.tree_head(self.scope).await?;
            let commit = there.as_ref().and_then(|there| there.commit);
            let commit = commit.map(transfer::id_of);
            let merged = self.fetch_and_merge(lock, stamp, there.as_ref(), &mut report);
            let Some(merged) = merged.await? else {
                return Ok((report, there));
            };
            if there.is_some() && commit.is_none() && is_empty(lock, stamp, merged)? {
                // Everything was removed, here too.
                return Ok((report, there));
            }
            report.head = Some(CommitHash(merged));
            let beside = merge_withheld(lock, there.as_ref())?;
            let is_shared = there
                .as_ref()
                .is_some_and(|there| commit == Some(merged) && there.beside == beside);
            if is_shared {
                return Ok((report, there));
            }
            let pushed = self.push_objects(lock, stamp, there.as_ref(), merged);
            let Some(pushed) = pushed.await? else {
                continue;
            };
            report.pushed += pushed;
            let seen = there.as_ref().map_or(0, |there| there.version);
            let name = transfer::name_of(merged);
            let advanced = self.trees.advance_tree(self.scope, seen, name, &beside);
            if let Some(head) = advanced.await? {
                let state = FetchState::load(lock.folder())?;
                let complete = Some(merged);
                FetchState { complete, ..state }.save(lock.folder())?;
                return Ok((report, Some(head)));
            }
        }
        Err(self.contended().into())
    }

    fn contended(&self) -> StoreError {
        let contended = format!("other machines keep changing the memory of {}", self.scope);
        StoreError::Busy(contended.into())
    }

    /// Fetches what the folder lacks of the shared history, and moves it to a commit that contains both. Returns that
    /// commit; `None` if neither side has one.
    async fn fetch_and_merge(
        &self,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
        there: Option<&TreeHead>,
        report: &mut SyncReport,
    ) -> Result<Option<ObjectId>, SharedError> {
        let before = FetchState::load(lock.folder())?;
        let Some(there) = there else {
            return Ok(merge_heads(lock, stamp, None, report)?);
        };
        let theirs = there.commit.map(transfer::id_of);
        if before.rewrites == Some(there.rewrites) {
            let fetching = self.fetch_history(lock, stamp, there, before);
            let (fetched, state) = fetching.await?;
            report.fetched += fetched;
            state.save(lock.folder())?;
            return Ok(merge_heads(lock, stamp, theirs, report)?);
        }
        let nothing = FetchState::none_of(there.rewrites);
        let (fetched, state) = self.fetch_history(lock, stamp, there, nothing).await?;
        report.fetched += fetched;
        let merged = rewrite::take_over(lock, stamp, (theirs, before.complete), report)?;
        state.save(lock.folder())?;
        Ok(merged)
    }
}

/// Moves the folder to a commit that contains both histories, and returns it; `None` if neither side has
/// one.
fn merge_heads(
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    theirs: Option<ObjectId>,
    report: &mut SyncReport,
) -> Result<Option<ObjectId>, FilesError> {
    let context = lock.context(stamp)?;
    context.branch()?.require_shared()?;
    let head = context.head()?;
    let Some(theirs) = theirs.filter(|theirs| head.commit != Some(*theirs)) else {
        return Ok(head.commit);
    };
    let base = match head.commit {
        None => None,
        Some(ours) => context
            .repo
            .merge_base(ours, theirs)
            .map_err(FilesError::git("compare histories", context.folder.root()))?
            .map(gix::Id::detach),
    };
    match head.commit {
        Some(_) if base == Some(theirs) => Ok(head.commit),
        ours if base == ours => move_folder_to(&context, &head, report, |_| Ok(theirs)),
        None => move_folder_to(&context, &head, report, |_| Ok(theirs)),
        Some(ours) => {
            report.merged = true;
            move_folder_to(&context, &head, report, |staging| {
                merge::merge(&context, staging, ours, theirs)
            })
        }
    }
}

fn is_empty(
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    commit: ObjectId,
) -> Result<bool, FilesError> {
    let tree = lock.context(stamp)?.tree_of(Some(commit))?;
    Ok(tree.files.is_empty() && tree.foreign.is_empty())
}

/// Moves the folder to the commit that `make` returns; `make` may stage a new one.
fn move_folder_to(
    context: &CommitContext<'_>,
    head: &Head,
    report: &mut SyncReport,
    make: impl FnOnce(&mut super::objects::Staging<'_>) -> Result<ObjectId, FilesError>,
) -> Result<Option<ObjectId>, FilesError> {
    let mut staging = context.staging(StagingPurpose::Intent);
    let new = make(&mut staging)?;
    // A merge's objects are only staged: if published early they are at worst unused.
    staging.publish()?;
    let mut staging = context.staging(StagingPurpose::Intent);
    let changes = changes_between(&head.tree, &*context.tree_of(Some(new))?);
    for (number, change) in changes.iter().enumerate() {
        if let Some(id) = change.new {
            let bytes = read_blob(context.folder, &context.repo, id)?;
            stage_file(context, &mut staging, number, &change.path, &bytes)?;
        }
    }
    let intent = Intent {
        base: head.commit,
        new,
    };
    persist_intent(context, staging, intent)?;
    Intent::record(context.folder)?;
    let applied = recover::apply(context, intent)?;
    report.kept.extend(applied.kept);
    let after = context.commit_edits()?;
    GitIndex::match_head(context.folder, &after.head.tree, &after.scan.files)?;
    Ok(after.head.commit)
}

/// Merges a person's choices of both sides, and stores the result here. What the common head has overtaken is dropped:
/// a side that has not seen an entry's return would withhold it for ever.
fn merge_withheld(lock: &WriterLock<'_>, there: Option<&TreeHead>) -> Result<String, FilesError> {
    let ours = withheld::load(lock)?;
    let mut both = withheld::parse(there.map_or("", |there| there.beside.as_str()));
    withheld::extend(&mut both, &ours);
    if let Some(head) = lock.folder().head()? {
        withheld::prune(&mut both, |file| match FilePath::new(file) {
            Ok(path) => lock.folder().page_at(head, &path),
            Err(_) => Ok(None),
        })?;
    }
    if both != ours {
        withheld::save(lock, &both)?;
    }
    Ok(withheld::render(&both))
}

/// Whether this folder is at the shared commit, with a history that was found complete. Reads only the
/// branch and the fetch state.
pub(crate) fn is_in_sync(folder: &Folder, shared: &TreeHead) -> Result<bool, FilesError> {
    let state = FetchState::load(folder)?;
    let Some(commit) = shared.commit.map(transfer::id_of) else {
        return Ok(state == FetchState::none_of(shared.rewrites));
    };
    let is_there = folder.head()? == Some(CommitHash(commit));
    Ok(is_there && state.complete == Some(commit))
}

#[cfg(test)]
mod tests;
