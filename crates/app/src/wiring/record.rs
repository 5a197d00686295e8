//! Keeps the record of a memory in files up to date with its database, and makes a lost database from it.
//!
//! The record is written after each piece of background work, and at the end of each process. What is not written yet
//! stays marked in the database, for the next process. A memory on a server has no record here: its files are rows of
//! the same database.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use daybook_domain::{BadRecordLine, RecordKey, RecordKind};
use daybook_engine::files::record::{RecordFolder, RecordLock};
use daybook_store::sqlite::{RecordRestore, RestoredRecord, SqliteStore};
use daybook_text::indexed_tokens;
use tracing::warn;

use super::DATABASE;
use crate::folders::data_folder::display_path;
use crate::terminal::messages::print_notice;
use crate::terminal::output::count;

/// Parts that are written before their marks are cleared.
const BATCH: usize = 50;
/// Most parts that a process writes at its end. The rest is left to the next background work.
const AT_END: usize = 200;
/// Longest wait of a consolidation for another process that writes the record.
const BEFORE_FILES_WAIT: Duration = Duration::from_secs(5);
/// Longest wait for another process that restores the database.
const RESTORE_WAIT: Duration = Duration::from_secs(600);
/// Most damaged lines that are named one by one.
const NAMED_LINES: usize = 20;

/// Writes the record of one database.
pub(crate) struct RecordKeeper {
    store: Arc<SqliteStore>,
    folder: RecordFolder,
}

impl RecordKeeper {
    pub(super) fn new(root: &Path, store: Arc<SqliteStore>) -> Self {
        let folder = RecordFolder::of(root);
        Self { store, folder }
    }

    /// Writes all parts that are older than their rows, unless another process does.
    pub(crate) fn write(&self) -> Result<()> {
        self.write_at_most(usize::MAX, Duration::ZERO)
    }

    /// Writes all parts, waiting for another process that writes some. False where not all could be written.
    pub(crate) fn write_completely(&self) -> Result<bool> {
        self.write_at_most(usize::MAX, BEFORE_FILES_WAIT)?;
        Ok(self.store.stale_records(1)?.is_empty())
    }

    /// Writes all parts before memory files are written, so that no file shows what the record lacks. A failure costs
    /// no file: the parts stay marked.
    pub(super) fn write_before_files(&self) {
        if let Err(error) = self.write_at_most(usize::MAX, BEFORE_FILES_WAIT) {
            warn!(%error, "the record of the memory was not written");
        }
    }

    fn write_at_most(&self, most: usize, wait: Duration) -> Result<()> {
        let is_stale = match self.folder.exists() {
            true => !self.store.stale_records(1)?.is_empty(),
            false => self.store.mark_all_records()?,
        };
        if !is_stale {
            return Ok(());
        }
        let cannot = || "cannot write the record of the memory".to_owned();
        let Some(lock) = self.folder.try_lock(wait).with_context(cannot)? else {
            return Ok(());
        };
        // Parts that fail stay marked, cost no other part, and are not tried for ever.
        let (mut written, mut failed) = (0, BTreeSet::new());
        while written < most {
            let stale = self.store.stale_records(BATCH + failed.len())?;
            let mut done = Vec::new();
            for part in stale {
                if failed.contains(&part.key) {
                    continue;
                }
                match self.write_part(&lock, part.key) {
                    Ok(()) => done.push(part),
                    Err(error) => {
                        warn!(part = ?part.key, %error, "a part of the record was not written");
                        failed.insert(part.key);
                    }
                }
            }
            if done.is_empty() {
                break;
            }
            written += done.len();
            self.store.clear_stale_records(&done)?;
        }
        Ok(())
    }

    fn write_part(&self, lock: &RecordLock, key: RecordKey) -> Result<()> {
        let lines = self.store.record_lines(key)?;
        Ok(self.folder.write(lock, key, &lines)?)
    }
}

impl Drop for RecordKeeper {
    fn drop(&mut self) {
        if let Err(error) = self.write_at_most(AT_END, Duration::ZERO) {
            warn!(%error, "the record of the memory was not written");
        }
    }
}

/// Whether the database of the data folder at `root` is gone while its record is there.
pub(crate) fn is_database_lost(root: &Path) -> bool {
    !root.join(DATABASE).exists() && RecordFolder::of(root).exists()
}

/// Makes the lost database of the data folder at `root` from its record; `None` where another process has done it.
/// Nothing else is changed, and a process that ends in between leaves no database.
pub(crate) fn restore_database(root: &Path) -> Result<Option<RestoredRecord>> {
    let folder = RecordFolder::of(root);
    let failed = || format!("cannot make {} again", display_path(&root.join(DATABASE)));
    let Some(_lock) = folder.try_lock(RESTORE_WAIT).with_context(failed)? else {
        bail!("another process is making the database again; run this again when it has ended");
    };
    if !is_database_lost(root) {
        return Ok(None);
    }
    let restored = read_record(&folder, &root.join(DATABASE)).with_context(failed)?;
    print_notice(&format!(
        "the database was lost; {} and {} were read from the record beside the memory files",
        count(restored.sessions, "session"),
        count(restored.observations, "observation"),
    ));
    print_bad_lines(&folder, &restored.bad);
    Ok(Some(restored))
}

fn read_record(folder: &RecordFolder, path: &Path) -> Result<RestoredRecord> {
    let mut restore = RecordRestore::begin(path)?;
    let mut unread = Vec::new();
    let mut read = |key: RecordKey| match folder.read(key) {
        Ok(text) => text,
        Err(error) => {
            let (line, why) = (0, error.to_string());
            unread.push(BadRecordLine { key, line, why });
            String::new()
        }
    };
    for kind in [RecordKind::Session, RecordKind::Scope] {
        for key in folder.keys(kind)? {
            let text = read(key);
            let lines: Vec<&str> = text.lines().collect();
            restore.add_identity(key, &lines);
        }
    }
    for kind in [RecordKind::Tenant, RecordKind::Session, RecordKind::Scope] {
        for key in folder.keys(kind)? {
            let text = read(key);
            let lines: Vec<(usize, &str)> = (1..).zip(text.lines()).collect();
            restore.add(key, &lines);
        }
    }
    let mut restored = restore.finish(&indexed_tokens)?;
    unread.dedup();
    restored.bad.extend(unread);
    Ok(restored)
}

/// Names the lines that could not be used: what they held is lost, and all other lines are not.
fn print_bad_lines(folder: &RecordFolder, bad: &[BadRecordLine]) {
    for BadRecordLine { key, line, why } in bad.iter().take(NAMED_LINES) {
        let path = display_path(&folder.path_of(*key)).to_string();
        let place = match line {
            0 => path,
            line => format!("{path}:{line}"),
        };
        print_notice(&format!("damaged, and left out: {place}: {why}"));
    }
    let more = bad.len().saturating_sub(NAMED_LINES) as u64;
    if more > 0 {
        print_notice(&format!("and {}", count(more, "more damaged line")));
    }
}
