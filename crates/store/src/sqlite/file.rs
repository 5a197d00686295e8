//! The connections to one file: one writes, a few read. All are opened when first needed, because most
//! processes of a command line need one.
//!
//! Everything here blocks. Not here: what is read and written, and on whose time.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use daybook_domain::StoreError;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::connection::{self, Fault};
use super::{Durability, LOCK_WAIT, SqliteOptions};

/// Most reading connections that are kept open.
const READERS: usize = 4;
/// Pages that a connection keeps in memory, in KiB as SQLite counts them.
const CACHE: i32 = -8192;
/// The same of one that is open beside [`READERS`] others and is closed after its use: however many read at
/// once, memory grows by little.
const SMALL_CACHE: i32 = -512;

/// One SQLite file.
#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    options: SqliteOptions,
    writer: Mutex<Option<Connection>>,
    idle: Mutex<Vec<Connection>>,
    /// Reading connections that are in use.
    lent: AtomicUsize,
    /// Nanoseconds of the longest transaction that wrote.
    longest_write: AtomicU64,
    /// Pages of the log when somebody here committed last.
    wal_pages: Arc<AtomicUsize>,
    /// Held by whoever moves the log into the database.
    moving: Mutex<()>,
}

/// Counts a connection while it is in use.
struct Lent<'a> {
    count: &'a AtomicUsize,
    /// How many were in use before.
    others: usize,
}

impl<'a> Lent<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        let others = count.fetch_add(1, Ordering::Relaxed);
        Self { count, others }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Says how much of the file a connection keeps in memory. Answers are the same whatever it keeps.
fn keep_pages(connection: &Connection, size: i32) {
    let _ = connection.pragma_update(None, "cache_size", size);
}

impl File {
    pub(super) fn new(path: &Path, options: SqliteOptions) -> Self {
        Self {
            path: path.to_owned(),
            options,
            writer: Mutex::new(None),
            idle: Mutex::new(Vec::new()),
            lent: AtomicUsize::new(0),
            longest_write: AtomicU64::new(0),
            wal_pages: Arc::default(),
            moving: Mutex::default(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How long the longest transaction that wrote held the lock.
    pub(super) fn longest_write(&self) -> Duration {
        Duration::from_nanos(self.longest_write.load(Ordering::Relaxed))
    }

    /// A connection of the caller's own.
    pub(super) fn connect(&self) -> Result<Connection, StoreError> {
        self.retry(|| connection::open(&self.path, self.options, Arc::clone(&self.wal_pages)))
    }

    /// Lends a connection, and keeps it for the next one.
    pub(super) fn with_idle<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let lent = Lent::begin(&self.lent);
        let mut connection = self.take_idle()?;
        let is_extra = lent.others >= READERS;
        if is_extra {
            keep_pages(&connection, SMALL_CACHE);
        }
        let outcome = work(&mut connection);
        drop(lent);
        let mut idle = self.idle();
        if idle.len() < READERS {
            if is_extra {
                keep_pages(&connection, CACHE);
            }
            idle.push(connection);
        }
        outcome
    }

    fn take_idle(&self) -> Result<Connection, StoreError> {
        let idle = self.idle().pop();
        idle.map_or_else(|| self.connect(), Ok)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lends the connection that writes, opened when it is first needed.
    pub(super) fn with_writer<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut writer = self.lock_writer();
        let connection = match writer.take() {
            Some(open) => writer.insert(open),
            None => writer.insert(self.take_idle()?),
        };
        work(connection)
    }

    fn lock_writer(&self) -> MutexGuard<'_, Option<Connection>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` in one transaction that writes. It may run again after a rollback.
    pub(super) fn write<T>(
        &self,
        work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.with_writer(|connection| self.write_on(connection, work))
    }

    /// [`File::write`] of what must survive a power cut, whatever else need not.
    pub(super) fn write_synced<T>(
        &self,
        work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let sync = |connection: &Connection, durability| {
            self.retry(|| connection::survive(connection, durability))
        };
        self.with_writer(|connection| {
            sync(connection, Durability::Power)?;
            let done = self.write_on(connection, work);
            sync(connection, self.options.durability)?;
            done
        })
    }

    /// [`File::write`] for whoever has the connection already.
    pub(super) fn write_on<T>(
        &self,
        connection: &mut Connection,
        mut work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.retry(|| {
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let began = Instant::now();
            let done = work(&tx)?;
            tx.commit()?;
            let nanoseconds = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.longest_write.fetch_max(nanoseconds, Ordering::Relaxed);
            Ok(done)
        })
    }

    /// Runs `work` on a snapshot.
    pub(super) fn read<T>(
        &self,
        mut work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.with_idle(|connection| {
            self.retry(|| {
                let tx = connection.transaction()?;
                work(&tx)
            })
        })
    }

    /// Whether the log is longer than this.
    pub(super) fn is_log_beyond(&self, pages: usize) -> bool {
        self.wal_pages.load(Ordering::Relaxed) >= pages
    }

    /// Moves the log into the database when it is longer than this. Holds up no writer but for a moment:
    /// what was written while the log was moved is moved while nobody writes. Otherwise a log that
    /// somebody always writes to would never begin anew, and grow until the disk is full.
    pub(super) fn checkpoint_beyond(&self, pages: usize) {
        if !self.is_log_beyond(pages) {
            return;
        }
        let Ok(_moving) = self.moving.try_lock() else {
            return;
        };
        self.wal_pages.store(0, Ordering::Relaxed);
        // What was not moved now is moved after another write.
        let _ = self.with_idle(|connection| {
            let move_log =
                || connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            let _ = move_log();
            if self.wal_pages.load(Ordering::Relaxed) > 0 {
                let _writer = self.lock_writer();
                let _ = move_log();
                self.wal_pages.store(0, Ordering::Relaxed);
            }
            Ok(())
        });
    }

    /// Runs `work` until no lock is in its way. SQLite's own waiting does not cover every lock: it
    /// gives up at once where it suspects a deadlock, and while a log is recovered.
    pub(super) fn retry<T>(
        &self,
        mut work: impl FnMut() -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn cache_of(connection: &Connection) -> i32 {
        let size = connection.query_row("PRAGMA cache_size", [], |row| row.get(0));
        size.expect("a number")
    }

    #[test]
    fn connections_beyond_those_that_are_kept_take_little_memory() {
        /// The caches of so many connections that are in use at the same time.
        fn caches(file: &File, connections: usize) -> Vec<i32> {
            if connections == 0 {
                return Vec::new();
            }
            let nested = file.with_idle(|connection| {
                let mut all = vec![cache_of(connection)];
                all.extend(caches(file, connections - 1));
                Ok(all)
            });
            nested.expect("a connection")
        }
        let folder = tempfile::tempdir().expect("a folder");
        let file = File::new(&folder.path().join("a.db"), SqliteOptions::default());
        let mut wanted = vec![CACHE; READERS];
        wanted.extend([SMALL_CACHE; 3]);
        assert_eq!(caches(&file, READERS + 3), wanted);
        // Those that stay open have all of their cache again.
        assert_eq!(file.idle().len(), READERS);
        assert!(file.idle().iter().all(|idle| cache_of(idle) == CACHE));
    }
}
