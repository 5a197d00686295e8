//! Scans the work tree for a person's edits.
//!
//! A file that differs from HEAD is a person's edit, because a finished write leaves none. Only regular,
//! visible files count. Symbolic links are not followed (a link could lead anywhere), and folders that are
//! repositories of their own are left alone. A skipped file is no deletion: its last version stays in HEAD.
//!
//! Not here: what happens to an edit (`write`), which paths are skipped (`skipped`).

use std::collections::BTreeMap;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use gix::index::entry::stat::Time;
use gix::objs::Kind;

use super::error::{FilesError, SkipReason};
use super::folder::Folder;
use super::git_index::{self, GitIndex, ScannedFile};
use super::objects::{self, Staging};
use super::path::FilePath;
use super::reader::{FolderReader, Refused};
use super::skipped::{SkippedPath, skip_reason};
use super::tree::{FileChange, TreeFiles};
use crate::bounded::FileRefusal;

/// Result of scanning the work tree.
#[derive(Debug, Default)]
pub(super) struct WorkTreeScan {
    pub(super) files: BTreeMap<FilePath, ScannedFile>,
    pub(super) skipped: Vec<SkippedPath>,
}

impl WorkTreeScan {
    /// The person's changes since `head`.
    pub(super) fn edits(&self, head: &TreeFiles) -> Vec<FileChange> {
        let mut edits = Vec::new();
        for (path, file) in &head.files {
            if !self.files.contains_key(path) && self.skipped_at(path).is_none() {
                edits.push(FileChange {
                    path: path.clone(),
                    base: Some(file.id),
                    new: None,
                });
            }
        }
        for (path, seen) in &self.files {
            let base = head.files.get(path).map(|file| file.id);
            if base != Some(seen.id) {
                edits.push(FileChange {
                    path: path.clone(),
                    base,
                    new: Some(seen.id),
                });
            }
        }
        edits
    }

    /// The skipped path that blocks the file at `path`, if any.
    pub(super) fn skipped_at(&self, path: &FilePath) -> Option<&SkippedPath> {
        let path = Path::new(path.as_str());
        let mut skipped = self.skipped.iter();
        skipped.find(|skipped| path.starts_with(&skipped.path))
    }
}

/// Scans every file, and stages the content of those that `head` does not have.
pub(super) fn scan(
    folder: &Folder,
    index: &GitIndex,
    head: &TreeFiles,
    staging: &mut Staging<'_>,
) -> Result<WorkTreeScan, FilesError> {
    let started = git_index::file_system_now(folder)?;
    let reader = folder.reader()?;
    let mut scanner = WorkTreeScanner {
        folder,
        reader,
        index,
        head,
        staging,
        started,
        scan: WorkTreeScan::default(),
        folders: vec![],
    };
    scanner.folders.push(PathBuf::new());
    while let Some(next) = scanner.folders.pop() {
        scanner.scan_folder(&next)?;
    }
    Ok(scanner.scan)
}

struct WorkTreeScanner<'a, 'b> {
    folder: &'a Folder,
    reader: FolderReader,
    index: &'a GitIndex,
    head: &'a TreeFiles,
    staging: &'a mut Staging<'b>,
    started: Time,
    scan: WorkTreeScan,
    /// Folders still to be scanned, relative to the root.
    folders: Vec<PathBuf>,
}

