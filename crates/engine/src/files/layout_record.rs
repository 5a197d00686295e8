//! Records which layouts a folder has had, so that a changed setting is seen and a person's edits in the files of an
//! earlier layout are still read.
//!
//! The record is one line in `.git/daybook`: the names of the layouts, the present one last. It is derived: without it
//! the folder counts as one of Daybook's own layout, and is converted once more.

use std::path::Path;

use super::error::FilesError;
use super::lock::WriterLock;
use crate::bounded;
use crate::consolidate::FileLayout;

const NAME: &str = "layout";
/// Path of the record below a memory folder.
const RECORD: &str = ".git/daybook/layout";
const RECORD_BYTES: u64 = 1024;

/// The layouts that the memory folder has had, the present one last; empty where none is recorded.
#[must_use]
pub fn recorded(memory: &Path) -> Vec<FileLayout> {
    let bytes = bounded::read(&memory.join(RECORD), RECORD_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let words = text.split_whitespace();
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Whether the memory folder has, or had, files of this layout.
#[must_use]
pub fn has_had(memory: &Path, layout: FileLayout) -> bool {
    recorded(memory).contains(&layout)
}

/// Whether the memory folder has a history, and files of another layout than this one.
#[must_use]
pub fn differs(memory: &Path, layout: FileLayout) -> bool {
    let present = recorded(memory).last().copied();
    present.unwrap_or(FileLayout::Daybook) != layout && memory.join(".git").exists()
}

/// Records the layout of what was just written.
pub(super) fn record(lock: &WriterLock<'_>, layout: FileLayout) -> Result<(), FilesError> {
    let mut known = recorded(lock.folder().root());
    if known.last() == Some(&layout) {
        return Ok(());
    }
    known.retain(|one| *one != layout);
    known.push(layout);
    let names: Vec<&str> = known.into_iter().map(FileLayout::as_str).collect();
    lock.save_derived(NAME, format!("{}\n", names.join(" ")).as_bytes())
}
