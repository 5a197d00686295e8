//! One machine's side of memories that several machines share.
//!
//! Each machine has the memory folders as checkouts. They are brought together with the shared
//! history before the engine looks at them and after it wrote, and whenever a person asks.
//!
//! Not here: how two histories meet (`files::shared`).

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use daybook_domain::seams::{Store, TreeStore};
use daybook_domain::{Scope, StoreError, Tenant, Timestamp};

use tracing::warn;

use super::WorkError;
use crate::files::changes::Changes;
use crate::files::layout::folder;
use crate::files::reindex::reindex_head;
use crate::files::shared::health::{Healed, SharedCheck};
use crate::files::shared::{Shared, Together, is_level};
use crate::files::stamp::Stamp;
use crate::files::{FilesConfig, FilesError, Folder, LockOutcome, WriterLock};

/// One machine's side of memories that several machines share.
#[derive(Clone, Copy)]
pub struct Sharing<'a> {
    /// Where everything but memory files is shared.
    pub store: &'a dyn Store,
    /// Where their histories are.
    pub trees: &'a dyn TreeStore,
    /// The data folder of this machine, or another below which memory folders shall lie.
    pub root: &'a Path,
}

impl Sharing<'_> {
    /// Brings a folder that is held and the shared history together.
    ///
    /// # Errors
    /// When the store or the disk fails; nothing is lost, and repeating goes on.
    pub async fn meet(
        &self,
        scope: &Scope,
        lock: &WriterLock<'_>,
        stamp: &Stamp,
    ) -> Result<Together, WorkError> {
        let trees = self.trees;
        let shared = Shared { trees, scope };
        Ok(shared.bring_together(lock, stamp).await?)
    }

    /// Hands over what a person edited here, and takes in what was written elsewhere. `None` when
    /// somebody writes the folder for longer than `wait`. What they deleted is withdrawn by the next
    /// consolidation, which is due from now on.
    ///
    /// # Errors
    /// As [`Sharing::meet`].
    pub async fn check_in(
        &self,
        scope: &Scope,
        stamp: &Stamp,
        wait: Duration,
    ) -> Result<Option<Together>, WorkError> {
        let folder = Folder::open(folder(self.root, scope), FilesConfig::default())?;
        let LockOutcome::Held(lock) = folder.try_lock(wait)? else {
            return Ok(None);
        };
        let together = self.hand_over(scope, &lock, stamp).await?;
        if together.given > 0 {
            let now = Timestamp(stamp.time_ms);
            self.store.touch_scope(scope, now).await?;
        }
        Ok(Some(together))
    }

    /// Brings a folder that is held and the shared history together after the engine wrote into it, and
    /// has what it says now found.
    ///
    /// # Errors
    /// As [`Sharing::meet`].
    pub async fn hand_over(
        &self,
        scope: &Scope,
        lock: &WriterLock<'_>,
        stamp: &Stamp,
    ) -> Result<Together, WorkError> {
        let together = self.meet(scope, lock, stamp).await?;
        let now = Timestamp(stamp.time_ms);
        reindex_head(self.store, lock.folder(), scope, now).await?;
        Ok(together)
    }

    /// Makes every folder of a tenant and its shared history the same, whichever of the two is there, and
    /// says which scopes that were. Nothing becomes due by it: this is for a memory that moves into a
    /// store or out of one. A person's edits are committed on the way, as before any writing.
    ///
    /// # Errors
    /// As [`Sharing::meet`], and when somebody writes a folder for longer than `wait`.
    pub async fn level(
        &self,
        tenant: &Tenant,
        stamp: &Stamp,
        wait: Duration,
    ) -> Result<Vec<Scope>, WorkError> {
        let heads = self.trees.tree_heads(tenant).await?.into_iter();
        let mut scopes: BTreeSet<Scope> = heads.map(|(scope, _)| scope).collect();
        for state in self.store.scopes(tenant).await? {
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
            self.meet(scope, &lock, stamp).await?;
        }
        Ok(scopes.into_iter().collect())
    }

    /// Reads a folder's whole history and compares it with the shared one. Changes nothing; `None` when
    /// the folder is not here. The time grows with the history.
    ///
    /// # Errors
    /// When the store or the disk cannot be read.
    pub async fn check_history(&self, scope: &Scope) -> Result<Option<SharedCheck>, WorkError> {
        let path = folder(self.root, scope);
        if !path.exists() {
            return Ok(None);
        }
        let folder = Folder::open(path, FilesConfig::default())?;
        let trees = self.trees;
        Ok(Some(Shared { trees, scope }.check(&folder).await?))
    }

    /// Has the folder and the shared history give each other the objects that one of them lacks. `None`
    /// when the folder is being written for longer than `wait`.
    ///
    /// # Errors
    /// As [`Sharing::meet`]. Safe to repeat.
    pub async fn heal_history(
        &self,
        scope: &Scope,
        stamp: &Stamp,
        wait: Duration,
    ) -> Result<Option<Healed>, WorkError> {
        let folder = Folder::open(folder(self.root, scope), FilesConfig::default())?;
        let LockOutcome::Held(lock) = folder.try_lock(wait)? else {
            return Ok(None);
        };
        let trees = self.trees;
        Ok(Some(Shared { trees, scope }.heal(&lock, stamp).await?))
    }

    /// Takes all files out of a scope that is given up, on every machine; its history stays. False
    /// when somebody writes the folder for longer than `wait`.
    ///
    /// # Errors
    /// As [`Sharing::meet`].
    pub(super) async fn empty(
        &self,
        scope: &Scope,
        stamp: &Stamp,
        message: &str,
        wait: Duration,
    ) -> Result<bool, WorkError> {
        let folder = Folder::open(folder(self.root, scope), FilesConfig::default())?;
        let LockOutcome::Held(lock) = folder.try_lock(wait)? else {
            return Ok(false);
        };
        self.meet(scope, &lock, stamp).await?;
        let _ = lock.write(stamp, message, &|| true, |snapshot| {
            let mut changes = Changes::none();
            for (path, _) in snapshot.files() {
                changes.delete(path.clone());
            }
            Ok(changes)
        })?;
        self.hand_over(scope, &lock, stamp).await?;
        Ok(true)
    }

    /// Brings all folders of a tenant up to date, and says which moved; with `None` those that
    /// somebody was writing.
    ///
    /// # Errors
    /// As [`Sharing::meet`].
    pub async fn check_out(
        &self,
        tenant: &Tenant,
        stamp: &Stamp,
        wait: Duration,
    ) -> Result<Vec<(Scope, Option<Together>)>, WorkError> {
        let mut moved = Vec::new();
        for (scope, head) in self.trees.tree_heads(tenant).await? {
            let path = folder(self.root, &scope);
            let is_level = match path.exists() {
                // One that cannot be opened is for the check-in to report.
                true => Folder::open(&path, FilesConfig::default())
                    .ok()
                    .map_or(Ok(false), |folder| is_level(&folder, &head))?,
                false => false,
            };
            if !is_level {
                match self.check_in(&scope, stamp, wait).await {
                    Ok(together) => moved.push((scope, together)),
                    // A folder that is none, or leads elsewhere, costs no other.
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
