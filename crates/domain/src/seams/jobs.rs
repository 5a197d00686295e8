//! Background work: a trait for workers, one for those who steer, one for those who look.

use std::time::Duration;

use async_trait::async_trait;

use crate::claim::Claim;
use crate::error::StoreError;
use crate::failure::{FailedTry, Gap};
use crate::ids::{JobKey, JobKind, LeaseToken, SessionId, Tenant};
use crate::job::{ClaimedJob, FailOutcome, FinishOutcome, Job};
use crate::page::{Page, PageRequest};
use crate::session_group::SessionGroup;
use crate::tally::Tally;
use crate::time::Timestamp;
use crate::trigger::{DueMark, Priority};

/// The place of a gap in a listing: its job, and its first position.
pub type GapKey = (JobKey, u64);

/// The calls of workers: claims jobs of all tenants, and ends what was claimed.
///
/// Rows change only by the transitions of [`Job`].
#[async_trait]
pub trait JobQueue: Send + Sync {
    /// Grants due jobs of a kind in turn, see [`crate::claim`]. No job is granted twice.
    async fn claim(&self, claim: Claim<'_>) -> Result<Vec<ClaimedJob>, StoreError>;

    /// Extends a lease; false when it is lost.
    async fn heartbeat(
        &self,
        token: &LeaseToken,
        now: Timestamp,
        lease: Duration,
    ) -> Result<bool, StoreError>;

    /// Gives a job back unfinished.
    async fn release(&self, token: &LeaseToken, now: Timestamp) -> Result<bool, StoreError>;

    /// Gives a job back until `until`, or until it is marked again; with [`Timestamp::MAX`], until then alone.
    async fn set_aside(
        &self,
        token: &LeaseToken,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Ends a job that has no results to store.
    async fn finish(
        &self,
        token: &LeaseToken,
        upto: u64,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError>;

    /// Ends a failed claim; records a gap when the job gave one up.
    async fn fail(
        &self,
        token: &LeaseToken,
        failed: &FailedTry,
        now: Timestamp,
    ) -> Result<FailOutcome, StoreError>;

    /// Frees the jobs of a holder that is known to be gone, and returns how many.
    async fn abandon(&self, holder: &str) -> Result<usize, StoreError>;

    /// Holders of unended leases.
    async fn holders(&self) -> Result<Vec<String>, StoreError>;
}

/// What workers and operators see of the jobs of all tenants: what waits, and when to look again.
#[async_trait]
pub trait JobWatch: Send + Sync {
    /// Jobs of a kind, of all tenants, by key.
    async fn jobs_of_all_tenants(&self, kind: JobKind) -> Result<Vec<Job>, StoreError>;

    /// Gaps of all tenants, by job and position.
    async fn gaps_of_all_tenants(&self) -> Result<Vec<Gap>, StoreError>;

    /// What has become of jobs of all tenants since the store was made, by kind and word. Counts of 0 are
    /// left out.
    async fn tallies(&self) -> Result<Vec<Tally>, StoreError>;

    /// When the next job of a kind falls due.
    async fn next_due(&self, kind: JobKind) -> Result<Option<Timestamp>, StoreError>;

    /// A number that differs whenever something may have changed in between, by whatever process.
    async fn version(&self) -> Result<u64, StoreError>;

    /// Returns when the version is no longer `seen`, at the latest after `longest`. May return early.
    async fn until_changed(&self, seen: u64, longest: Duration) -> Result<(), StoreError>;
}

/// Changes when, how urgently and whether a job runs.
///
/// Rows change only by the transitions of [`Job`].
#[async_trait]
pub trait JobControl: Send + Sync {
    /// Raises a job's input, creating the job when it is new.
    async fn mark(&self, key: &JobKey, mark: DueMark) -> Result<(), StoreError>;

    /// Makes a job's waiting work due now, if it has any.
    async fn hasten(
        &self,
        key: &JobKey,
        now: Timestamp,
        priority: Priority,
    ) -> Result<(), StoreError>;

    /// Raises the priority of sessions that wait: up to `most` others of the agent and the user of
    /// `session`, those waiting longest first. Leaves when they are due. Says how many wait raised.
    async fn reprioritize(
        &self,
        session: &SessionId,
        user: Option<&str>,
        most: usize,
    ) -> Result<usize, StoreError>;

    /// Gives up all that waits of a job; records it as a gap. `None` when nothing waits.
    async fn cancel(
        &self,
        key: &JobKey,
        now: Timestamp,
        engine: &str,
    ) -> Result<Option<Gap>, StoreError>;

    /// Makes a job's waiting work due now whatever failed before, with all its tries; false when
    /// nothing waits.
    async fn retry(&self, key: &JobKey, now: Timestamp) -> Result<bool, StoreError>;

    /// Begins a new generation of a job. Its gaps are forgotten: what still fails is found again.
    async fn redo(&self, key: &JobKey, now: Timestamp) -> Result<(), StoreError>;

    /// Takes gaps out and has their jobs redone: all of `job`, or all of each job that `engine` takes up again by
    /// itself ([`crate::failure::jobs_to_revive`]). Says how many.
    async fn revive_gaps(
        &self,
        job: Option<&JobKey>,
        engine: &str,
        now: Timestamp,
    ) -> Result<usize, StoreError>;
}

/// Reads the jobs and gaps of one tenant.
#[async_trait]
pub trait JobListing: Send + Sync {
    /// The job, if it exists.
    async fn job(&self, key: &JobKey) -> Result<Option<Job>, StoreError>;

    /// A tenant's jobs of a kind, by key.
    async fn jobs(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<JobKey>,
    ) -> Result<Page<Job, JobKey>, StoreError>;

    /// Those of [`JobListing::jobs`] whose input is ahead, by key. Takes no longer for jobs that are done.
    async fn open_jobs(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<JobKey>,
    ) -> Result<Page<Job, JobKey>, StoreError>;

    /// A tenant's known sessions, counted in groups by what the rules of eligibility ask for and by how far they
    /// were learned from; see [`SessionGroup::rested`] for `rested_before`. In no order.
    async fn session_groups(
        &self,
        tenant: &Tenant,
        rested_before: Timestamp,
    ) -> Result<Vec<SessionGroup>, StoreError>;

    /// Gaps of a tenant's jobs of a kind, by job and position.
    async fn gaps(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<GapKey>,
    ) -> Result<Page<Gap, GapKey>, StoreError>;

    /// The gaps of one job, by position.
    async fn gaps_of(&self, job: &JobKey) -> Result<Vec<Gap>, StoreError>;
}
