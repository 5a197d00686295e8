//! Checks and repairs a shared history, here and in the store.
//!
//! Each side receives the objects that it lacks from the other. Nothing is removed, and no commit is made,
//! so later check-ins continue from the same commits.
//!
//! Not here: the ordinary transfer, which checks new commits only (`exchange`).

use std::fmt;

use gix::ObjectId;

use super::fetch_state::FetchState;
use super::{SharedError, SharedHistory, transfer};
use crate::files::error::FilesError;
use crate::files::folder::Folder;
use crate::files::integrity::{self, IntegrityReport};
use crate::files::lock::WriterLock;
use crate::files::objects::has_object;
use crate::files::stamp::CommitStamp;

/// Result of comparing a folder's history with the shared one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedHistoryReport {
    /// The history in this folder, including the shared commits that it has.
    pub here: IntegrityReport,
    /// Objects of the shared history that the store lacks, as far as this folder can show.
    pub missing_in_store: u64,
    /// Whether the shared history has commits that were not fetched yet. That is no damage.
    pub is_behind: bool,
}

impl SharedHistoryReport {
    /// Whether nothing is missing on either side.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.here.is_intact() && self.missing_in_store == 0
    }
}

impl fmt::Display for SharedHistoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.here.fmt(f)?;
        if self.missing_in_store > 0 {
            write!(
                f,
                "; {} objects of its history are missing in the shared store",
                self.missing_in_store
            )?;
        }
        Ok(())
    }
}

/// Counts of objects that [`SharedHistory::repair`] transferred.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RepairReport {
    /// Objects that were fetched from the store.
    pub fetched: u64,
    /// Objects that were put into the store.
    pub restored: u64,
}

impl SharedHistory<'_> {
    /// Reads the folder's whole history and compares it with the object names in the store. Changes
    /// nothing.
    ///
    /// # Errors
    /// When the store or the disk cannot be read. Missing objects are a result, not an error.
    pub async fn check(&self, folder: &Folder) -> Result<SharedHistoryReport, SharedError> {
        let here = folder.check_history()?;
        let head = self.trees.tree_head(self.scope).await?;
        let Some(commit) = head.and_then(|head| head.commit) else {
            let (missing_in_store, is_behind) = (0, false);
            return Ok(SharedHistoryReport {
                here,
                missing_in_store,
                is_behind,
            });
        };
        let commit = transfer::id_of(commit);
        let is_behind = !has_object(&folder.repository()?, commit);
        let missing_in_store = self.missing_in_store(folder, commit).await?.len() as u64;
        Ok(SharedHistoryReport {
            here,
            missing_in_store,
            is_behind,
        })
    }

    /// Fetches what the folder's history lacks, and puts into the store what the shared history lacks. Safe
    /// to repeat. Objects that both lack stay missing: [`SharedHistory::check`] reports them afterwards.
    ///
    /// # Errors
    /// See [`SharedError`].
    pub async fn repair(
        &self,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
    ) -> Result<RepairReport, SharedError> {
        let folder = lock.folder();
        // A history that was rewritten or removed since is taken over by the next synchronization.
        let head = self.trees.tree_head(self.scope).await?;
        let state = FetchState::load(folder)?;
        let head = head.filter(|head| state.rewrites == Some(head.rewrites));
        let Some((head, commit)) = head.and_then(|head| Some((head.clone(), head.commit?))) else {
            return Ok(RepairReport::default());
        };
        // The fetch state may rest on objects that are broken now.
        FetchState::none_of(head.rewrites).save(folder)?;
        let commit = transfer::id_of(commit);
        let repo = folder.repository()?;
        let roots = integrity::roots(&repo);
        let mut roots = roots.map_err(FilesError::git("list the branches", folder.root()))?;
        drop(repo);
        roots.push(commit);
        let (fetched, _) = self.fetch_missing(lock, stamp, &roots).await?;
        let missing = self.missing_in_store(folder, commit).await?;
        let restored = self.put(lock, stamp, head.rewrites, &missing).await?;
        let restored = restored.unwrap_or_default();
        Ok(RepairReport { fetched, restored })
    }

    /// Objects of the shared commit's history that the store lacks, as far as the folder has them.
    async fn missing_in_store(
        &self,
        folder: &Folder,
        commit: ObjectId,
    ) -> Result<Vec<ObjectId>, SharedError> {
        let there = self.store_object_names().await?;
        let (readable, _) = integrity::reachable_objects(&folder.repository()?, vec![commit]);
        let missing = readable.into_iter().filter(|id| !there.contains(id));
        Ok(missing.collect())
    }
}
