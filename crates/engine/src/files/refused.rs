//! What lies in a memory folder and is not read, written or committed, and why.
//!
//! One rule for the scan of the work tree and for listings of what is refused. What is refused is a
//! person's doing: it stays where it is, and costs no other file. A refused page of the engine's keeps
//! its last text in the history, and is written again once its place is free.
//!
//! Not here: reading (`reader`), what a write does about a refused page (`post`).

use std::fmt;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use super::layout::{is_owned_file, is_owned_folder};
use super::path::{MAX_PATH_DEPTH, fault_in_name};
use super::reader::{FILE_BYTES, Reader};
use super::unwritten::unwritten_in;
use crate::bounded::{self, Refusal};

/// Most entries of a folder tree that are looked at, and most refusals that are listed.
const MOST_ENTRIES: usize = 100_000;

/// Something in a memory folder that is not taken up. It stays where it is, untouched by us, and its
/// last committed version, if any, stays in HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Relative to the folder; a folder stands for all that lies in it.
    pub path: PathBuf,
    /// What kept us from it.
    pub why: WhySkipped,
}

/// Why something in a memory folder is not taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhySkipped {
    /// It is no file that can be read, or stands where the engine keeps something else.
    Refused(Refusal),
    /// Its name is not UTF-8, or no [`FilePath`](super::path::FilePath) can hold it.
    BadName,
    /// The folder is a git repository of its own.
    OwnRepository,
}

impl fmt::Display for WhySkipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => why.fmt(f),
            Self::BadName => f.write_str("its name cannot be kept on every file system"),
            Self::OwnRepository => f.write_str("it is a git repository of its own"),
        }
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

/// Why what stands at `relative` is not taken up; nothing for an ordinary file or folder.
pub(super) fn why_refused(relative: &Path, kind: FileType) -> Option<WhySkipped> {
    let is_fit = relative.file_name().and_then(|name| name.to_str());
    let is_fit = is_fit.is_some_and(|name| fault_in_name(name).is_none())
        && relative.components().count() <= MAX_PATH_DEPTH;
    let path = relative.to_string_lossy();
    if kind.is_dir() {
        // A folder of a bad name is entered by nobody; its files would all be refused.
        return match is_fit {
            false => Some(WhySkipped::BadName),
            true => is_owned_file(&path).then_some(WhySkipped::Refused(Refusal::Folder)),
        };
    }
    if let Some(refusal) = Refusal::of_kind(kind) {
        return Some(WhySkipped::Refused(refusal));
    }
    if is_owned_folder(&path) {
        return Some(WhySkipped::Refused(Refusal::NotAFolder));
    }
    (!is_fit).then_some(WhySkipped::BadName)
}

/// Why what stands at `relative` in the folder `root` now, or a folder above it, is not taken up.
pub(super) fn refused_now(root: &Path, relative: &Path) -> Option<Skipped> {
    let depth = relative.components().count();
    let mut above: Vec<&Path> = relative.ancestors().take(depth).collect();
    above.reverse();
    above.into_iter().find_map(|path| {
        let place = root.join(path);
        let found = fs::symlink_metadata(&place).ok()?;
        let why = why_refused(path, found.file_type()).or_else(|| {
            let is_file = found.is_file();
            is_file.then(|| why_unreadable(&place, found.len()))?
        })?;
        Some(Skipped {
            path: path.to_owned(),
            why,
        })
    })
}

/// Why a regular file of so many bytes cannot be read, unless it is gone.
fn why_unreadable(place: &Path, bytes: u64) -> Option<WhySkipped> {
    if bytes > FILE_BYTES {
        return Some(WhySkipped::Refused(TOO_LARGE));
    }
    let why = bounded::open(place).err()?;
    (!why.is_absence()).then_some(WhySkipped::Refused(why))
}

const TOO_LARGE: Refusal = Refusal::TooLarge { limit: FILE_BYTES };

/// What is refused in a memory folder, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusing {
    /// Where it stands.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

/// What is refused in the memory folder at `memory`: what is not read there now, ordered by path, and
/// pages that the last posting could not write beside what the history holds. Hidden files are not
/// memory and are not looked at.
#[must_use]
pub fn refused_in(memory: &Path) -> Vec<Refusing> {
    let on_disk = refused_on_disk(memory).into_iter().map(|skipped| Refusing {
        path: skipped.path,
        why: skipped.why.to_string(),
    });
    let unwritten = unwritten_in(memory)
        .into_iter()
        .map(|(page, why)| Refusing {
            path: memory.join(page),
            why,
        });
    on_disk.chain(unwritten).collect()
}

fn refused_on_disk(memory: &Path) -> Vec<Skipped> {
    match Reader::open(memory) {
        Ok(None) => return Vec::new(),
        Err(refused) => {
            return vec![Skipped {
                path: refused.path,
                why: WhySkipped::Refused(refused.why),
            }];
        }
        Ok(Some(_)) => {}
    }
    let mut list = List {
        memory,
        left: MOST_ENTRIES,
        refused: Vec::new(),
    };
    let git = fs::symlink_metadata(memory.join(".git"));
    if git.is_ok_and(|found| !found.is_dir()) {
        list.add(Path::new(".git"), WhySkipped::Refused(Refusal::NotAFolder));
    }
    list.look_into(Path::new(""));
    list.refused.sort_by(|a, b| a.path.cmp(&b.path));
    list.refused
}

struct List<'a> {
    memory: &'a Path,
    /// Entries that may still be looked at.
    left: usize,
    refused: Vec<Skipped>,
}

impl List<'_> {
    /// Depth is bounded by [`why_refused`], which enters no folder below the deepest path.
    fn look_into(&mut self, relative: &Path) {
        let entries = match fs::read_dir(self.memory.join(relative)) {
            Ok(entries) => entries,
            Err(error) => {
                return self.add(relative, WhySkipped::Refused(Refusal::Failed(error.kind())));
            }
        };
        let entries: Vec<_> = entries.flatten().take(self.left).collect();
        self.left -= entries.len();
        let is_root = relative.as_os_str().is_empty();
        if !is_root && entries.iter().any(|entry| entry.file_name() == ".git") {
            return self.add(relative, WhySkipped::OwnRepository);
        }
        for entry in entries {
            let name = entry.file_name();
            let path = relative.join(&name);
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if let Some(why) = why_refused(&path, kind) {
                self.add(&path, why);
            } else if kind.is_dir() {
                self.look_into(&path);
            } else if let Ok(about) = entry.metadata()
                && let Some(why) = why_unreadable(&entry.path(), about.len())
            {
                self.add(&path, why);
            }
        }
    }

    fn add(&mut self, path: &Path, why: WhySkipped) {
        self.refused.push(Skipped {
            path: self.memory.join(path),
            why,
        });
    }
}

#[cfg(all(test, target_os = "linux"))]
#[path = "refused_tests.rs"]
mod tests;
