//! Processes due jobs.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{
    ClaimedJob, Failure, FailureClass, Job, JobKey, JobKind, JobStatus, Priority, Scope,
    SelectionDiff, SessionId, StoreError, Tenant, Timestamp,
};
use strum::VariantArray;
use tracing::info;

use super::consolidate::{ConsolidateOutcome, consolidate};
use super::curation::requeue_curation;
use super::extract::{ExtractOutcome, extract};
use super::job_pool::JobPool;
use super::layouts::requeue_other_layouts;
use super::obstacles::requeue_unobstructed;
use super::proposals::ProposalReport;
use super::redact_files::redact_folders;
use super::redo::redo_fallback_results;
use super::rescan::{RescanOutcome, rescan};
use super::settle::settle_projects;
use super::{ENGINE, WorkError, WorkerContext};
use crate::extract::DropCounts;
use crate::files::layout::run_folder;
use crate::files::unwritten_pages::UnwrittenPage;
use crate::hook_events::project_cache::ProjectCache;
use crate::stop::Stop;

/// A job that failed, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedJob {
    /// The job.
    pub job: JobKey,
    /// The reason.
    pub failure: Failure,
}

/// Result of an update.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpdateReport {
    /// Sessions that yielded observations.
    pub taught: BTreeSet<SessionId>,
    /// Sessions that were read, or that failed.
    pub read: BTreeSet<SessionId>,
    /// Observations made; known ones count too.
    pub observations: usize,
    /// Suggestions that extractors dropped, by reason.
    pub dropped: DropCounts,
    /// Events with text that did not fit for extractors.
    pub left_out: u64,
    /// Scopes whose files were consolidated.
    pub scopes: BTreeSet<Scope>,
    /// Those of them whose files have changed.
    pub written: BTreeSet<Scope>,
    /// Pages of these scopes that could not be written.
    pub unwritten: BTreeMap<Scope, Vec<UnwrittenPage>>,
    /// Scopes that were consolidated a short while ago, and rest until then.
    pub resting: BTreeMap<Scope, Timestamp>,
    /// What was selected for the scopes that were consolidated, where a selection is made.
    pub selections: BTreeMap<Scope, SelectionDiff>,
    /// What became of models' proposals for these scopes.
    pub proposals: ProposalReport,
    /// Sessions that were rescanned by newer rules for secrets.
    pub rescanned: BTreeSet<SessionId>,
    /// Stored values in which rescans found a secret.
    pub rewritten: usize,
    /// Jobs that failed.
    pub failed: Vec<FailedJob>,
    /// Whether it was stopped before all was done.
    pub stopped: bool,
}

/// Result of one session in an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionOutcome {
    /// It was read, and yielded observations.
    Taught,
    /// It was read, and yielded nothing.
    Nothing,
    /// It could not be read to its end; earlier observations are kept.
    Failed,
    /// It waits for room under a cap.
    AtCap,
}

impl UpdateReport {
    /// The result of each session: exactly one for each session processed.
    #[must_use]
    pub fn outcomes(&self) -> BTreeMap<&SessionId, SessionOutcome> {
        let read = self
            .read
            .iter()
            .map(|session| (session, SessionOutcome::Nothing));
        let taught = self
            .taught
            .iter()
            .map(|session| (session, SessionOutcome::Taught));
        let mut outcomes: BTreeMap<_, _> = read.chain(taught).collect();
        for failed in &self.failed {
            let JobKey::Extract(session) = &failed.job else {
                continue;
            };
            let outcome = match failed.failure.class {
                FailureClass::AtCap => SessionOutcome::AtCap,
                FailureClass::Outage
                | FailureClass::Content
                | FailureClass::Vanished
                | FailureClass::Cancelled => SessionOutcome::Failed,
            };
            outcomes.insert(session, outcome);
        }
        outcomes
    }

    /// The number of sessions with this outcome.
    #[must_use]
    pub fn count(&self, outcome: SessionOutcome) -> u64 {
        let outcomes = self.outcomes();
        outcomes.values().filter(|of| **of == outcome).count() as u64
    }

