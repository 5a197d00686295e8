//! A store in one SQLite file that any number of processes share.
//!
//! Every write is one `BEGIN IMMEDIATE` transaction that lasts milliseconds; it waits for another writer's lock
//! up to [`LOCK_WAIT`], so no lock error reaches a caller. Readers see a snapshot and wait for no writer. One
//! connection writes, a few read; all are opened when first needed, because most processes of a command line
//! need one.
//!
//! Not here: rules. Rows change by the transitions of `domain` and the pure modules beside this one.

mod agno;
mod backup;
mod cached_reads;
mod committer;
mod connection;
mod ended_evidence;
mod events;
mod evidence_rows;
mod extractions;
mod file;
mod health;
mod held_index;
mod index;
mod index_rows;
mod index_words;
mod job_rows;
mod jobs;
mod lane_search;
mod lanes;
mod listing;
mod migrations;
mod names;
mod outlines;
mod overviews;
mod peek;
mod places;
mod pollution;
mod purge;
mod quarantine;
mod queries;
mod raw_values;
mod read_cache;
mod record;
mod remotes;
mod rescans;
mod revisions;
mod row_numbers;
mod salvage;
mod selections;
mod session_databases;
mod sessions;
mod sign_blocks;
mod sources;
mod spend;
mod staged;
mod supersessions;
mod term_counts;
mod threads;
mod tombstones;
mod transfer;
mod undo;
mod uses;
mod vector_rows;
mod vectors;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use daybook_domain::StoreError;
use rusqlite::{Connection, Transaction};

use crate::blocking::blocking;
use crate::damage::Damage;
pub use agno::agno_rows;
use cached_reads::Watcher;
use committer::Committer;
use connection::Fault;
use file::DatabaseFile;
pub use health::Tokenize;
use held_index::HeldIndex;
use index_rows::IndexUpkeep;
use peek::Peek;
use read_cache::ReadCaches;
pub use record::{RecordRestore, RestoredRecord};
pub use salvage::{Salvage, Salvaged, keep_copy};
pub use session_databases::SessionDatabase;
use term_counts::TermCounts;
use vectors::SignCache;

/// Longest wait for another connection's lock.
pub const LOCK_WAIT: Duration = crate::blocking::LOCK_WAIT;

/// Pages (of 4 KiB) of the log from which on a caller that can wait moves them into the database.
const LOG_PAGES: usize = 2000;
/// Pages of the log from which on a thread of its own moves them.
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

/// How much of the file a process keeps in memory. The system keeps the file besides, for all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PageCache {
    /// Up to 48 MiB for each open connection, which makes reading a page again some microseconds faster; and, when several
    /// searches have been made, the words of the index, up to 256 MiB.
    #[default]
    Large,
    /// Up to 1 MiB for each connection: for a process that answers a question now and then, beside many others.
    Small,
}

/// How a [`SqliteStore`] behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SqliteOptions {
    /// What an acknowledged write survives. More costs a disk flush per commit.
    pub durability: Durability,
    /// How much of the file it keeps in memory.
    pub pages: PageCache,
}

/// Documents that wait to be moved into the full-text index together, unless a store sets another number.
const WAITING_DOCUMENTS: usize = 1024;

/// A store in one SQLite file. From the first write on it has a thread of its own that commits; when the store
/// is dropped, all requested writes are on disk and that thread has ended.
#[derive(Debug)]
pub struct SqliteStore {
    file: Arc<DatabaseFile>,
    committer: Committer,
    upkeep: Arc<IndexUpkeep>,
    /// The index in memory, where it is to be held.
    held_index: Option<HeldIndex>,
    signs: SignCache,
    term_counts: TermCounts,
    read_caches: ReadCaches,
    watcher: Mutex<Option<Watcher>>,
    /// Damaged rows that listings left out.
    damaged_rows: Mutex<BTreeSet<Damage>>,
}

