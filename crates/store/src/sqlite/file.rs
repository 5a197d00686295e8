//! The connections to one file: one writes, a few read. All are opened when first needed, because most
//! processes of a command line need one.
//!
//! Everything here blocks. Not here: what is read and written, and on which thread.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use daybook_domain::StoreError;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::connection::{self, Fault};
use super::peek::Peek;
use super::{Durability, LOCK_WAIT, PageCache, SqliteOptions};

/// Most reading connections that are kept open.
const READERS: usize = 4;
/// Pages that a connection keeps in memory, in KiB as SQLite counts them.
const LARGE_CACHE: i32 = -49152;
const SMALL_CACHE: i32 = -1024;
/// The same for a connection that is open beside [`READERS`] others and is closed after its use: however many
/// read at once, memory grows by little.
const EXTRA_CACHE: i32 = -512;

/// What a transaction may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteEffect {
    /// Rows of which a recall may hold values in memory: these are not valid any more.
    OnReads,
    /// Other rows alone.
    BesideReads,
}

/// One SQLite file.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    options: SqliteOptions,
    /// How a process reads the file that may neither wait nor write; `None` for all others.
    peek: Option<Peek>,
    writer: Mutex<Option<Connection>>,
    idle: Mutex<Vec<Connection>>,
    /// Reading connections that are in use.
    lent: AtomicUsize,
    /// Nanoseconds of the longest transaction that wrote.
    longest_write: AtomicU64,
    /// Pages of the log after the last commit of this process.
    wal_pages: Arc<AtomicUsize>,
    /// Held while the log is moved into the database.
    moving: Mutex<()>,
}

/// Counts a connection while it is in use.
struct ConnectionUse<'a> {
    count: &'a AtomicUsize,
    /// How many were in use before.
    others: usize,
}

impl<'a> ConnectionUse<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        let others = count.fetch_add(1, Ordering::Relaxed);
        Self { count, others }
    }
}

impl Drop for ConnectionUse<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sets how much of the file a connection keeps in memory. Query results do not depend on it.
fn keep_pages(connection: &Connection, size: i32) {
    let _ = connection.pragma_update(None, "cache_size", size);
}

impl DatabaseFile {
    pub(super) fn new(path: &Path, options: SqliteOptions) -> Self {
        Self {
            path: path.to_owned(),
            options,
            peek: None,
            writer: Mutex::new(None),
            idle: Mutex::new(Vec::new()),
            lent: AtomicUsize::new(0),
            longest_write: AtomicU64::new(0),
            wal_pages: Arc::default(),
            moving: Mutex::default(),
        }
    }

