//! Processing what is due.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{
    Claimed, Failure, FailureClass, Job, JobKey, JobKind, Scope, SessionId, StoreError, Tenant,
};

use super::consolidate::{Consolidating, consolidate};
use super::crew::Crew;
use super::extract::{Extracting, extract};
use super::mended::make_mended_due;
use super::redo::redo_stood_in;
use super::settle::settle_projects;
use super::{WorkError, Workshop};
use crate::extract::Dropped;
use crate::files::layout::run_folder;
use crate::files::unwritten::Unwritten;
use crate::notices::whereabouts::Whereabouts;
use crate::stop::Stop;

/// A job that did not work out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// Which job.
    pub job: JobKey,
    /// Why.
    pub failure: Failure,
}

/// What an update did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpdateReport {
    /// Sessions that taught something.
    pub taught: BTreeSet<SessionId>,
    /// Sessions that were read, or could not be.
    pub read: BTreeSet<SessionId>,
    /// Observations made; those that were known already count too.
    pub observations: usize,
    /// What extractors were told and did not believe.
    pub dropped: Dropped,
    /// Events with words that extractors had no room for.
    pub left_out: u64,
    /// Scopes whose files were looked at.
    pub scopes: BTreeSet<Scope>,
    /// Pages of scopes whose files were looked at that could not be written.
    pub unwritten: BTreeMap<Scope, Vec<Unwritten>>,
    /// Jobs that did not work out.
    pub failed: Vec<Failed>,
    /// It was asked to stop before all was done.
    pub stopped: bool,
}

/// What became of one session in an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionOutcome {
    /// It was read, and something was worth keeping.
    Taught,
    /// It was read, and nothing was worth keeping.
    Nothing,
    /// It could not be read to its end; whatever it taught before that is kept.
    Failed,
    /// It waits for room under a cap.
    AtCap,
}

impl UpdateReport {
    /// What became of each session: exactly one outcome for each that was looked at.
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

    /// Forgets earlier failures of `job`, which has worked out since.
    fn recover(&mut self, job: &JobKey) {
        self.failed.retain(|failed| &failed.job != job);
    }

    /// Jobs that failed, without those that only wait for room under a cap.
    pub fn broken(&self) -> impl Iterator<Item = &Failed> {
        let at_cap = |failed: &&Failed| failed.failure.class == FailureClass::AtCap;
        self.failed.iter().filter(move |failed| !at_cap(failed))
    }

    /// What was done later, too.
    pub fn add(&mut self, later: Self) {
        for session in &later.read {
            self.recover(&JobKey::Extract(session.clone()));
        }
        for scope in &later.scopes {
            self.recover(&JobKey::Consolidate(scope.clone()));
        }
        self.taught.extend(later.taught);
        self.read.extend(later.read);
        self.observations += later.observations;
        self.dropped.join(&later.dropped);
        self.left_out += later.left_out;
        self.scopes.extend(later.scopes);
        self.unwritten.extend(later.unwritten);
        self.failed.extend(later.failed);
        self.stopped |= later.stopped;
    }
}

/// Told what happens while it happens.
pub trait Progress: Send + Sync {
    /// One session was read.
    fn session_read(&self, session: &SessionId);
    /// One scope's files were written or found right.
    fn scope_written(&self, scope: &Scope);
}

/// Settles which folders belong together, then processes all that is due now: sessions first, then the files of the scopes that they concern. What a
/// stand-in did is due again once the cap that it stood in at has room.
/// Ends when nothing is due or `stop` is asked.
///
/// # Errors
/// When the store fails. A job that fails is in the report, and holds up no other.
pub async fn work(
    shop: &Workshop,
    stop: &Stop,
    progress: &dyn Progress,
) -> Result<UpdateReport, WorkError> {
    let mut report = UpdateReport::default();
    make_mended_due(shop).await?;
    if !stop.asked() {
        settle_projects(shop).await?;
    }
    while !stop.asked() {
        redo_stood_in(shop).await?;
        let sessions = extract_due(shop, stop, progress, &mut report).await?;
        let scopes = consolidate_due(shop, stop, progress, &mut report).await?;
        if sessions + scopes == 0 {
            break;
        }
    }
    report.stopped = stop.asked();
    let scopes = report.scopes.iter().map(|scope| &scope.tenant);
    let tenants: BTreeSet<&Tenant> = scopes.chain([&shop.tenant]).collect();
    for tenant in tenants {
        let known = Whereabouts::of(&*shop.store, tenant).await?;
        // Hooks do without it until it is written again.
        let _ = known.write(&run_folder(&shop.root, tenant));
    }
    Ok(report)
}

