//! Stores which observations are shown in a person's words, for recall: it finds observations in the store, which has
//! their own words.
//!
//! The list is derived from the pages at each consolidation, and kept in `.git/daybook` of the folder.

use std::collections::BTreeMap;
use std::path::Path;

use daybook_domain::ObservationId;

use super::error::FilesError;
use super::lock::WriterLock;
use crate::bounded;
use crate::consolidate::ScopeMemory;

/// Path of the list below a memory folder.
const LIST: &str = ".git/daybook/reworded";
const NAME: &str = "reworded";
/// Longest list that is read, in bytes.
const LIST_BYTES: u64 = 4 * 1024 * 1024;

/// Replaces the list of a folder.
///
/// # Errors
/// When the disk cannot be written.
pub fn record_reworded(lock: &WriterLock<'_>, memory: &ScopeMemory) -> Result<(), FilesError> {
    let lines = memory.reworded.iter();
    let text: String = lines.map(|(id, words)| format!("{id} {words}\n")).collect();
    if text == read(lock.folder().root()) {
        return Ok(());
    }
    lock.save_private(NAME, &text)
}

/// The words in which a folder shows observations; empty where no person changed any.
#[must_use]
pub fn load_reworded(folder: &Path) -> BTreeMap<ObservationId, String> {
    let text = read(folder);
    let parsed = text.lines().filter_map(|line| {
        let (id, words) = line.split_once(' ')?;
        let id = u64::from_str_radix(id, 16).ok()?;
        Some((ObservationId(id), words.to_owned()))
    });
    parsed.collect()
}

fn read(folder: &Path) -> String {
    bounded::read_text(&folder.join(LIST), LIST_BYTES).unwrap_or_default()
}
