//! Takes what was purged out of a memory folder: its files, its history, and the private files beside the history.
//!
//! Each step may be interrupted and repeated. Not here: what is purged (`purged_text`).

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::atomic;
use super::changes::FileChanges;
use super::error::FilesError;
use super::folder::Folder;
use super::history_rewrite::{FileEdit, HistoryRewrite};
use super::lock::WriterLock;
use super::own_secrets::FileOwner;
use super::purged_text::PurgedText;
use super::stamp::CommitStamp;
use super::write::WriteOutcome;

/// Message of the commit that takes purged entries out of the present files.
const MESSAGE: &str = "Remove what was purged";
/// Private files that are made anew when they are missing.
const DISPOSABLE: [&str; 2] = ["texts", "settled"];
/// Private files with words of entries as they were before a person changed or deleted them. Without them a line that a
/// person brings back stays as their own.
const PAST: [&str; 2] = ["reworded", "withdrawn"];
/// Private files that hold no text of the memory.
const WITHOUT_TEXT: [&str; 6] = ["lock", "clock", "layout", "rules", "replaced", "intent"];

/// A line of a person's own text that repeats purged words. It stays until they take it out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PersonsLine {
    /// The file, below its memory folder.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
}

impl WriterLock<'_> {
    /// Takes purged text out of the present files, as the engine's commit. Returns the lines of a person that repeat
    /// purged words.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn purge_files(
        &self,
        purged: &PurgedText,
        stamp: &CommitStamp,
    ) -> Result<Vec<PersonsLine>, FilesError> {
        let edited = self.edited_files(stamp)?;
        let mut left = Vec::new();
        let outcome = self.write(stamp, MESSAGE, &|| true, |snapshot| {
            left.clear();
            let mut changes = FileChanges::none();
            for (path, _) in snapshot.files() {
                let owner = FileOwner::of(path.as_str(), || edited.contains(path.as_str()));
                let Some(bytes) = snapshot.read(path)? else {
                    continue;
                };
                let Ok(text) = String::from_utf8(bytes) else {
                    continue;
                };
                let text = match purged.present_file(path.as_str(), owner, &text) {
                    FileEdit::Keep => text,
                    _ if snapshot.skipped_at(path).is_some() => text,
                    FileEdit::Replace(text) => {
                        changes.write(path.clone(), text.clone());
                        text
                    }
                    FileEdit::Remove => {
                        changes.delete(path.clone());
                        continue;
                    }
                };
                let lines = purged.persons_lines(owner, &text).into_iter();
                left.extend(lines.map(|line| PersonsLine {
                    file: path.as_str().to_owned(),
                    line,
                }));
            }
            Ok(changes)
        })?;
        match outcome {
            WriteOutcome::Written(_) | WriteOutcome::Unchanged(_) | WriteOutcome::LeaseLost => {}
        }
        Ok(left)
    }

    /// Takes purged text out of all past states, and out of the private files. Nothing unreferenced is left in the
    /// history.
    ///
    /// # Errors
    /// When the disk fails, or a person's git command is in the way; the next call continues.
    pub fn purge_history(
        &self,
        purged: &PurgedText,
        stamp: &CommitStamp,
    ) -> Result<HistoryRewrite, FilesError> {
        let rewritten = self.rewrite_history(purged, stamp)?;
        purge_private(self.folder(), purged)?;
        Ok(rewritten)
    }
}

/// Removes the private files that hold words of the memory, and without which the folder works.
pub(super) fn remove_texts(folder: &Folder) -> Result<(), FilesError> {
    remove_private(folder, &[DISPOSABLE, PAST].concat())
}

fn remove_private(folder: &Folder, names: &[&str]) -> Result<(), FilesError> {
    names.iter().try_for_each(|name| {
        let place = folder.private_path(name);
        atomic::remove(&place).map_err(FilesError::io("delete", place))
    })
}

fn purge_private(folder: &Folder, purged: &PurgedText) -> Result<(), FilesError> {
    remove_private(folder, &DISPOSABLE)?;
    // What a git command of a person left of a message.
    for place in files_below(&folder.private_path(""))
        .into_iter()
        .chain([folder.git_dir().join("COMMIT_EDITMSG")])
    {
        let name = place.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| WITHOUT_TEXT.contains(&name)) {
            continue;
        }
        let bytes = atomic::read(&place).map_err(FilesError::io("read", &place))?;
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        let Some(left) = purged.without_lines(&text) else {
            continue;
        };
        let part = folder.private_path("purged.part");
        let written = atomic::write_new(&part, left.as_bytes());
        written
            .and_then(|()| fs::rename(&part, &place))
            .map_err(FilesError::io("rewrite", &place))?;
    }
    Ok(())
}

/// The regular files below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for place in atomic::list(&next).unwrap_or_default() {
            match fs::symlink_metadata(&place).map(|found| found.file_type()) {
                Ok(kind) if kind.is_dir() => open.push(place),
                Ok(kind) if kind.is_file() => files.push(place),
                Ok(_) | Err(_) => {}
            }
        }
    }
    files
}
