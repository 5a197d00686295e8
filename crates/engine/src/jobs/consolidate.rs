//! Consolidates one scope: writes its current observations to its memory files.

use std::path::Path;

use daybook_domain::seams::{ConsolidationResults, IndexWriter};
use daybook_domain::{
    ClaimedJob, Failure, FailureClass, FinishOutcome, JobKey, ObservationId, RetryWait, Scope,
    ScopeKind, StoreError, Timestamp,
};

use tracing::field::Empty;
use tracing::{Span, info_span, warn};

use super::curation::curate_memory;
use super::entities::{staged_for, write_staged};
use super::proposals::{ProposalPlan, ProposalReport, ask_for_proposals, plan_proposals};
use super::scope_memory::{load_memory, select_sessions, settle_memory};
use super::selection::{SelectionPlan, cooldown_of};
use super::settle::is_abandoned;
use super::{WorkError, WorkerContext};
use crate::consolidate::ScopeMemory;
use crate::files::adopt::{has_own_words, set_aside};
use crate::files::audit::is_missing;
use crate::files::first_write::end_first_write;
use crate::files::layout::{folder, tenant_folder};
use crate::files::page::Orphans;
use crate::files::parsed_texts::FolderTexts;
use crate::files::persons_lines::PersonsLines;
use crate::files::reindex::{reindex_written, remove_from_index};
use crate::files::remote::has_received;
use crate::files::reworded::record_reworded;
use crate::files::stamp::CommitStamp;
use crate::files::unwritten_pages::UnwrittenPage;
use crate::files::write::WriteOutcome;
use crate::files::write_pages::{PageOrphans, write_pages_with, write_rollouts};
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
    /// The scope was consolidated a short while ago: it rests until then.
    Resting(Timestamp),
}

/// The outcome of a consolidation, with its selection and what a model is to be asked.
pub(super) struct Consolidated {
    pub(super) outcome: ConsolidateOutcome,
    /// What it selected, where a selection is made.
    pub(super) plan: Option<SelectionPlan>,
    /// What is new to the model, where there is one.
    proposals: Option<ProposalPlan>,
    /// What became of the model's answer.
    pub(super) proposed: ProposalReport,
}

impl From<ConsolidateOutcome> for Consolidated {
    fn from(outcome: ConsolidateOutcome) -> Self {
        Self {
            outcome,
            plan: None,
            proposals: None,
            proposed: ProposalReport::default(),
        }
    }
}

/// Performs the claimed job.
pub(super) async fn consolidate(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    scope: &Scope,
) -> Result<Consolidated, WorkError> {
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

fn record_outcome(span: &Span, consolidated: &Consolidated) {
    let outcome = match &consolidated.outcome {
        ConsolidateOutcome::Written(_) => "written",
        ConsolidateOutcome::UpToDate(_) => "right",
        ConsolidateOutcome::Failed(failure) => {
            span.record("class", failure.class.as_str());
            "failed"
        }
        ConsolidateOutcome::LeaseLost => "lost",
        ConsolidateOutcome::Resting(_) => "resting",
    };
    span.record("outcome", outcome);
}

async fn write_and_finish(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    scope: &Scope,
) -> Result<Consolidated, WorkError> {
    if let Some(until) = cooldown_of(worker, claimed, scope).await? {
        let now = worker.clock.now();
        worker.store.set_aside(&claimed.token, until, now).await?;
        return Ok(ConsolidateOutcome::Resting(until).into());
    }
    match write_memory(worker, claimed, scope).await {
        Ok(consolidated) if consolidated.outcome == ConsolidateOutcome::LeaseLost => {
            Ok(consolidated)
        }
        Ok(mut consolidated) => match finish(worker, claimed, scope, &mut consolidated).await? {
            FinishOutcome::LeaseLost => Ok(ConsolidateOutcome::LeaseLost.into()),
            FinishOutcome::Complete | FinishOutcome::StillDue => {
                // The job is complete; the next one removes the mark where this one cannot.
                if let Err(error) = end_first_write(&folder(&worker.root, scope)) {
                    warn!(%scope, %error, "the mark of the first write stays");
                }
                Ok(consolidated)
            }
        },
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
            Ok(ConsolidateOutcome::Failed(failure).into())
        }
        Err(error) => Err(error),
    }
}

