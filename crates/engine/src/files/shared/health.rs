//! Whether a shared history is whole, here and in the store, and making it so.
//!
//! What one side lacks the other gives. Nothing is taken away, and no commit is made, so checking in
//! goes on from the same commits afterwards.
//!
//! Not here: the ordinary way, which looks at new commits alone (`exchange`).

use std::fmt;

use gix::ObjectId;

use super::known::Known;
use super::{Shared, SharedError, travel};
use crate::files::error::FilesError;
use crate::files::folder::Folder;
use crate::files::lock::WriterLock;
use crate::files::objects::is_known;
use crate::files::stamp::Stamp;
use crate::files::wholeness::{self, HistoryCheck};

/// Result of comparing a folder's history with the shared one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedCheck {
    /// The history in this folder, and what of the shared one is here.
    pub here: HistoryCheck,
    /// Objects of the shared history that the store lacks, as far as this folder shows.
    pub missing_there: u64,
    /// Whether the shared history has commits that were not fetched yet: no damage.
    pub is_behind: bool,
}

impl SharedCheck {
    /// Whether nothing is missing on either side.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.here.is_whole() && self.missing_there == 0
    }
}

impl fmt::Display for SharedCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.here.fmt(f)?;
        if self.missing_there > 0 {
            write!(
                f,
                "; {} objects of its history are missing in the shared store",
                self.missing_there
            )?;
        }
        Ok(())
    }
}

/// What [`Shared::heal`] moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Healed {
    /// Objects that were fetched from the store.
    pub fetched: u64,
    /// Objects that were put into the store.
    pub restored: u64,
}

impl Shared<'_> {
    /// Reads the folder's whole history and compares it with the names in the store. Changes nothing.
    ///
    /// # Errors
    /// When the store or the disk cannot be read. Missing objects are a result, not an error.
    pub async fn check(&self, folder: &Folder) -> Result<SharedCheck, SharedError> {
        let here = folder.check_history()?;
        let Some(head) = self.trees.tree_head(self.scope).await? else {
            let (missing_there, is_behind) = (0, false);
            return Ok(SharedCheck {
                here,
                missing_there,
                is_behind,
            });
        };
        let commit = travel::id_of(head.commit);
        let is_behind = !is_known(&folder.repository()?, commit);
        let missing_there = self.missing_there(folder, commit).await?.len() as u64;
        Ok(SharedCheck {
            here,
            missing_there,
            is_behind,
        })
    }

    /// Fetches what the folder's history lacks, and puts into the store what the shared one lacks.
    /// Safe to repeat. What neither has stays missing: [`Shared::check`] says so afterwards.
    ///
    /// # Errors
    /// See [`SharedError`].
    pub async fn heal(&self, lock: &WriterLock<'_>, stamp: &Stamp) -> Result<Healed, SharedError> {
        let folder = lock.folder();
        let Some(head) = self.trees.tree_head(self.scope).await? else {
            return Ok(Healed::default());
        };
        // What was known rests on objects that may be the broken ones.
        Known::default().save(folder)?;
        let commit = travel::id_of(head.commit);
        let repo = folder.repository()?;
        let roots = wholeness::roots(&repo);
        let mut roots = roots.map_err(FilesError::git("list the branches", folder.root()))?;
        drop(repo);
        roots.push(commit);
        let (fetched, _) = self.complete(lock, stamp, &roots).await?;
        let missing = self.missing_there(folder, commit).await?;
        let restored = self.put(lock, stamp, &missing).await?;
        Ok(Healed { fetched, restored })
    }

    /// What the store lacks of the history of the shared commit, as far as the folder has it.
    async fn missing_there(
        &self,
        folder: &Folder,
        commit: ObjectId,
    ) -> Result<Vec<ObjectId>, SharedError> {
        let there = self.names_there().await?;
        let (readable, _) = wholeness::reach(&folder.repository()?, vec![commit]);
        let missing = readable.into_iter().filter(|id| !there.contains(id));
        Ok(missing.collect())
    }
}