    /// Removes earlier failures of `job`, which has succeeded since.
    fn clear_failures(&mut self, job: &JobKey) {
        self.failed.retain(|failed| &failed.job != job);
    }

    /// Jobs that failed, without those that only wait for room under a cap.
    pub fn broken(&self) -> impl Iterator<Item = &FailedJob> {
        let at_cap = |failed: &&FailedJob| failed.failure.class == FailureClass::AtCap;
        self.failed.iter().filter(move |failed| !at_cap(failed))
    }

    /// Adds the report of a later run.
    pub fn add(&mut self, later: Self) {
        for session in &later.read {
            self.clear_failures(&JobKey::Extract(session.clone()));
        }
        for session in &later.rescanned {
            self.clear_failures(&JobKey::Redact(session.clone()));
        }
        for scope in &later.scopes {
            self.clear_failures(&JobKey::Consolidate(scope.clone()));
        }
        self.taught.extend(later.taught);
        self.read.extend(later.read);
        self.observations += later.observations;
        self.dropped.merge(&later.dropped);
        self.left_out += later.left_out;
        self.resting
            .retain(|scope, _| !later.scopes.contains(scope));
        self.resting.extend(later.resting);
        self.selections.extend(later.selections);
        let scopes = later.scopes.iter();
        scopes.for_each(|scope| self.proposals.clear(scope));
        self.proposals.add(later.proposals);
        self.scopes.extend(later.scopes);
        self.written.extend(later.written);
        self.unwritten.extend(later.unwritten);
        self.rescanned.extend(later.rescanned);
        self.rewritten += later.rewritten;
        self.failed.extend(later.failed);
        self.stopped |= later.stopped;
    }
}

/// Listener for the progress of an update.
pub trait WorkProgress: Send + Sync {
    /// One session was read.
    fn session_read(&self, session: &SessionId);
    /// One scope's files were written or were up to date.
    fn scope_written(&self, scope: &Scope);
}

/// Assigns folders to projects, then processes all due jobs: sessions that other rules redacted, then sessions to
/// extract, then the files of the scopes that they concern. Results of the fallback extractor are redone once its cap
/// has room.
///
/// Ends when nothing is due or `stop` is requested.
///
/// # Errors
/// When the store fails. A job that fails is in the report, and holds up no other.
pub async fn work(
    worker: &WorkerContext,
    stop: &Stop,
    progress: &dyn WorkProgress,
) -> Result<UpdateReport, WorkError> {
    let mut report = UpdateReport::default();
    requeue_unobstructed(worker).await?;
    requeue_curation(worker).await?;
    requeue_other_layouts(worker).await?;
    if worker.limits.rescans {
        let (rules, now) = (worker.redactor.revision(), worker.clock.now());
        worker.store.raise_rescans(rules, now).await?;
    }
    if !stop.is_requested() {
        settle_projects(worker).await?;
    }
    while !stop.is_requested() {
        // Before an extractor reads what the rules hide by now.
        let rescans = rescan_due(worker, stop, &mut report).await?;
        if rescans > 0 {
            // A session that was moved has folders of its own by now.
            settle_projects(worker).await?;
        }
        redo_fallback_results(worker).await?;
        let sessions = extract_due(worker, stop, progress, &mut report).await?;
        let scopes = consolidate_due(worker, stop, progress, &mut report).await?;
        if rescans + sessions + scopes == 0 {
            break;
        }
    }
    let tenants = tenants_of(worker, &report);
    if worker.limits.rescans && !stop.is_requested() {
        redact_folders(worker, &tenants, stop).await?;
        // Readers in the way are gone at the next run.
        let _ = worker.store.erase_replaced().await?;
    }
    report.stopped = stop.is_requested();
    for tenant in &tenants {
        let known = ProjectCache::load(&*worker.store, tenant).await?;
        // Hooks work without it until it is written again.
        let _ = known.write(&run_folder(&worker.root, tenant));
    }
    Ok(report)
}

