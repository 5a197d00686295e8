//! Exchanges the memory folders of one machine with a git repository that other machines use, too.
//!
//! The caller fetches into the mirror, [`RemoteSync::merge`] merges every folder with what was fetched and adds one
//! commit to the mirror, and the caller pushes that commit. A push that is refused because another machine was faster
//! is repeated from the fetch on.
//!
//! Not here: how a folder is merged (`files::remote`), running git (`app`).

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use daybook_domain::page::read_all;
use daybook_domain::seams::Store;
use daybook_domain::{Scope, Tenant, Timestamp};

use super::WorkError;
use crate::files::history::CommitHash;
use crate::files::layout::folder;
use crate::files::reindex::reindex;
use crate::files::remote::{
    MergeReport, Mirror, OutgoingSize, RemoteFolder, RemovedEntries, merge_folder, outgoing_size,
};
use crate::files::stamp::CommitStamp;
use crate::files::{FilesConfig, FilesError, Folder, LockOutcome};

/// Exchanges the memory folders of one machine with a repository.
#[derive(Clone, Copy)]
pub struct RemoteSync<'a> {
    /// The store of everything except memory files.
    pub store: &'a dyn Store,
    /// The data folder.
    pub root: &'a Path,
    /// Whose folders are exchanged.
    pub tenant: &'a Tenant,
    /// The mirror of the repository.
    pub mirror: &'a Mirror,
    /// How long to wait for another process that writes a folder.
    pub wait: Duration,
}

/// Result of merging one folder.
#[derive(Debug)]
pub enum FolderExchange {
    /// It is merged: files that changed here, files that change in the repository, and those of them with hidden secrets.
    Merged {
        /// Files that changed here.
        taken: usize,
        /// Files that change in the repository.
        given: usize,
        /// Files in which secrets were hidden before they left.
        hidden: usize,
    },
    /// Another process was writing it for too long.
    Busy,
    /// It was exchanged before, and is gone on this machine. It stays as it is in the repository.
    Gone,
    /// It could not be read or written. Nothing of it was exchanged.
    Failed(WorkError),
}

/// Result of merging all folders.
#[derive(Debug)]
pub struct RemoteMerge {
    /// What became of each folder.
    pub folders: Vec<(Scope, FolderExchange)>,
    /// The commit to push; `None` if the repository has everything.
    pub commit: Option<CommitHash>,
    merged: Vec<RemoteFolder>,
}

impl RemoteSync<'_> {
    /// What a first push would send, by folder. A person's edits so far are committed first.
    ///
    /// # Errors
    /// When the store or the disk cannot be read.
    pub async fn outgoing(
        &self,
        stamp: &CommitStamp,
    ) -> Result<Vec<(Scope, OutgoingSize)>, WorkError> {
        let mut outgoing = Vec::new();
        for scope in self.local_scopes().await? {
            let folder = Folder::open(folder(self.root, &scope), FilesConfig::default())?;
            if let LockOutcome::Held(lock) = folder.try_lock(self.wait)? {
                lock.settle(stamp)?;
            }
            outgoing.push((scope, outgoing_size(&folder)?));
        }
        outgoing.retain(|(_, size)| size.files > 0);
        Ok(outgoing)
    }

    /// Merges every folder with the state `theirs` of the repository, and adds the commit that has both. A folder that
    /// cannot be merged affects no other. `returns_gone` creates folders again that were removed here.
    ///
    /// # Errors
    /// When the store or the mirror fails; nothing is lost, and repeating continues.
    pub async fn merge(
        &self,
        theirs: Option<CommitHash>,
        stamp: &CommitStamp,
        returns_gone: bool,
    ) -> Result<RemoteMerge, WorkError> {
        let mut scopes = self.local_scopes().await?;
        let there = self.mirror.folders(theirs)?;
        scopes.extend(there.iter().filter_map(|folder| folder.scope(self.tenant)));
        let exchanged = self.mirror.exchanged()?;
        let mut merge = RemoteMerge {
            folders: Vec::new(),
            commit: None,
            merged: Vec::new(),
        };
        let (mut updates, mut removed) = (Vec::new(), RemovedEntries::new());
        for scope in scopes {
            let remote = RemoteFolder::of(&scope);
            let state = exchanged.get(&remote).copied();
            let is_here = folder(self.root, &scope).exists();
            let exchange = match is_here || state.is_none() || returns_gone {
                false => Ok(FolderState::Gone),
                true => {
                    let common = state.filter(|_| is_here);
                    self.merge_one(&scope, &remote, (common, theirs), stamp)
                        .await
                }
            };
            let exchange = match exchange {
                Ok(FolderState::Gone) => FolderExchange::Gone,
                Ok(FolderState::Busy) => FolderExchange::Busy,
                Err(error) => FolderExchange::Failed(error),
                Ok(FolderState::Merged(report)) => {
                    let (taken, given, hidden) =
                        (report.taken, report.updates.len(), report.hidden);
                    updates.extend(report.updates);
                    removed.extend(report.removed);
                    merge.merged.push(remote);
                    FolderExchange::Merged {
                        taken,
                        given,
                        hidden,
                    }
                }
            };
            merge.folders.push((scope, exchange));
        }
        if let Some(theirs) = theirs {
            self.record(&merge, theirs)?;
        }
        merge.commit = self.mirror.commit(theirs, &updates, &removed, stamp)?;
        Ok(merge)
    }

    /// Records that the repository has `commit`, which contains every folder that was merged.
    ///
    /// # Errors
    /// When the disk fails. Then the same is merged once more.
    pub fn record(&self, merge: &RemoteMerge, commit: CommitHash) -> Result<(), FilesError> {
        let mut exchanged = self.mirror.exchanged()?;
        for folder in &merge.merged {
            exchanged.insert(folder.clone(), commit);
        }
        self.mirror.set_exchanged(&exchanged)
    }

    /// The scopes that have a folder here.
    async fn local_scopes(&self) -> Result<BTreeSet<Scope>, WorkError> {
        let states = read_all(|page| self.store.scopes(self.tenant, page)).await?;
        let scopes = states.into_iter().map(|state| state.scope);
        Ok(scopes
            .filter(|scope| folder(self.root, scope).exists())
            .collect())
    }

    async fn merge_one(
        &self,
        scope: &Scope,
        remote: &RemoteFolder,
        states: (Option<CommitHash>, Option<CommitHash>),
        stamp: &CommitStamp,
    ) -> Result<FolderState, WorkError> {
        let folder = Folder::open(folder(self.root, scope), FilesConfig::default())?;
        let LockOutcome::Held(lock) = folder.try_lock(self.wait)? else {
            return Ok(FolderState::Busy);
        };
        let report = merge_folder(&lock, self.mirror, remote, states, stamp)?;
        if report.taken > 0 {
            let now = Timestamp(stamp.time_ms);
            // The next consolidation retracts what a person removed elsewhere.
            self.store.touch_scope(scope, now).await?;
            reindex(self.store, self.root, scope, now).await?;
        }
        Ok(FolderState::Merged(report))
    }
}

enum FolderState {
    Merged(MergeReport),
    Busy,
    Gone,
}
