//! The write protocol: applies the engine's changes to a folder that a person edits, too.
//!
//! A write takes the writer lock, finishes an interrupted write, commits the person's pending edits as
//! theirs, and passes the result to its caller as a [`FolderSnapshot`]. The changes that the caller requests
//! become a commit, then an intent, then files, then the branch; `recover` lists the steps. A lost lease
//! stops a write before the intent is recorded, and nothing stops it afterwards.
//!
//! Invariants: a file is never torn; bytes of a person are in the work tree or in the history; the engine's
//! too, once its intent is recorded; history only grows, except that secrets are taken out of it (`history_rewrite`); and after a finished write the work tree equals
//! HEAD (except for each [`SkippedPath`]), so any later difference is a person's edit.
//!
//! Not here: what to write. The caller's `plan` decides, and calls no model while the lock is held.

use gix::ObjectId;
use gix::objs::Kind;

use super::atomic;
use super::changes::FileChanges;
use super::commit::{CommitContext, SettledTree};
use super::error::FilesError;
pub use super::error::SkipReason;
use super::git_index::GitIndex;
use super::history::{BlobId, CommitHash};
use super::intent::{Intent, StoredIntent, staged_folder, staged_path};
use super::lock::WriterLock;
use super::objects::{self, Staging, StagingPurpose};
use super::path::FilePath;
use super::recover::{self, RecoverOutcome};
use super::scan::WorkTreeScan;
pub use super::skipped::SkippedPath;
use super::stamp::{CommitAuthor, CommitStamp};
use super::steps::WriteStep;
use super::tree::{FileChange, Head};

/// The memory files as of HEAD, a person's edits included. Does not change while a plan reads it.
pub struct FolderSnapshot<'a> {
    context: &'a CommitContext<'a>,
    head: &'a Head,
    scan: &'a WorkTreeScan,
}

impl FolderSnapshot<'_> {
    /// The commit of this snapshot; `None` before the first.
    pub fn commit(&self) -> Option<CommitHash> {
        self.head.commit.map(CommitHash)
    }

    /// All files, ordered by path.
    pub fn files(&self) -> impl Iterator<Item = (&FilePath, BlobId)> {
        self.head
            .tree
            .files
            .iter()
            .map(|(path, file)| (path, BlobId(file.id)))
    }

    /// The content of a file, by name; `None` if it does not exist.
    pub(super) fn file_id(&self, path: &FilePath) -> Option<ObjectId> {
        self.head.tree.files.get(path).map(|file| file.id)
    }

    /// The content id of a text.
    pub(super) fn id_of(&self, text: &str) -> Result<ObjectId, FilesError> {
        objects::hash(self.context.folder, Kind::Blob, text.as_bytes())
    }

    /// The skipped path at the file's `path`, or at a folder above it. A change there would be in the
    /// history alone, and would be undone by the file that is put there next.
    pub fn skipped_at(&self, path: &FilePath) -> Option<&SkippedPath> {
        self.scan.skipped_at(path)
    }

    /// Checks whether a tree can hold the requested `changes`.
    ///
    /// # Errors
    /// [`FilesError::TooLarge`] and [`FilesError::PathConflict`] with the file that it cannot hold;
    /// [`FilesError::TooManyFiles`].
    pub fn check(&self, changes: &FileChanges) -> Result<(), FilesError> {
        changes.check(self.context.folder, &self.head.tree)
    }

    /// The bytes of a file; `None` if it does not exist.
    ///
    /// # Errors
    /// If the history is damaged.
    pub fn read(&self, path: &FilePath) -> Result<Option<Vec<u8>>, FilesError> {
        let file = self.head.tree.files.get(path);
        file.map(|file| objects::read_blob(self.context.folder, &self.context.repo, file.id))
            .transpose()
    }
}

/// What a writer recovered and committed before its own changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettleReport {
    /// HEAD now; `None` if the folder never had a file.
    pub head: Option<CommitHash>,
    /// What an interrupted write had left.
    pub recovery: Recovery,
    /// The commit of the person's pending edits, if there were any.
    pub edits: Option<CommitHash>,
    /// Files that were skipped; they stay where the person put them.
    pub skipped: Vec<SkippedPath>,
}

/// What an interrupted write had left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing.
    Clean,
    /// A write, which this commit finished.
    Finished(CommitHash),
    /// An intent that no writer of Daybook leaves and that cannot be applied. It is moved to
    /// `.git/daybook/aside/`; the files are as they were found.
    SetAside,
}