/// Writes the files of all scopes that are due, and reads no session: what somebody waits for may
/// ask for this much.
///
/// # Errors
/// When the store fails. A job that fails is in the report, and holds up no other.
pub async fn write_due(
    shop: &Workshop,
    stop: &Stop,
    progress: &dyn Progress,
) -> Result<UpdateReport, WorkError> {
    let mut report = UpdateReport::default();
    make_mended_due(shop).await?;
    consolidate_due(shop, stop, progress, &mut report).await?;
    report.stopped = stop.asked();
    Ok(report)
}

/// Which waits [`retry_waiting`] ends: those of any tenant that are too long, and of the worker's
/// own tenant those that the variant names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// Waits beyond the bound that settings give: an engine with a longer one parked the job.
    Overlong,
    /// Also waits for room under a cap: caps may have been raised since, and a cap on a run
    /// means the next run to go on.
    AtCaps,
    /// Also waits for an outage to end: a person asks for the work now.
    Outages,
}

impl Waits {
    pub(super) fn includes(self, job: &Job, shop: &Workshop) -> bool {
        let ours = job.key.tenant() == &shop.tenant;
        let chosen = match self {
            Self::Overlong => false,
            Self::AtCaps => job.is_at_cap(),
            Self::Outages => job.is_at_cap() || (job.outage && job.is_ahead()),
        };
        job.is_overlong_wait(shop.clock.now(), &shop.limits.retry) || (ours && chosen)
    }
}

/// Makes due what waits so, and returns the number of jobs. What is still out, or has no room, waits
/// again, at no cost.
///
/// # Errors
/// When the store fails.
pub async fn retry_waiting(shop: &Workshop, waits: Waits) -> Result<usize, StoreError> {
    let mut retried = 0;
    for kind in JobKind::ALL {
        let jobs = shop.store.jobs(kind).await?.into_iter();
        for job in jobs.filter(|job| waits.includes(job, shop)) {
            retried += usize::from(shop.store.retry(&job.key, shop.clock.now()).await?);
        }
    }
    Ok(retried)
}

async fn extract_due(
    shop: &Workshop,
    stop: &Stop,
    progress: &dyn Progress,
    report: &mut UpdateReport,
) -> Result<usize, WorkError> {
    let mut crew = Crew::new(shop, JobKind::Extract);
    let work = move |claimed: Claimed| async move {
        let outcome = extract(shop, &claimed).await;
        (claimed, outcome.map_err(WorkError::from))
    };
    let mut done = 0;
    while let Some((claimed, outcome)) = crew.next(&work, stop).await? {
        let job = claimed.token.job().clone();
        let JobKey::Extract(session) = &job else {
            continue;
        };
        done += 1;
        progress.session_read(session);
        match outcome {
            Extracting::Read(read) => {
                report.read.insert(session.clone());
                report.recover(&job);
                if read.observations > 0 {
                    report.taught.insert(session.clone());
                }
                report.observations += read.observations;
                report.dropped.join(&read.dropped);
                report.left_out += u64::from(read.left_out);
            }
            Extracting::Failed(failure) => {
                report.read.insert(session.clone());
                report.failed.push(Failed { job, failure });
            }
            Extracting::Lost => {}
        }
    }
    Ok(done)
}

async fn consolidate_due(
    shop: &Workshop,
    stop: &Stop,
    progress: &dyn Progress,
    report: &mut UpdateReport,
) -> Result<usize, WorkError> {
    let mut crew = Crew::new(shop, JobKind::Consolidate);
    let work = move |claimed: Claimed| async move {
        let outcome = match claimed.token.job() {
            JobKey::Consolidate(scope) => consolidate(shop, &claimed, scope).await,
            JobKey::Extract(_) => Ok(Consolidating::Lost),
        };
        (claimed, outcome)
    };
    let mut done = 0;
    while let Some((claimed, outcome)) = crew.next(&work, stop).await? {
        let job = claimed.token.job().clone();
        let JobKey::Consolidate(scope) = &job else {
            continue;
        };
        done += 1;
        match outcome {
            Consolidating::Written(unwritten) | Consolidating::Right(unwritten) => {
                report.recover(&job);
                report.scopes.insert(scope.clone());
                report.unwritten.insert(scope.clone(), unwritten);
                progress.scope_written(scope);
            }
            Consolidating::Failed(failure) => report.failed.push(Failed { job, failure }),
            Consolidating::Lost => {}
        }
    }
    Ok(done)
}
