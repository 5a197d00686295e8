//! The write protocol: how the engine's changes and a person's edits share one folder.
//!
//! A write takes the writer lock, finishes what a stopped writer began, commits the person's pending
//! edits as theirs, and shows the result to its caller as a [`Snapshot`]. What the caller wants
//! changed becomes a commit, then an intent, then files, then the branch; `recover` says in which
//! steps. A write is stopped by a lost lease up to the intent, and by nothing after it.
//!
//! What holds throughout: a file is never torn; bytes of a person are in the work tree or in the
//! history; the engine's too, once its intent is recorded; history only grows; and after a finished
//! write the work tree equals HEAD (but for what is [`Skipped`]), so any later difference is a
//! person's edit.
//!
//! Not here: what to write. `plan` decides, and calls no model while the lock is held.

use gix::objs::Kind;

use super::atomic;
use super::changes::Changes;
use super::commit::{Head, Settling, Work};
use super::error::FilesError;
use super::history::{BlobId, CommitId};
use super::index::Index;
use super::intent::{Intent, waiting_folder, waiting_place};
use super::lock::WriterLock;
use super::objects::{self, StagedFor, Staging};
use super::path::FilePath;
use super::recover::{self, Recovered};
pub use super::refused::{Skipped, WhySkipped};
use super::scan::Scan;
use super::stamp::Stamp;
use super::steps::Step;
use super::tree::Change;

/// The memory files as of HEAD, a person's edits included. Does not change while it is looked at.
pub struct Snapshot<'a> {
    work: &'a Work<'a>,
    head: &'a Head,
    scan: &'a Scan,
}

impl Snapshot<'_> {
    /// The commit that this is; nothing before the first.
    pub fn commit(&self) -> Option<CommitId> {
        self.head.commit.map(CommitId)
    }

    /// All files, ordered by path.
    pub fn files(&self) -> impl Iterator<Item = (&FilePath, BlobId)> {
        self.head
            .tree
            .files
            .iter()
            .map(|(path, file)| (path, BlobId(file.id)))
    }

    /// What stands in the place of the file at `path`, or of a folder above it, and is not taken up. A
    /// change there would be in the history alone, where the file that takes its place again undoes it.
    pub fn skipped_at(&self, path: &FilePath) -> Option<&Skipped> {
        self.scan.skipped_at(path)
    }

    /// Whether a tree can hold what `changes` ask for.
    ///
    /// # Errors
    /// [`FilesError::TooLarge`] and [`FilesError::Clash`] name the file that it cannot;
    /// [`FilesError::TooManyFiles`].
    pub fn check(&self, changes: &Changes) -> Result<(), FilesError> {
        changes.check(self.work.folder, &self.head.tree)
    }

    /// The bytes of a file; nothing if there is none.
    ///
    /// # Errors
    /// If the history is damaged.
    pub fn read(&self, path: &FilePath) -> Result<Option<Vec<u8>>, FilesError> {
        let file = self.head.tree.files.get(path);
        file.map(|file| objects::read_blob(self.work.folder, &self.work.repo, file.id))
            .transpose()
    }
}

/// What a writer found and put in order before it did anything of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// HEAD now; nothing if there is no file and never was.
    pub head: Option<CommitId>,
    /// What a stopped predecessor had left.
    pub recovery: Recovery,
    /// The commit of the person's pending edits, if there were any.
    pub edits: Option<CommitId>,
    /// Files that were not taken up; they are still where the person put them.
    pub skipped: Vec<Skipped>,
}

/// What a stopped predecessor had left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing.
    Clean,
    /// A write, which is now finished by this commit.
    Finished(CommitId),
    /// An intent that no writer of ours leaves and that cannot be carried out. It lies in
    /// `.git/daybook/aside/`; the files are as they were found.
    SetAside,
}

/// What a write came to.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The changes are committed, and in the work tree but for `kept`.
    Written(Written),
    /// All files already were as wanted; no commit was made for them.
    Unchanged(Settled),
    /// The lease was lost, and none of the changes were made. (A person's edits may have been
    /// committed, and a predecessor's write finished: neither depends on this lease.)
    LeaseLost,
}

/// A finished write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The engine's commit.
    pub commit: CommitId,
    /// What was put in order first.
    pub settled: Settled,
    /// Files that a person edited while they were being written: theirs stands, the engine's version
    /// is in `commit`.
    pub kept: Vec<FilePath>,
    /// The commit of those edits, on top of `commit`.
    pub edits: Option<CommitId>,
}

impl WriteOutcome {
    /// What was put in order first; nothing when the lease was lost before.
    #[must_use]
    pub fn settled(&self) -> Option<&Settled> {
        match self {
            Self::Written(written) => Some(&written.settled),
            Self::Unchanged(settled) => Some(settled),
            Self::LeaseLost => None,
        }
    }
}

