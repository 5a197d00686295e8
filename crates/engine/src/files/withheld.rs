//! Stores entries that a person has deleted, so that they are not written again unchanged.
//!
//! The list is kept in `.git/daybook`, where `git status` does not show it. An observation that is deleted
//! is also retracted in the store; this list covers lines without an observation, and survives the loss of
//! the database.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::atomic;
use super::entry::Marker;
use super::error::FilesError;
use super::lock::WriterLock;

const NAME: &str = "withheld";

/// Markers of deleted entries, by file.
pub(crate) type Withheld = BTreeMap<String, BTreeSet<Marker>>;

/// Loads the list of the folder.
///
/// # Errors
/// When the disk cannot be read or written.
pub(crate) fn load(lock: &WriterLock<'_>) -> Result<Withheld, FilesError> {
    let path = lock.folder().private_path(NAME);
    let bytes = atomic::read(&path).map_err(FilesError::io("read", &path))?;
    Ok(parse(&String::from_utf8_lossy(&bytes.unwrap_or_default())))
}

/// Parses the text of a list.
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

/// Renders the text of a list.
pub(crate) fn render(withheld: &Withheld) -> String {
    let mut text = String::new();
    for (file, markers) in withheld {
        for marker in markers {
            text.push_str(&format!("{} {file}\n", marker.as_str()));
        }
    }
    text
}

/// Replaces the whole list.
///
/// # Errors
/// When the disk cannot be read or written.
pub(crate) fn save(lock: &WriterLock<'_>, withheld: &Withheld) -> Result<(), FilesError> {
    let path = lock.folder().private_path(NAME);
    let failed = |error| FilesError::io("write", &path)(error);
    let folder = path.parent().unwrap_or(&path);
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    io::Write::write_all(&mut temporary, render(withheld).as_bytes()).map_err(failed)?;
    temporary.as_file().sync_all().map_err(failed)?;
    temporary
        .persist(&path)
        .map_err(|error| failed(error.error))?;
    Ok(())
}
