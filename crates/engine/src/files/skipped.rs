//! Decides what in a memory folder is not read, written or committed, and why.
//!
//! The scan of the work tree and the list of refused paths share one rule. A refused path is a person's
//! doing: it stays as it is, and affects no other file. A refused page of the engine's keeps its last text
//! in the history, and is written again once its path is free.
//!
//! Not here: reading (`reader`), the list of refused paths (`refused`).

use std::fmt;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use super::error::SkipReason;
use super::layout::{is_engine_file, is_engine_folder};
use super::path::{MAX_PATH_DEPTH, fault_in_name};
use super::reader::FILE_BYTES;
use crate::bounded::{self, FileRefusal};

/// A path in a memory folder that is skipped. It stays unchanged, and its last committed version, if any,
/// stays in HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedPath {
    /// Relative to the folder; the path of a folder covers all its contents.
    pub path: PathBuf,
    /// Why it is skipped.
    pub why: SkipReason,
}

impl fmt::Display for SkippedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

/// Why the entry at `relative` is skipped; `None` for an ordinary file or folder.
pub(super) fn skip_reason(relative: &Path, kind: FileType) -> Option<SkipReason> {
    let is_fit = relative.file_name().and_then(|name| name.to_str());
    let is_fit = is_fit.is_some_and(|name| fault_in_name(name).is_none())
        && relative.components().count() <= MAX_PATH_DEPTH;
    let path = relative.to_string_lossy();
    if kind.is_dir() {
        // A folder with an invalid name is not entered; all its files would be refused.
        return match is_fit {
            false => Some(SkipReason::BadName),
            true => is_engine_file(&path).then_some(SkipReason::Refused(FileRefusal::Folder)),
        };
    }
    if let Some(refusal) = FileRefusal::of_kind(kind) {
        return Some(SkipReason::Refused(refusal));
    }
    if is_engine_folder(&path) {
        return Some(SkipReason::Refused(FileRefusal::NotAFolder));
    }
    (!is_fit).then_some(SkipReason::BadName)
}

/// The refused entry at `relative` in the folder `root`, or at a folder above it, as of now; `None` if
/// there is none.
pub(super) fn find_refused(root: &Path, relative: &Path) -> Option<SkippedPath> {
    let depth = relative.components().count();
    let mut above: Vec<&Path> = relative.ancestors().take(depth).collect();
    above.reverse();
    above.into_iter().find_map(|path| {
        let place = root.join(path);
        let found = fs::symlink_metadata(&place).ok()?;
        let why = skip_reason(path, found.file_type()).or_else(|| {
            let is_file = found.is_file();
            is_file.then(|| unreadable_reason(&place, found.len()))?
        })?;
        Some(SkippedPath {
            path: path.to_owned(),
            why,
        })
    })
}

/// Why a regular file of `bytes` bytes cannot be read; `None` if it can, or is gone.
pub(super) fn unreadable_reason(place: &Path, bytes: u64) -> Option<SkipReason> {
    if bytes > FILE_BYTES {
        return Some(SkipReason::Refused(TOO_LARGE));
    }
    let why = bounded::open(place).err()?;
    (!why.is_absence()).then_some(SkipReason::Refused(why))
}

pub(super) const TOO_LARGE: FileRefusal = FileRefusal::TooLarge { limit: FILE_BYTES };
