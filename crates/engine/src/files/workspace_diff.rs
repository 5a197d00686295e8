//! What has changed in a memory folder since a commit: the input of a consolidation that reads files (C93 to C99).
//!
//! Compares the work tree as it is with the commit's tree, like `git status`: regular files with their executable bit,
//! and links, which are not followed. Nothing is written, not even an object. The file that holds the difference is no
//! part of it.
//!
//! Not here: who reads it, when a commit becomes the next baseline.

mod render;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use super::error::FilesError;
use super::folder::Folder;
use super::history::CommitHash;
use super::objects;
use super::path::FilePath;
use super::reader::{FILE_BYTES, FolderReader};
use super::skipped::skip_reason;
use super::tree::TreeFiles;

/// Name of the file that holds the difference while a consolidation reads it, at the top of the folder.
pub const WORKSPACE_DIFF: &str = "phase2_workspace_diff.md";
/// Longest text of a difference, in bytes: 4 MiB.
pub const WORKSPACE_DIFF_BYTES: usize = 4 * 1024 * 1024;

/// What became of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeStatus {
    /// It is new.
    Added,
    /// Its content or its mode is another.
    Modified,
    /// It is gone.
    Deleted,
}

impl ChangeStatus {
    /// The letter that git shows.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Modified => 'M',
            Self::Deleted => 'D',
        }
    }
}

/// One side of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersion {
    /// git's number for it: 100644, 100755 for an executable file, 120000 for a link.
    pub mode: u32,
    /// Its content; of a link, where it leads.
    pub bytes: Vec<u8>,
}

/// A change of one path. At least one side is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceChange {
    /// The path below the folder, `/` between components.
    pub path: String,
    /// What it was.
    pub before: Option<FileVersion>,
    /// What it is.
    pub after: Option<FileVersion>,
}

impl WorkspaceChange {
    /// What became of the path.
    #[must_use]
    pub fn status(&self) -> ChangeStatus {
        match (&self.before, &self.after) {
            (None, _) => ChangeStatus::Added,
            (Some(_), None) => ChangeStatus::Deleted,
            (Some(_), Some(_)) => ChangeStatus::Modified,
        }
    }
}

/// All changes of a folder since a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceDiff {
    /// The changes, by path.
    pub changes: Vec<WorkspaceChange>,
    /// Paths that could not be read. They count as unchanged.
    pub unread: Vec<PathBuf>,
}

impl WorkspaceDiff {
    /// Compares the work tree of `folder` with `baseline`, or with an empty one.
    ///
    /// # Errors
    /// [`FilesError::NoSuchCommit`]; when the history is damaged or the folder cannot be listed.
    pub fn since(folder: &Folder, baseline: Option<CommitHash>) -> Result<Self, FilesError> {
        let repo = folder.repository()?;
        let before = baseline_files(folder, &repo, baseline)?;
        let mut scanner = Scanner {
            reader: folder.reader()?,
            folder,
            before: &before,
            after: BTreeMap::new(),
            unread: Vec::new(),
        };
        scanner.scan()?;
        let Scanner { after, unread, .. } = scanner;
        let mut changes = Vec::new();
        let is_unread = |path: &str| {
            unread
                .iter()
                .any(|place| Path::new(path).starts_with(place))
        };
        for (path, file) in &before {
            if after.contains_key(path) || is_unread(path) {
                continue;
            }
            changes.push(WorkspaceChange {
                path: path.clone(),
                before: Some(file.version(folder, &repo)?),
                after: None,
            });
        }
        for (path, found) in after {
            let Some(after) = found else { continue };
            let before = before.get(&path);
            changes.push(WorkspaceChange {
                before: before.map(|file| file.version(folder, &repo)).transpose()?,
                after: Some(after),
                path,
            });
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { changes, unread })
    }

    /// The difference as Markdown: a status line for each path, and one fenced unified diff. At most
    /// [`WORKSPACE_DIFF_BYTES`]; a longer one is cut, and says so.
    #[must_use]
    pub fn render(&self) -> String {
        render::render(self, WORKSPACE_DIFF_BYTES)
    }
}

/// A file of the baseline.
struct BaselineFile {
    id: ObjectId,
    mode: u32,
}

impl BaselineFile {
    fn version(&self, folder: &Folder, repo: &gix::Repository) -> Result<FileVersion, FilesError> {
        Ok(FileVersion {
            mode: self.mode,
            bytes: objects::read_blob(folder, repo, self.id)?,
        })
    }
}

