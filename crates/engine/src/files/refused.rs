//! Lists what in a memory folder is not read, written or committed, and why.
//!
//! Not here: the rule (`skipped`), reading (`reader`), how a write handles a refused page (`write_pages`).

use std::fs;
use std::path::{Path, PathBuf};

use super::error::SkipReason;
use super::reader::FolderReader;
use super::skipped::{SkippedPath, skip_reason, unreadable_reason};
use super::unwritten_pages::list_unwritten;
use crate::bounded::FileRefusal;

/// Most entries of a folder tree that are checked, and most refusals that are listed.
pub const MOST_ENTRIES: usize = 100_000;

/// A refused path in a memory folder, with its reason in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedPath {
    /// Its path.
    pub path: PathBuf,
    /// The reason.
    pub why: String,
}

/// Lists what is refused in the memory folder at `memory`.
///
/// These are the paths that cannot be read now, ordered by path, and then the pages that the last write
/// could not store beside the contents of the history. Hidden files are not memory and are not checked.
/// Of a folder with more than `most` entries, at most [`MOST_ENTRIES`], those at its top are checked first.
#[must_use]
pub fn list_refused(memory: &Path, most: usize) -> Vec<RefusedPath> {
    let on_disk = refused_on_disk(memory, most.min(MOST_ENTRIES))
        .into_iter()
        .map(|skipped| RefusedPath {
            path: skipped.path,
            why: skipped.why.to_string(),
        });
    let unwritten = list_unwritten(memory)
        .into_iter()
        .map(|(page, why)| RefusedPath {
            path: memory.join(page),
            why,
        });
    on_disk.chain(unwritten).collect()
}

fn refused_on_disk(memory: &Path, most: usize) -> Vec<SkippedPath> {
    match FolderReader::open(memory) {
        Ok(None) => return Vec::new(),
        Err(refused) => {
            return vec![SkippedPath {
                path: refused.path,
                why: SkipReason::Refused(refused.why),
            }];
        }
        Ok(Some(_)) => {}
    }
    let mut list = RefusalWalk {
        memory,
        left: most,
        refused: Vec::new(),
    };
    let git = fs::symlink_metadata(memory.join(".git"));
    if git.is_ok_and(|found| !found.is_dir()) {
        list.add(
            Path::new(".git"),
            SkipReason::Refused(FileRefusal::NotAFolder),
        );
    }
    list.walk(Path::new(""));
    list.refused.sort_by(|a, b| a.path.cmp(&b.path));
    list.refused
}

struct RefusalWalk<'a> {
    memory: &'a Path,
    /// Entries that may still be checked.
    left: usize,
    refused: Vec<SkippedPath>,
}

impl RefusalWalk<'_> {
    /// Depth is bounded by [`skip_reason`], which enters no folder below the deepest path.
    fn walk(&mut self, relative: &Path) {
        let entries = match fs::read_dir(self.memory.join(relative)) {
            Ok(entries) => entries,
            Err(error) => {
                return self.add(
                    relative,
                    SkipReason::Refused(FileRefusal::Failed(error.kind())),
                );
            }
        };
        let entries: Vec<_> = entries.flatten().take(self.left).collect();
        self.left -= entries.len();
        let is_root = relative.as_os_str().is_empty();
        if !is_root && entries.iter().any(|entry| entry.file_name() == ".git") {
            return self.add(relative, SkipReason::OwnRepository);
        }
        let mut folders = Vec::new();
        for entry in entries {
            let name = entry.file_name();
            let path = relative.join(&name);
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if let Some(why) = skip_reason(&path, kind) {
                self.add(&path, why);
            } else if kind.is_dir() {
                folders.push(path);
            } else if let Ok(about) = entry.metadata()
                && let Some(why) = unreadable_reason(&entry.path(), about.len())
            {
                self.add(&path, why);
            }
        }
        for folder in folders {
            self.walk(&folder);
        }
    }

    fn add(&mut self, path: &Path, why: SkipReason) {
        self.refused.push(SkippedPath {
            path: self.memory.join(path),
            why,
        });
    }
}

#[cfg(all(test, target_os = "linux"))]
#[path = "refused_tests.rs"]
mod tests;
