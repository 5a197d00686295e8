//! A store in one SQLite file that any number of processes share.
//!
//! Every write is one `BEGIN IMMEDIATE` transaction that lasts milliseconds; a lock held by somebody
//! else is waited for, up to [`LOCK_WAIT`], so no lock error reaches a caller. Readers see a
//! snapshot and wait for nobody. One connection writes, a few read; all are opened when first
//! needed, because most processes of a command line need one.
//!
//! Not here: rules. Rows change by the transitions of `domain` and the pure modules beside this one.

mod backup;
mod committer;
mod connection;
mod events;
mod evidence_rows;
mod extractions;
mod file;
mod health;
mod index;
mod job_rows;
mod jobs;
mod lanes;
mod listing;
mod migrations;
mod names;
mod outlines;
mod places;
mod queries;
mod remotes;
mod salvage;
mod sessions;
mod sources;
mod spend;
mod staged;
mod term_counts;
mod threads;
mod transfer;
mod undo;
mod vectors;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use daybook_domain::StoreError;
use rusqlite::{Connection, Transaction};

use crate::blocking::blocking;
use crate::damage::Damage;
use committer::Committer;
use connection::Fault;
use file::File;
pub use health::Tokens;
use index::Upkeep;
pub use salvage::{Salvage, Salvaged, keep_copy};
use term_counts::TermCounts;
use vectors::Signs;

/// Longest wait for somebody else's lock.
pub const LOCK_WAIT: Duration = crate::blocking::LOCK_WAIT;

/// Pages (of 4 KiB) that the log may have before whoever has time moves them into the database.
const LOG_PAGES: usize = 2000;
/// Pages that it may have before they are moved on a thread of its own, whoever has time.
const LONG_LOG_PAGES: usize = 16_000;

/// What an acknowledged append survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A killed process.
    #[default]
    Process,
    /// A power cut as well: each commit waits for the disk.
    Power,
}

/// How a [`SqliteStore`] behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SqliteOptions {
    /// What an acknowledged write survives. More costs a disk flush per commit.
    pub durability: Durability,
}

/// Documents that wait to be moved into the full-text index together, unless a store says otherwise.
const WAITING_DOCUMENTS: usize = 1024;

/// A store in one SQLite file. From the first write on it has a thread of its own that commits; when it is
/// dropped, what was asked for is on disk and that thread has ended.
#[derive(Debug)]
pub struct SqliteStore {
    file: Arc<File>,
    committer: Committer,
    upkeep: Arc<Upkeep>,
    signs: Signs,
    term_counts: TermCounts,
    /// Writes nothing, so that it sees every commit as somebody else's.
    watcher: Mutex<Option<Connection>>,
    /// Rows that listings left out.
    damaged_rows: Mutex<BTreeSet<Damage>>,
}

impl SqliteStore {
    /// Opens the store at `path`, creating or upgrading it where needed. The folder must exist.
    ///
    /// # Errors
    /// [`StoreError::TooNew`] when a newer Daybook wrote it, [`StoreError::Corrupt`] when it is
    /// something else, [`StoreError::Unavailable`] when it cannot be opened.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let file = Arc::new(File::new(path, options));
        file.with_idle(|first| file.retry(|| migrations::ensure(first, path)))?;
        Ok(Self {
            file,
            committer: Committer::default(),
            upkeep: Arc::new(Upkeep::new(WAITING_DOCUMENTS)),
            signs: Signs::default(),
            term_counts: TermCounts::default(),
            watcher: Mutex::new(None),
            damaged_rows: Mutex::default(),
        })
    }

    /// Checks the whole file, and says what it is in a few words. Takes about a second per GB.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with what is wrong.
    pub fn check(&self) -> Result<String, StoreError> {
        let said: Vec<String> = self.read(|tx| {
            let mut check = tx.prepare("PRAGMA quick_check(5)")?;
            let rows = check.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        if said != ["ok"] {
            return Err(StoreError::Corrupt(said.join("; ")));
        }
        let (events, observations): (u64, u64) = self.read(|tx| {
            let count = "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM observations)";
            Ok(tx.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?)))?)
        })?;
        Ok(format!(
            "sound: {events} events, {observations} observations"
        ))
    }

    /// Lets so many documents wait before they are moved into the full-text index together. More
    /// makes writing cheaper and each search look through more, one by one; answers stay the same.
    #[must_use]
    pub fn with_waiting_documents(self, waiting_documents: usize) -> Self {
        Self {
            upkeep: Arc::new(Upkeep::new(waiting_documents)),
            ..self
        }
    }

    /// How long the longest write transaction of this store held the lock that all writers of the
    /// file share; wanted under 20 ms.
    #[must_use]
    pub fn longest_write(&self) -> Duration {
        self.file.longest_write()
    }

    /// Runs `work` in one transaction that writes. It may run again after a rollback. Whoever calls it
    /// has time: it may move the log into the database afterwards.
    fn write<T>(
        &self,
        work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        blocking(|| {
            let done = self.file.write(work)?;
            self.file.checkpoint_beyond(LOG_PAGES);
            Ok(done)
        })
    }

    /// [`SqliteStore::write`] of what must survive a power cut, whatever else need not.
    fn write_synced<T>(
        &self,
        work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        blocking(|| {
            let done = self.file.write_synced(work)?;
            self.file.checkpoint_beyond(LOG_PAGES);
            Ok(done)
        })
    }

    /// Runs `work` on a snapshot.
    fn read<T>(
        &self,
        work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        blocking(|| self.file.read(work))
    }

    /// A number that each commit changes, by whatever process.
    fn data_version(&self) -> Result<u64, StoreError> {
        blocking(|| {
            let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
            let watching = match watcher.take() {
                Some(open) => watcher.insert(open),
                None => watcher.insert(self.file.connect()?),
            };
            self.file.retry(|| {
                let version = watching.query_row("PRAGMA data_version", [], |row| row.get(0))?;
                Ok(version)
            })
        })
    }
}
