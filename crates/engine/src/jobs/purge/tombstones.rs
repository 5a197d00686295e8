//! The tombstones of a data folder in a file, `purged/tombstones`, which outlives the database and is in every backup.
//!
//! The first line names the format and the key, each further line is one tombstone: 32 hexadecimal digits. The file says
//! nothing without the key, which is not in it.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use daybook_domain::{PurgeKey, Tombstone};

use super::intent::{PURGED, write_private};
use crate::bounded;

const NAME: &str = "tombstones";
const FORM: &str = "daybook tombstones 1 key ";
/// Longest file that is read, in bytes.
const FILE_BYTES: u64 = 1 << 32;

/// Why a file of tombstones cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TombstoneError {
    /// The disk's.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It is another file, or damaged.
    #[error(
        "{path}, line {line}: this is no file of tombstones of daybook, or it is damaged; use the one of a backup"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// It belongs to another data folder.
    #[error("{path} was written under another key: it belongs to another data folder")]
    OtherKey {
        /// The file.
        path: PathBuf,
    },
}

/// The tombstones of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TombstoneFile {
    path: PathBuf,
    /// All of them.
    pub marks: BTreeSet<Tombstone>,
}

impl TombstoneFile {
    /// The file of the data folder at `root`; empty where there is none.
    ///
    /// # Errors
    /// When it cannot be read, or is another key's.
    pub fn of(root: &Path, key: &PurgeKey) -> Result<Self, TombstoneError> {
        let path = root.join(PURGED).join(NAME);
        match std::fs::symlink_metadata(&path).is_ok() {
            true => Self::read(&path, key),
            false => Ok(Self {
                path,
                marks: BTreeSet::new(),
            }),
        }
    }

    /// Reads the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read, or is another key's.
    pub fn read(path: &Path, key: &PurgeKey) -> Result<Self, TombstoneError> {
        let path = path.to_owned();
        let text = bounded::read_text(&path, FILE_BYTES).map_err(|why| TombstoneError::Io {
            path: path.clone(),
            source: io::Error::other(why),
        })?;
        let mut lines = text.lines();
        let named = lines.next().and_then(|line| line.strip_prefix(FORM));
        match named {
            None => return Err(TombstoneError::Damaged { path, line: 1 }),
            Some(name) if name != key.fingerprint() => {
                return Err(TombstoneError::OtherKey { path });
            }
            Some(_) => {}
        }
        let mut marks = BTreeSet::new();
        for (line, text) in (2..).zip(lines) {
            let mark = u128::from_str_radix(text, 16)
                .ok()
                .filter(|_| text.len() == 32);
            let Some(mark) = mark else {
                return Err(TombstoneError::Damaged { path, line });
            };
            marks.insert(Tombstone(mark));
        }
        Ok(Self { path, marks })
    }

    /// Adds tombstones and writes the file, if any is new. On disk when this returns.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn add(
        &mut self,
        key: &PurgeKey,
        marks: impl IntoIterator<Item = Tombstone>,
    ) -> Result<(), TombstoneError> {
        let before = self.marks.len();
        self.marks.extend(marks);
        if self.marks.len() == before {
            return Ok(());
        }
        let mut text = format!("{FORM}{}\n", key.fingerprint());
        text.extend(self.marks.iter().map(|mark| format!("{:032x}\n", mark.0)));
        write_private(&self.path, text.as_bytes()).map_err(|source| TombstoneError::Io {
            path: self.path.clone(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tombstones_are_kept_under_their_key_and_damage_is_named() {
        let root = tempfile::tempdir().unwrap();
        let (key, other) = (PurgeKey([1; 32]), PurgeKey([2; 32]));
        let mut file = TombstoneFile::of(root.path(), &key).unwrap();
        assert!(file.marks.is_empty());
        file.add(&key, [Tombstone(7), Tombstone(u128::MAX)])
            .unwrap();
        file.add(&key, [Tombstone(7), Tombstone(8)]).unwrap();
        let read = TombstoneFile::of(root.path(), &key).unwrap();
        assert_eq!(read, file);
        assert_eq!(read.marks.len(), 3);
        let refused = TombstoneFile::of(root.path(), &other).unwrap_err();
        assert!(
            matches!(refused, TombstoneError::OtherKey { .. }),
            "{refused}"
        );
        let path = root.path().join(PURGED).join(NAME);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace(&format!("{:032x}", 8), "8")).unwrap();
        let refused = TombstoneFile::of(root.path(), &key).unwrap_err();
        assert!(
            matches!(refused, TombstoneError::Damaged { line: 3, .. }),
            "{refused}"
        );
    }
}
