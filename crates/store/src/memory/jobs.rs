//! Background work: each call applies one transition of [`Job`] under the one lock.

use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::seams::JobStore;
use daybook_domain::{
    Claimed, FailOutcome, Failure, FinishOutcome, Gap, Job, JobKey, JobKind, LeaseToken, Mark,
    Priority, StoreError, Timestamp,
};

use super::{MemoryStore, State};

#[async_trait]
impl JobStore for MemoryStore {
    async fn mark(&self, key: &JobKey, mark: Mark) -> Result<(), StoreError> {
        self.state().mark(key, mark);
        Ok(())
    }

    async fn hasten(
        &self,
        key: &JobKey,
        now: Timestamp,
        priority: Priority,
    ) -> Result<(), StoreError> {
        if let Some(job) = self.state().jobs.get_mut(key) {
            job.hasten(now, priority);
        }
        Ok(())
    }

    async fn claim(
        &self,
        kind: JobKind,
        holder: &str,
        now: Timestamp,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<Claimed>, StoreError> {
        let mut state = self.state();
        let mut due: Vec<&mut Job> = state
            .jobs
            .values_mut()
            .filter(|job| job.key.kind() == kind && job.due_at().is_some_and(|due| due <= now))
            .collect();
        let order = |job: &Job| (std::cmp::Reverse(job.priority), job.due_at());
        due.sort_by(|a, b| {
            order(a)
                .cmp(&order(b))
                .then_with(|| a.key.parts().cmp(&b.key.parts()))
        });
        let claims = due.into_iter().take(limit);
        Ok(claims
            .filter_map(|job| job.claim(holder, now, lease))
            .collect())
    }

    async fn heartbeat(
        &self,
        token: &LeaseToken,
        now: Timestamp,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        let mut state = self.state();
        let job = state.jobs.get_mut(token.job());
        Ok(job.is_some_and(|job| job.heartbeat(token, now, lease)))
    }

    async fn release(&self, token: &LeaseToken, now: Timestamp) -> Result<bool, StoreError> {
        let mut state = self.state();
        let job = state.jobs.get_mut(token.job());
        Ok(job.is_some_and(|job| job.release(token, now)))
    }

    async fn abandon(&self, holder: &str) -> Result<usize, StoreError> {
        let mut state = self.state();
        let freed = state.jobs.values_mut().map(|job| job.abandon(holder));
        Ok(freed.filter(|&freed| freed).count())
    }

    async fn holders(&self) -> Result<Vec<String>, StoreError> {
        let state = self.state();
        let leases = state.jobs.values().filter_map(|job| job.lease.as_ref());
        let mut holders: Vec<String> = leases.map(|lease| lease.holder.clone()).collect();
        holders.sort();
        holders.dedup();
        Ok(holders)
    }

    async fn finish(
        &self,
        token: &LeaseToken,
        upto: u64,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let mut state = self.state();
        let Some(mut job) = state.jobs.get(token.job()).cloned() else {
            return Ok(FinishOutcome::LeaseLost);
        };
        let outcome = job.finish(token, upto, now);
        state.settle_redo(&mut job, now);
        state.jobs.insert(job.key.clone(), job);
        Ok(outcome)
    }

    async fn fail(
        &self,
        token: &LeaseToken,
        failure: Failure,
        now: Timestamp,
        jitter: f64,
        engine: &str,
    ) -> Result<FailOutcome, StoreError> {
        let mut state = self.state();
        let Some(mut job) = state.jobs.get(token.job()).cloned() else {
            return Ok(FailOutcome::LeaseLost);
        };
        let outcome = job.fail(token, failure, now, jitter, engine);
        if let FailOutcome::GaveUp(gap) = &outcome {
            state.gaps.insert((gap.job.clone(), gap.from), gap.clone());
        }
        state.settle_redo(&mut job, now);
        state.jobs.insert(job.key.clone(), job);
        Ok(outcome)
    }

    async fn job(&self, key: &JobKey) -> Result<Option<Job>, StoreError> {
        Ok(self.state().jobs.get(key).cloned())
    }

    async fn jobs(&self, kind: JobKind) -> Result<Vec<Job>, StoreError> {
        let state = self.state();
        let jobs = state.jobs.values().filter(|job| job.key.kind() == kind);
        let mut jobs: Vec<Job> = jobs.cloned().collect();
        jobs.sort_by(|a, b| a.key.parts().cmp(&b.key.parts()));
        Ok(jobs)
    }

    async fn next_due(&self, kind: JobKind) -> Result<Option<Timestamp>, StoreError> {
        let state = self.state();
        let jobs = state.jobs.values().filter(|job| job.key.kind() == kind);
        Ok(jobs.filter_map(Job::due_at).min())
    }

    async fn redo(&self, key: &JobKey, now: Timestamp) -> Result<(), StoreError> {
        self.state().redo(key, now);
        Ok(())
    }

    async fn gaps(&self) -> Result<Vec<Gap>, StoreError> {
        Ok(self.state().sorted_gaps())
    }

    async fn revive_gaps(
        &self,
        job: Option<&JobKey>,
        engine: &str,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let mut state = self.state();
        let wanted = |gap: &Gap| job.map_or(gap.engine != engine, |job| &gap.job == job);
        let before = state.gaps.len();
        for gap in state.sorted_gaps().iter().filter(|gap| wanted(gap)) {
            // The second gap of a job finds that the first took all of them along.
            if state.gaps.contains_key(&(gap.job.clone(), gap.from)) {
                state.redo(&gap.job, now);
            }
        }
        Ok(before - state.gaps.len())
    }
}

impl State {
    /// Raises a job's input, creating the job when it is new.
    pub(super) fn mark(&mut self, key: &JobKey, mark: Mark) {
        let new = || Job::new(key.clone());
        self.jobs.entry(key.clone()).or_insert_with(new).mark(mark);
    }

    pub(super) fn delete_gaps(&mut self, key: &JobKey) {
        self.gaps.retain(|(job, _), _| job != key);
    }

    fn redo(&mut self, key: &JobKey, now: Timestamp) {
        let Some(mut job) = self.jobs.get(key).cloned() else {
            return;
        };
        self.delete_gaps(key);
        job.begin_redo(now);
        self.drop_unfinished_redo(&job);
        self.jobs.insert(key.clone(), job);
    }

    fn sorted_gaps(&self) -> Vec<Gap> {
        let mut gaps: Vec<Gap> = self.gaps.values().cloned().collect();
        gaps.sort_by(|a, b| {
            let order = |gap: &Gap| (gap.job.kind(), gap.from);
            let (x, y) = (order(a), order(b));
            x.0.cmp(&y.0)
                .then_with(|| a.job.parts().cmp(&b.job.parts()))
                .then(x.1.cmp(&y.1))
        });
        gaps
    }
}
