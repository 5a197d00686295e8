//! Processing what is due.

use std::collections::BTreeSet;

use daybook_domain::{
    Claimed, Failure, FailureClass, Job, JobKey, JobKind, Scope, SessionId, StoreError,
};

use super::consolidate::{Consolidating, consolidate};
use super::crew::Crew;
use super::extract::{Extracting, extract};
use super::redo::redo_stood_in;
use super::{WorkError, Workshop};
use crate::extract::Dropped;
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
    /// Sessions that were read.
    pub read: BTreeSet<SessionId>,
    /// Observations made; those that were known already count too.
    pub observations: usize,
    /// What extractors were told and did not believe.
    pub dropped: Dropped,
    /// Events with words that extractors had no room for.
    pub left_out: u64,
    /// Scopes whose files were looked at.
    pub scopes: BTreeSet<Scope>,
    /// Jobs that did not work out.
    pub failed: Vec<Failed>,
    /// It was asked to stop before all was done.
    pub stopped: bool,
}

impl UpdateReport {
    /// Jobs that failed, without those that only wait for room under a cap.
    pub fn broken(&self) -> impl Iterator<Item = &Failed> {
        let at_cap = |failed: &&Failed| failed.failure.class == FailureClass::AtCap;
        self.failed.iter().filter(move |failed| !at_cap(failed))
    }

    /// What was done later, too.
    pub fn add(&mut self, later: Self) {
        self.taught.extend(later.taught);
        self.read.extend(later.read);
        self.observations += later.observations;
        self.dropped.join(&later.dropped);
        self.left_out += later.left_out;
        self.scopes.extend(later.scopes);
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

/// Processes all that is due now: sessions first, then the files of the scopes that they concern. What a
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
    while !stop.asked() {
        redo_stood_in(shop).await?;
        let sessions = extract_due(shop, stop, progress, &mut report).await?;
        let scopes = consolidate_due(shop, stop, progress, &mut report).await?;
        if sessions + scopes == 0 {
            break;
        }
    }
    report.stopped = stop.asked();
    // Hooks do without it until somebody writes it again.
    let _ = Whereabouts::of(&*shop.store, &shop.tenant)
        .await?
        .write(&shop.root);
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
    consolidate_due(shop, stop, progress, &mut report).await?;
    report.stopped = stop.asked();
    Ok(report)
}

/// Makes due what waits for room under a cap, and says how much that is: caps may have been raised since,
/// and a cap on a run means the next one to go on. What still has no room waits again, at no cost.
///
/// # Errors
/// When the store fails.
pub async fn retry_at_caps(shop: &Workshop) -> Result<usize, StoreError> {
    let jobs = shop.store.jobs(JobKind::Extract).await?.into_iter();
    let ours = |job: &Job| job.key.tenant() == &shop.tenant && job.is_at_cap();
    let mut retried = 0;
    for job in jobs.filter(ours) {
        retried += usize::from(shop.store.retry(&job.key, shop.clock.now()).await?);
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
        report.read.insert(session.clone());
        progress.session_read(session);
        match outcome {
            Extracting::Read(read) => {
                if read.observations > 0 {
                    report.taught.insert(session.clone());
                }
                report.observations += read.observations;
                report.dropped.join(&read.dropped);
                report.left_out += u64::from(read.left_out);
            }
            Extracting::Failed(failure) => report.failed.push(Failed { job, failure }),
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
            Consolidating::Written | Consolidating::Right => {
                report.scopes.insert(scope.clone());
                progress.scope_written(scope);
            }
            Consolidating::Failed(failure) => report.failed.push(Failed { job, failure }),
            Consolidating::Lost => {}
        }
    }
    Ok(done)
}