    /// A file that is only read, and without waiting for locks.
    pub(super) fn peeking(path: &Path, peek: Peek) -> Self {
        Self {
            peek: Some(peek),
            ..Self::new(path, SqliteOptions::default())
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn peek(&self) -> Option<&Peek> {
        self.peek.as_ref()
    }

    /// Whether the index is held in memory when several searches have been made.
    pub(super) fn holds_index(&self) -> bool {
        self.peek.is_none() && self.options.pages == PageCache::Large
    }

    /// How long the longest transaction that wrote held the lock.
    pub(super) fn longest_write(&self) -> Duration {
        Duration::from_nanos(self.longest_write.load(Ordering::Relaxed))
    }

    /// Opens a connection for the caller alone.
    pub(super) fn connect(&self) -> Result<Connection, StoreError> {
        self.retry(|| match &self.peek {
            None => connection::open(&self.path, self.options, Arc::clone(&self.wal_pages)),
            Some(peek) => peek.connect(&self.path),
        })
    }

    /// Lends an idle connection, and keeps it for the next call.
    pub(super) fn with_idle<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let lent = ConnectionUse::begin(&self.lent);
        let mut connection = self.take_idle()?;
        let is_extra = lent.others >= READERS;
        if is_extra {
            keep_pages(&connection, EXTRA_CACHE);
        }
        let outcome = work(&mut connection);
        drop(lent);
        let mut idle = self.idle();
        if idle.len() < READERS {
            if is_extra {
                keep_pages(&connection, self.cache());
            }
            idle.push(connection);
        }
        outcome
    }

    fn take_idle(&self) -> Result<Connection, StoreError> {
        if let Some(idle) = self.idle().pop() {
            return Ok(idle);
        }
        let connection = self.connect()?;
        keep_pages(&connection, self.cache());
        Ok(connection)
    }

    fn cache(&self) -> i32 {
        match self.options.pages {
            PageCache::Large => LARGE_CACHE,
            PageCache::Small => SMALL_CACHE,
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lends the writing connection, which is opened when it is first needed.
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
        self.with_writer(|connection| self.write_on(connection, WriteEffect::OnReads, work))
    }

    /// [`DatabaseFile::write`] for rows that no recall reads.
    pub(super) fn write_beside<T>(
        &self,
        work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.with_writer(|connection| self.write_on(connection, WriteEffect::BesideReads, work))
    }

    /// [`DatabaseFile::write`] for changes that must survive a power cut, whatever the store's durability.
    pub(super) fn write_synced<T>(
        &self,
        work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let sync = |connection: &Connection, durability| {
            self.retry(|| connection::set_durability(connection, durability))
        };
        self.with_writer(|connection| {
            sync(connection, Durability::Power)?;
            let done = self.write_on(connection, WriteEffect::OnReads, work);
            sync(connection, self.options.durability)?;
            done
        })
    }

    /// [`DatabaseFile::write`] for a caller that has the connection already.
    #[expect(
        clippy::disallowed_methods,
        reason = "measures how long a transaction takes"
    )]
    pub(super) fn write_on<T>(
        &self,
        connection: &mut Connection,
        effect: WriteEffect,
        mut work: impl FnMut(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.retry(|| {
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let began = Instant::now();
            let before = tx.total_changes();
            let done = work(&tx)?;
            if effect == WriteEffect::OnReads && tx.total_changes() != before {
                count_commit(&tx)?;
            }
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

    /// Moves the log into the database when it is longer than this. Blocks writers only for a moment: pages
    /// that were written while the log was moved are moved with writers blocked. Otherwise a log under constant
    /// writes would never restart, and grow until the disk is full.
    pub(super) fn checkpoint_beyond(&self, pages: usize) {
        if !self.is_log_beyond(pages) {
            return;
        }
        let Ok(_moving) = self.moving.try_lock() else {
            return;
        };
        self.wal_pages.store(0, Ordering::Relaxed);
        // Pages that were not moved now are moved after another write.
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

    fn can_wait(&self) -> bool {
        self.peek.is_none()
    }

    /// Runs `work` until no lock is in its way. SQLite's own waiting does not cover every lock: it gives up at
    /// once where it suspects a deadlock, and while a log is recovered.
    #[expect(
        clippy::disallowed_methods,
        reason = "bounds the wait for a lock, which gives no signal"
    )]
    pub(super) fn retry<T>(
        &self,
        mut work: impl FnMut() -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let began = Instant::now();
        loop {
            match work() {
                Err(fault) if fault.is_lock() && self.can_wait() && began.elapsed() < LOCK_WAIT => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                outcome => return outcome.map_err(|fault| fault.into_error(&self.path)),
            }
        }
    }
}

/// Counts a commit that may have changed what a recall reads.
fn count_commit(tx: &Connection) -> Result<(), Fault> {
    let mut count = tx.prepare_cached(
        "INSERT INTO ix_read_version (only_row, version) VALUES (1, 1)
         ON CONFLICT DO UPDATE SET version = version + 1",
    )?;
    count.execute([])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache_of(connection: &Connection) -> i32 {
        let size = connection.query_row("PRAGMA cache_size", [], |row| row.get(0));
        size.expect("a number")
    }

    #[test]
    fn a_process_beside_many_others_keeps_few_pages() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = SqliteOptions {
            pages: PageCache::Small,
            ..SqliteOptions::default()
        };
        let file = DatabaseFile::new(&folder.path().join("a.db"), options);
        let cache = file.with_idle(|connection| Ok(cache_of(connection)));
        assert_eq!(cache.expect("a connection"), SMALL_CACHE);
    }

    #[test]
    fn connections_beyond_those_that_are_kept_take_little_memory() {
        /// The caches of so many connections that are in use at the same time.
        fn caches(file: &DatabaseFile, connections: usize) -> Vec<i32> {
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
        let file = DatabaseFile::new(&folder.path().join("a.db"), SqliteOptions::default());
        let mut wanted = vec![LARGE_CACHE; READERS];
        wanted.extend([EXTRA_CACHE; 3]);
        assert_eq!(caches(&file, READERS + 3), wanted);
        // The connections that stay open have their whole cache again.
        assert_eq!(file.idle().len(), READERS);
        assert!(file.idle().iter().all(|idle| cache_of(idle) == LARGE_CACHE));
    }
}
