//! A store in one SQLite file that any number of processes share.
//!
//! Every write is one `BEGIN IMMEDIATE` transaction that lasts milliseconds; a lock held by somebody
//! else is waited for, up to [`LOCK_WAIT`], so no lock error reaches a caller. Readers see a
//! snapshot and wait for nobody. One connection writes, a few read; all are opened when first
//! needed, because most processes of a command line need one.
//!
//! Not here: rules. Rows change by the transitions of `domain` and the pure modules beside this one.

mod backup;
mod connection;
mod events;
mod evidence_rows;
mod extractions;
mod group;
mod index;
mod job_rows;
mod jobs;
mod lanes;
mod migrations;
mod names;
mod places;
mod queries;
mod sessions;
mod sources;
mod spend;
mod staged;
mod threads;
mod transfer;
mod undo;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use daybook_domain::StoreError;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::blocking::blocking;
use connection::Fault;

/// Longest wait for somebody else's lock.
pub const LOCK_WAIT: Duration = crate::blocking::LOCK_WAIT;

/// Pages (of 4 KiB) that the log may have before whoever has time moves them into the database.
const LOG_PAGES: usize = 2000;
/// Pages that it may have before whoever comes along moves them.
const LONG_LOG_PAGES: usize = 16_000;
/// Most reading connections that are kept open.
const READERS: usize = 4;

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

/// A store in one SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    options: SqliteOptions,
    waiting_documents: usize,
    /// Events written since this store last looked at how many documents wait.
    unseen: AtomicUsize,
    writer: Mutex<Option<Connection>>,
    idle: Mutex<Vec<Connection>>,
    /// Writes nothing, so that it sees every commit as somebody else's.
    watcher: Mutex<Option<Connection>>,
    /// Nanoseconds of the longest transaction that wrote.
    longest_write: AtomicU64,
    /// Pages of the log when this store committed last.
    wal_pages: Arc<AtomicUsize>,
    /// Held by whoever moves the log into the database.
    moving: Mutex<()>,
    queue: group::Queue,
}

