//! Stores which versions of entries in a folder came from other machines.
//!
//! Nothing in this machine's store explains them: they go when the machine that wrote them drops them. One that this machine
//! learns by itself is its own from then on. A list that is
//! lost, or that names too little, makes them entries of this machine, which stay.
//!
//! Not here: what a person refused or brought back (`withheld`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::files::atomic;
use crate::files::entry::Marker;
use crate::files::error::FilesError;
use crate::files::folder::{FilesConfig, Folder};
use crate::files::lock::WriterLock;
use crate::files::withheld;

/// File name inside `.git/daybook/`.
const NAME: &str = "received";

/// Versions of entries, by file.
pub(super) type Received = BTreeMap<String, BTreeSet<Marker>>;

pub(super) fn load(folder: &Folder) -> Result<Received, FilesError> {
    let path = folder.private_path(NAME);
    let bytes = atomic::read(&path).map_err(FilesError::io("read", &path))?;
    let mut all = Received::new();
    for line in String::from_utf8_lossy(&bytes.unwrap_or_default()).lines() {
        if let Some((marker, file)) = line.split_once(' ')
            && let Some(marker) = Marker::parse(marker)
        {
            all.entry(file.to_owned()).or_default().insert(marker);
        }
    }
    Ok(all)
}

pub(super) fn save(lock: &WriterLock<'_>, all: &Received) -> Result<(), FilesError> {
    let mut text = String::new();
    for (file, markers) in all {
        for marker in markers {
            text.push_str(&format!("{} {file}\n", marker.as_str()));
        }
    }
    lock.save_private(NAME, &text)
}

/// Makes entries of other machines this machine's, where its own memory shows them too: they stay when another machine
/// drops them, and go when this memory does. `shown` returns the versions that the memory shows in a file.
pub(in crate::files) fn make_own(
    lock: &WriterLock<'_>,
    shown: impl Fn(&str) -> BTreeSet<Marker>,
) -> Result<(), FilesError> {
    let before = load(lock.folder())?;
    let mut received = before.clone();
    for (file, markers) in &mut received {
        let shown = shown(file);
        markers.retain(|marker| !shown.contains(marker));
    }
    if received == before {
        return Ok(());
    }
    let mut choices = withheld::load(lock)?;
    for (file, markers) in &before {
        if let Some(chosen) = choices.get_mut(file) {
            let is_own =
                |marker: &Marker| markers.contains(marker) && !received[file].contains(marker);
            chosen.kept.retain(|marker| !is_own(marker));
        }
    }
    // After a kill in between, the list that is still the old one makes it happen again.
    withheld::save(lock, &choices)?;
    received.retain(|_, markers| !markers.is_empty());
    save(lock, &received)
}

/// Whether the memory folder at `path` has entries of other machines.
///
/// # Errors
/// When the disk cannot be read.
pub fn has_received(path: &Path) -> Result<bool, FilesError> {
    Ok(!load(&Folder::existing(path, FilesConfig::default()))?.is_empty())
}