impl WorkTreeScanner<'_, '_> {
    fn scan_folder(&mut self, relative: &Path) -> Result<(), FilesError> {
        let place = self.folder.root().join(relative);
        let entries = match fs::read_dir(&place).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => return self.skip_unreadable(relative, error),
        };
        let is_root = relative.as_os_str().is_empty();
        if !is_root && entries.iter().any(|entry| entry.file_name() == ".git") {
            self.skip(relative.to_owned(), SkipReason::OwnRepository);
            return Ok(());
        }
        for entry in entries {
            let name = entry.file_name();
            let relative = relative.join(&name);
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            match entry.file_type() {
                Ok(kind) => match skip_reason(&relative, kind) {
                    Some(why) => self.skip(relative, why),
                    None if kind.is_dir() => self.folders.push(relative),
                    None => self.visit(relative, &entry)?,
                },
                Err(error) => self.skip_unreadable(&relative, error)?,
            }
        }
        Ok(())
    }

    fn visit(&mut self, relative: PathBuf, entry: &DirEntry) -> Result<(), FilesError> {
        match relative.to_str().and_then(as_file_path) {
            None => self.skip(relative, SkipReason::BadName),
            Some(path) => match self.examine(&path, entry) {
                Ok(Some(seen)) => {
                    self.scan.files.insert(path, seen);
                }
                Ok(None) => {}
                Err(ExamineFailure::Refused(refused)) => self.skip_refused(relative, refused)?,
                Err(ExamineFailure::Disk(error)) => self.skip_unreadable(&relative, error)?,
                Err(ExamineFailure::Other(error)) => return Err(error),
            },
        }
        if self.scan.files.len() > self.folder.config().max_files {
            let limit = self.folder.config().max_files;
            return Err(FilesError::TooManyFiles {
                path: self.folder.root().to_owned(),
                limit,
            });
        }
        Ok(())
    }

    /// Reads a file's content id; `None` if the file is gone.
    fn examine(
        &mut self,
        path: &FilePath,
        entry: &DirEntry,
    ) -> Result<Option<ScannedFile>, ExamineFailure> {
        let stat = git_index::stat_in_folder(entry)?;
        if let Some(id) = self.index.unchanged_id(path.as_str(), &stat) {
            return Ok(Some(ScannedFile {
                id,
                stat: Some(stat),
            }));
        }
        let limit = self.folder.config().max_file_bytes;
        let Some(bytes) = self.reader.read(path, limit)? else {
            return Ok(None);
        };
        let id = objects::hash(self.folder, Kind::Blob, &bytes).map_err(ExamineFailure::Other)?;
        if self.head.files.get(path).is_none_or(|file| file.id != id) {
            self.staging
                .put_blob(&bytes)
                .map_err(ExamineFailure::Other)?;
        }
        Ok(Some(ScannedFile {
            id,
            stat: (stat.mtime < self.started).then_some(stat),
        }))
    }

    /// Handles a refusal by the reader, which may concern something put here since the folder was listed.
    fn skip_refused(&mut self, relative: PathBuf, refused: Refused) -> Result<(), FilesError> {
        match refused.why {
            FileRefusal::Failed(kind) => self.skip_unreadable(&relative, kind.into()),
            why => {
                self.skip(relative, SkipReason::Refused(why));
                Ok(())
            }
        }
    }

    fn skip_unreadable(&mut self, relative: &Path, error: io::Error) -> Result<(), FilesError> {
        let is_root = relative.as_os_str().is_empty();
        match error.kind() {
            // Gone since its folder was listed, or of another kind by now: an edit like any other.
            io::ErrorKind::NotFound
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::NotADirectory
                if !is_root =>
            {
                Ok(())
            }
            io::ErrorKind::PermissionDenied if !is_root => {
                let why = FileRefusal::Failed(error.kind());
                self.skip(relative.to_owned(), SkipReason::Refused(why));
                Ok(())
            }
            _ => Err(FilesError::io("read", self.folder.root().join(relative))(
                error,
            )),
        }
    }

    fn skip(&mut self, path: PathBuf, why: SkipReason) {
        self.scan.skipped.push(SkippedPath { path, why });
    }
}

enum ExamineFailure {
    Refused(Refused),
    Disk(io::Error),
    Other(FilesError),
}

impl From<io::Error> for ExamineFailure {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

impl From<Refused> for ExamineFailure {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

fn as_file_path(relative: &str) -> Option<FilePath> {
    // Backslashes are separators only here: the name itself cannot hold one.
    let path = if cfg!(windows) {
        relative.replace('\\', "/")
    } else {
        relative.to_owned()
    };
    FilePath::new(path).ok()
}
