//! Applies a recorded intent, in the process that recorded it or in a later one.
//!
//! A write that goes well and the recovery of one that was interrupted are the same code, so every crash
//! ends where the write would have ended. All of it may be repeated from any point:
//!
//! 1. the objects of the new commit are added to the history;
//! 2. edits that a stopped writer displaced are moved back;
//! 3. a file equal to the base is replaced by the new version; a file that is already new stays; any other
//!    is a person's and stays, as does one that was replaced and then changed back;
//! 4. the branch advances from the base to the new commit. If a person has moved it meanwhile, the new
//!    commit's changes are committed on top of theirs;
//! 5. displaced edits that could not be moved back, because the person has written there since, are
//!    committed;
//! 6. the intent is cleared.
//!
//! The engine's version of a file that stays a person's is in the commit of step 4, and the caller commits
//! the person's on top; so both are in the history, and the person's is in the work tree.

use std::fs;

use gix::ObjectId;

use super::atomic;
use super::commit::{CommitContext, MAX_ATTEMPTS};
use super::error::FilesError;
use super::git_index::stat_of;
use super::intent::{self, Intent, StoredIntent};
use super::objects::{self, StagingPurpose};
use super::path::FilePath;
use super::reader::read_private;
use super::refs::AdvanceOutcome;
use super::replace_file::{self, FileReplacement, PathState, ReplacementOutcome};
use super::steps::WriteStep;
use super::tree::{FileChange, changes_between};

/// How far back from HEAD an intent's commit is searched. A power cut can bring back an intent that was
/// applied, but only a recent one.
const MAX_LOOK_BACK: usize = 1000;
/// Trailer that names the intent's commit in a commit made in its stead.
const STEAD_TRAILER: &str = "Daybook-Intent: ";

/// Result of applying an intent.
pub(super) struct AppliedIntent {
    /// The commit of the intent, or the one made in its stead.
    pub(super) commit: ObjectId,
    /// Files that stay a person's.
    pub(super) kept: Vec<FilePath>,
}

/// What recovery found of the previous writer.
pub(super) enum RecoverOutcome {
    Clean,
    Applied(AppliedIntent),
    /// An intent could not be applied and was moved to `.git/daybook/aside/`.
    SetAside,
}

/// Finishes an interrupted write, and removes its temporary files. Only under the writer lock.
pub(super) fn recover(context: &CommitContext<'_>) -> Result<RecoverOutcome, FilesError> {
    context.branch()?.break_stale_lock()?;
    super::git_lock::break_stale(context.folder, "index".as_ref())?;
    let recorded = Intent::read(context.folder)?;
    if let StoredIntent::Intent(_) = recorded {
        objects::publish(context.folder, &context.repo, StagingPurpose::Intent)?;
    }
    let recovered = match recorded {
        StoredIntent::Nothing => RecoverOutcome::Clean,
        StoredIntent::Intent(intent) if is_readable(context, intent) => {
            RecoverOutcome::Applied(apply(context, intent)?)
        }
        StoredIntent::Intent(_) | StoredIntent::Unreadable => {
            intent::set_aside(context.folder)?;
            RecoverOutcome::SetAside
        }
    };
    intent::clear_staged_files(context.folder)?;
    objects::clear_staged_objects(context.folder)?;
    Ok(recovered)
}

/// Applies a recorded intent. The caller then commits the person's edits.
pub(super) fn apply(
    context: &CommitContext<'_>,
    intent: Intent,
) -> Result<AppliedIntent, FilesError> {
    objects::publish(context.folder, &context.repo, StagingPurpose::Intent)?;
    let changes = changes_between(
        &*context.tree_of(intent.base)?,
        &*context.tree_of(Some(intent.new))?,
    );
    let replacements: Vec<_> = changes
        .iter()
        .enumerate()
        .map(|(number, change)| FileReplacement {
            folder: context.folder,
            number,
            change,
        })
        .collect();
    replacements
        .iter()
        .try_for_each(FileReplacement::restore_displaced)?;

    let mut applied = AppliedIntent {
        commit: intent.new,
        kept: Vec::new(),
    };
    match find_applied(context, intent)? {
        Some(commit) => applied.commit = commit,
        None => {
            applied.kept = replace_files(context, &replacements)?;
            applied.commit = advance_branch(context, intent, &changes)?;
        }
    }
    commit_conflicting_edits(context, intent, &replacements)?;
    Intent::clear(context.folder)?;
    intent::clear_staged_files(context.folder)?;
    Ok(applied)
}

fn is_readable(context: &CommitContext<'_>, intent: Intent) -> bool {
    context
        .tree_of(intent.base)
        .and_then(|_| context.tree_of(Some(intent.new)))
        .is_ok()
}

