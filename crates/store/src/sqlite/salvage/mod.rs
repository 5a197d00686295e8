//! Copies the readable rows of a damaged database into a fresh one, which then takes its place.
//!
//! [`Salvage::begin`] copies every sound row, and of the others what can be read. The caller may restore lost
//! events from their transcripts ([`Salvage::restore_events`]). [`Salvage::finish`] makes the rows consistent,
//! builds the index, and puts the result in place of the damaged database: in one write transaction of the file
//! that other processes have open, so that each of them sees the old content or the new one. A commit of
//! another process in between ends the salvage, which may be begun again. Until then nothing has changed, so it
//! may also be interrupted.
//!
//! Not here: what counts as damage (`health`), and keeping a copy of the damaged file.

mod indexed;
mod rows;
mod settle;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use daybook_domain::{Event, EventId, StoreError};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, params};

use super::connection::{self, Fault};
use super::health::Tokenize;
use super::health::visit::is_damage;
use super::{LOCK_WAIT, SqliteOptions, migrations};
use crate::damage::Damage;

/// How often a locked file is tried before it counts as busy, each after [`LOCK_PAUSE`].
const LOCK_TRIES: u32 = 400;
/// Pause between two tries.
const LOCK_PAUSE: std::time::Duration = std::time::Duration::from_millis(25);

/// The rows of a database that were salvaged, and those that were not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Rows that are in the new database.
    pub rows: u64,
    /// Rows that were kept, with a value replaced: what was wrong with it.
    pub mended: Vec<Damage>,
    /// Rows that are gone, or of which only a placeholder is kept.
    pub lost: Vec<Damage>,
    /// Events that were read again from their transcripts.
    pub restored: u64,
}

/// A damaged database, and the fresh one that it is copied into.
pub struct Salvage {
    path: PathBuf,
    fresh_path: PathBuf,
    fresh: Connection,
    /// Notices every commit of other connections; `None` where the file cannot be opened at all.
    watcher: Option<(Connection, i64)>,
    report: Salvaged,
    /// Events whose content could not be read, by number, with their identity.
    unreadable: BTreeMap<i64, UnreadableEvent>,
    /// Sessions that lost rows of evidence.
    unlearned: BTreeSet<i64>,
}

/// An event whose content could not be read.
#[derive(Debug, Clone)]
struct UnreadableEvent {
    id: Option<EventId>,
    /// Whether its row is in the new database, as far as it could be read.
    is_kept: bool,
}

/// Copies the pages of the damaged database at `path` to a new file, as they are.
///
/// # Errors
/// When the copy cannot be written.
pub fn keep_copy(path: &Path, copy: &Path) -> Result<(), StoreError> {
    let copied = || -> Result<bool, Fault> {
        let Some((damaged, _)) = open_damaged(path)? else {
            return Ok(false);
        };
        connection::create_private(copy).map_err(|error| StoreError::Unavailable {
            what: copy.display().to_string(),
            source: error.into(),
        })?;
        let mut target = Connection::open(copy)?;
        match copy_over(&damaged, &mut target, || Ok(true)) {
            Ok(()) => Ok(true),
            Err(Fault::Sql(error)) if is_damage(&error) => Ok(false),
            Err(fault) => Err(fault),
        }
    };
    if copied().map_err(|fault| fault.into_error(copy))? {
        return Ok(());
    }
    // No process can open such a file as a database, so its bytes do not change.
    for suffix in ["", "-wal"] {
        let with = |path: &Path| {
            let mut name = path.to_owned().into_os_string();
            name.push(suffix);
            PathBuf::from(name)
        };
        if with(path).exists() {
            fs::copy(with(path), with(copy)).map_err(|error| StoreError::Unavailable {
                what: copy.display().to_string(),
                source: error.into(),
            })?;
        }
    }
    Ok(())
}

