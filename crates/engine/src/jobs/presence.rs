//! Which workers are still there.
//!
//! A worker that may hold leases keeps a lock on a file of its own while it lives; the operating
//! system lets go of it however the process ends. So a lease whose holder's file can be locked by
//! somebody else belongs to nobody, and its job need not wait for the lease to lapse.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use daybook_domain::seams::JobStore;
use daybook_domain::{FailureClass, StoreError};
use tracing::warn;

/// This process, present as a worker until dropped.
#[derive(Debug)]
pub struct Presence {
    holder: String,
    path: PathBuf,
    _locked: File,
}

impl Presence {
    /// Announces a worker in the data folder. `name` must be this process's alone: its id and the
    /// time will do.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn announce(root: &Path, name: &str) -> io::Result<Self> {
        let folder = root.join("run");
        fs::create_dir_all(&folder)?;
        let path = folder.join(name);
        let mut tries = TRIES;
        let locked = loop {
            match named(&folder.join(format!("new-{name}")), &path) {
                // Somebody swept it away just before it was locked.
                Err(_) if tries > 0 => tries -= 1,
                outcome => break outcome?,
            }
        };
        Ok(Self {
            holder: name.to_owned(),
            path,
            _locked: locked,
        })
    }

    /// The name to hold leases under.
    #[must_use]
    pub fn holder(&self) -> &str {
        &self.holder
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // Gone before the lock is: nobody can take the name in between.
        let _ = fs::remove_file(&self.path);
    }
}

/// How often announcing is tried again.
const TRIES: u32 = 10;

/// A locked file that gets its name when it is locked: whoever looks for vanished workers never
/// takes a live one for gone.
fn named(unnamed: &Path, path: &Path) -> io::Result<File> {
    let locked = File::create(unnamed)?;
    locked.try_lock().map_err(|error| match error {
        TryLockError::Error(error) => error,
        TryLockError::WouldBlock => io::Error::other("this worker runs already"),
    })?;
    fs::rename(unnamed, path)?;
    Ok(locked)
}

/// Frees the jobs of workers that are no longer there, and says how many jobs. `ours` is how the names
/// of workers in this data folder begin; others have no file here, and are not judged.
///
/// # Errors
/// When the store fails.
pub async fn free_vanished(
    root: &Path,
    store: &(impl JobStore + ?Sized),
    ours: &str,
) -> Result<usize, StoreError> {
    let mut freed = 0;
    for holder in store.holders().await? {
        if holder.starts_with(ours) && is_gone(root, &holder) {
            let jobs = store.abandon(&holder).await?;
            warn!(holder, jobs, class = FailureClass::Vanished.word());
            freed += jobs;
        }
    }
    for entry in fs::read_dir(root.join("run"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let unnamed = name.starts_with("new-")
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if unnamed || name.starts_with(ours) && is_gone(root, &name) {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(freed)
}

/// Whether nobody holds the file of `holder`.
fn is_gone(root: &Path, holder: &str) -> bool {
    match File::open(root.join("run").join(holder)) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(file) => file.try_lock().is_ok(),
    }
}
