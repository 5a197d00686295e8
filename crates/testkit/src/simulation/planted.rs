//! Mistakes that a store can be told to make, to show that a simulation notices them.
//!
//! Each is a mistake that memories really had, or that a store's author could make without any test
//! of a single call noticing.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use daybook_domain::seams::{Append, Appended, Store};
use daybook_domain::trigger::Patience;
use daybook_domain::{
    Claim, Claimed, Extraction, FinishOutcome, Job, JobKey, LeaseToken, Mark, StoreError, Timestamp,
};

use super::gate::Gate;

/// A mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// A finish advances done to the last event there is, not to the last that was read: what came in
    /// between is never extracted.
    WatermarkReadLate,
    /// A finish does not look whose lease it is: a worker that slept too long still stores.
    TokenNotChecked,
    /// A finish clears the mark though input has moved on: what came in between waits for good.
    MarkCleared,
    /// A claim takes leases for lapsed that are not: two workers do one job.
    GrantedTwice,
    /// An append makes its session due in a second transaction: lost when the process ends in between.
    MarkedSeparately,
}

impl Bug {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::WatermarkReadLate,
        Self::TokenNotChecked,
        Self::MarkCleared,
        Self::GrantedTwice,
        Self::MarkedSeparately,
    ];
}

/// A mistake, and what has come of it so far.
#[derive(Debug)]
pub(super) struct Planted {
    bug: Bug,
    /// How far the marks of jobs were cleared.
    cleared: Mutex<BTreeMap<JobKey, u64>>,
}

impl Planted {
    pub(super) fn new(bug: Bug) -> Self {
        Self {
            bug,
            cleared: Mutex::default(),
        }
    }

    pub(super) async fn append(
        &self,
        store: &dyn Store,
        gate: &Gate,
        append: &Append,
    ) -> Result<Appended, StoreError> {
        if self.bug != Bug::MarkedSeparately {
            return store.append(append).await;
        }
        let never = Duration::from_secs(1 << 32);
        let unmarked = Append {
            patience: Patience {
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
            let mark = Mark::activity(appended.last.0, append.now, append.patience);
            store.mark(&key, mark).await?;
        }
        Ok(appended)
    }

    pub(super) async fn claim(
        &self,
        store: &dyn Store,
        claim: Claim<'_>,
    ) -> Result<Vec<Claimed>, StoreError> {
        if self.bug == Bug::GrantedTwice {
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
            Bug::WatermarkReadLate => {
                store.switch_memory(id, false).await?;
                store.switch_memory(id, true).await?;
                Ok(FinishOutcome::Complete)
            }
            Bug::MarkCleared => {
                self.cleared().insert(token.job().clone(), last);
                Ok(FinishOutcome::Complete)
            }
            Bug::TokenNotChecked | Bug::GrantedTwice | Bug::MarkedSeparately => Ok(outcome),
        }
    }

    /// The job as its row would look.
    pub(super) fn seen(&self, job: Job) -> Job {
        match self.is_cleared(&job.key, job.input) {
            true => Job {
                input: job.done,
                ..job
            },
            false => job,
        }
    }

    /// The token of whoever holds the job, if anybody does.
    async fn passed_off(
        &self,
        store: &dyn Store,
        token: &LeaseToken,
        now: Timestamp,
    ) -> Result<(LeaseToken, Timestamp), StoreError> {
        let unchanged = (token.clone(), now);
        if self.bug != Bug::TokenNotChecked {
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
