//! Exchanges memory files with a git repository: the person's git fetches and pushes, the engine merges.
//!
//! The folder `sync` of the data folder holds the repository's mirror and its address. A person named the address and
//! agreed to what leaves before it was written there, so that it is also their consent.
//!
//! Not here: what the command prints (`cli::sync`).

mod address;
mod exchange;
mod git;

pub(crate) use address::RemoteAddress;
pub(crate) use exchange::{ExchangeReport, exchange, outgoing};
pub(crate) use git::Git;

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use daybook_domain::Tenant;
use daybook_engine::bounded::{self, FileRefusal};
use daybook_engine::files::layout::tenant_folder;

use crate::folders::data_folder::{self, display_path};
use crate::service::RequestError;

/// Name of the folder.
const FOLDER: &str = "sync";
/// Name of the file with the repository's address.
const ADDRESS: &str = "repository";
/// Longest address, in bytes.
const ADDRESS_BYTES: u64 = 16 * 1024;

/// What a tenant's data folder holds for the exchange.
#[derive(Debug, Clone)]
pub(crate) struct SyncFolder {
    place: PathBuf,
}

/// The right to exchange files, until dropped. The system releases it when the process ends.
#[derive(Debug)]
pub(crate) struct SyncLock {
    _file: File,
}

impl SyncFolder {
    pub(crate) fn of(root: &Path, tenant: &Tenant) -> Self {
        let place = tenant_folder(root, tenant).join(FOLDER);
        Self { place }
    }

    /// The place of the mirror.
    pub(crate) fn mirror(&self) -> PathBuf {
        self.place.join("mirror.git")
    }

    /// The repository that the person named, if they did.
    pub(crate) fn address(&self) -> Result<Option<RemoteAddress>> {
        let path = self.place.join(ADDRESS);
        match bounded::read_text(&path, ADDRESS_BYTES) {
            Ok(text) => Ok(Some(RemoteAddress::parse(text.trim())?)),
            Err(FileRefusal::Failed(io::ErrorKind::NotFound)) => Ok(None),
            Err(error) => {
                Err(error).with_context(|| format!("cannot read {}", display_path(&path)))
            }
        }
    }

    /// Remembers the repository. The mirror of another one is removed: it is a cache.
    pub(crate) fn set_address(&self, address: &RemoteAddress) -> Result<()> {
        let failed = || format!("cannot write into {}", display_path(&self.place));
        if self
            .address()?
            .as_ref()
            .is_some_and(|known| known != address)
        {
            remove_folder(&self.mirror()).with_context(failed)?;
        }
        let write = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(&self.place)?;
            writeln!(file, "{}", address.as_str())?;
            file.persist(self.place.join(ADDRESS))?;
            Ok(())
        };
        write().with_context(failed)
    }

    /// Takes the lock.
    ///
    /// # Errors
    /// [`RequestError::Conflict`] when another process exchanges files.
    pub(crate) fn lock(&self) -> Result<SyncLock> {
        data_folder::create(&self.place)?;
        let path = self.place.join("lock");
        let failed = || format!("cannot lock {}", display_path(&path));
        let mut options = File::options();
        let file = options.create(true).truncate(false).write(true).open(&path);
        let file = file.with_context(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(SyncLock { _file: file }),
            Err(TryLockError::WouldBlock) => bail!(RequestError::Conflict(
                "another `daybook sync` is running; run this again when it has ended".to_owned()
            )),
            Err(TryLockError::Error(error)) => Err(error).with_context(failed),
        }
    }

    /// Removes the mirror and the address, because both may hold what is to be gone. Returns the address.
    pub(crate) fn remove(&self) -> Result<Option<RemoteAddress>> {
        let address = self.address().ok().flatten();
        let failed = || format!("cannot remove {}", display_path(&self.place));
        remove_folder(&self.place).with_context(failed)?;
        Ok(address)
    }
}

fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