impl Salvage {
    /// Reads the database at `path` into a fresh one in the folder `aside`.
    ///
    /// # Errors
    /// When the fresh one cannot be written, or the damaged one cannot be opened for another reason than
    /// its damage.
    pub fn begin(path: &Path, aside: &Path) -> Result<Self, StoreError> {
        let fresh_path = aside.join("salvaged.db");
        let fail = |fault: Fault| fault.into_error(&fresh_path);
        let fresh = open_fresh(&fresh_path).map_err(fail)?;
        let mut salvage = Self {
            path: path.to_owned(),
            fresh_path: fresh_path.clone(),
            fresh,
            watcher: None,
            report: Salvaged::default(),
            unreadable: BTreeMap::new(),
            unlearned: BTreeSet::new(),
        };
        match open_damaged(path) {
            Ok(Some((damaged, version))) => {
                salvage
                    .copy_rows(&damaged)
                    .map_err(|f| f.into_error(path))?;
                salvage.watcher = Some((damaged, version));
            }
            Ok(None) => salvage.report.lost.push(Damage::of_file(format!(
                "{} is no database any more: nothing of it can be read",
                path.display()
            ))),
            Err(fault) => return Err(fault.into_error(path)),
        }
        Ok(salvage)
    }

    /// The transcripts that unreadable events came from.
    ///
    /// # Errors
    /// When the fresh database fails.
    pub fn sources(&self) -> Result<Vec<String>, StoreError> {
        let sessions: BTreeSet<i64> = self.unreadable.keys().map(|no| no >> 32).collect();
        let mut paths = BTreeSet::new();
        let mut read = || -> Result<(), Fault> {
            let mut find = self
                .fresh
                .prepare("SELECT path FROM sources WHERE session_no = ?")?;
            for session in &sessions {
                let rows = find.query_map([session], |row| row.get(0))?;
                paths.extend(rows.collect::<Result<Vec<String>, _>>()?);
            }
            Ok(())
        };
        read().map_err(|fault| fault.into_error(&self.fresh_path))?;
        Ok(paths.into_iter().collect())
    }

    /// Takes the content of unreadable events from `known`, by their identity.
    ///
    /// # Errors
    /// When the fresh database fails.
    pub fn restore_events(&mut self, known: &HashMap<EventId, Event>) -> Result<(), StoreError> {
        let found: Vec<(i64, EventId)> = self
            .unreadable
            .iter()
            .filter_map(|(no, unreadable)| {
                Some((*no, unreadable.id.filter(|id| known.contains_key(id))?))
            })
            .collect();
        for (no, id) in found {
            let Some(event) = known.get(&id) else {
                continue;
            };
            settle::restore(&self.fresh, no, id, event)
                .map_err(|fault| fault.into_error(&self.fresh_path))?;
            self.unreadable.remove(&no);
            self.report.restored += 1;
            let key = no.to_string();
            let is_other = |d: &Damage| d.table != "events" || d.key.as_deref() != Some(&key);
            self.report.mended.retain(is_other);
            self.report.lost.retain(is_other);
        }
        Ok(())
    }

    /// Makes the fresh database consistent, builds its index from `tokens`, and puts it in place of the damaged
    /// one.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when another process wrote to the damaged one meanwhile: begin again.
    pub fn finish(mut self, tokens: Tokenize<'_>) -> Result<Salvaged, StoreError> {
        let path = self.fresh_path.clone();
        let settled = settle::settle(
            &mut self.fresh,
            &self.unreadable,
            &self.unlearned,
            &mut self.report,
        )
        .and_then(|()| indexed::fill(&mut self.fresh, tokens));
        settled.map_err(|fault| fault.into_error(&path))?;
        self.put_in_place()?;
        Ok(self.report)
    }

    fn put_in_place(&mut self) -> Result<(), StoreError> {
        let Some((watcher, before)) = &self.watcher else {
            return self.replace_file();
        };
        let mut target = open_target(&self.path).map_err(|f| f.into_error(&self.path))?;
        let copied = copy_over(&self.fresh, &mut target, || {
            Ok(version_of(watcher)? == *before)
        });
        match copied {
            Ok(()) => {
                // The log now holds the whole content; readers are not blocked.
                let _ = target.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
                Ok(())
            }
            Err(Fault::Sql(error)) if is_damage(&error) => self.replace_file(),
            Err(fault) => Err(fault.into_error(&self.path)),
        }
    }

