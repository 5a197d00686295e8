//! Which project a folder belongs to, cached in one small file that a hook can read quickly.
//!
//! `<root>/run/places.json` repeats the store's places and projects. Each process that worked rewrites
//! it. It is disposable: without it a hook shows only the memory that holds in every project.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use daybook_domain::page::read_all;
use daybook_domain::seams::PlaceStore;
use daybook_domain::{Place, StoreError, Tenant};
use serde::{Deserialize, Serialize};

use crate::bounded;
use crate::places::checkout::checkout;
use crate::places::stored_path::stored_path;
use daybook_text::names::redact_place;
use daybook_text::redact::Redactor;

/// Longest cache file that is read, in bytes: a hundred thousand folders.
const CACHE_BYTES: u64 = 16 * 1024 * 1024;

/// Project keys by folder and by identity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectCache {
    /// Keys of projects, by the folder that work was done in.
    pub folders: BTreeMap<String, String>,
    /// Keys of projects, by identity: a normalised remote, or a repository's common folder.
    pub identities: BTreeMap<String, String>,
}

/// The place and the project of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderProject {
    /// The checkout's folder, or the folder itself, and its branch.
    pub place: Place,
    /// The key of its project, when memory knows it.
    pub project: Option<String>,
}

impl ProjectCache {
    /// Loads the places and projects of a tenant.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn load(store: &dyn PlaceStore, tenant: &Tenant) -> Result<Self, StoreError> {
        let places = store.places(tenant).await?;
        let projects = read_all(|page| store.projects(tenant, page)).await?;
        Ok(Self {
            folders: places
                .into_iter()
                .filter_map(|(place, key)| Some((place.root, key?)))
                .collect(),
            identities: projects
                .into_iter()
                .map(|project| (project.identity, project.key))
                .collect(),
        })
    }

    /// Reads the cache file; empty when it is missing or broken.
    #[must_use]
    pub fn read(root: &Path) -> Self {
        bounded::read(&path(root), CACHE_BYTES)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Writes the cache file for hooks, if its content changed.
    ///
    /// # Errors
    /// The disk's.
    pub fn write(&self, root: &Path) -> io::Result<()> {
        let new = serde_json::to_vec(self)?;
        if bounded::read(&path(root), CACHE_BYTES).is_ok_and(|old| old == new) {
            return Ok(());
        }
        // Named like other temporary files of this folder, so that it is swept if this process dies.
        let name = format!("new-places-{}", std::process::id());
        let unnamed = root.join("run").join(name);
        fs::create_dir_all(root.join("run"))?;
        fs::write(&unnamed, new)?;
        fs::rename(unnamed, path(root))
    }

    /// Finds the place and the project of `folder`. A checkout without a session yet belongs to the
    /// project of its remote or its repository.
    #[must_use]
    pub fn locate(&self, folder: &Path) -> FolderProject {
        let found = checkout(folder);
        let root = found.as_ref().map_or(folder, |found| found.root.as_path());
        let branch = found.as_ref().and_then(|found| found.branch.clone());
        let root = root.to_string_lossy().into_owned();
        let place = redact_place(&Redactor::current(), Place { root, branch });
        let by_identity = |identity: String| self.identities.get(&identity).cloned();
        let project = self.folders.get(&place.root).cloned().or_else(|| {
            let found = found?;
            let common = stored_path(&found.common_dir);
            found
                .remote
                .and_then(by_identity)
                .or_else(|| by_identity(common))
        });
        FolderProject { place, project }
    }
}

fn path(root: &Path) -> std::path::PathBuf {
    root.join("run").join("places.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_a_broken_file_is_nothing() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(ProjectCache::read(root.path()), ProjectCache::default());
        let here = root.path().to_string_lossy().into_owned();
        let known = ProjectCache {
            folders: BTreeMap::from([(here, "tidepool".to_owned())]),
            identities: BTreeMap::new(),
        };
        known.write(root.path()).unwrap();
        let read = ProjectCache::read(root.path());
        assert_eq!(read, known);
        assert_eq!(
            read.locate(root.path()).project.as_deref(),
            Some("tidepool")
        );
        fs::write(path(root.path()), "{").unwrap();
        assert_eq!(ProjectCache::read(root.path()), ProjectCache::default());
    }
}
