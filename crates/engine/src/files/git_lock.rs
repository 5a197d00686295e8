//! Replacing one of git's own files (a branch, the index) the way git does, with its lock.
//!
//! git's lock is a file `x.lock` that one process creates and renames to `x`. A killed process leaves it
//! behind, and git then refuses to work until a person removes it. Daybook's locks never remain: the whole
//! new content is first written to a proof file in Daybook's own folder, and the lock is a hard link to the
//! proof. A lock that equals its proof is Daybook's, and the next writer removes it.
//!
//! Callers must hold the writer lock.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::atomic;
use super::error::FilesError;
use super::folder::Folder;
use super::steps::WriteStep;

/// Pause between attempts to take a lock that git holds.
const POLL: Duration = Duration::from_millis(10);

pub(super) enum GitReplaceOutcome {
    Done,
    /// The check, made under the lock, returned false.
    Refused,
    /// git held the lock, at this path, for the whole wait.
    HeldByGit(PathBuf),
}

/// Replaces the file at `name` inside `.git` with `bytes`, if `check` returns true under the lock.
pub(super) fn replace(
    folder: &Folder,
    name: &Path,
    bytes: &[u8],
    sync: bool,
    check: impl FnOnce() -> Result<bool, FilesError>,
) -> Result<GitReplaceOutcome, FilesError> {
    let place = folder.git_dir().join(name);
    let (proof, lock) = proof_and_lock(folder, name);
    let failed = |doing| FilesError::io(doing, &place);
    break_stale(folder, name)?;
    for parent in [proof.parent(), lock.parent()].into_iter().flatten() {
        fs::create_dir_all(parent).map_err(FilesError::io("create", parent))?;
    }
    write_new(&proof, bytes, sync).map_err(failed("prepare the new content of"))?;
    folder.reach(WriteStep::AcquireGitLock)?;
    if !acquire(folder, &proof, &lock, bytes).map_err(failed("lock"))? {
        atomic::remove(&proof).map_err(failed("tidy up after"))?;
        return Ok(GitReplaceOutcome::HeldByGit(lock));
    }
    let agreed = check()?;
    folder.reach(WriteStep::CommitGitLock)?;
    if agreed {
        fs::rename(&lock, &place).map_err(failed("replace"))?;
    } else {
        atomic::remove(&lock).map_err(failed("unlock"))?;
    }
    atomic::remove(&proof).map_err(failed("tidy up after"))?;
    Ok(if agreed {
        GitReplaceOutcome::Done
    } else {
        GitReplaceOutcome::Refused
    })
}

/// Removes Daybook's own lock on `name`, if a stopped writer has left one.
pub(super) fn break_stale(folder: &Folder, name: &Path) -> Result<(), FilesError> {
    let (proof, lock) = proof_and_lock(folder, name);
    let broken = (|| {
        if let Some(content) = atomic::read(&proof)? {
            if atomic::read(&lock)?.is_some_and(|locked| locked == content) {
                atomic::remove(&lock)?;
            }
            // Removed, never overwritten: it may be a hard link to the file that it replaced.
            atomic::remove(&proof)?;
        }
        Ok(())
    })();
    broken.map_err(FilesError::io("unlock", lock))
}

fn proof_and_lock(folder: &Folder, name: &Path) -> (PathBuf, PathBuf) {
    let proof = folder.private_path("locks").join(name);
    let mut lock = folder.git_dir().join(name).into_os_string();
    lock.push(".lock");
    (proof, lock.into())
}

fn write_new(path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    atomic::write_new(path, bytes)?;
    if sync {
        atomic::sync(&[path.to_owned()])
    } else {
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "git's lock gives no signal")]
fn acquire(folder: &Folder, proof: &Path, lock: &Path, bytes: &[u8]) -> io::Result<bool> {
    let tries = folder.config().git_lock_wait.as_millis() / POLL.as_millis();
    for tried in 0..=tries {
        match fs::hard_link(proof, lock).or_else(|error| create_without_link(error, lock, bytes)) {
            Ok(()) => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        if tried < tries {
            thread::sleep(POLL);
        }
    }
    Ok(false)
}

// Some file systems (FAT, a few network ones) have no hard links. There a kill between creating and filling
// the lock leaves one that a person has to remove, as git itself does.
fn create_without_link(error: io::Error, lock: &Path, bytes: &[u8]) -> io::Result<()> {
    if !matches!(
        error.kind(),
        io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
    ) {
        return Err(error);
    }
    let mut file = fs::File::create_new(lock)?;
    io::Write::write_all(&mut file, bytes)?;
    file.sync_all()
}
