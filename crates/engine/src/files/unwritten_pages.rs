//! Tracks pages and files that the engine cannot write because of a person's link, folder or other file.
//!
//! Two small lists inside `.git/daybook`, rewritten by the holder of the writer lock:
//!
//! - `blocked`: paths of the engine's files that were refused when the work tree was last scanned. Where
//!   such a path is empty at the next scan, the person removed the obstacle and deleted nothing, so the
//!   last version is restored from HEAD.
//! - `unwritten`: pages that the last write could not store, and why. Once [`has_writable`] returns true,
//!   the folder's scope is due again.
//!
//! Not here: which paths are refused (`skipped`).

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::atomic;
use super::error::FilesError;
use super::folder::Folder;
use super::layout::{is_engine_file, is_engine_folder};
use super::objects;
use super::path::FilePath;
use super::skipped::{SkippedPath, find_refused};
use super::tree::Head;

/// Folder of both lists, in a memory folder.
const PRIVATE: &str = ".git/daybook";
const BLOCKED: &str = "blocked";
const UNWRITTEN: &str = "unwritten";
/// Temporary file for a list or for a file that is being restored.
const RESTORED_FILE: &str = "returning";
/// Prefix in the list of unwritten pages for a conflict with the history, which the disk does not show.
const IN_HISTORY: &str = "history ";
/// Prefix for an obstacle on disk.
const ON_DISK: &str = "disk ";

/// A page that could not be written, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnwrittenPage {
    /// The page.
    pub page: FilePath,
    /// The reason.
    pub why: String,
}

/// Restores from HEAD the files that were blocked at the last scan and whose paths are free now.
pub(super) fn restore_unblocked(
    folder: &Folder,
    repo: &gix::Repository,
    head: &Head,
) -> Result<(), FilesError> {
    let blocked = lines(folder, BLOCKED)?;
    for (path, file) in &head.tree.files {
        let is_below = |blocked: &String| Path::new(path.as_str()).starts_with(blocked);
        if !is_engine_file(path.as_str()) || !blocked.iter().any(is_below) {
            continue;
        }
        if find_refused(folder.root(), Path::new(path.as_str())).is_some() {
            continue;
        }
        let place = path.under(folder.root());
        let bytes = objects::read_blob(folder, repo, file.id)?;
        let returning = folder.private_path(RESTORED_FILE);
        let returned = (|| {
            fs::create_dir_all(place.parent().unwrap_or(folder.root()))?;
            atomic::write_new(&returning, &bytes)?;
            // A file that exists there is newer, and stays.
            atomic::rename_new(&returning, &place)
        })();
        returned.map_err(FilesError::io("bring back", &place))?;
    }
    Ok(())
}

/// Records which paths of the engine's files are refused.
pub(super) fn record_blocked(folder: &Folder, skipped: &[SkippedPath]) -> Result<(), FilesError> {
    let paths = skipped.iter().filter_map(|skipped| skipped.path.to_str());
    let ours = paths.filter(|path| is_engine_file(path) || is_engine_folder(path));
    write_lines(folder, BLOCKED, ours.map(str::to_owned).collect())
}

/// Records which pages could not be written.
pub(super) fn record_unwritten(folder: &Folder, pages: &[UnwrittenPage]) -> Result<(), FilesError> {
    let head = folder.head()?.map(|head| head.to_string());
    let head = head.unwrap_or_default();
    let line = |unwritten: &UnwrittenPage| {
        let page = unwritten.page.as_str();
        match find_refused(folder.root(), Path::new(page)) {
            Some(_) => format!("{ON_DISK}{page}"),
            None => format!("{IN_HISTORY}{head} {page}: {}", unwritten.why),
        }
    };
    write_lines(folder, UNWRITTEN, pages.iter().map(line).collect())
}

/// Whether an unwritten page can be tried again: its obstacle on disk is gone, or the history has moved on.
///
/// # Errors
/// When the disk cannot be read.
pub fn has_writable(folder: &Folder) -> Result<bool, FilesError> {
    let unwritten = lines(folder, UNWRITTEN)?;
    if unwritten.is_empty() {
        return Ok(false);
    }
    let head = folder.head()?.map(|head| head.to_string());
    let head = format!("{IN_HISTORY}{} ", head.unwrap_or_default());
    let is_free = |line: &String| match line.strip_prefix(ON_DISK) {
        Some(page) => find_refused(folder.root(), Path::new(page)).is_none(),
        None => !line.starts_with(&head),
    };
    Ok(unwritten.iter().any(is_free))
}

/// Lists pages that the last write could not store beside the contents of the history, and why.
pub(super) fn list_unwritten(memory: &Path) -> Vec<(String, String)> {
    let list = memory.join(PRIVATE).join(UNWRITTEN);
    let text = atomic::read(&list).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let of_history = |line: &str| {
        let (_, rest) = line.strip_prefix(IN_HISTORY)?.split_once(' ')?;
        let (page, why) = rest.split_once(": ")?;
        Some((page.to_owned(), why.to_owned()))
    };
    text.lines().filter_map(of_history).collect()
}

/// Whether the list of unwritten pages of the memory folder at `memory` has entries.
#[must_use]
pub fn has_unwritten(memory: &Path) -> bool {
    let list = memory.join(PRIVATE).join(UNWRITTEN);
    fs::symlink_metadata(list).is_ok_and(|found| found.is_file() && found.len() > 0)
}

fn lines(folder: &Folder, name: &str) -> Result<BTreeSet<String>, FilesError> {
    let place = folder.private_path(name);
    let bytes = atomic::read(&place).map_err(FilesError::io("read", &place))?;
    let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
    Ok(text.lines().map(str::to_owned).collect())
}

/// Replaces a list; the file of an empty list is removed. A crash leaves the old list or the new one.
fn write_lines(folder: &Folder, name: &str, lines: BTreeSet<String>) -> Result<(), FilesError> {
    let place = folder.private_path(name);
    let text: String = lines
        .iter()
        // No page of the engine has a line break in its name.
        .filter(|line| !line.contains('\n'))
        .map(|line| format!("{line}\n"))
        .collect();
    let written = (|| -> io::Result<()> {
        let present = atomic::read(&place)?;
        if present.unwrap_or_default() == text.as_bytes() {
            return Ok(());
        }
        if text.is_empty() {
            return atomic::remove(&place);
        }
        let new = folder.private_path(RESTORED_FILE);
        atomic::write_new(&new, text.as_bytes())?;
        fs::rename(&new, &place)
    })();
    written.map_err(FilesError::io("write", &place))
}
