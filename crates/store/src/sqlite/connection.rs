//! One connection: how it is opened, how it waits for locks, and which errors callers get.

use std::ffi::c_int;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use daybook_domain::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::ffi::SQLITE_CONSTRAINT_TRIGGER;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{Durability, LOCK_WAIT, SqliteOptions};

/// Prepared statements that a connection keeps.
const STATEMENTS: usize = 128;
/// Longest pause between two tries of a lock.
const LOCK_POLL: Duration = Duration::from_millis(5);

/// An error inside a transaction.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Fault {
    /// A row that breaks one of our own invariants.
    pub(super) fn corrupt(what: impl Into<String>) -> Self {
        Self::Store(StoreError::Corrupt(what.into()))
    }

    /// Whether another connection's lock is in the way.
    pub(super) fn is_lock(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::FileLockingProtocolFailed
            )
        )
    }

    /// Converts the fault to the error that the store's caller gets.
    pub(super) fn into_error(self, path: &Path) -> StoreError {
        if self.is_lock() {
            return match self {
                Self::Sql(error) => StoreError::Busy(error.into()),
                Self::Store(error) => error,
            };
        }
        match self {
            Self::Store(error) => error,
            // The store is closed: its content was moved, as the message states.
            Self::Sql(rusqlite::Error::SqliteFailure(error, Some(says)))
                if error.extended_code == SQLITE_CONSTRAINT_TRIGGER =>
            {
                StoreError::Refused(says)
            }
            Self::Sql(error) => match error.sqlite_error_code() {
                Some(
                    ErrorCode::CannotOpen
                    | ErrorCode::DiskFull
                    | ErrorCode::OutOfMemory
                    | ErrorCode::PermissionDenied
                    | ErrorCode::ReadOnly
                    | ErrorCode::SystemIoFailure,
                ) => StoreError::Unavailable {
                    what: path.display().to_string(),
                    source: error.into(),
                },
                _ => StoreError::Corrupt(format!("{}: {error}", path.display())),
            },
        }
    }
}

/// Opens the file, creating it for its owner alone. Each commit stores the length of the log in `wal_pages`.
pub(super) fn open(
    path: &Path,
    options: SqliteOptions,
    wal_pages: Arc<AtomicUsize>,
) -> Result<Connection, Fault> {
    create_private(path).map_err(|error| StoreError::Unavailable {
        what: path.display().to_string(),
        source: error.into(),
    })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(wait_for_lock))?;
    // Otherwise SQLite plans a statement again for each set of values, which takes longer than running it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    set_durability(&connection, options.durability)?;
    // No memory map: a file that another process shortens would end this one with a signal.
    connection.execute_batch(
        "PRAGMA mmap_size = 0;
         PRAGMA cache_size = -8192;
         PRAGMA temp_store = MEMORY;",
    )?;
    // In place of checkpoints inside commits, which would hold up the caller of the commit.
    connection.wal_hook(Some(move |_: &mut Wal, pages: c_int| {
        let pages = usize::try_from(pages).unwrap_or(0);
        wal_pages.store(pages, Ordering::Relaxed);
        Ok(())
    }))?;
    Ok(connection)
}

/// Sets what commits of this connection survive from now on; not within a transaction.
pub(super) fn set_durability(connection: &Connection, durability: Durability) -> Result<(), Fault> {
    let synchronous = match durability {
        Durability::Process => "PRAGMA synchronous = NORMAL",
        Durability::Power => "PRAGMA synchronous = FULL",
    };
    Ok(connection.execute_batch(synchronous)?)
}

pub(super) fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// SQLite calls this after each failed try of a lock. Returns whether to try again.
#[expect(
    clippy::disallowed_methods,
    reason = "a lock of SQLite gives no signal"
)]
fn wait_for_lock(looks: i32) -> bool {
    let looks = u32::try_from(looks).unwrap_or(0);
    let most = u32::try_from(LOCK_WAIT.as_millis() / LOCK_POLL.as_millis()).unwrap_or(u32::MAX);
    std::thread::sleep(LOCK_POLL.min(Duration::from_micros(200).saturating_mul(looks + 1)));
    looks < most
}
