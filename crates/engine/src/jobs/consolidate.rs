//! Consolidates one scope: writes its current observations to its memory files.

use std::path::Path;

use daybook_domain::seams::IndexWriter;
use daybook_domain::{
    ClaimedJob, Failure, FailureClass, FinishOutcome, JobKey, RetryWait, Scope, StoreError,
};

use tracing::field::Empty;
use tracing::{Span, info_span, warn};

use super::curation::curate_memory;
use super::entities::{staged_for, write_staged};
use super::scope_memory::{load_memory, settle_memory};
use super::settle::is_abandoned;
use super::{WorkError, WorkerContext};
use crate::consolidate::ScopeMemory;
use crate::files::adopt::{has_own_words, set_aside};
use crate::files::audit::is_missing;
use crate::files::layout::{folder, pages, tenant_folder};
use crate::files::page::Orphans;
use crate::files::persons_lines::PersonsLines;
use crate::files::reindex::{reindex, remove_from_index};
use crate::files::reworded::record_reworded;
use crate::files::stamp::CommitStamp;
use crate::files::unwritten_pages::UnwrittenPage;
use crate::files::write::WriteOutcome;
use crate::files::write_pages::{PageOrphans, write_pages_with};
use crate::files::{FilesConfig, FilesError, Folder, LockOutcome, WriterLock};
use crate::stage::within;

/// Result of one consolidation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConsolidateOutcome {
    /// Files were written, except these pages.
    Written(Vec<UnwrittenPage>),
    /// Files were up to date, except these pages.
    UpToDate(Vec<UnwrittenPage>),
    /// It failed; the job stores when to retry.
    Failed(Failure),
    /// The lease was lost; another worker may have the job now.
    LeaseLost,
}

/// Performs the claimed job.
pub(super) async fn consolidate(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    scope: &Scope,
) -> Result<ConsolidateOutcome, WorkError> {
    let span = info_span!(
        "consolidate",
        %scope,
        revision = claimed.upto,
        class = Empty,
        outcome = Empty,
    );
    within(
        span,
        write_and_finish(worker, claimed, scope),
        record_outcome,
    )
    .await
}

fn record_outcome(span: &Span, consolidating: &ConsolidateOutcome) {
    let outcome = match consolidating {
        ConsolidateOutcome::Written(_) => "written",
        ConsolidateOutcome::UpToDate(_) => "right",
        ConsolidateOutcome::Failed(failure) => {
            span.record("class", failure.class.as_str());
            "failed"
        }
        ConsolidateOutcome::LeaseLost => "lost",
    };
    span.record("outcome", outcome);
}

async fn write_and_finish(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    scope: &Scope,
) -> Result<ConsolidateOutcome, WorkError> {
    match write_memory(worker, claimed, scope).await {
        Ok(ConsolidateOutcome::LeaseLost) => Ok(ConsolidateOutcome::LeaseLost),
        Ok(outcome) => {
            let now = worker.clock.now();
            match worker
                .store
                .finish(&claimed.token, claimed.upto, now)
                .await?
            {
                FinishOutcome::LeaseLost => Ok(ConsolidateOutcome::LeaseLost),
                FinishOutcome::Complete | FinishOutcome::StillDue => Ok(outcome),
            }
        }
        Err(WorkError::Files(error)) => {
            // A failing disk, or a person at work, is waited for: no try is spent on it.
            let mut message = error.to_string();
            if let Some(cause) = std::error::Error::source(&error) {
                message.push_str(&format!(": {cause}"));
            }
            let failure = Failure {
                class: FailureClass::Outage,
                message,
            };
            let _ = worker
                .fail(claimed, failure.clone(), RetryWait::Unspecified)
                .await?;
            Ok(ConsolidateOutcome::Failed(failure))
        }
        Err(error) => Err(error),
    }
}

