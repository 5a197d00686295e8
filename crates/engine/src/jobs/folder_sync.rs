//! Synchronizes one machine's memory folders with the histories that several machines share.
//!
//! Each machine has the memory folders as checkouts. They are synchronized with the shared history before
//! the engine reads them and after it wrote, and whenever a person asks.
//!
//! Not here: how two histories are merged (`files::shared`).

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use daybook_domain::page::read_all;
use daybook_domain::seams::{Store, TreeStore};
use daybook_domain::{Scope, StoreError, Tenant, Timestamp};

use tracing::warn;

use super::WorkError;
use crate::files::changes::FileChanges;
use crate::files::layout::folder;
use crate::files::reindex::reindex_head;
use crate::files::shared::repair::{RepairReport, SharedHistoryReport};
use crate::files::shared::{Rewritten, SharedHistory, SyncReport, is_in_sync};
use crate::files::stamp::CommitStamp;
use crate::files::{FilesConfig, FilesError, Folder, LockOutcome, WriterLock};

/// Synchronizes one machine's memory folders with the histories that several machines share.
#[derive(Clone, Copy)]
pub struct FolderSync<'a> {
    /// The store of everything except memory files.
    pub store: &'a dyn Store,
    /// The store of their histories.
    pub trees: &'a dyn TreeStore,
    /// The data folder of this machine, or another folder below which memory folders are created.
    pub root: &'a Path,
}

