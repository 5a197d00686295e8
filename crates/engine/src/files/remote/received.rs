//! Stores which versions of entries in a folder came from other machines.
//!
//! Nothing in this machine's store explains them: they go when the machine that wrote them drops them. A list that is
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

/// Whether the memory folder at `path` has entries of other machines.
///
/// # Errors
/// When the disk cannot be read.
pub fn has_received(path: &Path) -> Result<bool, FilesError> {
    Ok(!load(&Folder::existing(path, FilesConfig::default()))?.is_empty())
}