/// The tenants whose memory a run concerned, and the worker's own.
fn tenants_of(worker: &WorkerContext, report: &UpdateReport) -> BTreeSet<Tenant> {
    let scopes = report.scopes.iter().map(|scope| &scope.tenant);
    let sessions = report.rescanned.iter().map(|session| &session.tenant);
    let all = scopes.chain(sessions).chain([&worker.tenant]);
    all.cloned().collect()
}

/// Writes the files of all due scopes, and reads no session. It is short enough for a caller that waits.
///
/// # Errors
/// When the store fails. A job that fails is in the report, and holds up no other.
pub async fn write_due(
    worker: &WorkerContext,
    stop: &Stop,
    progress: &dyn WorkProgress,
) -> Result<UpdateReport, WorkError> {
    let mut report = UpdateReport::default();
    requeue_unobstructed(worker).await?;
    consolidate_due(worker, stop, progress, &mut report).await?;
    report.stopped = stop.is_requested();
    Ok(report)
}

/// Which waits [`retry_waiting`] ends: too long ones of any tenant, and of the worker's own tenant those
/// that the variant names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitFilter {
    /// Waits beyond the configured bound: an engine with a longer one parked the job.
    Overlong,
    /// Also waits for room under a cap: caps may have been raised since, and a cap on a run means that the
    /// next run continues.
    AtCaps,
    /// Also waits for an outage to end: a person requests the work now.
    Outages,
}

impl WaitFilter {
    pub(super) fn includes(self, job: &Job, worker: &WorkerContext) -> bool {
        let ours = job.key.tenant() == &worker.tenant;
        let chosen = match self {
            Self::Overlong => false,
            Self::AtCaps => job.is_at_cap(),
            Self::Outages => job.is_at_cap() || (job.outage && job.is_ahead()),
        };
        job.is_overlong_wait(worker.clock.now(), &worker.limits.retry) || (ours && chosen)
    }
}

/// Makes the selected waiting jobs due, and returns their number. A job whose provider is still out, or
/// that has no room, waits again, at no cost.
///
/// # Errors
/// When the store fails.
pub async fn retry_waiting(worker: &WorkerContext, waits: WaitFilter) -> Result<usize, StoreError> {
    let mut retried = 0;
    for &kind in JobKind::VARIANTS {
        let jobs = worker.store.jobs_of_all_tenants(kind).await?.into_iter();
        for job in jobs.filter(|job| waits.includes(job, worker)) {
            retried += usize::from(worker.store.retry(&job.key, worker.clock.now()).await?);
        }
    }
    if waits == WaitFilter::Outages && worker.consolidation_model.is_some() {
        hasten_consolidations(worker).await?;
    }
    Ok(retried)
}

/// Has the jobs done again of which an older engine gave up a part, and returns how many gaps that takes out. What fails
/// again is a gap of this engine, so that each version tries once; what a person gave up stays given up.
///
/// # Errors
/// When the store fails.
pub async fn revive_outdated(worker: &WorkerContext) -> Result<usize, StoreError> {
    let now = worker.clock.now();
    let revived = worker.store.revive_gaps(None, ENGINE, now).await?;
    if revived > 0 {
        info!(gaps = revived, outcome = "taken_up_again");
    }
    Ok(revived)
}

/// Makes the worker's scopes due whose model is to be asked again later.
async fn hasten_consolidations(worker: &WorkerContext) -> Result<(), StoreError> {
    let now = worker.clock.now();
    let jobs = worker.store.jobs_of_all_tenants(JobKind::Consolidate);
    let ours = jobs.await?.into_iter();
    for job in ours.filter(|job| job.key.tenant() == &worker.tenant) {
        if let JobStatus::Resting { .. } = job.status(now) {
            worker.store.hasten(&job.key, now, Priority::Normal).await?;
        }
    }
    Ok(())
}

