//! The changes that a writer requests, and the check that a tree can hold them.
//!
//! Not here: applying them (`write`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use gix::bstr::ByteSlice;

use super::error::FilesError;
use super::folder::Folder;
use super::path::FilePath;
use super::tree::TreeFiles;

/// The engine's requested changes: new bytes for a file, or its deletion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileChanges(BTreeMap<FilePath, Option<Vec<u8>>>);

impl FileChanges {
    /// No changes.
    pub fn none() -> Self {
        Self::default()
    }

    /// Requests that the file at `path` holds `bytes`.
    pub fn write(&mut self, path: FilePath, bytes: impl Into<Vec<u8>>) {
        self.0.insert(path, Some(bytes.into()));
    }

    /// Requests that no file exists at `path`.
    pub fn delete(&mut self, path: FilePath) {
        self.0.insert(path, None);
    }

    /// The files that are to change.
    pub fn paths(&self) -> impl Iterator<Item = &FilePath> {
        self.0.keys()
    }

    /// The requested text of `path`, if it is to be written as one.
    pub(super) fn text_of(&self, path: &FilePath) -> Option<String> {
        let bytes = self.0.get(path)?.as_ref()?;
        String::from_utf8(bytes.clone()).ok()
    }

    /// Drops the requested change of `path`. Returns whether there was one.
    pub(super) fn discard(&mut self, path: &FilePath) -> bool {
        self.0.remove(path).is_some()
    }

    /// Keeps only the changes of paths for which `is_wanted` returns true.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&FilePath) -> bool) {
        self.0.retain(|path, _| is_wanted(path));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&FilePath, Option<&Vec<u8>>)> {
        self.0.iter().map(|(path, bytes)| (path, bytes.as_ref()))
    }

    /// Refuses changes to `head` that no tree can hold, or that a bound forbids.
    ///
    /// # Errors
    /// [`FilesError::TooManyFiles`], [`FilesError::TooLarge`], [`FilesError::PathConflict`].
    pub(super) fn check(&self, folder: &Folder, head: &TreeFiles) -> Result<(), FilesError> {
        let config = folder.config();
        let stays = |path: &FilePath| !matches!(self.0.get(path), Some(None));
        let written = self
            .0
            .iter()
            .filter_map(|(path, bytes)| Some((path, bytes.as_ref()?)));
        let kept = head.files.keys().filter(|path| stays(path));
        let ours = kept.chain(written.clone().map(|(path, _)| path));
        let mut paths: BTreeSet<&[u8]> = ours.map(|path| path.as_str().as_bytes()).collect();
        let limit = config.max_files;
        if paths.len() > limit {
            return Err(FilesError::TooManyFiles {
                path: folder.root().to_owned(),
                limit,
            });
        }
        let foreign: BTreeSet<&[u8]> = head
            .foreign
            .iter()
            .map(|foreign| foreign.path.as_slice())
            .collect();
        paths.extend(&foreign);
        for (path, bytes) in written {
            let (bytes, limit) = (bytes.len() as u64, config.max_file_bytes);
            let name = path.to_string();
            if bytes > limit {
                return Err(FilesError::TooLarge {
                    path: name,
                    bytes,
                    limit,
                });
            }
            if foreign.contains(name.as_bytes()) {
                return Err(FilesError::PathConflict {
                    other: name.clone(),
                    path: name,
                });
            }
            if let Some(other) = conflicting_path(&paths, path) {
                return Err(FilesError::PathConflict { path: name, other });
            }
        }
        Ok(())
    }
}

/// The file that conflicts with a file at `path`: one in place of a folder of it, or one inside a folder of
/// its name.
fn conflicting_path(paths: &BTreeSet<&[u8]>, path: &FilePath) -> Option<String> {
    if let Some(above) = path
        .folders()
        .find(|folder| paths.contains(folder.as_bytes()))
    {
        return Some(above.to_owned());
    }
    let inside = format!("{path}/").into_bytes();
    let first = paths
        .range::<[u8], _>((Bound::Included(inside.as_slice()), Bound::Unbounded))
        .next()?;
    first
        .starts_with(&inside)
        .then(|| first.to_str_lossy().into_owned())
}
