//! Which project a folder belongs to, as one small file that a hook can read in no time.
//!
//! `<root>/run/places.json` repeats what the store knows of places and projects. It is written by
//! whoever worked, and disposable: without it a hook tells what holds everywhere, and no more.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use daybook_domain::seams::Store;
use daybook_domain::{Place, StoreError, Tenant};
use serde::{Deserialize, Serialize};

use crate::bounded;
use crate::ingest::checkout::checkout;

/// Longest file of places that is read, in bytes: a hundred thousand folders.
const PLACES_BYTES: u64 = 16 * 1024 * 1024;

/// Projects by what tells them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whereabouts {
    /// Keys of projects, by the folder that work was done in.
    pub folders: BTreeMap<String, String>,
    /// Keys of projects, by identity: a normalised remote, or a repository's common folder.
    pub identities: BTreeMap<String, String>,
}

/// Where a folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The checkout's folder, or the folder itself, and its branch.
    pub place: Place,
    /// The key of its project, when memory knows it.
    pub project: Option<String>,
}

impl Whereabouts {
    /// What the store knows of a tenant.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn of(store: &dyn Store, tenant: &Tenant) -> Result<Self, StoreError> {
        let places = store.places(tenant).await?;
        let projects = store.projects(tenant).await?;
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

    /// What was last written; nothing when that is missing or broken.
    #[must_use]
    pub fn read(root: &Path) -> Self {
        bounded::read(&path(root), PLACES_BYTES)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Writes it for hooks, if it changed.
    ///
    /// # Errors
    /// What the disk says.
    pub fn write(&self, root: &Path) -> io::Result<()> {
        let new = serde_json::to_vec(self)?;
        if bounded::read(&path(root), PLACES_BYTES).is_ok_and(|old| old == new) {
            return Ok(());
        }
        // Named like other things under way in this folder, so that it is swept if this process dies.
        let name = format!("new-places-{}", std::process::id());
        let unnamed = root.join("run").join(name);
        fs::create_dir_all(root.join("run"))?;
        fs::write(&unnamed, new)?;
        fs::rename(unnamed, path(root))
    }

    /// Where `folder` is. A checkout that no session has been in yet belongs to the project of its
    /// remote or its repository.
    #[must_use]
    pub fn standing(&self, folder: &Path) -> Standing {
        let found = checkout(folder);
        let root = found.as_ref().map_or(folder, |found| found.root.as_path());
        let root = root.to_string_lossy().into_owned();
        let branch = found.as_ref().and_then(|found| found.branch.clone());
        let by_identity = |identity: String| self.identities.get(&identity).cloned();
        let project = self.folders.get(&root).cloned().or_else(|| {
            let found = found?;
            let common = found.common_dir.to_string_lossy().into_owned();
            found
                .remote
                .and_then(by_identity)
                .or_else(|| by_identity(common))
        });
        Standing {
            place: Place { root, branch },
            project,
        }
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
        assert_eq!(Whereabouts::read(root.path()), Whereabouts::default());
        let here = root.path().to_string_lossy().into_owned();
        let known = Whereabouts {
            folders: BTreeMap::from([(here, "tidepool".to_owned())]),
            identities: BTreeMap::new(),
        };
        known.write(root.path()).unwrap();
        let read = Whereabouts::read(root.path());
        assert_eq!(read, known);
        assert_eq!(
            read.standing(root.path()).project.as_deref(),
            Some("tidepool")
        );
        fs::write(path(root.path()), "{").unwrap();
        assert_eq!(Whereabouts::read(root.path()), Whereabouts::default());
    }
}