impl FolderSync<'_> {
    /// Synchronizes a locked folder with its shared history.
    ///
    /// # Errors
    /// When the store or the disk fails; nothing is lost, and repeating continues.
    pub async fn sync(
        &self,
        scope: &Scope,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
    ) -> Result<SyncReport, WorkError> {
        let trees = self.trees;
        let shared = SharedHistory { trees, scope };
        Ok(shared.sync(lock, stamp).await?)
    }

    /// Takes something out of a locked folder and its shared history; `edit` does that to the folder, once or more often.
    ///
    /// # Errors
    /// As [`FolderSync::sync`].
    pub(super) async fn rewrite<T>(
        &self,
        scope: &Scope,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
        edit: impl FnMut() -> Result<Rewritten<T>, FilesError>,
    ) -> Result<Rewritten<T>, WorkError> {
        let trees = self.trees;
        let shared = SharedHistory { trees, scope };
        Ok(shared.rewrite(lock, stamp, edit).await?)
    }

    /// Pushes a person's edits, and fetches what was written elsewhere.
    ///
    /// `None` when another process writes the folder for longer than `wait`. Observations whose entries the
    /// person deleted are retracted by the next consolidation, which becomes due.
    ///
    /// # Errors
    /// As [`FolderSync::sync`].
    pub async fn check_in(
        &self,
        scope: &Scope,
        stamp: &CommitStamp,
        wait: Duration,
    ) -> Result<Option<SyncReport>, WorkError> {
        let folder = Folder::open(folder(self.root, scope), FilesConfig::default())?;
        let LockOutcome::Held(lock) = folder.try_lock(wait)? else {
            return Ok(None);
        };
        let report = self.sync_and_reindex(scope, &lock, stamp).await?;
        if report.pushed > 0 {
            let now = Timestamp(stamp.time_ms);
            self.store.touch_scope(scope, now).await?;
        }
        Ok(Some(report))
    }

    /// Synchronizes a locked folder after the engine wrote into it, and indexes its content.
    ///
    /// # Errors
    /// As [`FolderSync::sync`].
    pub async fn sync_and_reindex(
        &self,
        scope: &Scope,
        lock: &WriterLock<'_>,
        stamp: &CommitStamp,
    ) -> Result<SyncReport, WorkError> {
        let report = self.sync(scope, lock, stamp).await?;
        let now = Timestamp(stamp.time_ms);
        reindex_head(self.store, lock.folder(), scope, now).await?;
        Ok(report)
    }

    /// Synchronizes every folder of a tenant, whether it exists here, in the store or both, and returns
    /// their scopes.
    ///
    /// No job becomes due: this is for a memory that moves into a store or out of one. A person's edits are
    /// committed first, as before any write.
    ///
    /// # Errors
    /// As [`FolderSync::sync`], and when another process writes a folder for longer than `wait`.
    pub async fn sync_all(
        &self,
        tenant: &Tenant,
        stamp: &CommitStamp,
        wait: Duration,
    ) -> Result<Vec<Scope>, WorkError> {
        let heads = self.trees.tree_heads(tenant).await?.into_iter();
        let mut scopes: BTreeSet<Scope> = heads.map(|(scope, _)| scope).collect();
        for state in read_all(|page| self.store.scopes(tenant, page)).await? {
            if folder(self.root, &state.scope).exists() {
                scopes.insert(state.scope);
            }
        }
        for scope in &scopes {
            let folder = Folder::open(folder(self.root, scope), FilesConfig::default())?;
            let LockOutcome::Held(lock) = folder.try_lock(wait)? else {
                let busy = format!("somebody is writing the memory of {scope}");
                return Err(StoreError::Busy(busy.into()).into());
            };
            self.sync(scope, &lock, stamp).await?;
        }
        Ok(scopes.into_iter().collect())
    }

    /// Reads a folder's whole history and compares it with the shared one. Changes nothing; `None` when the
    /// folder does not exist here. The time grows with the history.
    ///
    /// # Errors
    /// When the store or the disk cannot be read.
    pub async fn check_history(
        &self,
        scope: &Scope,
    ) -> Result<Option<SharedHistoryReport>, WorkError> {
        let path = folder(self.root, scope);
        if !path.exists() {
            return Ok(None);
        }
        let folder = Folder::open(path, FilesConfig::default())?;
        let trees = self.trees;
        Ok(Some(SharedHistory { trees, scope }.check(&folder).await?))
    }

    /// Transfers the objects that either the folder or the shared history lacks. `None` when another
    /// process writes the folder for longer than `wait`.
    ///
    /// # Errors
    /// As [`FolderSync::sync`]. Safe to repeat.
    pub async fn repair_history(
        &self,
        scope: &Scope,
        stamp: &CommitStamp,
        wait: Duration,
    ) -> Result<Option<RepairReport>, WorkError> {
        let folder = Folder::open(folder(self.root, scope), FilesConfig::default())?;
        let LockOutcome::Held(lock) = folder.try_lock(wait)? else {
            return Ok(None);
        };
        let trees = self.trees;
        Ok(Some(
            SharedHistory { trees, scope }.repair(&lock, stamp).await?,
        ))
    }

    /// Deletes all files of a retired scope, on every machine; its history stays. False when another
    /// process writes the folder for longer than `wait`.
    ///
    /// # Errors
    /// As [`FolderSync::sync`].
    pub(super) async fn remove_files(
        &self,
        scope: &Scope,
        stamp: &CommitStamp,
        message: &str,
        wait: Duration,
    ) -> Result<bool, WorkError> {
        let folder = Folder::open(folder(self.root, scope), FilesConfig::default())?;
        let LockOutcome::Held(lock) = folder.try_lock(wait)? else {
            return Ok(false);
        };
        self.sync(scope, &lock, stamp).await?;
        let _ = lock.write(stamp, message, &|| true, |snapshot| {
            let mut changes = FileChanges::none();
            for (path, _) in snapshot.files() {
                changes.delete(path.clone());
            }
            Ok(changes)
        })?;
        self.sync_and_reindex(scope, &lock, stamp).await?;
        Ok(true)
    }

    /// Synchronizes all outdated folders of a tenant, and returns them; with `None` for those that another
    /// process was writing.
    ///
    /// # Errors
    /// As [`FolderSync::sync`].
    pub async fn check_out(
        &self,
        tenant: &Tenant,
        stamp: &CommitStamp,
        wait: Duration,
    ) -> Result<Vec<(Scope, Option<SyncReport>)>, WorkError> {
        let mut moved = Vec::new();
        for (scope, head) in self.trees.tree_heads(tenant).await? {
            let path = folder(self.root, &scope);
            let is_in_sync = match path.exists() {
                // A folder that cannot be opened is reported by the check-in.
                true => Folder::open(&path, FilesConfig::default())
                    .ok()
                    .map_or(Ok(false), |folder| is_in_sync(&folder, &head))?,
                // What was removed everywhere needs no folder.
                false => head.commit.is_none(),
            };
            if !is_in_sync {
                match self.check_in(&scope, stamp, wait).await {
                    Ok(report) => moved.push((scope, report)),
                    // A path that is not a folder, or leads elsewhere, affects no other folder.
                    Err(WorkError::Files(error @ FilesError::Refused { .. })) => {
                        warn!(%scope, %error, "a memory folder was not checked out");
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(moved)
    }
}