/// Result of a write.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The changes are committed, and in the work tree except for `kept`.
    Written(FinishedWrite),
    /// All files already were as requested; no commit was made for them.
    Unchanged(SettleReport),
    /// The lease was lost, and none of the changes were made. (A person's edits may have been
    /// committed, and a predecessor's write finished: neither depends on this lease.)
    LeaseLost,
}

/// A finished write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedWrite {
    /// The engine's commit.
    pub commit: CommitHash,
    /// What was recovered and committed first.
    pub settled: SettleReport,
    /// Files that a person edited during the write: theirs stay in the work tree, the engine's version is
    /// in `commit`.
    pub kept: Vec<FilePath>,
    /// The commit of those edits, on top of `commit`.
    pub edits: Option<CommitHash>,
}

impl WriteOutcome {
    /// The commit whose files are as requested; edits that a person made during the write come behind it.
    #[must_use]
    pub fn commit(&self) -> Option<CommitHash> {
        match self {
            Self::Written(written) => Some(written.commit),
            Self::Unchanged(settled) => settled.head,
            Self::LeaseLost => None,
        }
    }

    /// What was recovered and committed first; `None` when the lease was lost before.
    #[must_use]
    pub fn settled(&self) -> Option<&SettleReport> {
        match self {
            Self::Written(written) => Some(&written.settled),
            Self::Unchanged(settled) => Some(settled),
            Self::LeaseLost => None,
        }
    }
}

impl WriterLock<'_> {
    /// Finishes an interrupted write and commits the person's pending edits. Safe to repeat.
    ///
    /// # Errors
    /// When the disk fails; [`FilesError::PersonAtWork`] during a merge and the like.
    pub fn settle(&self, stamp: &CommitStamp) -> Result<SettleReport, FilesError> {
        self.take_settled();
        let context = self.context(stamp)?;
        let (settled_tree, settled) = settle(&context)?;
        self.keep_settled(settled_tree);
        Ok(settled)
    }

    /// Applies the changes that `plan` requests, as one commit with this `message`.
    ///
    /// `holds_lease` is called before anything else and once more just before the intent is recorded; after
    /// that the write is finished by this writer or by the next one. A plan that requests nothing ends as
    /// [`WriteOutcome::Unchanged`]; a plan may refuse in this way, too.
    ///
    /// # Errors
    /// Errors of `plan`; an impossible change ([`FilesError::TooLarge`], [`FilesError::PathConflict`],
    /// [`FilesError::TooManyFiles`]), in which case no change is made; a failure of the disk, in which case
    /// the next writer finishes what was begun.
    pub fn write(
        &self,
        stamp: &CommitStamp,
        message: &str,
        holds_lease: &dyn Fn() -> bool,
        plan: impl FnOnce(&FolderSnapshot<'_>) -> Result<FileChanges, FilesError>,
    ) -> Result<WriteOutcome, FilesError> {
        self.write_as(CommitAuthor::Engine, stamp, message, holds_lease, plan)
    }

    /// [`WriterLock::write`], as the change of `author`.
    ///
    /// # Errors
    /// As [`WriterLock::write`].
    pub fn write_as(
        &self,
        author: CommitAuthor,
        stamp: &CommitStamp,
        message: &str,
        holds_lease: &dyn Fn() -> bool,
        plan: impl FnOnce(&FolderSnapshot<'_>) -> Result<FileChanges, FilesError>,
    ) -> Result<WriteOutcome, FilesError> {
        if !holds_lease() {
            return Ok(WriteOutcome::LeaseLost);
        }
        let context = self.context(stamp)?;
        let (settled_tree, settled) = settle_once(&context, self.take_settled())?;
        let head = &settled_tree.head;
        let wanted = plan(&FolderSnapshot {
            context: &context,
            head,
            scan: &settled_tree.scan,
        })?;
        wanted.check(self.folder(), &head.tree)?;
        let Some(intent) = stage_write(&context, head, &wanted, (author, message))? else {
            return Ok(WriteOutcome::Unchanged(settled));
        };
        if !holds_lease() {
            return Ok(WriteOutcome::LeaseLost);
        }
        Intent::record(self.folder())?;
        let applied = recover::apply(&context, intent)?;
        let after = settle_after_write(&context, applied.kept.is_empty(), settled_tree)?;
        GitIndex::match_head(self.folder(), &after.head.tree, &after.scan.files)?;
        Ok(WriteOutcome::Written(FinishedWrite {
            commit: CommitHash(applied.commit),
            settled,
            kept: applied.kept,
            edits: after.edits.map(CommitHash),
        }))
    }
}

impl WriterLock<'_> {
    /// Commits that a person changed something that no file shows: the files stay as they are. Returns the commit.
    ///
    /// # Errors
    /// As [`WriterLock::settle`].
    pub fn note(&self, stamp: &CommitStamp, message: &str) -> Result<CommitHash, FilesError> {
        self.take_settled();
        let context = self.context(stamp)?;
        settle(&context)?;
        context.commit_note(message).map(CommitHash)
    }
}

