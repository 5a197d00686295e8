//! Background work: each call applies one transition of [`Job`] under the one lock.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::seams::{GapKey, JobControl, JobListing, JobQueue, JobWatch};
use daybook_domain::{
    Claim, ClaimedJob, DueMark, FailOutcome, FailedTry, FinishOutcome, Gap, Job, JobKey, JobKind,
    LearnedState, LeaseToken, Page, PageRequest, Priority, SessionGroup, SessionId, StoreError,
    Tally, TallyKind, Tenant, Timestamp, group_sessions, jobs_to_revive,
};

use super::{MemoryState, MemoryStore};
use crate::flush_state::JobRows;

#[async_trait]
impl JobQueue for MemoryStore {
    async fn claim(&self, claim: Claim<'_>) -> Result<Vec<ClaimedJob>, StoreError> {
        let mut state = self.lock();
        let state = &mut *state;
        let rounds = state.rounds.entry(claim.kind).or_default();
        let keys = rounds.grant(&claim, state.jobs.values());
        let mut claimed = Vec::new();
        for key in keys {
            let job = state.jobs.get_mut(&key);
            claimed.extend(job.and_then(|job| job.claim(claim.holder, claim.now, claim.lease)));
            state.tally(claim.kind, TallyKind::Claimed);
        }
        Ok(claimed)
    }

    async fn heartbeat(
        &self,
        token: &LeaseToken,
        now: Timestamp,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let job = state.jobs.get_mut(token.job());
        Ok(job.is_some_and(|job| job.heartbeat(token, now, lease)))
    }

    async fn release(&self, token: &LeaseToken, now: Timestamp) -> Result<bool, StoreError> {
        let mut state = self.lock_for_change();
        let job = state.jobs.get_mut(token.job());
        Ok(job.is_some_and(|job| job.release(token, now)))
    }

    async fn set_aside(
        &self,
        token: &LeaseToken,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock_for_change();
        let job = state.jobs.get_mut(token.job());
        Ok(job.is_some_and(|job| job.set_aside(token, until, now)))
    }

    async fn abandon(&self, holder: &str) -> Result<usize, StoreError> {
        let mut state = self.lock_for_change();
        let freed = state.jobs.values_mut().map(|job| job.abandon(holder));
        Ok(freed.filter(|&freed| freed).count())
    }

    async fn holders(&self) -> Result<Vec<String>, StoreError> {
        let state = self.lock();
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
        Ok(self.lock_for_change().end_claim(token, upto, now))
    }

    async fn fail(
        &self,
        token: &LeaseToken,
        failed: &FailedTry,
        now: Timestamp,
    ) -> Result<FailOutcome, StoreError> {
        let mut state = self.lock_for_change();
        let Some(mut job) = state.jobs.get(token.job()).cloned() else {
            return Ok(FailOutcome::LeaseLost);
        };
        let outcome = job.fail(token, failed, now);
        for tallied in TallyKind::failure(failed.failure.class, &outcome) {
            state.tally(job.key.kind(), tallied);
        }
        if let FailOutcome::GaveUp(gap) = &outcome {
            state.gaps.insert((gap.job.clone(), gap.from), gap.clone());
        }
        state.settle_redo(&mut job, now);
        state.jobs.insert(job.key.clone(), job);
        Ok(outcome)
    }
}

#[async_trait]
impl JobWatch for MemoryStore {
    async fn jobs_of_all_tenants(&self, kind: JobKind) -> Result<Vec<Job>, StoreError> {
        let state = self.lock();
        let jobs = state.jobs.values().filter(|job| job.key.kind() == kind);
        let mut jobs: Vec<Job> = jobs.cloned().collect();
        jobs.sort_by(|a, b| a.key.parts().cmp(&b.key.parts()));
        Ok(jobs)
    }

    async fn gaps_of_all_tenants(&self) -> Result<Vec<Gap>, StoreError> {
        Ok(self.lock().sorted_gaps())
    }

    async fn tallies(&self) -> Result<Vec<Tally>, StoreError> {
        let state = self.lock();
        let tallies = state.tallies.iter();
        Ok(tallies
            .map(|(&(kind, what), &count)| Tally { kind, what, count })
            .collect())
    }

