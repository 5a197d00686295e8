//! Tracks which worker processes are alive, by a lock file that the OS releases when a process ends.
//!
//! A worker that may hold leases keeps a lock on a file of its own; the operating system releases it
//! however the process ends. So if a holder's file can be locked by another process, the holder is gone,
//! and its job need not wait for the lease to lapse.
//!
//! A file gets its final name only after it is locked, and files are removed only under the folder's lock,
//! which every announcement shares: so a file that can be locked belongs to a process that ended.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use daybook_domain::seams::JobQueue;
use daybook_domain::{FailureClass, StoreError};
use tracing::warn;

/// A worker's locked file, which shows that the worker is alive until dropped.
#[derive(Debug)]
pub struct WorkerLock {
    holder: String,
    path: PathBuf,
    _locked: File,
}

impl WorkerLock {
    /// Creates and locks a worker's file in the data folder.
    ///
    /// `process` must be unique to this process; a number is appended for each of its workers, so that no
    /// two of them share a name.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn announce(root: &Path, process: &str) -> io::Result<Self> {
        let folder = root.join(FOLDER);
        fs::create_dir_all(&folder)?;
        let number = ANNOUNCED.fetch_add(1, Ordering::Relaxed);
        let name = format!("{process}-{number}");
        let path = folder.join(&name);
        let unswept = folder_lock(&folder)?;
        unswept.lock_shared()?;
        let locked = create_locked(&folder.join(format!("{UNNAMED}{name}")), &path)?;
        Ok(Self {
            holder: name,
            path,
            _locked: locked,
        })
    }

    /// The holder name for leases.
    #[must_use]
    pub fn holder(&self) -> &str {
        &self.holder
    }
}

impl Drop for WorkerLock {
    fn drop(&mut self) {
        // Removed before the lock is released: no other worker can take the name in between.
        let _ = fs::remove_file(&self.path);
    }
}

/// Folder below the data folder with a file for each worker.
const FOLDER: &str = "run";
/// The file in that folder whose lock keeps files from being removed.
const SWEEP: &str = "sweep";
/// Prefix of the file of a worker that is not announced yet.
const UNNAMED: &str = "new-";

/// Workers that this process has announced so far.
static ANNOUNCED: AtomicU64 = AtomicU64::new(0);

fn folder_lock(folder: &Path) -> io::Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join(SWEEP))
}

/// Creates a file that gets its name after it is locked, so that a search for vanished workers never finds
/// a live one unlocked.
fn create_locked(unnamed: &Path, path: &Path) -> io::Result<File> {
    let locked = File::create(unnamed)?;
    locked.try_lock().map_err(|error| match error {
        TryLockError::Error(error) => error,
        TryLockError::WouldBlock => {
            io::Error::other(format!("{} belongs to another process", unnamed.display()))
        }
    })?;
    fs::rename(unnamed, path)?;
    Ok(locked)
}

/// Frees the jobs of workers that have ended, and returns the number of jobs.
///
/// `ours` is the prefix of worker names in this data folder; other workers have no file here and are left
/// alone.
///
/// # Errors
/// When the store fails.
pub async fn free_vanished(
    root: &Path,
    store: &(impl JobQueue + ?Sized),
    ours: &str,
) -> Result<usize, StoreError> {
    let mut freed = 0;
    for holder in store.holders().await? {
        if holder.starts_with(ours) && is_gone(root, &holder) {
            let jobs = store.abandon(&holder).await?;
            // A worker that ended properly after the holders were listed leaves nothing to free.
            if jobs > 0 {
                warn!(holder, jobs, class = FailureClass::Vanished.as_str());
            }
            freed += jobs;
        }
    }
    sweep(root, ours);
    Ok(freed)
}

/// Removes the files of processes that ended. While a worker is being announced it removes none; the next
/// announcement does.
fn sweep(root: &Path, ours: &str) {
    let folder = root.join(FOLDER);
    let Ok(lock) = folder_lock(&folder) else {
        return;
    };
    if lock.try_lock().is_err() {
        return;
    }
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_worker = name.starts_with(UNNAMED) || name.starts_with(ours);
        if is_worker && is_gone(root, &name) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether no process has locked the file of `holder`.
fn is_gone(root: &Path, holder: &str) -> bool {
    match File::open(root.join(FOLDER).join(holder)) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(file) => file.try_lock().is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::thread;

    use daybook_domain::seams::JobQueue as _;
    use daybook_store::memory::MemoryStore;

    use super::*;

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(work)
    }

    #[test]
    fn workers_of_one_process_have_distinct_names_and_lives() {
        let root = tempfile::tempdir().expect("a folder");
        let announced: Vec<WorkerLock> = thread::scope(|scope| {
            let announce = || {
                let store = MemoryStore::default();
                let mut mine = Vec::new();
                for _ in 0..50 {
                    mine.push(WorkerLock::announce(root.path(), "pid-7-0").expect("a worker"));
                    // Each new worker looks for vanished ones, and every other one ends.
                    block_on(free_vanished(root.path(), &store, "pid-")).expect("a look");
                    mine.truncate(25);
                }
                assert!(block_on(store.holders()).expect("holders").is_empty());
                mine
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(announce)).collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined.flat_map(|mine| mine.expect("no panic")).collect()
        });
        let names: BTreeSet<&str> = announced.iter().map(WorkerLock::holder).collect();
        assert_eq!(names.len(), 200);
        for name in names {
            assert!(!is_gone(root.path(), name), "{name} lives");
        }
    }

    #[test]
    fn files_of_processes_that_ended_are_removed() {
        let root = tempfile::tempdir().expect("a folder");
        let alive = WorkerLock::announce(root.path(), "pid-7-0").expect("a worker");
        let folder = root.path().join(FOLDER);
        for left_over in ["pid-6-0-1", "new-pid-6-0-2"] {
            fs::write(folder.join(left_over), "").expect("a file");
        }
        fs::write(folder.join("at-other-pid-1"), "").expect("a file");
        block_on(free_vanished(root.path(), &MemoryStore::default(), "pid-")).expect("a look");
        let left = fs::read_dir(&folder).expect("a folder").flatten();
        let left: BTreeSet<String> = left
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        let wanted = [alive.holder(), "at-other-pid-1", SWEEP].map(str::to_owned);
        assert_eq!(left, BTreeSet::from(wanted));
    }
}
