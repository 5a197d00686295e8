//! What a writer asks for, and whether a tree can hold it.
//!
//! Not here: making it so (`write`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use gix::bstr::ByteSlice;

use super::error::FilesError;
use super::folder::Folder;
use super::path::FilePath;
use super::tree::TreeFiles;

/// What the engine wants changed: new bytes of a file, or its deletion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes(BTreeMap<FilePath, Option<Vec<u8>>>);

impl Changes {
    /// Nothing to change.
    pub fn none() -> Self {
        Self::default()
    }

    /// The file at `path` shall hold `bytes`.
    pub fn write(&mut self, path: FilePath, bytes: impl Into<Vec<u8>>) {
        self.0.insert(path, Some(bytes.into()));
    }

    /// There shall be no file at `path`.
    pub fn delete(&mut self, path: FilePath) {
        self.0.insert(path, None);
    }

    /// The file at `path` shall stay as it is.
    pub(super) fn leave(&mut self, path: &FilePath) -> bool {
        self.0.remove(path).is_some()
    }

    /// Leaves all files as they are that `is_wanted` does not want.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&FilePath) -> bool) {
        self.0.retain(|path, _| is_wanted(path));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&FilePath, Option<&Vec<u8>>)> {
        self.0.iter().map(|(path, bytes)| (path, bytes.as_ref()))
    }

    /// Refuses changes to `head` that no tree can hold, or that a bound forbids.
    ///
    /// # Errors
    /// [`FilesError::TooManyFiles`], [`FilesError::TooLarge`], [`FilesError::Clash`].
    pub(super) fn check(&self, folder: &Folder, head: &TreeFiles) -> Result<(), FilesError> {
        let config = folder.config();
        let stays = |path: &FilePath| !matches!(self.0.get(path), Some(None));
        let written = self
            .0
            .iter()
            .filter_map(|(path, bytes)| Some((path, bytes.as_ref()?)));
        let kept = head.files.keys().filter(|path| stays(path));
        let ours = kept.chain(written.clone().map(|(path, _)| path));
        let mut standing: BTreeSet<&[u8]> = ours.map(|path| path.as_str().as_bytes()).collect();
        let limit = config.max_files;
        if standing.len() > limit {
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
        standing.extend(&foreign);
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
                return Err(FilesError::Clash {
                    other: name.clone(),
                    path: name,
                });
            }
            if let Some(other) = clash(&standing, path) {
                return Err(FilesError::Clash { path: name, other });
            }
        }
        Ok(())
    }
}

/// What stands in the way of a file at `path`: a file in the place of one of its folders, or a file in
/// a folder of its own name.
fn clash(standing: &BTreeSet<&[u8]>, path: &FilePath) -> Option<String> {
    if let Some(above) = path
        .folders()
        .find(|folder| standing.contains(folder.as_bytes()))
    {
        return Some(above.to_owned());
    }
    let inside = format!("{path}/").into_bytes();
    let first = standing
        .range::<[u8], _>((Bound::Included(inside.as_slice()), Bound::Unbounded))
        .next()?;
    first
        .starts_with(&inside)
        .then(|| first.to_str_lossy().into_owned())
}
