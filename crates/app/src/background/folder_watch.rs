//! Finds changed transcripts in the folders of hosts, by comparing their sizes and times with those of the last scan.
//!
//! This polls on purpose: a scan costs one `stat` for each file, works on every file system, network ones included, and
//! uses up no watch handles of the operating system.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use daybook_engine::import::{ImportCandidate, scan};

use crate::folders::transcript_places::{is_transcript, transcript_folders};

/// The folders in which the hosts of this machine keep transcripts.
pub(crate) fn host_folders() -> Vec<PathBuf> {
    let folders = transcript_folders().into_iter().map(|folder| folder.path);
    folders.collect()
}

/// Folders that are scanned repeatedly.
pub(crate) struct FolderWatch {
    folders: Vec<PathBuf>,
    /// Size and time of each file at the last scan.
    seen: HashMap<PathBuf, (u64, i64)>,
    /// Files that the last scan found changed.
    last_changed: Vec<PathBuf>,
    last_scan: Option<Instant>,
    /// Least time until the next scan.
    pause: Duration,
}

impl FolderWatch {
    pub(crate) fn new(folders: Vec<PathBuf>) -> Self {
        Self {
            folders,
            seen: HashMap::new(),
            last_changed: Vec::new(),
            last_scan: None,
            pause: Duration::ZERO,
        }
    }

    /// Whether the folders have been scanned.
    pub(super) fn has_scanned(&self) -> bool {
        self.last_scan.is_some()
    }

    /// Scans for files that are new or have changed since the last scan. Scans of huge folders are further apart, so
    /// that scanning takes at most a fiftieth of the time.
    pub(crate) fn changed_files(&mut self) -> Vec<ImportCandidate> {
        let began = Instant::now();
        let is_too_soon = |last: Instant| last.elapsed() < self.pause;
        if self.last_scan.is_some_and(is_too_soon) {
            return Vec::new();
        }
        let existing: Vec<PathBuf> = self
            .folders
            .iter()
            .filter(|f| f.exists())
            .cloned()
            .collect();
        let mut changed = scan(&existing);
        changed.retain(|candidate| match candidate {
            ImportCandidate::File {
                path,
                size,
                modified,
            } => {
                let now = (*size, *modified);
                is_transcript(path) && self.seen.insert(path.clone(), now) != Some(now)
            }
            ImportCandidate::Stream { .. } | ImportCandidate::Missing(..) => false,
        });
        self.last_changed = changed.iter().filter_map(path_of).collect();
        self.last_scan = Some(Instant::now());
        self.pause = began.elapsed() * 50;
        changed
    }

    /// Empties the list of files that the next [`FolderWatch::forget_last_scan`] forgets.
    pub(super) fn clear_last_changed(&mut self) {
        self.last_changed.clear();
    }

    /// Adds to the files that the next [`FolderWatch::forget_last_scan`] forgets.
    pub(super) fn add_last_changed(&mut self, changed: &[ImportCandidate]) {
        self.last_changed.extend(changed.iter().filter_map(path_of));
    }

    /// Makes the next scan find the files of the last one again, because they could not be imported.
    pub(crate) fn forget_last_scan(&mut self) {
        for path in self.last_changed.drain(..) {
            self.seen.remove(&path);
        }
    }
}

/// The path of a file; `None` for candidates that are none.
pub(super) fn path_of(candidate: &ImportCandidate) -> Option<PathBuf> {
    match candidate {
        ImportCandidate::File { path, .. } => Some(path.clone()),
        ImportCandidate::Stream { .. } | ImportCandidate::Missing(..) => None,
    }
}
