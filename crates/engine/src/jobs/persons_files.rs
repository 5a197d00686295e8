//! Changes of memory files that a person makes through an agent: whole files are written, moved and deleted.
//!
//! Each is one commit of the person's. Edits that they made by hand, and did not commit, are committed before it, so that
//! nothing of theirs is lost. What a change means for the memory is derived from the commit, like that of an edit by hand,
//! by the next consolidation.
//!
//! Not here: what changes (a plan of the caller's), changes of single memories (`persons_word`).

use daybook_domain::Scope;
use tracing::warn;

use super::consolidate::index_files;
use super::persons_word::ChangeOutcome;
use super::{WorkError, WorkerContext};
use crate::files::changes::FileChanges;
use crate::files::error::FilesError;
use crate::files::layout::folder;
use crate::files::stamp::{CommitAuthor, CommitStamp, Person};
use crate::files::write::{FolderSnapshot, WriteOutcome};
use crate::files::{FilesConfig, Folder, LockOutcome, WriterLock};

/// Makes the changes that `plan` requests of a scope's files, as one commit by `by`. The folder is created if it did not
/// exist. A plan that requests nothing reads the files as they are now.
///
/// # Errors
/// Errors of `plan`; a change that a folder cannot hold; a failure of the disk, or of the store where several machines share
/// the folder. An error has changed nothing, unless the disk failed: the next writer then finishes what was begun.
pub async fn change_files(
    worker: &WorkerContext,
    scope: &Scope,
    message: &str,
    by: &Person,
    plan: impl FnOnce(&FolderSnapshot<'_>) -> Result<FileChanges, FilesError>,
) -> Result<ChangeOutcome, WorkError> {
    let folder = Folder::open(folder(&worker.root, scope), FilesConfig::default())?;
    let LockOutcome::Held(lock) = folder.try_lock(worker.limits.folder_wait)? else {
        return Ok(ChangeOutcome::Busy);
    };
    let stamp = CommitStamp {
        person: by.clone(),
        ..worker.stamp()
    };
    if let Some(sharing) = worker.folder_sync() {
        sharing.sync(scope, &lock, &stamp).await?;
    }
    let outcome = lock.write_as(CommitAuthor::Person, &stamp, message, &|| true, plan)?;
    let made = match outcome {
        WriteOutcome::Written(written) => ChangeOutcome::Made(written.commit),
        WriteOutcome::Unchanged(_) | WriteOutcome::LeaseLost => ChangeOutcome::Unchanged,
    };
    if made != ChangeOutcome::Unchanged
        && follow_commit(worker, scope, (lock, &stamp)).await.is_err()
    {
        // The change is made, and to make it again may be another change. The next update finds the commit.
        warn!(%scope, "a change of memory files is not in the index yet");
    }
    Ok(made)
}

/// Gives a commit its effect on the store.
async fn follow_commit(
    worker: &WorkerContext,
    scope: &Scope,
    written: (WriterLock<'_>, &CommitStamp),
) -> Result<(), WorkError> {
    worker.store.touch_scope(scope, worker.clock.now()).await?;
    index_files(worker, scope, written, None).await
}
