//! Bugs that a simulation plants in a store, to show that its checks notice them.
//!
//! Each is a bug that memory systems really had, or that a store's author could make without any test
//! of a single call noticing it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use daybook_domain::eligibility::Switches;
use daybook_domain::seams::{Append, AppendOutcome, Store};
use daybook_domain::trigger::DueLimits;
use daybook_domain::{
    Claim, ClaimedJob, DueMark, Extraction, FinishOutcome, Job, JobKey, LeaseToken, StoreError,
    Timestamp,
};

use super::gate::CallGate;

/// A bug that can be planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedBug {
    /// A finish advances done to the newest event, not to the last one that was read: events that arrived in
    /// between are never extracted.
    WatermarkReadLate,
    /// A finish does not check the lease's token: a worker that slept too long still stores.
    TokenNotChecked,
    /// A finish clears the mark though input has advanced: events that arrived in between wait forever.
    MarkCleared,
    /// A claim treats live leases as lapsed: two workers do one job.
    GrantedTwice,
    /// An append makes its session due in a second transaction: lost when the process ends in between.
    MarkedSeparately,
}

/// A planted bug, and its state so far.
#[derive(Debug)]
pub(super) struct ActiveBug {
    bug: PlantedBug,
    /// The input up to which each job's mark was cleared.
    cleared: Mutex<BTreeMap<JobKey, u64>>,
}

impl ActiveBug {
    pub(super) fn new(bug: PlantedBug) -> Self {
        Self {
            bug,
            cleared: Mutex::default(),
        }
    }

    pub(super) async fn append(
        &self,
        store: &dyn Store,
        gate: &CallGate,
        append: &Append,
    ) -> Result<AppendOutcome, StoreError> {
        if self.bug != PlantedBug::MarkedSeparately {
            return store.append(append).await;
        }
        let never = Duration::from_secs(1 << 32);
        let unmarked = Append {
            patience: DueLimits {
                idle: never,
                dirty: never,
                turns: u32::MAX,
            },
            ..append.clone()
        };
        let appended = store.append(&unmarked).await?;
        gate.pause().await;
        let key = JobKey::Extract(append.session.id.clone());
        if store.job(&key).await?.is_some() {
            let mark = DueMark::activity(appended.last.0, append.now, append.patience);
            store.mark(&key, mark).await?;
        }
        Ok(appended)
    }

    pub(super) async fn claim(
        &self,
        store: &dyn Store,
        claim: Claim<'_>,
    ) -> Result<Vec<ClaimedJob>, StoreError> {
        if self.bug == PlantedBug::GrantedTwice {
            for holder in store.holders().await? {
                store.abandon(&holder).await?;
            }
        }
        let mut granted = Vec::new();
        for claimed in store.claim(claim).await? {
            if self.is_cleared(claimed.token.job(), claimed.upto) {
                store.release(&claimed.token, claim.now).await?;
            } else {
                granted.push(claimed);
            }
        }
        Ok(granted)
    }

    pub(super) async fn finish(
        &self,
        store: &dyn Store,
        token: &LeaseToken,
        upto: u64,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let (token, now) = self.passed_off(store, token, now).await?;
        store.finish(&token, upto, now).await
    }

    pub(super) async fn finish_extraction(
        &self,
        store: &dyn Store,
        token: &LeaseToken,
        extraction: &Extraction,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let (token, now) = self.passed_off(store, token, now).await?;
        let job = store.job(token.job()).await?;
        let is_searched = job.is_some_and(|job| job.span.is_some());
        let outcome = store.finish_extraction(&token, extraction, now).await?;
        let id = &extraction.session;
        let last = store.session(id).await?.map_or(0, |known| known.events.0);
        if outcome != FinishOutcome::StillDue || is_searched {
            return Ok(outcome);
        }
        match self.bug {
            PlantedBug::WatermarkReadLate => {
                for on in [false, true] {
                    let switches = Switches::default();
                    store.switch_memory(id, on, &switches, now).await?;
                }
                Ok(FinishOutcome::Complete)
            }
            PlantedBug::MarkCleared => {
                self.cleared().insert(token.job().clone(), last);
                Ok(FinishOutcome::Complete)
            }
            PlantedBug::TokenNotChecked
            | PlantedBug::GrantedTwice
            | PlantedBug::MarkedSeparately => Ok(outcome),
        }
    }

    /// The job as a store with the bug would show it.
    pub(super) fn visible_job(&self, job: Job) -> Job {
        match self.is_cleared(&job.key, job.input) {
            true => Job {
                input: job.done,
                ..job
            },
            false => job,
        }
    }

    /// With `TokenNotChecked` planted, the token of the job's present lease; otherwise `token` itself.
    async fn passed_off(
        &self,
        store: &dyn Store,
        token: &LeaseToken,
        now: Timestamp,
    ) -> Result<(LeaseToken, Timestamp), StoreError> {
        let unchanged = (token.clone(), now);
        if self.bug != PlantedBug::TokenNotChecked {
            return Ok(unchanged);
        }
        let job = store.job(token.job()).await?;
        Ok(job.and_then(|job| job.lease).map_or(unchanged, |lease| {
            let token = LeaseToken::issue(token.job().clone(), lease.generation);
            (token, now.min(Timestamp(lease.until.0 - 1)))
        }))
    }

    fn is_cleared(&self, key: &JobKey, input: u64) -> bool {
        self.cleared().get(key).is_some_and(|&upto| input <= upto)
    }

    fn cleared(&self) -> std::sync::MutexGuard<'_, BTreeMap<JobKey, u64>> {
        self.cleared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
