//! The files of a memory's record: what its Markdown does not carry, as lines of JSON in `record/` below the root.
//!
//! Each part is one file, replaced whole, so a reader sees the old lines or the new ones. One process writes at a time.
//! Not here: what the lines hold (`store`), when they are written (`app`).

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use daybook_domain::{RecordKey, RecordKind};
use strum::VariantArray as _;

use super::atomic;
use crate::bounded;

/// Folder of the record below the root.
pub const RECORD: &str = "record";
/// Longest part that is read, in bytes.
const PART_BYTES: u64 = 1 << 30;
/// Pause between attempts to lock the record.
const POLL: Duration = Duration::from_millis(10);

/// The record of a data folder.
#[derive(Debug, Clone)]
pub struct RecordFolder {
    folder: PathBuf,
}

/// The right to write the record, until dropped.
#[derive(Debug)]
pub struct RecordLock(#[expect(dead_code, reason = "held for its lock")] File);

impl RecordFolder {
    /// That of the data folder at `root`.
    #[must_use]
    pub fn of(root: &Path) -> Self {
        Self {
            folder: root.join(RECORD),
        }
    }

    /// Whether anything is recorded.
    #[must_use]
    pub fn exists(&self) -> bool {
        RecordKind::VARIANTS
            .iter()
            .any(|kind| self.keys(*kind).is_ok_and(|keys| !keys.is_empty()))
    }

    /// Takes the record's lock, trying for at most `wait`. `None` while another process writes it.
    ///
    /// # Errors
    /// When the disk fails.
    #[expect(
        clippy::disallowed_methods,
        reason = "a file lock gives no signal when it is free"
    )]
    pub fn try_lock(&self, wait: Duration) -> io::Result<Option<RecordLock>> {
        fs::create_dir_all(&self.folder)?;
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.folder.join("lock"))?;
        let tries = wait.as_millis() / POLL.as_millis();
        for tried in 0..=tries {
            match file.try_lock() {
                Ok(()) => return Ok(Some(RecordLock(file))),
                Err(TryLockError::WouldBlock) if tried < tries => thread::sleep(POLL),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Replaces the lines of a part. A part without lines has no file.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn write(&self, _: &RecordLock, key: RecordKey, lines: &[String]) -> io::Result<()> {
        let path = self.path_of(key);
        if lines.is_empty() {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(()),
            };
        }
        let mut text = lines.join("\n");
        text.push('\n');
        let unnamed = path.with_extension("new");
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        atomic::write_new(&unnamed, text.as_bytes())?;
        fs::rename(&unnamed, &path)
    }

    /// Removes the record: what it describes is kept elsewhere from now on.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// The recorded parts of a kind, by number.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn keys(&self, kind: RecordKind) -> io::Result<Vec<RecordKey>> {
        let files = atomic::list(&self.folder.join(folder_of(kind)))?;
        let number = |path: &PathBuf| {
            let is_part = path.extension()? == "jsonl";
            let name = path.file_stem()?.to_str().filter(|_| is_part)?;
            name.parse::<i64>().ok()
        };
        let mut keys: Vec<RecordKey> = files
            .iter()
            .filter_map(|path| {
                Some(RecordKey {
                    kind,
                    no: number(path)?,
                })
            })
            .collect();
        keys.sort();
        Ok(keys)
    }

    /// The text of a part, with characters replaced where it is no UTF-8.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self, key: RecordKey) -> io::Result<String> {
        let mut bytes = Vec::new();
        bounded::open(&self.path_of(key))?
            .take(PART_BYTES)
            .read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Where a part is.
    #[must_use]
    pub fn path_of(&self, key: RecordKey) -> PathBuf {
        let name = format!("{:06}.jsonl", key.no);
        self.folder.join(folder_of(key.kind)).join(name)
    }
}

fn folder_of(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Tenant => "tenants",
        RecordKind::Session => "sessions",
        RecordKind::Scope => "scopes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_part_is_replaced_whole_and_one_without_lines_is_gone() {
        let root = tempfile::tempdir().expect("a folder");
        let record = RecordFolder::of(root.path());
        assert!(!record.exists());
        let lock = record.try_lock(Duration::ZERO).unwrap().expect("free");
        let key = |no| RecordKey {
            kind: RecordKind::Session,
            no,
        };
        record.write(&lock, key(12), &lines(&["a", "b"])).unwrap();
        record.write(&lock, key(3), &lines(&["c"])).unwrap();
        record.write(&lock, key(12), &lines(&["d"])).unwrap();
        assert_eq!(record.read(key(12)).unwrap(), "d\n");
        assert_eq!(record.keys(RecordKind::Session).unwrap(), [key(3), key(12)]);
        assert!(record.exists());
        for no in [3, 12, 99] {
            record.write(&lock, key(no), &[]).unwrap();
        }
        assert!(!record.exists());
    }

    #[test]
    fn one_process_writes_at_a_time() {
        let root = tempfile::tempdir().expect("a folder");
        let record = RecordFolder::of(root.path());
        let held = record.try_lock(Duration::ZERO).unwrap();
        assert!(held.is_some());
        assert!(record.try_lock(Duration::ZERO).unwrap().is_none());
        drop(held);
        assert!(record.try_lock(Duration::ZERO).unwrap().is_some());
    }

    #[test]
    fn bytes_that_are_no_text_are_read_as_damaged_lines() {
        let root = tempfile::tempdir().expect("a folder");
        let record = RecordFolder::of(root.path());
        let key = RecordKey {
            kind: RecordKind::Tenant,
            no: 1,
        };
        let path = record.path_of(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, b"good\n\xff\xfe\ngood\n").unwrap();
        assert_eq!(record.read(key).unwrap().lines().count(), 3);
    }
}
