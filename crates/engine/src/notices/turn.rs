//! One updater at a time for each data folder.
//!
//! Every hook of every session asks its host to run an update. The first takes the turn; the others
//! end at once. The lock is the system's, so a killed updater leaves nothing behind.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// The right to update, until dropped.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "held for its lock")] File);

/// Takes the turn; `None` when another process has it.
///
/// # Errors
/// When the lock cannot be made.
pub fn take(root: &Path) -> io::Result<Option<Turn>> {
    let folder = root.join("run");
    std::fs::create_dir_all(&folder)?;
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join("updating"))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Turn(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_turn_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let first = take(root.path()).unwrap();
        assert!(first.is_some());
        assert!(take(root.path()).unwrap().is_none());
        drop(first);
        assert!(take(root.path()).unwrap().is_some());
    }
}