fn replace_files(
    context: &CommitContext<'_>,
    replacements: &[FileReplacement<'_>],
) -> Result<Vec<FilePath>, FilesError> {
    let mut kept = Vec::new();
    // Deletions come first: a file may take the name of a folder that they empty.
    let (gone, written): (Vec<&FileReplacement<'_>>, Vec<_>) = replacements
        .iter()
        .partition(|replacement| replacement.change.new.is_none());
    for replacement in gone.into_iter().chain(written) {
        if replacement.apply()? == ReplacementOutcome::Kept {
            kept.push(replacement.change.path.clone());
        }
    }
    if context.folder.is_power_safe() {
        let folders = replace_file::folders_of(
            context.folder,
            replacements
                .iter()
                .map(|replacement| &replacement.change.path),
        );
        atomic::sync(&folders).map_err(FilesError::io(
            "bring files to disk in",
            context.folder.root(),
        ))?;
    }
    Ok(kept)
}

/// Finds the commit that already applied the intent, if there is one.
fn find_applied(
    context: &CommitContext<'_>,
    intent: Intent,
) -> Result<Option<ObjectId>, FilesError> {
    let head = context.branch()?.commit()?;
    let Some(head) = head.filter(|_| head != intent.base) else {
        return Ok(None);
    };
    let failed = || FilesError::git("read the history", context.folder.root());
    let trailer = format!("{STEAD_TRAILER}{}", intent.new);
    let start = context.repo.find_commit(head).map_err(failed())?;
    for ancestor in start
        .ancestors()
        .all()
        .map_err(failed())?
        .take(MAX_LOOK_BACK)
    {
        let id = ancestor.map_err(failed())?.id;
        let commit = context.repo.find_commit(id).map_err(failed())?;
        let message = commit.message_raw_sloppy();
        if id == intent.new
            || message
                .split(|byte| *byte == b'\n')
                .any(|line| line == trailer.as_bytes())
        {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Advances the branch to the new commit, or to an equivalent one on top of a person's commits.
fn advance_branch(
    context: &CommitContext<'_>,
    intent: Intent,
    changes: &[FileChange],
) -> Result<ObjectId, FilesError> {
    let failed = || FilesError::git("read a commit", context.folder.root());
    let planned = context.repo.find_commit(intent.new).map_err(failed())?;
    let message = planned.message_raw_sloppy().to_string();
    let author = planned.author().map_err(failed())?;
    let who = author.to_owned().map_err(failed())?;
    for _ in 0..MAX_ATTEMPTS {
        let head = context.branch()?.commit()?;
        let landed = if head == intent.base {
            match context
                .branch()?
                .advance(head, intent.new, &who, &message)?
            {
                AdvanceOutcome::Done => Some(intent.new),
                AdvanceOutcome::Elsewhere => None,
            }
        } else {
            let message = format!("{}\n\n{STEAD_TRAILER}{}", message.trim_end(), intent.new);
            context.commit(
                &context.head()?,
                context.staging(StagingPurpose::Now),
                changes,
                &who,
                &message,
            )?
        };
        if let Some(commit) = landed {
            return Ok(commit);
        }
    }
    Err(context.branch_contended())
}

/// Commits the person's edits that stay displaced by the write. An edit that cannot be committed is moved
/// to `.git/daybook/kept/`, where a person can find it.
fn commit_conflicting_edits(
    context: &CommitContext<'_>,
    intent: Intent,
    replacements: &[FileReplacement<'_>],
) -> Result<(), FilesError> {
    let mut conflicting_edits = Vec::new();
    for replacement in replacements {
        match replacement.conflicting_edit()? {
            None => {}
            Some(PathState::File(_)) => conflicting_edits.push(replacement),
            Some(PathState::Other | PathState::Nothing) => {
                move_to_kept(context, intent, replacement)?
            }
        }
    }
    if conflicting_edits.is_empty() {
        return Ok(());
    }
    context.folder.reach(WriteStep::CommitConflictingEdits)?;
    for _ in 0..MAX_ATTEMPTS {
        let head = context.head()?;
        let mut staging = context.staging(StagingPurpose::Now);
        let mut changes = Vec::new();
        for replacement in &conflicting_edits {
            let failed = || FilesError::io("read", replacement.staged_path());
            let limit = context.folder.config().max_file_bytes;
            if let Some(bytes) = read_private(&replacement.staged_path(), limit).map_err(failed())?
            {
                let path = replacement.change.path.clone();
                let base = head.tree.files.get(&path).map(|file| file.id);
                changes.push(FileChange {
                    path,
                    base,
                    new: Some(staging.put_blob(&bytes)?),
                });
            }
        }
        let message = "Keep an edit made while memory was written";
        if context
            .commit(
                &head,
                staging,
                &changes,
                &context.stamp.person_signature(),
                message,
            )?
            .is_some()
        {
            return conflicting_edits.iter().try_for_each(|replacement| {
                atomic::remove(&replacement.staged_path())
                    .map_err(FilesError::io("remove", replacement.staged_path()))
            });
        }
    }
    Err(context.branch_contended())
}

fn move_to_kept(
    context: &CommitContext<'_>,
    intent: Intent,
    replacement: &FileReplacement<'_>,
) -> Result<(), FilesError> {
    let kept = context.folder.private_path("kept");
    fs::create_dir_all(&kept).map_err(FilesError::io("create", &kept))?;
    let mut place = kept.join(format!("{}-{}", intent.new, replacement.number));
    while stat_of(&place).is_ok() {
        place.as_mut_os_string().push("+");
    }
    fs::rename(replacement.staged_path(), &place).map_err(FilesError::io("keep", place))
}

#[cfg(test)]
#[path = "recover_tests.rs"]
mod tests;