/// Asks the model about what is new to it, now that the files are written; then ends the claim, and stores with it what
/// was selected and proposed.
async fn finish(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    scope: &Scope,
    consolidated: &mut Consolidated,
) -> Result<FinishOutcome, StoreError> {
    let proposed = ask_for_proposals(worker, claimed, scope, consolidated.proposals.take()).await;
    let results = ConsolidationResults {
        selection: consolidated.plan.as_ref().map(|plan| &plan.record),
        proposals: proposed.record.as_ref(),
        again_at: proposed.again_at,
    };
    let (now, token) = (worker.clock.now(), &claimed.token);
    let finished = match results == ConsolidationResults::default() {
        true => worker.store.finish(token, claimed.upto, now).await?,
        false => {
            let store = &worker.store;
            let finished = store.finish_consolidation(token, claimed.upto, results, now);
            finished.await?
        }
    };
    consolidated.proposed = proposed.report;
    Ok(finished)
}

async fn write_memory(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    scope: &Scope,
) -> Result<Consolidated, WorkError> {
    let path = folder(&worker.root, scope);
    let texts = FolderTexts::of_changed(&path);
    let persons = persons_so_far(&path);
    let mut memory = load_memory(&worker.into(), scope, &persons, &texts).await?;
    let plan = select_sessions(worker, scope, &mut memory, &persons).await?;
    worker
        .store
        .set_supersessions(scope, &memory.supersessions)
        .await?;
    let staged = staged_for((&*worker.store, &*worker.store), scope, &worker.person).await?;
    let is_empty = has_no_entries(&memory) && staged.is_empty();
    if is_empty && !has_files(worker, &path, scope).await? {
        let outcome = ConsolidateOutcome::UpToDate(Vec::new());
        return Ok(Consolidated {
            plan,
            ..outcome.into()
        });
    }
    if is_empty && set_aside_abandoned(worker, &path, scope).await? {
        return Ok(ConsolidateOutcome::UpToDate(Vec::new()).into());
    }
    if is_folder_lost(worker, &path, scope).await? {
        return Err(FilesError::Missing { path }.into());
    }
    let folder = Folder::open(&path, FilesConfig::default())?;
    let lock = match folder.try_lock(worker.limits.folder_wait)? {
        LockOutcome::Held(lock) => lock,
        LockOutcome::Busy => return Ok(wait_for_writer(worker, claimed).await?.into()),
    };
    let (until, stamp) = (worker.clock.now().plus(worker.limits.lease), worker.stamp());
    if let Some(sharing) = worker.folder_sync() {
        sharing.sync(scope, &lock, &stamp).await?;
    }
    if !has_completed(worker, scope).await? {
        lock.begin_first_write()?;
    }
    let holds_lease = || worker.clock.now() < until;
    if !staged.is_empty() && !write_staged(worker, &staged, &lock, &stamp, &holds_lease).await? {
        return Ok(ConsolidateOutcome::LeaseLost.into());
    }
    let settled = settle_memory(worker, scope, &lock, &stamp, Some((persons, memory)));
    let (mut memory, mut plan) = Box::pin(settled).await?;
    if !keep_forgotten(plan.as_ref(), &lock, &stamp, &holds_lease)? {
        return Ok(ConsolidateOutcome::LeaseLost.into());
    }
    let message = commit_message(&memory);
    let orphans = orphans(worker, scope, &lock).await?;
    let orphans = curated_orphans(worker, &lock, &mut memory, orphans)?;
    if let Some(before_files) = &worker.before_files {
        before_files();
    }
    let posted = write_pages_with(&lock, &memory, orphans, &stamp, &message, &holds_lease)?;
    record_reworded(&lock, &memory)?;
    texts.save(&lock)?;
    let known = known_observations(scope, &memory);
    index_files(worker, scope, (lock, &stamp), known).await?;
    let proposals = plan_proposals(worker, scope, &folder, plan.as_ref()).await?;
    warn_of_unwritten(scope, &posted.unwritten);
    if let Some(plan) = &mut plan {
        plan.record.commit = posted.outcome.commit().map(|commit| commit.to_string());
    }
    let outcome = match posted.outcome {
        WriteOutcome::Written(_) => ConsolidateOutcome::Written(posted.unwritten),
        WriteOutcome::Unchanged(_) => ConsolidateOutcome::UpToDate(posted.unwritten),
        WriteOutcome::LeaseLost => ConsolidateOutcome::LeaseLost,
    };
    Ok(Consolidated {
        outcome,
        plan,
        proposals,
        proposed: ProposalReport::default(),
    })
}

fn warn_of_unwritten(scope: &Scope, pages: &[UnwrittenPage]) {
    for unwritten in pages {
        warn!(%scope, page = %unwritten.page, why = unwritten.why, "a page was not written");
    }
}