/// [`settle`], unless the caller did it just before, under the same lock. An edit since then is treated like one that a
/// person makes during the write: where it meets the engine's text, both are kept; elsewhere the next writer finds it.
fn settle_once(
    context: &CommitContext<'_>,
    just_settled: Option<SettledTree>,
) -> Result<(SettledTree, SettleReport), FilesError> {
    let Some(settled) = just_settled else {
        return settle(context);
    };
    let is_unmoved = context.branch()?.commit()? == settled.head.commit;
    if !is_unmoved || Intent::read(context.folder)? != StoredIntent::Nothing {
        return settle(context);
    }
    let report = report_of(&settled, Recovery::Clean);
    Ok((settled, report))
}

fn settle(context: &CommitContext<'_>) -> Result<(SettledTree, SettleReport), FilesError> {
    let recovery = match recover::recover(context)? {
        RecoverOutcome::Clean => Recovery::Clean,
        RecoverOutcome::Applied(applied) => Recovery::Finished(CommitHash(applied.commit)),
        RecoverOutcome::SetAside => Recovery::SetAside,
    };
    let settled_tree = context.commit_edits()?;
    GitIndex::match_head(
        context.folder,
        &settled_tree.head.tree,
        &settled_tree.scan.files,
    )?;
    let settled = report_of(&settled_tree, recovery);
    Ok((settled_tree, settled))
}

fn report_of(settled: &SettledTree, recovery: Recovery) -> SettleReport {
    SettleReport {
        head: settled.head.commit.map(CommitHash),
        recovery,
        edits: settled.edits.map(CommitHash),
        skipped: settled.scan.skipped.clone(),
    }
}

/// Commits the edits that conflicted with a write. Without any, the next scan of the work tree is left to
/// the next writer.
fn settle_after_write(
    context: &CommitContext<'_>,
    is_undisturbed: bool,
    before: SettledTree,
) -> Result<SettledTree, FilesError> {
    if is_undisturbed {
        return Ok(SettledTree {
            head: context.head()?,
            scan: before.scan,
            edits: None,
        });
    }
    context.commit_edits()
}

/// Stages the commit and the new text of every file and drafts the intent. All of it is on disk when this
/// returns. `None` if the commit would change nothing.
fn stage_write(
    context: &CommitContext<'_>,
    head: &Head,
    wanted: &FileChanges,
    (author, message): (CommitAuthor, &str),
) -> Result<Option<Intent>, FilesError> {
    let mut staging = context.staging(StagingPurpose::Intent);
    let mut changes = Vec::new();
    for (path, bytes) in wanted.iter() {
        let base = head.tree.files.get(path).map(|file| file.id);
        let new = bytes
            .as_ref()
            .map(|bytes| objects::hash(context.folder, Kind::Blob, bytes))
            .transpose()?;
        if base == new {
            continue;
        }
        if let Some(bytes) = bytes {
            staging.put_blob(bytes)?;
            stage_file(context, &mut staging, changes.len(), path, bytes)?;
        }
        changes.push(FileChange {
            path: path.clone(),
            base,
            new,
        });
    }
    if changes.is_empty() {
        return Ok(None);
    }
    let who = context.stamp.signature(author);
    let Some(new) = context.stage_commit(&mut staging, head, &changes, &who, message)? else {
        return Ok(None);
    };
    let intent = Intent {
        base: head.commit,
        new,
    };
    persist_intent(context, staging, intent)?;
    Ok(Some(intent))
}

/// Stages the new text of a change. `number` is the change's place in path order, by which `recover` finds
/// it again.
pub(super) fn stage_file(
    context: &CommitContext<'_>,
    staging: &mut Staging<'_>,
    number: usize,
    path: &FilePath,
    bytes: &[u8],
) -> Result<(), FilesError> {
    context.folder.reach(WriteStep::PrepareFile)?;
    let place = staged_path(context.folder, number);
    atomic::write_new(&place, bytes)
        .map_err(FilesError::io("prepare", path.under(context.folder.root())))?;
    staging.sync_also(place);
    Ok(())
}

/// Drafts the intent and brings it to disk, with all objects and texts that it refers to.
pub(super) fn persist_intent(
    context: &CommitContext<'_>,
    mut staging: Staging<'_>,
    intent: Intent,
) -> Result<(), FilesError> {
    staging.sync_also(intent.draft(context.folder)?);
    staging.sync_also(staged_folder(context.folder));
    staging.sync_to_disk()
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
