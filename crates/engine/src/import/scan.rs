//! Finds the files to import.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A file or stream to import.
pub enum ImportCandidate {
    /// A file, as the scan found it.
    File {
        /// Where, as an absolute path.
        path: PathBuf,
        /// How long, in bytes.
        size: u64,
        /// When it was last changed, in nanoseconds since 1970.
        modified: i64,
    },
    /// A stream that can be read once, such as standard input.
    Stream {
        /// Its name in reports, such as `-`.
        name: String,
        /// The bytes.
        input: Box<dyn Read + Send>,
    },
    /// A path that cannot be read, and why.
    Missing(PathBuf, io::Error),
}

impl ImportCandidate {
    /// Its length in bytes; 0 when it is not known.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Self::File { size, .. } => *size,
            Self::Stream { .. } | Self::Missing(..) => 0,
        }
    }
}

/// The name of Aider's history in a project's folder: the one hidden file that is a transcript.
pub const AIDER_HISTORY: &str = ".aider.chat.history.md";

/// Deepest folder that is looked into.
const DEPTH: usize = 32;

/// All files at and below `paths`, each once: longest first, then by path. Of several snapshots of
/// one session the longest is the one that citations count lines of. Hidden files and folders are
/// passed over unless named, but for Aider's history, and links to folders are not followed.
#[must_use]
pub fn scan(paths: &[PathBuf]) -> Vec<ImportCandidate> {
    let mut found = Vec::new();
    for path in paths {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        visit(&path, 0, &mut found);
    }
    found.sort_by(|a, b| (b.size(), path_of(a)).cmp(&(a.size(), path_of(b))));
    found.dedup_by(|a, b| path_of(a).is_some() && path_of(a) == path_of(b));
    found
}

fn path_of(candidate: &ImportCandidate) -> Option<&Path> {
    match candidate {
        ImportCandidate::File { path, .. } | ImportCandidate::Missing(path, _) => Some(path),
        ImportCandidate::Stream { .. } => None,
    }
}

fn visit(path: &Path, depth: usize, found: &mut Vec<ImportCandidate>) {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => return found.push(ImportCandidate::Missing(path.to_owned(), error)),
    };
    if metadata.is_file() {
        let modified = metadata
            .modified()
            .ok()
            .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        found.push(ImportCandidate::File {
            path: path.to_owned(),
            size: metadata.len(),
            modified: modified
                .and_then(|at| i64::try_from(at.as_nanos()).ok())
                .unwrap_or(0),
        });
        return;
    }
    if !metadata.is_dir() {
        // A pipe or a device may never end, and is read only when it is handed in as a stream.
        if depth == 0
            && let Ok(file) = File::open(path)
        {
            found.push(ImportCandidate::Stream {
                name: "-".to_owned(),
                input: Box::new(file),
            });
        }
        return;
    }
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => return found.push(ImportCandidate::Missing(path.to_owned(), error)),
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let hidden = name.to_string_lossy().starts_with('.') && name != AIDER_HISTORY;
        let link_to_folder =
            entry.file_type().is_ok_and(|kind| kind.is_symlink()) && entry.path().is_dir();
        if !hidden && !link_to_folder && depth < DEPTH {
            visit(&entry.path(), depth + 1, found);
        }
    }
}
