//! Stores which versions of entries a person refused, and which they brought back.
//!
//! A version is an entry with certain words: a marker. A withheld version is not written; it was deleted, or replaced
//! by an earlier one. A kept version is not removed, although the memory no longer has it. The list is kept in
//! `.git/daybook`, where `git status` does not show it. An observation whose entry is deleted is also retracted in the
//! store; this list covers lines without an observation, and survives the loss of the database.
//!
//! Not here: what a person did (`persons_changes`).

use std::collections::BTreeMap;
use std::io;

use super::atomic;
use super::entry::Marker;
use super::error::FilesError;
use super::lock::WriterLock;
use super::page::{PageChoices, own_markers};

const NAME: &str = "withheld";
/// What stands before a kept marker. Earlier versions skip such lines.
const KEPT: char = '+';

/// A person's choices, by file.
pub(crate) type Withheld = BTreeMap<String, PageChoices>;

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
    let mut all = Withheld::new();
    for line in text.lines() {
        let Some((marker, file)) = line.split_once(' ') else {
            continue;
        };
        let kept = marker.strip_prefix(KEPT);
        let Some(marker) = Marker::parse(kept.unwrap_or(marker)) else {
            continue;
        };
        let choices = all.entry(file.to_owned()).or_default();
        match kept {
            Some(_) => choices.kept.insert(marker),
            None => choices.withheld.insert(marker),
        };
    }
    all
}

/// Renders the text of a list.
pub(crate) fn render(all: &Withheld) -> String {
    let mut text = String::new();
    for (file, choices) in all {
        for marker in &choices.withheld {
            text.push_str(&format!("{} {file}\n", marker.as_str()));
        }
        for marker in &choices.kept {
            text.push_str(&format!("{KEPT}{} {file}\n", marker.as_str()));
        }
    }
    text
}

/// Adds the choices of `more`.
pub(crate) fn extend(all: &mut Withheld, more: &Withheld) {
    for (file, choices) in more {
        let known = all.entry(file.clone()).or_default();
        known.withheld.extend(choices.withheld.iter().cloned());
        known.kept.extend(choices.kept.iter().cloned());
    }
}

/// Drops choices that the files have overtaken: a withheld version that stands in its file was brought back, and a
/// kept one that does not was deleted. `read` returns the text of a file.
pub(crate) fn prune(
    all: &mut Withheld,
    mut read: impl FnMut(&str) -> Result<Option<String>, FilesError>,
) -> Result<(), FilesError> {
    for (file, choices) in all.iter_mut() {
        let there = own_markers(&read(file)?.unwrap_or_default());
        choices.withheld.retain(|marker| !there.contains(marker));
        choices.kept.retain(|marker| there.contains(marker));
    }
    all.retain(|_, choices| *choices != PageChoices::default());
    Ok(())
}

/// Replaces the whole list.
///
/// # Errors
/// When the disk cannot be read or written.
pub(crate) fn save(lock: &WriterLock<'_>, all: &Withheld) -> Result<(), FilesError> {
    lock.save_private(NAME, &render(all))
}

impl WriterLock<'_> {
    /// Replaces one of the engine's private files.
    pub(crate) fn save_private(&self, name: &str, text: &str) -> Result<(), FilesError> {
        self.replace_private(name, text.as_bytes(), true)
    }

    /// Replaces a private file that is derived and checked when it is read: it need not survive a loss of power.
    pub(crate) fn save_derived(&self, name: &str, bytes: &[u8]) -> Result<(), FilesError> {
        self.replace_private(name, bytes, false)
    }

    fn replace_private(&self, name: &str, bytes: &[u8], synced: bool) -> Result<(), FilesError> {
        let path = self.folder().private_path(name);
        let failed = |error| FilesError::io("write", &path)(error);
        let folder = path.parent().unwrap_or(&path);
        let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        io::Write::write_all(&mut temporary, bytes).map_err(failed)?;
        if synced {
            temporary.as_file().sync_all().map_err(failed)?;
        }
        temporary
            .persist(&path)
            .map_err(|error| failed(error.error))?;
        Ok(())
    }
}
