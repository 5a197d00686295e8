//! Opens a store to read a few rows, in a process that may neither wait nor leave anything behind: a host's
//! agent waits for a hook, and a hook must not hold up writers.
//!
//! A log beside the file means that another process is using the store, or was killed: SQLite's own protocol
//! then gives a snapshot, through the log's index as it is. Without a log no process writes, and the file is
//! read without any lock, since taking one would create the log and its index. Afterwards
//! [`Peek::is_undisturbed`] checks that nothing was written meanwhile.
//!
//! Every statement ends at the deadline. Not here: the queries.

use std::fs::{Metadata, metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::connection::Fault;

/// Longest log that is read, in bytes. SQLite rebuilds the index of a log that a killed process left by reading
/// all of it, and no deadline interrupts that: about a millisecond for each MiB.
const LOG_BYTES: u64 = 16 * 1024 * 1024;
/// Steps of a statement between two checks of the deadline: some microseconds.
const STEPS: i32 = 256;
/// Prepared statements that a connection keeps.
const STATEMENTS: usize = 64;

/// How a file is read.
#[derive(Debug)]
pub(super) struct Peek {
    until: Instant,
    /// The state of the file, if it had no log; `None` if it had one.
    state_without_log: Option<FileState>,
}

/// The size and time of a file, by which a write is noticed.
#[derive(Debug, PartialEq, Eq)]
struct FileState {
    bytes: u64,
    changed: Option<SystemTime>,
}

impl FileState {
    fn of(file: &Metadata) -> Self {
        Self {
            bytes: file.len(),
            changed: file.modified().ok(),
        }
    }
}

impl Peek {
    /// How the file at `path` is read; `None` where it cannot be read at once.
    pub(super) fn of(path: &Path, until: Instant) -> Option<Self> {
        let file = metadata(path).ok().filter(Metadata::is_file)?;
        let state_without_log = match log_bytes(path) {
            0 => Some(FileState::of(&file)),
            bytes if bytes <= LOG_BYTES => None,
            _ => return None,
        };
        Some(Self {
            until,
            state_without_log,
        })
    }

    /// Whether the file at `path` is as it was when the peek began, if it had no log then.
    pub(super) fn is_undisturbed(&self, path: &Path) -> bool {
        self.state_without_log.as_ref().is_none_or(|before| {
            let now = metadata(path).ok();
            log_bytes(path) == 0 && now.is_some_and(|now| FileState::of(&now) == *before)
        })
    }

    #[expect(clippy::disallowed_methods, reason = "ends statements at a deadline")]
    pub(super) fn connect(&self, path: &Path) -> Result<Connection, Fault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let how = match self.state_without_log {
            Some(_) => "immutable=1",
            None => "mode=ro&readonly_shm=1",
        };
        let mut connection = Connection::open_with_flags(address(path, how), flags)?;
        // The library's own default is to wait for five seconds.
        connection.busy_timeout(Duration::ZERO)?;
        let until = self.until;
        connection.progress_handler(STEPS, Some(move || Instant::now() >= until))?;
        // Otherwise SQLite plans a statement again for each set of values.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.execute_batch(
            "PRAGMA mmap_size = 0; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY;",
        )?;
        Ok(connection)
    }
}

/// The size of the log beside a store; 0 where there is none.
pub(super) fn log_bytes(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    metadata(PathBuf::from(log)).map_or(0, |log| log.len())
}

/// A path as a URI, in which SQLite takes parameters.
pub(super) fn address(path: &Path, how: &str) -> String {
    let mut address = String::from("file:");
    let path = path.to_string_lossy();
    #[cfg(windows)]
    let path = format!("/{}", path.replace('\\', "/"));
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => address.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => address.push(char::from(byte)),
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address.push('?');
    address.push_str(how);
    address
}