/// The visible files and links of a commit.
fn baseline_files(
    folder: &Folder,
    repo: &gix::Repository,
    baseline: Option<CommitHash>,
) -> Result<BTreeMap<String, BaselineFile>, FilesError> {
    if let Some(baseline) = baseline {
        // Names the commit if it does not exist.
        folder.files_at(baseline)?;
    }
    let tree = TreeFiles::of_commit(folder, repo, baseline.map(|commit| commit.0))?;
    let files = tree.files.into_iter().map(|(path, file)| {
        let (id, mode) = (file.id, mode_of(file.kind));
        (path.as_str().to_owned(), BaselineFile { id, mode })
    });
    let links = tree.foreign.into_iter().filter_map(|entry| {
        let path = entry.path.to_str().ok()?.to_owned();
        let is_shown = entry.kind == EntryKind::Link && FilePath::new(path.as_str()).is_ok();
        let (id, mode) = (entry.id, mode_of(entry.kind));
        is_shown.then_some((path, BaselineFile { id, mode }))
    });
    let all = files.chain(links);
    Ok(all.filter(|(path, _)| path != WORKSPACE_DIFF).collect())
}

fn mode_of(kind: EntryKind) -> u32 {
    match kind {
        EntryKind::BlobExecutable => EXECUTABLE,
        EntryKind::Link => LINK,
        EntryKind::Blob | EntryKind::Tree | EntryKind::Commit => REGULAR,
    }
}

const REGULAR: u32 = 100_644;
const EXECUTABLE: u32 = 100_755;
const LINK: u32 = 120_000;

struct Scanner<'a> {
    folder: &'a Folder,
    reader: FolderReader,
    before: &'a BTreeMap<String, BaselineFile>,
    /// The files and links of the work tree: `None` for one that equals the baseline's.
    after: BTreeMap<String, Option<FileVersion>>,
    /// Relative to the folder.
    unread: Vec<PathBuf>,
}

impl Scanner<'_> {
    fn scan(&mut self) -> Result<(), FilesError> {
        let mut folders = vec![PathBuf::new()];
        while let Some(relative) = folders.pop() {
            let place = self.folder.root().join(&relative);
            let entries =
                match fs::read_dir(&place).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
                    Ok(entries) => entries,
                    Err(error) if relative.as_os_str().is_empty() => {
                        return Err(FilesError::io("read", place)(error));
                    }
                    Err(_) => {
                        self.unread.push(relative);
                        continue;
                    }
                };
            let is_root = relative.as_os_str().is_empty();
            if !is_root && entries.iter().any(|entry| entry.file_name() == ".git") {
                self.unread.push(relative);
                continue;
            }
            for entry in entries {
                let relative = relative.join(entry.file_name());
                match entry.file_type() {
                    _ if is_left_out(&relative) => {}
                    Ok(kind) if kind.is_dir() => folders.push(relative),
                    Ok(kind) => self.visit(relative, kind)?,
                    Err(_) => self.unread.push(relative),
                }
            }
        }
        Ok(())
    }

    fn visit(&mut self, relative: PathBuf, kind: fs::FileType) -> Result<(), FilesError> {
        let place = self.folder.root().join(&relative);
        let name = relative.to_str().map(|path| path.replace('\\', "/"));
        let path = name.and_then(|name| FilePath::new(name).ok());
        let version = match &path {
            None => None,
            Some(_) if kind.is_symlink() => link_at(&place),
            Some(_) if skip_reason(&relative, kind).is_some() => None,
            Some(path) => self.file_at(path, &place),
        };
        let (Some(path), Some(version)) = (path, version) else {
            self.unread.push(relative);
            return Ok(());
        };
        let path = path.as_str().to_owned();
        let id = objects::hash(self.folder, Kind::Blob, &version.bytes)?;
        let known = self.before.get(&path);
        let is_same = known.is_some_and(|file| file.id == id && file.mode == version.mode);
        self.after.insert(path, (!is_same).then_some(version));
        Ok(())
    }

    fn file_at(&self, path: &FilePath, place: &Path) -> Option<FileVersion> {
        let mode = match is_executable(&fs::symlink_metadata(place).ok()?) {
            true => EXECUTABLE,
            false => REGULAR,
        };
        let bytes = self.reader.read(path, FILE_BYTES).ok()??;
        Some(FileVersion { mode, bytes })
    }
}

/// Hidden files belong to the person and their tools.
fn is_left_out(relative: &Path) -> bool {
    let name = relative.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b".") || relative == Path::new(WORKSPACE_DIFF)
}

fn link_at(place: &Path) -> Option<FileVersion> {
    let target = fs::read_link(place).ok()?;
    Some(FileVersion {
        mode: LINK,
        bytes: target.into_os_string().into_encoded_bytes(),
    })
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}

#[cfg(test)]
#[path = "workspace_diff/workspace_diff_tests.rs"]
mod tests;