    /// Puts the fresh file in place of one that no process can open.
    fn replace_file(&mut self) -> Result<(), StoreError> {
        let failed = |source: std::io::Error| StoreError::Unavailable {
            what: self.path.display().to_string(),
            source: source.into(),
        };
        self.watcher = None;
        let closed = std::mem::replace(&mut self.fresh, memory()?);
        closed
            .close()
            .map_err(|(_, error)| Fault::from(error).into_error(&self.fresh_path))?;
        for log in ["-wal", "-shm"] {
            let mut name = self.path.clone().into_os_string();
            name.push(log);
            match fs::remove_file(&name) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(failed(error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        fs::rename(&self.fresh_path, &self.path).map_err(failed)
    }
}

fn memory() -> Result<Connection, StoreError> {
    Connection::open_in_memory().map_err(|error| Fault::from(error).into_error("memory".as_ref()))
}

/// Creates a fresh database, in place of one that an interrupted repair left.
fn open_fresh(path: &Path) -> Result<Connection, Fault> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.to_owned().into_os_string();
        name.push(suffix);
        let _ = fs::remove_file(name);
    }
    let mut fresh = connection::open(path, SqliteOptions::default(), Arc::default())?;
    migrations::ensure(&mut fresh, path)?;
    Ok(fresh)
}

/// Opens the damaged database, with its version; `None` when SQLite cannot open it for its damage.
fn open_damaged(path: &Path) -> Result<Option<(Connection, i64)>, Fault> {
    let opened = || -> Result<(Connection, i64), Fault> {
        let damaged = open_target(path)?;
        damaged.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        let version = version_of(&damaged)?;
        Ok((damaged, version))
    };
    match opened() {
        Ok(opened) => Ok(Some(opened)),
        Err(Fault::Sql(error)) if is_damage(&error) => Ok(None),
        Err(fault) => Err(fault),
    }
}

fn open_target(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(LOCK_WAIT)?;
    Ok(connection)
}

fn version_of(connection: &Connection) -> Result<i64, Fault> {
    Ok(connection.query_row("PRAGMA data_version", [], |row| row.get(0))?)
}

/// Copies all pages in one write transaction of the target. `is_unchanged` is called once no other process can
/// write any more.
#[expect(
    clippy::disallowed_methods,
    reason = "a lock of SQLite gives no signal"
)]
fn copy_over(
    from: &Connection,
    to: &mut Connection,
    is_unchanged: impl Fn() -> Result<bool, Fault>,
) -> Result<(), Fault> {
    let backup = Backup::new(from, to)?;
    let step = |pages| -> Result<StepResult, Fault> {
        for _ in 0..LOCK_TRIES {
            match backup.step(pages)? {
                StepResult::Busy | StepResult::Locked => std::thread::sleep(LOCK_PAUSE),
                taken => return Ok(taken),
            }
        }
        Ok(StepResult::Busy)
    };
    let busy = || Fault::Store(StoreError::Busy("another process writes the memory".into()));
    let mut taken = step(1)?;
    if !is_unchanged()? {
        return Err(busy());
    }
    if matches!(taken, StepResult::More) {
        taken = step(-1)?;
    }
    match taken {
        StepResult::Done => Ok(()),
        _ => Err(busy()),
    }
}

/// Adds to the count of rows that are kept.
fn note_rows(report: &mut Salvaged, rows: u64) {
    report.rows += rows;
}

impl std::fmt::Debug for Salvage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Salvage")
            .field("path", &self.path)
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

/// Adds a row for an event whose content is gone, so that citations of it find a placeholder.
fn insert_placeholder(fresh: &Connection, no: i64, id: Option<EventId>) -> Result<(), Fault> {
    const TEXT: &str = "[This event was damaged in the database and could not be read.]";
    let id = id.unwrap_or_else(|| EventId::of(&[b"lost", &no.to_be_bytes()]));
    fresh.execute(
        "INSERT OR IGNORE INTO events (event_no, session_no, id, line, origin, at, sidechain, text)
         VALUES (?1, ?1 >> 32, ?2,
            ifnull((SELECT line FROM events WHERE event_no BETWEEN (?1 >> 32) << 32 AND ?1
                ORDER BY event_no DESC LIMIT 1), 0),
            'harness', 0, 0, ?3)",
        params![no, id.0.to_be_bytes(), TEXT],
    )?;
    Ok(())
}