impl SqliteStore {
    /// Opens the store at `path`, creating or upgrading it where needed. The folder must exist.
    ///
    /// # Errors
    /// [`StoreError::TooNew`] when a newer Daybook wrote it, [`StoreError::Corrupt`] when it is
    /// something else, [`StoreError::Unavailable`] when it cannot be opened.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let store = Self {
            path: path.to_owned(),
            options,
            waiting_documents: WAITING_DOCUMENTS,
            unseen: AtomicUsize::new(0),
            writer: Mutex::new(None),
            idle: Mutex::new(Vec::new()),
            watcher: Mutex::new(None),
            longest_write: AtomicU64::new(0),
            wal_pages: Arc::default(),
            moving: Mutex::default(),
            queue: group::Queue::default(),
        };
        let mut first = store.connect()?;
        store.retry(|| migrations::ensure(&mut first, path))?;
        store.idle().push(first);
        Ok(store)
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
            waiting_documents,
            ..self
        }
    }

    /// How long the longest write transaction of this store held the lock that all writers of the
    /// file share; wanted under 20 ms.
    #[must_use]
    pub fn longest_write(&self) -> Duration {
        Duration::from_nanos(self.longest_write.load(Ordering::Relaxed))
    }

    fn note_write(&self, began: Instant) {
        let nanoseconds = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.longest_write.fetch_max(nanoseconds, Ordering::Relaxed);
    }

    /// Runs `work` in one transaction that writes. It may run again after a rollback. Whoever calls it
    /// has time: it may move the log into the database afterwards.
    fn write<T>(
        &self,
        work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let done = self.write_soon(work)?;
        self.checkpoint_beyond(LOG_PAGES);
        Ok(done)
    }

    /// [`SqliteStore::write`] for whoever waits to go on: it leaves the log to others, unless nobody
    /// seems to move it.
    fn write_soon<T>(
        &self,
        work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        blocking(|| {
            let mut writer = self.lock_writer();
            self.write_on(self.writing(&mut writer)?, work)
        })
    }

    /// [`SqliteStore::write`] of what must survive a power cut, whatever else need not.
    fn write_synced<T>(
        &self,
        work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let done = blocking(|| {
            let mut writer = self.lock_writer();
            let connection = self.writing(&mut writer)?;
            let sync = |connection: &Connection, durability| {
                self.retry(|| connection::survive(connection, durability))
            };
            sync(connection, Durability::Power)?;
            let done = self.write_on(connection, work);
            sync(connection, self.options.durability)?;
            done
        })?;
        self.checkpoint_beyond(LOG_PAGES);
        Ok(done)
    }

    fn write_on<T>(
        &self,
        connection: &mut Connection,
        mut work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.retry(|| {
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let began = Instant::now();
            let done = work(&tx)?;
            tx.commit()?;
            self.note_write(began);
            Ok(done)
        })
    }

    /// Moves the log into the database when it is longer than this. Holds up no writer but for a moment:
    /// what was written while the log was moved is moved while nobody writes. Otherwise a log that
    /// somebody always writes to would never begin anew, and grow until the disk is full.
    fn checkpoint_beyond(&self, pages: usize) {
        if self.wal_pages.load(Ordering::Relaxed) < pages {
            return;
        }
        let Ok(_moving) = self.moving.try_lock() else {
            return;
        };
        self.wal_pages.store(0, Ordering::Relaxed);
        blocking(|| {
            let Ok(connection) = self.take_idle() else {
                return;
            };
            // What was not moved now is moved after another write.
            let move_log =
                || connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            let _ = move_log();
            if self.wal_pages.load(Ordering::Relaxed) > 0 {
                let _writer = self.lock_writer();
                let _ = move_log();
                self.wal_pages.store(0, Ordering::Relaxed);
            }
            self.idle().push(connection);
        });
    }

    fn lock_writer(&self) -> MutexGuard<'_, Option<Connection>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that writes, opened when it is first needed.
    fn writing<'a>(
        &self,
        writer: &'a mut Option<Connection>,
    ) -> Result<&'a mut Connection, StoreError> {
        match writer.take() {
            Some(open) => Ok(writer.insert(open)),
            None => Ok(writer.insert(self.take_idle()?)),
        }
    }

    /// Runs `work` on a snapshot.
    fn read<T>(
        &self,
        mut work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        blocking(|| {
            let mut connection = self.take_idle()?;
            let outcome = self.retry(|| {
                let tx = connection.transaction()?;
                work(&tx)
            });
            let mut idle = self.idle();
            if idle.len() < READERS {
                idle.push(connection);
            }
            outcome
        })
    }

    /// A number that each commit changes, by whatever process.
    fn data_version(&self) -> Result<u64, StoreError> {
        blocking(|| {
            let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
            let watching = match watcher.take() {
                Some(open) => watcher.insert(open),
                None => watcher.insert(self.connect()?),
            };
            self.retry(|| {
                let version = watching.query_row("PRAGMA data_version", [], |row| row.get(0))?;
                Ok(version)
            })
        })
    }

    fn take_idle(&self) -> Result<Connection, StoreError> {
        let idle = self.idle().pop();
        idle.map_or_else(|| self.connect(), Ok)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        self.retry(|| connection::open(&self.path, self.options, Arc::clone(&self.wal_pages)))
    }

    /// Runs `work` until no lock is in its way. SQLite's own waiting does not cover every lock: it
    /// gives up at once where it suspects a deadlock, and while a log is recovered.
    fn retry<T>(&self, mut work: impl FnMut() -> Result<T, Fault>) -> Result<T, StoreError> {
        let began = Instant::now();
        loop {
            match work() {
                Err(fault) if fault.is_lock() && began.elapsed() < LOCK_WAIT => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                outcome => return outcome.map_err(|fault| fault.into_error(&self.path)),
            }
        }
    }
}