async fn write_memory(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    scope: &Scope,
) -> Result<ConsolidateOutcome, WorkError> {
    let path = folder(&worker.root, scope);
    let memory = load_memory(&worker.into(), scope, &PersonsLines::default()).await?;
    worker
        .store
        .set_supersessions(scope, &memory.supersessions)
        .await?;
    let staged = staged_for((&*worker.store, &*worker.store), scope, &worker.person).await?;
    let is_empty = has_no_entries(&memory) && staged.is_empty();
    if is_empty && !has_files(worker, &path, scope).await? {
        return Ok(ConsolidateOutcome::UpToDate(Vec::new()));
    }
    if is_empty && worker.folder_sync().is_none() && is_abandoned(worker, scope).await? {
        // Written by a process that had not yet seen that its folders moved to another project.
        if !has_own_words(&path) {
            set_aside(
                &tenant_folder(&worker.root, &scope.tenant),
                &path,
                &scope.name,
            )?;
            remove_from_index(&*worker.store, scope, worker.clock.now()).await?;
            return Ok(ConsolidateOutcome::UpToDate(Vec::new()));
        }
    }
    if is_folder_lost(worker, &path, scope).await? {
        return Err(FilesError::Missing { path }.into());
    }
    let folder = Folder::open(&path, FilesConfig::default())?;
    let lock = match folder.try_lock(worker.limits.folder_wait)? {
        LockOutcome::Held(lock) => lock,
        LockOutcome::Busy => return wait_for_writer(worker, claimed).await,
    };
    let (now, stamp) = (worker.clock.now(), worker.stamp());
    if let Some(sharing) = worker.folder_sync() {
        sharing.sync(scope, &lock, &stamp).await?;
    }
    let until = now.plus(worker.limits.lease);
    let holds_lease = || worker.clock.now() < until;
    if !staged.is_empty() && !write_staged(worker, &staged, &lock, &stamp, &holds_lease).await? {
        return Ok(ConsolidateOutcome::LeaseLost);
    }
    let mut memory = settle_memory(worker, scope, &lock, &stamp, Some(memory)).await?;
    let orphans = orphans(worker, scope).await?;
    let message = commit_message(&memory);
    let orphans = curated_orphans(worker, &lock, &mut memory, orphans)?;
    let posted = write_pages_with(&lock, &memory, orphans, &stamp, &message, &holds_lease)?;
    record_reworded(&lock, &memory)?;
    index_files(worker, scope, lock, &stamp).await?;
    for unwritten in &posted.unwritten {
        warn!(%scope, page = %unwritten.page, why = unwritten.why, "a page was not written");
    }
    Ok(match posted.outcome {
        WriteOutcome::Written(_) => ConsolidateOutcome::Written(posted.unwritten),
        WriteOutcome::Unchanged(_) => ConsolidateOutcome::UpToDate(posted.unwritten),
        WriteOutcome::LeaseLost => ConsolidateOutcome::LeaseLost,
    })
}

/// Whether memory files of the scope were ever written.
async fn has_files(worker: &WorkerContext, path: &Path, scope: &Scope) -> Result<bool, StoreError> {
    Ok(path.exists()
        || match &worker.trees {
            Some(trees) => trees.tree_head(scope).await?.is_some(),
            None => false,
        })
}

/// Whether the folder is missing with its history, though its files were indexed. A machine that shares a
/// memory restores its folders from the shared history.
async fn is_folder_lost(
    worker: &WorkerContext,
    path: &Path,
    scope: &Scope,
) -> Result<bool, StoreError> {
    if worker.trees.is_some() || !is_missing(path).unwrap_or(false) {
        return Ok(false);
    }
    Ok(!IndexWriter::file_stamps(&*worker.store, scope)
        .await?
        .is_empty())
}

/// Releases the job without cost, because another process is writing the folder.
async fn wait_for_writer(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
) -> Result<ConsolidateOutcome, WorkError> {
    let message = "another process is writing this memory".to_owned();
    let failure = Failure {
        class: FailureClass::Outage,
        message,
    };
    let _ = worker
        .fail(claimed, failure, RetryWait::Unspecified)
        .await?;
    Ok(ConsolidateOutcome::LeaseLost)
}

fn has_no_entries(memory: &ScopeMemory) -> bool {
    pages(memory)
        .values()
        .flat_map(|page| &page.sections)
        .all(|section| section.entries.is_empty())
}

/// What happens to entries that the memory does not have: a database that never wrote them has no record of them.
pub(super) async fn orphans(worker: &WorkerContext, scope: &Scope) -> Result<Orphans, StoreError> {
    let key = JobKey::Consolidate(scope.clone());
    let job = worker.store.job(&key).await?;
    Ok(match job.is_none_or(|job| job.done == 0) {
        true => Orphans::Disown,
        false => Orphans::Remove,
    })
}

/// Leaves in `memory` what a curation leaves of it, and returns what happens to the entries that it does not have.
pub(super) fn curated_orphans(
    worker: &WorkerContext,
    lock: &WriterLock<'_>,
    memory: &mut ScopeMemory,
    orphans: Orphans,
) -> Result<PageOrphans, WorkError> {
    let curated = curate_memory(worker, lock, memory)?;
    Ok(PageOrphans {
        curated: curated.unwrap_or(orphans),
        others: orphans,
    })
}

/// Releases a written folder, shared where several machines have it, and indexes its files.
pub(super) async fn index_files(
    worker: &WorkerContext,
    scope: &Scope,
    lock: WriterLock<'_>,
    stamp: &CommitStamp,
) -> Result<(), WorkError> {
    match worker.folder_sync() {
        Some(sharing) => {
            sharing.sync_and_reindex(scope, &lock, stamp).await?;
        }
        None => {
            drop(lock);
            let now = worker.clock.now();
            reindex(&*worker.store, &worker.root, scope, now).await?;
        }
    }
    Ok(())
}

pub(super) fn commit_message(memory: &ScopeMemory) -> String {
    let entries: usize = memory
        .curated
        .sections
        .iter()
        .map(|s| s.entries.len())
        .sum();
    let sessions = memory.sessions.len();
    format!("Post {entries} entries from {sessions} sessions")
}
