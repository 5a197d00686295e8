//! What lies in the work tree: the person's half of a write.
//!
//! A file that differs from HEAD is a person's edit, because a finished write leaves none. Only
//! regular, visible files count. Symbolic links are not followed (a link could lead anywhere), and
//! folders that are repositories of their own are left to their owner. What is not taken up is no
//! deletion: its last version stays in HEAD.
//!
//! Not here: what becomes of an edit (`write`), what is not taken up (`refused`).

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::index::entry::Stat;
use gix::index::entry::stat::Time;
use gix::objs::Kind;

use super::error::FilesError;
use super::folder::Folder;
use super::index::{self, Index};
use super::objects::{self, Staging};
use super::path::FilePath;
use super::reader::{Reader, Refused};
use super::refused::{Skipped, WhySkipped, why_refused};
use super::tree::{Change, TreeFiles};
use crate::bounded::Refusal;

/// One look at the work tree.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) seen: BTreeMap<FilePath, Seen>,
    pub(super) skipped: Vec<Skipped>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) id: ObjectId,
    /// Set if it vouches for the content; see `index`.
    pub(super) stat: Option<Stat>,
}

impl Scan {
    /// What the person did since `head`.
    pub(super) fn edits(&self, head: &TreeFiles) -> Vec<Change> {
        let mut edits = Vec::new();
        for (path, file) in &head.files {
            if !self.seen.contains_key(path) && self.skipped_at(path).is_none() {
                edits.push(Change {
                    path: path.clone(),
                    base: Some(file.id),
                    new: None,
                });
            }
        }
        for (path, seen) in &self.seen {
            let base = head.files.get(path).map(|file| file.id);
            if base != Some(seen.id) {
                edits.push(Change {
                    path: path.clone(),
                    base,
                    new: Some(seen.id),
                });
            }
        }
        edits
    }

    /// What keeps the engine from the file at `path`, if anything does.
    pub(super) fn skipped_at(&self, path: &FilePath) -> Option<&Skipped> {
        let path = Path::new(path.as_str());
        let mut skipped = self.skipped.iter();
        skipped.find(|skipped| path.starts_with(&skipped.path))
    }
}

/// Looks at every file, and stages the content of those that `head` does not have.
pub(super) fn scan(
    folder: &Folder,
    index: &Index,
    head: &TreeFiles,
    staging: &mut Staging<'_>,
) -> Result<Scan, FilesError> {
    let started = index::disk_now(folder)?;
    let reader = folder.reader()?;
    let mut scanner = Scanner {
        folder,
        reader,
        index,
        head,
        staging,
        started,
        scan: Scan::default(),
        folders: vec![],
    };
    scanner.folders.push(PathBuf::new());
    while let Some(next) = scanner.folders.pop() {
        scanner.look_into(&next)?;
    }
    Ok(scanner.scan)
}

struct Scanner<'a, 'b> {
    folder: &'a Folder,
    reader: Reader,
    index: &'a Index,
    head: &'a TreeFiles,
    staging: &'a mut Staging<'b>,
    started: Time,
    scan: Scan,
    /// Still to be looked into, relative to the root.
    folders: Vec<PathBuf>,
}

impl Scanner<'_, '_> {
    fn look_into(&mut self, relative: &Path) -> Result<(), FilesError> {
        let place = self.folder.root().join(relative);
        let entries = match fs::read_dir(&place).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => return self.pass_over(relative, error),
        };
        let is_root = relative.as_os_str().is_empty();
        if !is_root && entries.iter().any(|entry| entry.file_name() == ".git") {
            self.skip(relative.to_owned(), WhySkipped::OwnRepository);
            return Ok(());
        }
        for entry in entries {
            let name = entry.file_name();
            let relative = relative.join(&name);
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            match entry.file_type() {
                Ok(kind) => match why_refused(&relative, kind) {
                    Some(why) => self.skip(relative, why),
                    None => self.meet(relative, kind.is_dir())?,
                },
                Err(error) => self.pass_over(&relative, error)?,
            }
        }
        Ok(())
    }

    fn meet(&mut self, relative: PathBuf, is_dir: bool) -> Result<(), FilesError> {
        if is_dir {
            self.folders.push(relative);
            return Ok(());
        }
        match relative.to_str().and_then(as_file_path) {
            None => self.skip(relative, WhySkipped::BadName),
            Some(path) => match self.examine(&path) {
                Ok(Some(seen)) => {
                    self.scan.seen.insert(path, seen);
                }
                Ok(None) => {}
                Err(Obstacle::Refused(refused)) => self.refuse(relative, refused)?,
                Err(Obstacle::Disk(error)) => self.pass_over(&relative, error)?,
                Err(Obstacle::Other(error)) => return Err(error),
            },
        }
        if self.scan.seen.len() > self.folder.config().max_files {
            let limit = self.folder.config().max_files;
            return Err(FilesError::TooManyFiles {
                path: self.folder.root().to_owned(),
                limit,
            });
        }
        Ok(())
    }

    /// What is in a file; nothing if it is gone.
    fn examine(&mut self, path: &FilePath) -> Result<Option<Seen>, Obstacle> {
        let place = path.under(self.folder.root());
        let stat = index::stat_of(&place)?;
        if let Some(id) = self.index.known(path.as_str(), &stat) {
            return Ok(Some(Seen {
                id,
                stat: Some(stat),
            }));
        }
        let limit = self.folder.config().max_file_bytes;
        let Some(bytes) = self.reader.read(path, limit)? else {
            return Ok(None);
        };
        let id = objects::hash(self.folder, Kind::Blob, &bytes).map_err(Obstacle::Other)?;
        if self.head.files.get(path).is_none_or(|file| file.id != id) {
            self.staging.put_blob(&bytes).map_err(Obstacle::Other)?;
        }
        Ok(Some(Seen {
            id,
            stat: (stat.mtime < self.started).then_some(stat),
        }))
    }

    /// Takes a refusal by the reader, which may be of what was put here since the folder was listed.
    fn refuse(&mut self, relative: PathBuf, refused: Refused) -> Result<(), FilesError> {
        match refused.why {
            Refusal::Failed(kind) => self.pass_over(&relative, kind.into()),
            why => {
                self.skip(relative, WhySkipped::Refused(why));
                Ok(())
            }
        }
    }

    fn pass_over(&mut self, relative: &Path, error: io::Error) -> Result<(), FilesError> {
        let is_root = relative.as_os_str().is_empty();
        match error.kind() {
            // Gone since its folder was listed, or something else by now: an edit like any other.
            io::ErrorKind::NotFound
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::NotADirectory
                if !is_root =>
            {
                Ok(())
            }
            io::ErrorKind::PermissionDenied if !is_root => {
                let why = Refusal::Failed(error.kind());
                self.skip(relative.to_owned(), WhySkipped::Refused(why));
                Ok(())
            }
            _ => Err(FilesError::io("read", self.folder.root().join(relative))(
                error,
            )),
        }
    }

    fn skip(&mut self, path: PathBuf, why: WhySkipped) {
        self.scan.skipped.push(Skipped { path, why });
    }
}

enum Obstacle {
    Refused(Refused),
    Disk(io::Error),
    Other(FilesError),
}

impl From<io::Error> for Obstacle {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

impl From<Refused> for Obstacle {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

fn as_file_path(relative: &str) -> Option<FilePath> {
    // Backslashes are separators here and nowhere else: the name itself cannot hold one.
    let path = if cfg!(windows) {
        relative.replace('\\', "/")
    } else {
        relative.to_owned()
    };
    FilePath::new(path).ok()
}
