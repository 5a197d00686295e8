//! Pages and files of the engine's that a person's link, folder or other file keeps it from.
//!
//! Two small lists inside `.git/daybook`, rewritten by the holder of the writer lock:
//!
//! - `blocked`: places of the engine's that were refused when the work tree was last scanned. Where
//!   such a place is empty at the next scan, the person cleared it and deleted nothing, so the last
//!   version returns from HEAD.
//! - `unwritten`: pages that the last posting could not write, and why. Once [`is_mended`] says that
//!   one of them can be written, the folder's scope is due again.
//!
//! Not here: what is refused (`refused`).

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::atomic;
use super::commit::Head;
use super::error::FilesError;
use super::folder::Folder;
use super::layout::{is_owned_file, is_owned_folder};
use super::objects;
use super::path::FilePath;
use super::refused::{Skipped, refused_now};

/// Where both lists are, in a memory folder.
const PRIVATE: &str = ".git/daybook";
const BLOCKED: &str = "blocked";
const UNWRITTEN: &str = "unwritten";
/// Where a file is put together that returns to its place.
const RETURNING: &str = "returning";
/// Stands in the list of unwritten pages for what the disk does not show.
const IN_HISTORY: &str = "history ";
/// Stands there for what the disk shows.
const ON_DISK: &str = "disk ";

/// A page that could not be written, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwritten {
    /// The page.
    pub page: FilePath,
    /// What keeps the engine from it.
    pub why: String,
}

/// Brings back from HEAD what was blocked at the last scan where nothing stands now.
pub(super) fn restore(
    folder: &Folder,
    repo: &gix::Repository,
    head: &Head,
) -> Result<(), FilesError> {
    let blocked = lines(folder, BLOCKED)?;
    for (path, file) in &head.tree.files {
        let is_below = |blocked: &String| Path::new(path.as_str()).starts_with(blocked);
        if !is_owned_file(path.as_str()) || !blocked.iter().any(is_below) {
            continue;
        }
        if refused_now(folder.root(), Path::new(path.as_str())).is_some() {
            continue;
        }
        let place = path.under(folder.root());
        let bytes = objects::read_blob(folder, repo, file.id)?;
        let returning = folder.private(RETURNING);
        let returned = (|| {
            fs::create_dir_all(place.parent().unwrap_or(folder.root()))?;
            atomic::write_new(&returning, &bytes)?;
            // Something that stands there is newer.
            atomic::rename_new(&returning, &place)
        })();
        returned.map_err(FilesError::io("bring back", &place))?;
    }
    Ok(())
}

/// Remembers which places of the engine's are refused.
pub(super) fn note_blocked(folder: &Folder, skipped: &[Skipped]) -> Result<(), FilesError> {
    let paths = skipped.iter().filter_map(|skipped| skipped.path.to_str());
    let ours = paths.filter(|path| is_owned_file(path) || is_owned_folder(path));
    write_lines(folder, BLOCKED, ours.map(str::to_owned).collect())
}

/// Remembers which pages could not be written.
pub(super) fn note_unwritten(folder: &Folder, pages: &[Unwritten]) -> Result<(), FilesError> {
    let head = folder.head()?.map(|head| head.to_string());
    let head = head.unwrap_or_default();
    let line = |unwritten: &Unwritten| {
        let page = unwritten.page.as_str();
        match refused_now(folder.root(), Path::new(page)) {
            Some(_) => format!("{ON_DISK}{page}"),
            None => format!("{IN_HISTORY}{head} {page}: {}", unwritten.why),
        }
    };
    write_lines(folder, UNWRITTEN, pages.iter().map(line).collect())
}

/// Whether a page that could not be written can be tried again: nothing is in its way on disk any
/// more, or the history has moved on.
///
/// # Errors
/// What the disk says.
pub fn is_mended(folder: &Folder) -> Result<bool, FilesError> {
    let unwritten = lines(folder, UNWRITTEN)?;
    if unwritten.is_empty() {
        return Ok(false);
    }
    let head = folder.head()?.map(|head| head.to_string());
    let head = format!("{IN_HISTORY}{} ", head.unwrap_or_default());
    let is_free = |line: &String| match line.strip_prefix(ON_DISK) {
        Some(page) => refused_now(folder.root(), Path::new(page)).is_none(),
        None => !line.starts_with(&head),
    };
    Ok(unwritten.iter().any(is_free))
}

/// Pages that the last posting could not write beside what the history holds, and why.
pub(super) fn unwritten_in(memory: &Path) -> Vec<(String, String)> {
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
    let place = folder.private(name);
    let bytes = atomic::read(&place).map_err(FilesError::io("read", &place))?;
    let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
    Ok(text.lines().map(str::to_owned).collect())
}

/// Replaces a list; an empty one is no file. A crash leaves the old list or the new one.
fn write_lines(folder: &Folder, name: &str, lines: BTreeSet<String>) -> Result<(), FilesError> {
    let place = folder.private(name);
    let text: String = lines
        .iter()
        // A name with a line break in it is none of the engine's.
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
        let new = folder.private(RETURNING);
        atomic::write_new(&new, text.as_bytes())?;
        fs::rename(&new, &place)
    })();
    written.map_err(FilesError::io("write", &place))
}
