//! One updater at a time for each data folder.
//!
//! Every hook of every session asks its host to run an update. The first is elected; the others
//! end at once. The lock is the system's, so a killed updater leaves nothing behind.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// The right to update, until dropped.
#[derive(Debug)]
pub struct Elected(#[expect(dead_code, reason = "held for its lock")] File);

/// Stands for election; `None` when another process is elected.
///
/// # Errors
/// When the lock cannot be made.
pub fn stand(root: &Path) -> io::Result<Option<Elected>> {
    let folder = root.join("run");
    std::fs::create_dir_all(&folder)?;
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join("updating"))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Elected(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_elected_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let first = stand(root.path()).unwrap();
        assert!(first.is_some());
        assert!(stand(root.path()).unwrap().is_none());
        drop(first);
        assert!(stand(root.path()).unwrap().is_some());
    }
}