    async fn next_due(&self, kind: JobKind) -> Result<Option<Timestamp>, StoreError> {
        let state = self.lock();
        let jobs = state.jobs.values().filter(|job| job.key.kind() == kind);
        Ok(jobs.filter_map(Job::due_at).min())
    }

    async fn version(&self) -> Result<u64, StoreError> {
        Ok(*self.version.borrow())
    }

    async fn until_changed(&self, seen: u64, longest: Duration) -> Result<(), StoreError> {
        let mut version = self.version.subscribe();
        let changed = version.wait_for(|&now| now != seen);
        let _ = tokio::time::timeout(longest, changed).await;
        Ok(())
    }
}

#[async_trait]
impl JobControl for MemoryStore {
    async fn mark(&self, key: &JobKey, mark: DueMark) -> Result<(), StoreError> {
        self.lock_for_change().mark(key, mark);
        Ok(())
    }

    async fn hasten(
        &self,
        key: &JobKey,
        now: Timestamp,
        priority: Priority,
    ) -> Result<(), StoreError> {
        if let Some(job) = self.lock_for_change().jobs.get_mut(key) {
            job.hasten(now, priority);
        }
        Ok(())
    }

    async fn reprioritize(
        &self,
        session: &SessionId,
        user: Option<&str>,
        most: usize,
    ) -> Result<usize, StoreError> {
        let mut state = self.lock_for_change();
        let beside = |job: &&mut Job| {
            let JobKey::Extract(other) = &job.key else {
                return false;
            };
            let same = (&other.tenant, &other.agent) == (&session.tenant, &session.agent);
            same && other != session && job.user.as_deref() == user && job.due_at().is_some()
        };
        let mut waiting: Vec<&mut Job> = state.jobs.values_mut().filter(beside).collect();
        waiting.sort_by(|a, b| (a.deadline, a.key.parts()).cmp(&(b.deadline, b.key.parts())));
        let raised = waiting.into_iter().take(most);
        Ok(raised.map(|job| job.raise(Priority::Raised)).count())
    }

    async fn cancel(
        &self,
        key: &JobKey,
        now: Timestamp,
        engine: &str,
    ) -> Result<Option<Gap>, StoreError> {
        let mut state = self.lock_for_change();
        let Some(mut job) = state.jobs.get(key).cloned() else {
            return Ok(None);
        };
        let gap = job.cancel(now, engine);
        if let Some(gap) = &gap {
            state.tally(key.kind(), TallyKind::Cancelled);
            state.gaps.insert((key.clone(), gap.from), gap.clone());
        }
        state.settle_redo(&mut job, now);
        state.jobs.insert(key.clone(), job);
        Ok(gap)
    }

    async fn retry(&self, key: &JobKey, now: Timestamp) -> Result<bool, StoreError> {
        let mut state = self.lock_for_change();
        let job = state.jobs.get_mut(key).filter(|job| job.is_ahead());
        Ok(job.map(|job| job.retry(now)).is_some())
    }

    async fn redo(&self, key: &JobKey, now: Timestamp) -> Result<(), StoreError> {
        self.lock_for_change().redo(key, now);
        Ok(())
    }

    async fn revive_gaps(
        &self,
        job: Option<&JobKey>,
        engine: &str,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let mut state = self.lock_for_change();
        let gaps = state.sorted_gaps();
        let keys = match job {
            Some(job) => BTreeSet::from([job.clone()]),
            None => jobs_to_revive(&gaps, engine),
        };
        let has_gap = |key: &&JobKey| gaps.iter().any(|gap| gap.job == **key);
        for key in keys.iter().filter(has_gap) {
            state.redo(key, now);
        }
        Ok(gaps.len() - state.gaps.len())
    }
}

#[async_trait]
impl JobListing for MemoryStore {
    async fn job(&self, key: &JobKey) -> Result<Option<Job>, StoreError> {
        Ok(self.lock().jobs.get(key).cloned())
    }