async fn rescan_due(
    worker: &WorkerContext,
    stop: &Stop,
    report: &mut UpdateReport,
) -> Result<usize, WorkError> {
    if !worker.limits.rescans {
        return Ok(0);
    }
    let mut pool = JobPool::new(worker, JobKind::Redact);
    let work = move |claimed: ClaimedJob| async move {
        let outcome = rescan(worker, &claimed).await;
        (claimed, outcome.map_err(WorkError::from))
    };
    let mut done = 0;
    while let Some((claimed, outcome)) = pool.next(&work, stop).await? {
        let job = claimed.token.job().clone();
        let JobKey::Redact(session) = &job else {
            continue;
        };
        done += 1;
        match outcome {
            RescanOutcome::Done(rewritten) => {
                report.clear_failures(&job);
                report.rescanned.insert(session.clone());
                report.rewritten += rewritten;
            }
            RescanOutcome::Failed(failure) => report.failed.push(FailedJob { job, failure }),
            RescanOutcome::LeaseLost => {}
        }
    }
    Ok(done)
}

async fn extract_due(
    worker: &WorkerContext,
    stop: &Stop,
    progress: &dyn WorkProgress,
    report: &mut UpdateReport,
) -> Result<usize, WorkError> {
    let mut pool = JobPool::new(worker, JobKind::Extract);
    let work = move |claimed: ClaimedJob| async move {
        let outcome = extract(worker, &claimed).await;
        (claimed, outcome.map_err(WorkError::from))
    };
    let mut done = 0;
    while let Some((claimed, outcome)) = pool.next(&work, stop).await? {
        let job = claimed.token.job().clone();
        let JobKey::Extract(session) = &job else {
            continue;
        };
        done += 1;
        progress.session_read(session);
        match outcome {
            ExtractOutcome::Done(read) => {
                report.read.insert(session.clone());
                report.clear_failures(&job);
                if read.observations > 0 {
                    report.taught.insert(session.clone());
                }
                report.observations += read.observations;
                report.dropped.merge(&read.dropped);
                report.left_out += u64::from(read.left_out);
            }
            ExtractOutcome::Failed(failure) => {
                report.read.insert(session.clone());
                report.failed.push(FailedJob { job, failure });
            }
            ExtractOutcome::LeaseLost => {}
        }
    }
    Ok(done)
}

async fn consolidate_due(
    worker: &WorkerContext,
    stop: &Stop,
    progress: &dyn WorkProgress,
    report: &mut UpdateReport,
) -> Result<usize, WorkError> {
    let mut pool = JobPool::new(worker, JobKind::Consolidate);
    let work = move |claimed: ClaimedJob| async move {
        let outcome = match claimed.token.job() {
            JobKey::Consolidate(scope) => Box::pin(consolidate(worker, &claimed, scope)).await,
            JobKey::Extract(_) | JobKey::Redact(_) => Ok(ConsolidateOutcome::LeaseLost.into()),
        };
        (claimed, outcome)
    };
    let mut done = 0;
    while let Some((claimed, consolidated)) = pool.next(&work, stop).await? {
        let job = claimed.token.job().clone();
        let JobKey::Consolidate(scope) = &job else {
            continue;
        };
        done += 1;
        let is_written = matches!(consolidated.outcome, ConsolidateOutcome::Written(_));
        match consolidated.outcome {
            ConsolidateOutcome::Written(unwritten) | ConsolidateOutcome::UpToDate(unwritten) => {
                if is_written {
                    report.written.insert(scope.clone());
                }
                report.clear_failures(&job);
                report.scopes.insert(scope.clone());
                report.unwritten.insert(scope.clone(), unwritten);
                report.resting.remove(scope);
                report.proposals.clear(scope);
                report.proposals.add(consolidated.proposed);
                let selection = consolidated.plan.map(|plan| (scope.clone(), plan.diff));
                report.selections.extend(selection);
                progress.scope_written(scope);
            }
            ConsolidateOutcome::Failed(failure) => report.failed.push(FailedJob { job, failure }),
            ConsolidateOutcome::Resting(until) => {
                report.resting.insert(scope.clone(), until);
            }
            ConsolidateOutcome::LeaseLost => {}
        }
    }
    Ok(done)
}
