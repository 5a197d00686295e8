//! Lets one process at a time update a data folder.
//!
//! Every hook of every session starts an update. The first takes the lock; the others end at once.
//! The operating system releases the lock when its process ends, so a killed updater leaves nothing behind.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// The right to update a data folder, or to embed its documents, until dropped.
#[derive(Debug)]
pub struct UpdateLock(#[expect(dead_code, reason = "held for its lock")] File);

impl UpdateLock {
    /// Takes the right to update; `None` when another process holds it.
    ///
    /// # Errors
    /// When the lock file cannot be made.
    pub fn try_acquire(root: &Path) -> io::Result<Option<Self>> {
        Self::try_lock(root, "updating")
    }

    /// Takes the right to have vectors made by a slow model; `None` when another process holds it.
    ///
    /// # Errors
    /// When the lock file cannot be made.
    pub fn try_acquire_for_embedding(root: &Path) -> io::Result<Option<Self>> {
        Self::try_lock(root, "embedding")
    }

    fn try_lock(root: &Path, work: &str) -> io::Result<Option<Self>> {
        let folder = root.join("run");
        std::fs::create_dir_all(&folder)?;
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join(work))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_holds_the_lock_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let first = UpdateLock::try_acquire(root.path()).unwrap();
        assert!(first.is_some());
        assert!(UpdateLock::try_acquire(root.path()).unwrap().is_none());
        let embedding = UpdateLock::try_acquire_for_embedding(root.path()).unwrap();
        assert!(embedding.is_some());
        drop(first);
        assert!(UpdateLock::try_acquire(root.path()).unwrap().is_some());
    }
}
