//! Replaces a shared history by one from which something was taken out, and gives up the old one elsewhere.
//!
//! The machine that takes something out rewrites its own history, puts the new objects into the store, and replaces the
//! old ones there in one step. The head counts these steps. Every other machine compares the count with the one of the
//! history that it fetched, before it merges or pushes anything. If they differ it moves to the new history, with a
//! person's edits of the meantime on top of it, and deletes the old one. The store refuses objects from a machine that
//! has not done so yet.
//!
//! Not here: what is taken out, and how a folder's own history is rewritten (`history_rewrite`).

use daybook_domain::TreeHead;
use gix::ObjectId;

use super::exchange::rewrites_of;
use super::fetch_state::FetchState;
use super::merge::{MergeSides, reapply};
use super::{SharedError, SharedHistory, SyncReport, merge_withheld, move_folder_to, transfer};
use crate::files::commit::{CommitContext, MAX_ATTEMPTS};
use crate::files::error::FilesError;
use crate::files::history::CommitHash;
use crate::files::history_rewrite::{HistoryRewrite, forget_given_up, record_given_up};
use crate::files::lock::WriterLock;
use crate::files::purge_folder::remove_texts;
use crate::files::stamp::CommitStamp;

/// What one round of a rewrite did to the folder.
pub struct Rewritten<T> {
    /// What is returned of it.
    pub report: T,
    /// What was taken out of the history.
    pub history: HistoryRewrite,
}

impl SharedHistory<'_> {
    /// Makes the folder's history and the shared one equal, and takes something out of both. `edit` does that to the
    /// folder; it runs again when another machine pushed meanwhile.
    ///
    /// # Errors
    /// See [`SharedError`], and whatever `edit` returns. Nothing is lost; repeat it.
    pub async fn rewrite<T>(
        &self,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
        mut edit: impl FnMut() -> Result<Rewritten<T>, FilesError>,
    ) -> Result<Rewritten<T>, SharedError> {
        for _ in 0..MAX_ATTEMPTS {
            let (_, head) = self.sync_to_head(lock, stamp).await?;
            let before = FetchState::load(lock.folder())?;
            // Should it end here, the next one starts again from what is shared.
            FetchState::rewriting().save(lock.folder())?;
            let done = edit()?;
            if done.history == HistoryRewrite::default() {
                before.save(lock.folder())?;
                self.sync(lock, stamp).await?;
                return Ok(done);
            }
            if self.replace(lock, stamp, head).await? {
                return Ok(done);
            }
        }
        Err(self.contended().into())
    }

    /// Replaces the shared history by the folder's, if its head still is the one that the folder had. False when another
    /// machine was faster.
    async fn replace(
        &self,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
        there: Option<TreeHead>,
    ) -> Result<bool, SharedError> {
        let Some(CommitHash(commit)) = lock.folder().head()? else {
            return Ok(true);
        };
        let beside = merge_withheld(lock, there.as_ref())?;
        let objects = transfer::unshared_objects(&lock.context(stamp)?, None, commit)?;
        let put = self.put(lock, stamp, rewrites_of(there.as_ref()), &objects);
        if put.await?.is_none() {
            return Ok(false);
        }
        let seen = there.map_or(0, |there| there.version);
        let kept: Vec<_> = objects.iter().map(|id| transfer::name_of(*id)).collect();
        let name = transfer::name_of(commit);
        let replaced = self
            .trees
            .rewrite_tree(self.scope, seen, name, &beside, &kept);
        let Some(head) = replaced.await? else {
            return Ok(false);
        };
        let state = FetchState {
            objects: head.objects,
            complete: Some(commit),
            rewrites: Some(head.rewrites),
        };
        state.save(lock.folder())?;
        Ok(true)
    }
}

/// Moves the folder to a history from which something was taken out, and deletes the one that it has. What a person
/// changed after `base`, the last common commit, is kept on top. Returns the new head.
pub(super) fn take_over(
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    (theirs, base): (Option<ObjectId>, Option<ObjectId>),
    report: &mut SyncReport,
) -> Result<Option<ObjectId>, FilesError> {
    let context = lock.context(stamp)?;
    context.branch()?.require_shared()?;
    let head = context.head()?;
    let merged = match (head.commit, theirs) {
        (None, None) => None,
        (None, Some(theirs)) => move_folder_to(&context, &head, report, |_| Ok(theirs))?,
        (Some(ours), Some(theirs)) if is_before(&context, theirs, ours) => Some(ours),
        (Some(ours), theirs) => {
            let edited = lock.edited_files(stamp)?;
            record_given_up(&context, ours)?;
            let base = match base.filter(|base| context.repo.find_commit(*base).is_ok()) {
                Some(base) => Some(base),
                None => last_of_engine(&context, ours)?,
            };
            report.merged = true;
            let sides = MergeSides { base, ours, theirs };
            move_folder_to(&context, &head, report, |staging| {
                reapply(&context, staging, sides, &edited)
            })?
        }
    };
    forget_given_up(&context)?;
    remove_texts(context.folder)?;
    Ok(merged)
}

/// Whether one commit is in the history of another, or is that one.
fn is_before(context: &CommitContext<'_>, one: ObjectId, other: ObjectId) -> bool {
    let base = context.repo.merge_base(one, other);
    base.is_ok_and(|base| base.is_some_and(|base| base.detach() == one))
}

/// The newest commit of the engine in a history: what follows it is a person's.
fn last_of_engine(
    context: &CommitContext<'_>,
    from: ObjectId,
) -> Result<Option<ObjectId>, FilesError> {
    let mut next = Some(CommitHash(from));
    while let Some(id) = next {
        let commit = context.folder.commit(id)?;
        if commit.is_by_engine() {
            return Ok(Some(id.0));
        }
        next = commit.parents.first().copied();
    }
    Ok(None)
}
