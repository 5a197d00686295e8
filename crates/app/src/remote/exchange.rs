//! One exchange: fetch, merge, push, again while other machines are faster.

use anyhow::{Result, bail};
use daybook_domain::Scope;
use daybook_engine::files::history::CommitHash;
use daybook_engine::files::remote::{Mirror, OutgoingSize};
use daybook_engine::jobs::{FolderExchange, RemoteSync, WorkLimits};

use super::git::PushOutcome;
use super::{Git, SyncFolder};
use crate::service::RequestError;
use crate::wiring::Daybook;

/// Most exchanges in a row while other machines push first.
const ROUNDS: usize = 8;

/// Result of an exchange.
#[derive(Debug, Default)]
pub(crate) struct ExchangeReport {
    /// What became of each folder, in the order of the scopes.
    pub(crate) folders: Vec<(Scope, FolderExchange)>,
    /// The newest commit of the repository.
    pub(crate) commit: Option<CommitHash>,
    /// Whether something was pushed.
    pub(crate) pushed: bool,
}

/// What a first push would send.
pub(crate) async fn outgoing(
    daybook: &Daybook,
    mirror: &Mirror,
) -> Result<Vec<(Scope, OutgoingSize)>> {
    Ok(sync_of(daybook, mirror).outgoing(&daybook.stamp()).await?)
}

/// Exchanges memory files until both sides are equal. `returns_gone` creates folders again that were removed here.
///
/// # Errors
/// When the repository cannot be reached, or the store fails. Repeating continues.
pub(crate) async fn exchange(
    daybook: &Daybook,
    folder: &SyncFolder,
    git: &Git,
    returns_gone: bool,
) -> Result<ExchangeReport> {
    let mirror = Mirror::open(&folder.mirror())?;
    let sync = sync_of(daybook, &mirror);
    let mut report = ExchangeReport::default();
    for _ in 0..ROUNDS {
        let newest = git.newest()?;
        if newest.is_some() && mirror.fetched()? != newest {
            git.fetch()?;
        }
        // Another machine may have pushed since it was asked for the newest commit.
        let theirs = match newest {
            Some(_) => mirror.fetched()?,
            None => None,
        };
        let merge = sync.merge(theirs, &daybook.stamp(), returns_gone).await?;
        report.commit = merge.commit.or(theirs);
        if let Some(commit) = merge.commit {
            match git.push(commit, theirs)? {
                PushOutcome::Pushed => sync.record(&merge, commit)?,
                PushOutcome::Moved => {
                    report.add(merge.folders);
                    continue;
                }
            }
            report.pushed = true;
        }
        report.add(merge.folders);
        return Ok(report);
    }
    bail!(RequestError::Unavailable(
        "other machines keep pushing; nothing is lost, run this again".to_owned()
    ))
}

fn sync_of<'a>(daybook: &'a Daybook, mirror: &'a Mirror) -> RemoteSync<'a> {
    RemoteSync {
        store: &*daybook.store,
        root: &daybook.root,
        tenant: &daybook.tenant,
        mirror,
        wait: WorkLimits::default().folder_wait,
    }
}

impl ExchangeReport {
    /// Adds what another round did; of what leaves, the last round counts, since only its commit was pushed.
    fn add(&mut self, folders: Vec<(Scope, FolderExchange)>) {
        let before = std::mem::replace(&mut self.folders, folders);
        for (scope, exchange) in &mut self.folders {
            let earlier = before.iter().find(|(known, _)| known == scope);
            if let FolderExchange::Merged { taken, .. } = exchange
                && let Some((_, FolderExchange::Merged { taken: earlier, .. })) = earlier
            {
                *taken += earlier;
            }
        }
    }
}