/// Sets a folder without entries aside that was written by a process which had not yet seen that its folders moved to
/// another project. False where it is not abandoned, or holds a person's own words or what other machines wrote.
async fn set_aside_abandoned(
    worker: &WorkerContext,
    path: &Path,
    scope: &Scope,
) -> Result<bool, WorkError> {
    let is_ours = worker.folder_sync().is_none() && is_abandoned(worker, scope).await?;
    if !is_ours {
        return Ok(false);
    }
    let folder = Folder::open(path, FilesConfig::default())?;
    let lock = match folder.try_lock(worker.limits.folder_wait)? {
        LockOutcome::Held(lock) if !has_own_words(path) && !has_received(path)? => lock,
        LockOutcome::Held(_) | LockOutcome::Busy => return Ok(false),
    };
    let tenant = tenant_folder(&worker.root, &scope.tenant);
    set_aside(&tenant, lock, &scope.name)?;
    remove_from_index(&*worker.store, scope, worker.clock.now()).await?;
    Ok(true)
}

/// What a person changed so far in the memory folder at `path`, read before it is locked. It is compared with what they
/// changed by then, so that a folder that cannot be read costs a second build, and is reported by the writer.
fn persons_so_far(path: &Path) -> PersonsLines {
    match path.join(".git").exists() {
        true => {
            PersonsLines::load(&Folder::existing(path, FilesConfig::default())).unwrap_or_default()
        }
        false => PersonsLines::default(),
    }
}

/// The observations of the scope itself, where the memory consists of them alone: that of a person also has those of
/// projects.
fn known_observations(scope: &Scope, memory: &ScopeMemory) -> Option<Vec<ObservationId>> {
    (scope.kind != ScopeKind::User).then(|| memory.merged.concat())
}

/// Writes what is to be forgotten beside what is new: it stays until the pages without it are written. False when the
/// lease was lost.
fn keep_forgotten(
    plan: Option<&SelectionPlan>,
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    holds_lease: &dyn Fn() -> bool,
) -> Result<bool, FilesError> {
    let Some(plan) = plan.filter(|plan| !plan.diff.removed.is_empty()) else {
        return Ok(true);
    };
    let (removed, added) = (plan.diff.removed.len(), plan.diff.added.len());
    let message = format!("Keep {removed} sessions to forget beside {added} new ones");
    let written = write_rollouts(lock, &plan.union, stamp, &message, holds_lease)?;
    Ok(written != WriteOutcome::LeaseLost)
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
    memory.rollouts.as_ref().is_none_or(Vec::is_empty) && memory.is_empty()
}

/// What happens to entries that the memory does not have: a database that never wrote them has no record of them.
pub(super) async fn orphans(
    worker: &WorkerContext,
    scope: &Scope,
    lock: &WriterLock<'_>,
) -> Result<Orphans, StoreError> {
    // A process that was killed before it completed the first consolidation left files that are this database's.
    let are_own = lock.has_begun_first_write() || has_completed(worker, scope).await?;
    Ok(match are_own {
        true => Orphans::Remove,
        false => Orphans::Disown,
    })
}

/// Whether a consolidation of the scope was ever completed.
async fn has_completed(worker: &WorkerContext, scope: &Scope) -> Result<bool, StoreError> {
    let job = worker
        .store
        .job(&JobKey::Consolidate(scope.clone()))
        .await?;
    Ok(job.is_some_and(|job| job.done > 0))
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

/// Releases a written folder, shared where several machines have it, and indexes its files. `known` are all observations
/// of the scope, if they are known already.
pub(super) async fn index_files(
    worker: &WorkerContext,
    scope: &Scope,
    (lock, stamp): (WriterLock<'_>, &CommitStamp),
    known: Option<Vec<ObservationId>>,
) -> Result<(), WorkError> {
    match worker.folder_sync() {
        Some(sharing) => {
            sharing.sync_and_reindex(scope, &lock, stamp).await?;
        }
        None => {
            drop(lock);
            let now = worker.clock.now();
            reindex_written(&*worker.store, &worker.root, scope, known, now).await?;
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
    let selected = memory.rollouts.as_ref().map(Vec::len);
    let sessions = selected.unwrap_or(memory.dated.session_count());
    let entries = match entries {
        1 => "1 entry".to_owned(),
        more => format!("{more} entries"),
    };
    let sessions = match sessions {
        1 => "1 session".to_owned(),
        more => format!("{more} sessions"),
    };
    format!("Post {entries} from {sessions}")
}

#[cfg(test)]
#[path = "consolidate_tests.rs"]
mod tests;