impl SqliteStore {
    /// Opens the store at `path`, creating or upgrading it where needed. The folder must exist.
    ///
    /// # Errors
    /// [`StoreError::TooNew`] when a newer Daybook wrote it, [`StoreError::Corrupt`] when it is
    /// something else, [`StoreError::Unavailable`] when it cannot be opened.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let file = Arc::new(DatabaseFile::new(path, options));
        file.with_idle(|first| file.retry(|| migrations::ensure(first, path)))?;
        Ok(Self::on(file))
    }

    /// Opens the store at `path` for reading until then: later calls fail. Creates and writes nothing, and
    /// waits for no lock. `None` where there is no store, or one of a newer or older Daybook, or a log too long
    /// to be read at once.
    ///
    /// # Errors
    /// [`StoreError::Busy`] where a lock is in the way, [`StoreError::Corrupt`] when the file is something else.
    pub fn open_to_peek(path: &Path, until: Instant) -> Result<Option<Self>, StoreError> {
        let Some(peek) = Peek::of(path, until) else {
            return Ok(None);
        };
        let file = Arc::new(DatabaseFile::peeking(path, peek));
        let looked = |first: &mut Connection| {
            let current = migrations::is_current(first, path);
            current.map_err(|fault| fault.into_error(path))
        };
        let is_current = file.with_idle(looked)?;
        Ok(is_current.then(|| Self::on(file)))
    }

    /// Whether everything read since [`SqliteStore::open_to_peek`] comes from one state of the store. Otherwise
    /// the caller must discard what it has read.
    #[must_use]
    pub fn is_undisturbed(&self) -> bool {
        let peek = self.file.peek();
        peek.is_none_or(|peek| peek.is_undisturbed(self.file.path()))
    }

    fn on(file: Arc<DatabaseFile>) -> Self {
        Self {
            held_index: file.holds_index().then(HeldIndex::default),
            file,
            committer: Committer::default(),
            upkeep: Arc::new(IndexUpkeep::new(WAITING_DOCUMENTS)),
            signs: SignCache::default(),
            term_counts: TermCounts::default(),
            read_caches: ReadCaches::default(),
            watcher: Mutex::new(None),
            damaged_rows: Mutex::default(),
        }
    }

    /// Checks the whole file, and returns a short description of it. Takes about a second per GB.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with the damage.
    pub fn check(&self) -> Result<String, StoreError> {
        let findings: Vec<String> = self.read(|tx| {
            let mut check = tx.prepare("PRAGMA quick_check(5)")?;
            let rows = check.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        if findings != ["ok"] {
            return Err(StoreError::Corrupt(findings.join("; ")));
        }
        let (events, observations): (u64, u64) = self.read(|tx| {
            let count = "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM observations)";
            Ok(tx.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?)))?)
        })?;
        Ok(format!(
            "sound: {events} events, {observations} observations"
        ))
    }

    /// Lets so many documents wait before they are moved into the full-text index together. More makes writing
    /// cheaper and each search scan more documents, one by one; search results stay the same.
    #[must_use]
    pub fn with_waiting_documents(self, waiting_documents: usize) -> Self {
        Self {
            upkeep: Arc::new(IndexUpkeep::new(waiting_documents)),
            ..self
        }
    }

    /// Reads the index into memory now, rather than after some searches; search results stay the same.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn with_held_index(self) -> Result<Self, StoreError> {
        let held = HeldIndex::read(&self.file)?;
        Ok(Self {
            held_index: Some(held),
            ..self
        })
    }

    /// How long the longest write transaction of this store held the lock that all writers of the file share;
    /// the target is under 20 ms.
    #[must_use]
    pub fn longest_write(&self) -> Duration {
        self.file.longest_write()
    }

    /// Runs `work` in one transaction that writes. It may run again after a rollback. For callers that can
    /// wait: it may move the log into the database afterwards.
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

    /// [`SqliteStore::write`] for rows that no recall reads.
    fn write_beside<T>(
        &self,
        work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        blocking(|| {
            let done = self.file.write_beside(work)?;
            self.file.checkpoint_beyond(LOG_PAGES);
            Ok(done)
        })
    }

    /// [`SqliteStore::write`] for changes that must survive a power cut, whatever the store's durability.
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
}
