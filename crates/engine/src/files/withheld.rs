//! Entries that a person has deleted: not written again as long as they would say the same.
//!
//! Kept beside the history, out of sight of `git status`. An observation that is deleted is also
//! retracted in the store; this list is for lines that rest on none, and holds when the database is
//! lost.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::atomic;
use super::entry::Marker;
use super::error::FilesError;
use super::lock::WriterLock;

const NAME: &str = "withheld";

/// Marks of deleted entries, by file.
pub(crate) type Withheld = BTreeMap<String, BTreeSet<Marker>>;

/// What is withheld in the folder.
///
/// # Errors
/// What the disk says.
pub(crate) fn load(lock: &WriterLock<'_>) -> Result<Withheld, FilesError> {
    let path = lock.folder().private(NAME);
    let bytes = atomic::read(&path).map_err(FilesError::io("read", &path))?;
    Ok(parse(&String::from_utf8_lossy(&bytes.unwrap_or_default())))
}

/// What a text of ours withholds.
pub(crate) fn parse(text: &str) -> Withheld {
    let mut withheld = Withheld::new();
    for line in text.lines() {
        if let Some((marker, file)) = line.split_once(' ')
            && let Some(marker) = Marker::parse(marker)
        {
            withheld.entry(file.to_owned()).or_default().insert(marker);
        }
    }
    withheld
}

/// The text that says it.
pub(crate) fn spelled(withheld: &Withheld) -> String {
    let mut text = String::new();
    for (file, markers) in withheld {
        for marker in markers {
            text.push_str(&format!("{} {file}\n", marker.as_str()));
        }
    }
    text
}

/// Replaces what is withheld, whole.
///
/// # Errors
/// What the disk says.
pub(crate) fn save(lock: &WriterLock<'_>, withheld: &Withheld) -> Result<(), FilesError> {
    let path = lock.folder().private(NAME);
    let failed = |error| FilesError::io("write", &path)(error);
    let folder = path.parent().unwrap_or(&path);
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    io::Write::write_all(&mut temporary, spelled(withheld).as_bytes()).map_err(failed)?;
    temporary.as_file().sync_all().map_err(failed)?;
    temporary
        .persist(&path)
        .map_err(|error| failed(error.error))?;
    Ok(())
}
