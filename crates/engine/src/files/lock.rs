//! Allows one writer at a time for each memory folder.
//!
//! The lock is the system's advisory lock on `.git/daybook/lock`: the OS releases it when the process ends,
//! however it ends, so no lock is ever stale. Every operation that changes a folder (a consolidation,
//! `remember`, an undo, an agent's file tools) holds a [`WriterLock`]; readers need none.
//!
//! Not here: what a writer does (`write`).

use std::fs::{File, TryLockError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::commit::{CommitContext, CommitTrees, SettledTree};
use super::error::FilesError;
use super::folder::Folder;
use super::stamp::CommitStamp;

/// Pause between attempts to lock a folder that another process is writing.
const POLL: Duration = Duration::from_millis(10);

/// The right to write one folder, until dropped.
#[derive(Debug)]
pub struct WriterLock<'f> {
    folder: &'f Folder,
    _file: File,
    trees: CommitTrees,
    /// What the last call found, if that was a call that only settles the folder.
    settled: Mutex<Option<SettledTree>>,
}

/// Result of a request for the lock.
#[must_use]
#[derive(Debug)]
pub enum LockOutcome<'f> {
    /// The lock is held.
    Held(WriterLock<'f>),
    /// Another process or thread is writing; try again later.
    Busy,
}

impl Folder {
    /// Takes the folder's writer lock, trying for at most `wait` (in steps of 10 ms; zero tries once). A folder that was
    /// moved away or removed since it was opened is busy, and is not made again.
    ///
    /// # Errors
    /// When the disk fails. A folder that another process is writing is an outcome, not an error.
    #[expect(
        clippy::disallowed_methods,
        reason = "a file lock gives no signal when it is free"
    )]
    pub fn try_lock(&self, wait: Duration) -> Result<LockOutcome<'_>, FilesError> {
        if !self.git_dir().join("HEAD").is_file() {
            return Ok(LockOutcome::Busy);
        }
        self.make_private_folders()?;
        let path = self.private_path("lock");
        let failed = |error| FilesError::io("lock", &path)(error);
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        let tries = wait.as_millis() / POLL.as_millis();
        for tried in 0..=tries {
            match file.try_lock() {
                // The history was moved away during the wait: this lock is of the old one.
                Ok(()) if !is_at(&file, &path) => return Ok(LockOutcome::Busy),
                Ok(()) => {
                    return Ok(LockOutcome::Held(WriterLock {
                        folder: self,
                        _file: file,
                        trees: CommitTrees::default(),
                        settled: Mutex::default(),
                    }));
                }
                Err(TryLockError::WouldBlock) if tried < tries => thread::sleep(POLL),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        Ok(LockOutcome::Busy)
    }
}

/// Whether the open file is the one at `path`.
#[cfg(unix)]
fn is_at(file: &File, path: &std::path::Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(there)) => place(open) == place(there),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// An open file keeps its folder from being moved.
#[cfg(not(unix))]
fn is_at(_: &File, _: &std::path::Path) -> bool {
    true
}

impl<'f> WriterLock<'f> {
    /// The locked folder.
    pub fn folder(&self) -> &'f Folder {
        self.folder
    }

    /// What one call works with.
    pub(super) fn context<'a>(
        &'a self,
        stamp: &'a CommitStamp,
    ) -> Result<CommitContext<'a>, FilesError> {
        CommitContext::new(self.folder, stamp, &self.trees)
    }

    /// Keeps what a call that only settled the folder found, for the write after it.
    pub(super) fn keep_settled(&self, settled: SettledTree) {
        *self.settled.lock().unwrap_or_else(PoisonError::into_inner) = Some(settled);
    }

    /// What the last call found, once.
    pub(super) fn take_settled(&self) -> Option<SettledTree> {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        settled.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::folder::FilesConfig;

    #[test]
    fn a_folder_has_one_writer_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let first = Folder::open(dir.path(), FilesConfig::default()).unwrap();
        let second = Folder::open(dir.path(), FilesConfig::default()).unwrap();
        let LockOutcome::Held(held) = first.try_lock(Duration::ZERO).unwrap() else {
            panic!("the lock is free");
        };
        assert!(matches!(
            second.try_lock(Duration::ZERO).unwrap(),
            LockOutcome::Busy
        ));
        drop(held);
        let wait = Duration::from_secs(10);
        assert!(matches!(
            second.try_lock(wait).unwrap(),
            LockOutcome::Held(_)
        ));
    }

    #[test]
    fn a_folder_that_was_moved_away_is_busy_and_not_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memory");
        let moved = dir.path().join("joined");
        let late = Folder::open(&path, FilesConfig::default()).unwrap();
        std::fs::rename(&path, &moved).unwrap();
        assert!(matches!(
            late.try_lock(Duration::ZERO).unwrap(),
            LockOutcome::Busy
        ));
        assert!(!path.exists());
    }
}