impl WriterLock<'_> {
    /// Finishes a stopped write and commits the person's pending edits. Safe to repeat.
    ///
    /// # Errors
    /// What the disk says; [`FilesError::PersonAtWork`] during a merge and the like.
    pub fn settle(&self, stamp: &Stamp) -> Result<Settled, FilesError> {
        let work = Work::new(self.folder(), stamp)?;
        Ok(settle(&work)?.1)
    }

    /// Makes the changes that `plan` asks for, as one commit with this `message`.
    ///
    /// `holds_lease` is asked before anything else and once more just before the intent is recorded;
    /// after that the write is finished by us or by the next writer. A plan that asks for nothing
    /// ends as [`WriteOutcome::Unchanged`], and so may a plan that wants to refuse.
    ///
    /// # Errors
    /// `plan`'s own; a change that cannot be ([`FilesError::TooLarge`], [`FilesError::Clash`],
    /// [`FilesError::TooManyFiles`]), in which case none is made; what the disk says, in which case
    /// the next writer finishes what was begun.
    pub fn write(
        &self,
        stamp: &Stamp,
        message: &str,
        holds_lease: &dyn Fn() -> bool,
        plan: impl FnOnce(&Snapshot<'_>) -> Result<Changes, FilesError>,
    ) -> Result<WriteOutcome, FilesError> {
        if !holds_lease() {
            return Ok(WriteOutcome::LeaseLost);
        }
        let work = Work::new(self.folder(), stamp)?;
        let (settling, settled) = settle(&work)?;
        let head = &settling.head;
        let wanted = plan(&Snapshot {
            work: &work,
            head,
            scan: &settling.scan,
        })?;
        wanted.check(self.folder(), &head.tree)?;
        let Some(intent) = prepare(&work, head, &wanted, message)? else {
            return Ok(WriteOutcome::Unchanged(settled));
        };
        if !holds_lease() {
            return Ok(WriteOutcome::LeaseLost);
        }
        Intent::record(self.folder())?;
        let carried = recover::carry_out(&work, intent)?;
        let after = after_write(&work, carried.kept.is_empty(), settling)?;
        Index::follow(self.folder(), &after.head.tree, &after.scan)?;
        Ok(WriteOutcome::Written(Written {
            commit: CommitId(carried.commit),
            settled,
            kept: carried.kept,
            edits: after.edits.map(CommitId),
        }))
    }
}

fn settle(work: &Work<'_>) -> Result<(Settling, Settled), FilesError> {
    let recovery = match recover::recover(work)? {
        Recovered::Clean => Recovery::Clean,
        Recovered::Carried(carried) => Recovery::Finished(CommitId(carried.commit)),
        Recovered::SetAside => Recovery::SetAside,
    };
    let settling = work.commit_edits()?;
    Index::follow(work.folder, &settling.head.tree, &settling.scan)?;
    let settled = Settled {
        head: settling.head.commit.map(CommitId),
        recovery,
        edits: settling.edits.map(CommitId),
        skipped: settling.scan.skipped.clone(),
    };
    Ok((settling, settled))
}

/// Commits the edits that got in the way of a write. Without any, another look at the work tree can
/// wait for the next writer.
fn after_write(
    work: &Work<'_>,
    is_undisturbed: bool,
    before: Settling,
) -> Result<Settling, FilesError> {
    if is_undisturbed {
        return Ok(Settling {
            head: work.head()?,
            scan: before.scan,
            edits: None,
        });
    }
    work.commit_edits()
}

/// Stages the commit and the new text of every file and drafts the intent, all of it on disk when
/// this returns. Nothing if the commit would change nothing.
fn prepare(
    work: &Work<'_>,
    head: &Head,
    wanted: &Changes,
    message: &str,
) -> Result<Option<Intent>, FilesError> {
    let mut staging = work.staging(StagedFor::Intent);
    let mut changes = Vec::new();
    for (path, bytes) in wanted.iter() {
        let base = head.tree.files.get(path).map(|file| file.id);
        let new = bytes
            .as_ref()
            .map(|bytes| objects::hash(work.folder, Kind::Blob, bytes))
            .transpose()?;
        if base == new {
            continue;
        }
        if let Some(bytes) = bytes {
            staging.put_blob(bytes)?;
            wait(work, &mut staging, changes.len(), path, bytes)?;
        }
        changes.push(Change {
            path: path.clone(),
            base,
            new,
        });
    }
    if changes.is_empty() {
        return Ok(None);
    }
    let who = work.stamp.engine_signature();
    let Some(new) = work.stage_commit(&mut staging, head, &changes, &who, message)? else {
        return Ok(None);
    };
    let intent = Intent {
        base: head.commit,
        new,
    };
    promise(work, staging, intent)?;
    Ok(Some(intent))
}

/// Writes the new text of a change beside its place. `number` is the change's place in path order,
/// which `recover` finds again.
pub(super) fn wait(
    work: &Work<'_>,
    staging: &mut Staging<'_>,
    number: usize,
    path: &FilePath,
    bytes: &[u8],
) -> Result<(), FilesError> {
    work.folder.reach(Step::PrepareFile)?;
    let place = waiting_place(work.folder, number);
    atomic::write_new(&place, bytes)
        .map_err(FilesError::io("prepare", path.under(work.folder.root())))?;
    staging.wait_also_for(place);
    Ok(())
}

/// Drafts the intent; when this returns, all that it speaks of is on disk.
pub(super) fn promise(
    work: &Work<'_>,
    mut staging: Staging<'_>,
    intent: Intent,
) -> Result<(), FilesError> {
    staging.wait_also_for(intent.draft(work.folder)?);
    staging.wait_also_for(waiting_folder(work.folder));
    staging.bring_to_disk()
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