    async fn jobs(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<JobKey>,
    ) -> Result<Page<Job, JobKey>, StoreError> {
        let mut jobs = self.jobs_of_all_tenants(kind).await?;
        jobs.retain(|job| {
            let is_behind = |after: &JobKey| job.key.parts() > after.parts();
            job.key.tenant() == tenant && page.after.as_ref().is_none_or(is_behind)
        });
        Ok(Page::cut(jobs, page.most(), |job| job.key.clone()))
    }

    async fn open_jobs(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<JobKey>,
    ) -> Result<Page<Job, JobKey>, StoreError> {
        let mut jobs = self.jobs_of_all_tenants(kind).await?;
        jobs.retain(|job| {
            let is_behind = |after: &JobKey| job.key.parts() > after.parts();
            let is_open = job.key.tenant() == tenant && job.is_ahead();
            is_open && page.after.as_ref().is_none_or(is_behind)
        });
        Ok(Page::cut(jobs, page.most(), |job| job.key.clone()))
    }

    async fn session_groups(
        &self,
        tenant: &Tenant,
        rested_before: Timestamp,
    ) -> Result<Vec<SessionGroup>, StoreError> {
        let state = self.lock();
        let sessions = state.sessions_of(tenant).into_iter().map(|session| {
            let job = state.jobs.get(&JobKey::Extract(session.id.clone()));
            (session, LearnedState::of(job))
        });
        Ok(group_sessions(sessions, rested_before))
    }

    async fn gaps(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<GapKey>,
    ) -> Result<Page<Gap, GapKey>, StoreError> {
        let mut gaps = self.lock().sorted_gaps();
        gaps.retain(|gap| {
            let is_behind =
                |(job, from): &GapKey| (gap.job.parts(), gap.from) > (job.parts(), *from);
            let is_asked_for = gap.job.tenant() == tenant && gap.job.kind() == kind;
            is_asked_for && page.after.as_ref().is_none_or(is_behind)
        });
        Ok(Page::cut(gaps, page.most(), |gap| {
            (gap.job.clone(), gap.from)
        }))
    }

    async fn gaps_of(&self, job: &JobKey) -> Result<Vec<Gap>, StoreError> {
        let mut gaps = self.lock().sorted_gaps();
        gaps.retain(|gap| &gap.job == job);
        Ok(gaps)
    }
}

#[async_trait]
impl JobRows for MemoryStore {
    async fn put_jobs(&self, jobs: &[Job]) -> Result<(), StoreError> {
        let rows = jobs.iter().map(|job| (job.key.clone(), job.clone()));
        self.lock_for_change().jobs.extend(rows);
        Ok(())
    }
}

impl MemoryState {
    /// Raises a job's input, creating the job when it is new.
    pub(super) fn mark(&mut self, key: &JobKey, mark: DueMark) {
        self.change_or_create(key, None, |job| job.mark(mark));
    }

    /// Changes a job, creating it when it is new.
    pub(super) fn change_or_create<T>(
        &mut self,
        key: &JobKey,
        user: Option<&str>,
        change: impl FnOnce(&mut Job) -> T,
    ) -> T {
        let new = || Job::new(key.clone());
        let job = self.jobs.entry(key.clone()).or_insert_with(new);
        if let Some(user) = user {
            job.user = Some(user.to_owned());
        }
        change(job)
    }

    /// Adds one to a tally.
    pub(super) fn tally(&mut self, kind: JobKind, what: TallyKind) {
        *self.tallies.entry((kind, what)).or_default() += 1;
    }

    /// Ends a claim, and returns how.
    pub(super) fn end_claim(
        &mut self,
        token: &LeaseToken,
        upto: u64,
        now: Timestamp,
    ) -> FinishOutcome {
        let Some(mut job) = self.jobs.get(token.job()).cloned() else {
            return FinishOutcome::LeaseLost;
        };
        let outcome = job.finish(token, upto, now);
        self.tally(job.key.kind(), TallyKind::finish(outcome));
        self.settle_redo(&mut job, now);
        self.jobs.insert(job.key.clone(), job);
        outcome
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
