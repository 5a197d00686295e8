//! Background work. Extractions of sessions are in the file; other jobs are the inner store's.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::limits::PAGE;
use daybook_domain::page::{read_all, visit_all};
use daybook_domain::seams::{
    GapKey, JobControl, JobListing, JobQueue, JobWatch, SessionCatalog, Store,
};
use daybook_domain::{
    Claim, ClaimedJob, DueMark, FailOutcome, FailedTry, FinishOutcome, Gap, Job, JobKey, JobKind,
    LearnedState, LeaseToken, Page, PageRequest, Priority, SessionGroup, SessionId, StoreError,
    Tally, TallyKind, Tenant, Timestamp, group_sessions, jobs_to_revive,
};

use super::state::{LedgerEntry, reconcile, seconds};
use super::{JobRows, Ledgered};
use crate::blocking::blocking;

/// How often a caller that waits for a change looks for one in the file.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

fn is_session(key: &JobKey) -> bool {
    key.kind() == JobKind::Extract
}

fn holder_of(job: &Job) -> Option<&str> {
    job.lease.as_ref().map(|lease| lease.holder.as_str())
}

#[async_trait]
impl<S: Store + JobRows> JobQueue for Ledgered<S> {
    async fn claim(&self, claim: Claim<'_>) -> Result<Vec<ClaimedJob>, StoreError> {
        match claim.kind {
            JobKind::Extract => self.claim_sessions(claim).await,
            JobKind::Consolidate | JobKind::Redact => self.inner.claim(claim).await,
        }
    }

    async fn heartbeat(
        &self,
        token: &LeaseToken,
        now: Timestamp,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        if !is_session(token.job()) {
            return self.inner.heartbeat(token, now, lease).await;
        }
        let held = self.change(token.job(), |job| job.heartbeat(token, now, lease));
        Ok(held.await?.unwrap_or(false))
    }

    async fn release(&self, token: &LeaseToken, now: Timestamp) -> Result<bool, StoreError> {
        if !is_session(token.job()) {
            return self.inner.release(token, now).await;
        }
        let held = self.change(token.job(), |job| job.release(token, now));
        Ok(held.await?.unwrap_or(false))
    }

    async fn set_aside(
        &self,
        token: &LeaseToken,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if !is_session(token.job()) {
            return self.inner.set_aside(token, until, now).await;
        }
        let held = self.change(token.job(), |job| job.set_aside(token, until, now));
        Ok(held.await?.unwrap_or(false))
    }

    async fn abandon(&self, holder: &str) -> Result<usize, StoreError> {
        let mut locked = self.lock().await?;
        let held = locked.state.jobs_mut(|job| holder_of(job) == Some(holder));
        let freed = held.filter_map(|job| job.abandon(holder).then_some(()));
        let freed = freed.count();
        locked.save()?;
        // Rows of sessions may still show a lease that has already ended in the file.
        let others = self.other_jobs().await?;
        let held = others.iter().filter(|job| holder_of(job) == Some(holder));
        let held = held.count();
        self.inner.abandon(holder).await?;
        Ok(freed + held)
    }

    async fn holders(&self) -> Result<Vec<String>, StoreError> {
        let state = self.read().await?;
        let others = self.other_jobs().await?;
        let holders = state.jobs().chain(&others).filter_map(holder_of);
        let holders: BTreeSet<String> = holders.map(str::to_owned).collect();
        Ok(holders.into_iter().collect())
    }

    async fn finish(
        &self,
        token: &LeaseToken,
        upto: u64,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let operation = self.inner.finish(token, upto, now);
        self.end_claim(token, operation, now).await
    }

    async fn fail(
        &self,
        token: &LeaseToken,
        failed: &FailedTry,
        now: Timestamp,
    ) -> Result<FailOutcome, StoreError> {
        self.with_job_lent(token.job(), self.inner.fail(token, failed, now))
            .await
    }
}

#[async_trait]
impl<S: Store + JobRows> JobWatch for Ledgered<S> {
    async fn jobs_of_all_tenants(&self, kind: JobKind) -> Result<Vec<Job>, StoreError> {
        let rows = self.inner.jobs_of_all_tenants(kind).await?;
        let state = self.read().await?;
        let jobs = rows.iter();
        Ok(jobs
            .filter_map(|row| reconcile(state.job(&row.key), Some(row)))
            .collect())
    }

    async fn gaps_of_all_tenants(&self) -> Result<Vec<Gap>, StoreError> {
        self.inner.gaps_of_all_tenants().await
    }

    async fn tallies(&self) -> Result<Vec<Tally>, StoreError> {
        let granted = Tally {
            kind: JobKind::Extract,
            what: TallyKind::Claimed,
            count: self.read().await?.claimed,
        };
        let mut tallies = self.inner.tallies().await?;
        let same = |tally: &&mut Tally| (tally.kind, tally.what) == (granted.kind, granted.what);
        match tallies.iter_mut().find(same) {
            Some(beneath) => beneath.count += granted.count,
            None if granted.count > 0 => tallies.push(granted),
            None => {}
        }
        tallies.sort_by_key(|tally| (tally.kind, tally.what));
        Ok(tallies)
    }

    async fn next_due(&self, kind: JobKind) -> Result<Option<Timestamp>, StoreError> {
        match kind {
            JobKind::Extract => {
                self.catch_up().await?;
                Ok(self.read().await?.next_due())
            }
            JobKind::Consolidate | JobKind::Redact => self.inner.next_due(kind).await,
        }
    }

    async fn version(&self) -> Result<u64, StoreError> {
        let inner = self.inner.version().await?;
        self.joined_version(inner)
    }

    async fn until_changed(&self, seen: u64, longest: Duration) -> Result<(), StoreError> {
        let until = tokio::time::Instant::now() + longest;
        loop {
            let inner = self.inner.version().await?;
            let left = until.saturating_duration_since(tokio::time::Instant::now());
            if left.is_zero() || self.joined_version(inner)? != seen {
                return Ok(());
            }
            self.inner
                .until_changed(inner, left.min(POLL_INTERVAL))
                .await?;
        }
    }
}

#[async_trait]
impl<S: Store + JobRows> JobControl for Ledgered<S> {
    async fn mark(&self, key: &JobKey, mark: DueMark) -> Result<(), StoreError> {
        if !is_session(key) {
            return self.inner.mark(key, mark).await;
        }
        let keys = std::slice::from_ref(key);
        let record_mark = |entry: &mut LedgerEntry, (): &()| {
            entry.marked_at = entry.marked_at.max(seconds(mark.active))
        };
        self.with_jobs_lent(keys, self.inner.mark(key, mark), record_mark)
            .await
    }

    async fn hasten(
        &self,
        key: &JobKey,
        now: Timestamp,
        priority: Priority,
    ) -> Result<(), StoreError> {
        if !is_session(key) {
            return self.inner.hasten(key, now, priority).await;
        }
        self.change(key, |job| job.hasten(now, priority)).await?;
        Ok(())
    }

    async fn reprioritize(
        &self,
        session: &SessionId,
        user: Option<&str>,
        most: usize,
    ) -> Result<usize, StoreError> {
        let mut locked = self.lock().await?;
        let beside = |job: &Job| {
            let JobKey::Extract(other) = &job.key else {
                return false;
            };
            let same = (&other.tenant, &other.agent) == (&session.tenant, &session.agent);
            same && other != session && job.user.as_deref() == user && job.due_at().is_some()
        };
        let mut waiting: Vec<&mut Job> = locked.state.jobs_mut(beside).collect();
        waiting.sort_by(|a, b| (a.deadline, a.key.parts()).cmp(&(b.deadline, b.key.parts())));
        let raised = waiting.into_iter().take(most);
        let raised = raised.map(|job| job.raise(Priority::Raised)).count();
        locked.save()?;
        Ok(raised)
    }

    async fn cancel(
        &self,
        key: &JobKey,
        now: Timestamp,
        engine: &str,
    ) -> Result<Option<Gap>, StoreError> {
        self.with_job_lent(key, self.inner.cancel(key, now, engine))
            .await
    }

    async fn retry(&self, key: &JobKey, now: Timestamp) -> Result<bool, StoreError> {
        if !is_session(key) {
            return self.inner.retry(key, now).await;
        }
        let retried = self.change(key, |job| {
            let waits = job.is_ahead();
            if waits {
                job.retry(now);
            }
            waits
        });
        Ok(retried.await?.unwrap_or(false))
    }

    async fn redo(&self, key: &JobKey, now: Timestamp) -> Result<(), StoreError> {
        self.with_job_lent(key, self.inner.redo(key, now)).await
    }

    async fn revive_gaps(
        &self,
        job: Option<&JobKey>,
        engine: &str,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let keys: BTreeSet<JobKey> = match job {
            Some(job) => {
                let gaps = self.inner.gaps_of(job).await?;
                gaps.into_iter().map(|gap| gap.job).collect()
            }
            None => jobs_to_revive(&self.inner.gaps_of_all_tenants().await?, engine),
        };
        if keys.is_empty() {
            return Ok(0);
        }
        let keys: Vec<JobKey> = keys.into_iter().filter(is_session).collect();
        let revive = self.inner.revive_gaps(job, engine, now);
        self.with_jobs_lent(&keys, revive, |_, _| ()).await
    }
}

#[async_trait]
impl<S: Store + JobRows> JobListing for Ledgered<S> {
    async fn job(&self, key: &JobKey) -> Result<Option<Job>, StoreError> {
        match is_session(key) {
            true => self.reconcile(&*self.read().await?, key).await,
            false => self.inner.job(key).await,
        }
    }

    async fn jobs(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<JobKey>,
    ) -> Result<Page<Job, JobKey>, StoreError> {
        let rows = self.inner.jobs(tenant, kind, page).await?;
        let state = self.read().await?;
        let jobs = rows.items.iter();
        let jobs = jobs.filter_map(|row| reconcile(state.job(&row.key), Some(row)));
        Ok(Page {
            items: jobs.collect(),
            next: rows.next,
        })
    }

    /// Reads every job of the kind: the file decides which are open.
    async fn open_jobs(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<JobKey>,
    ) -> Result<Page<Job, JobKey>, StoreError> {
        if kind != JobKind::Extract {
            return self.inner.open_jobs(tenant, kind, page).await;
        }
        let most = page.most();
        let (mut open, mut after) = (Vec::new(), page.after);
        while open.len() <= most {
            let read = PageRequest { after, limit: PAGE };
            let jobs = self.jobs(tenant, kind, read).await?;
            open.extend(jobs.items.into_iter().filter(Job::is_ahead));
            if jobs.next.is_none() {
                break;
            }
            after = jobs.next;
        }
        Ok(Page::cut(open, most, |job| job.key.clone()))
    }

    async fn session_groups(
        &self,
        tenant: &Tenant,
        rested_before: Timestamp,
    ) -> Result<Vec<SessionGroup>, StoreError> {
        let mut learned = BTreeMap::new();
        let note = |job: Job| {
            learned.insert(job.key.clone(), LearnedState::of(Some(&job)));
        };
        visit_all(|page| self.jobs(tenant, JobKind::Extract, page), note).await?;
        let sessions = read_all(|page| self.sessions(tenant, page)).await?;
        let sessions = sessions.into_iter().map(|session| {
            let known = learned.get(&JobKey::Extract(session.id.clone()));
            (session, known.copied().unwrap_or(LearnedState::Unmarked))
        });
        Ok(group_sessions(sessions, rested_before))
    }

    async fn gaps(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<GapKey>,
    ) -> Result<Page<Gap, GapKey>, StoreError> {
        self.inner.gaps(tenant, kind, page).await
    }

    async fn gaps_of(&self, job: &JobKey) -> Result<Vec<Gap>, StoreError> {
        self.inner.gaps_of(job).await
    }
}

impl<S: Store + JobRows> Ledgered<S> {
    /// Jobs that the file does not have.
    async fn other_jobs(&self) -> Result<Vec<Job>, StoreError> {
        let mut others = Vec::new();
        for kind in [JobKind::Consolidate, JobKind::Redact] {
            others.extend(self.inner.jobs_of_all_tenants(kind).await?);
        }
        Ok(others)
    }

    /// Runs an operation of the inner store on one job.
    async fn with_job_lent<T>(
        &self,
        key: &JobKey,
        operation: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        match is_session(key) {
            true => {
                self.with_jobs_lent(std::slice::from_ref(key), operation, |_, _| ())
                    .await
            }
            false => operation.await,
        }
    }

    /// Ends a claim, and records when.
    pub(super) async fn end_claim(
        &self,
        token: &LeaseToken,
        operation: impl Future<Output = Result<FinishOutcome, StoreError>>,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        if !is_session(token.job()) {
            return operation.await;
        }
        let note = |entry: &mut LedgerEntry, outcome: &FinishOutcome| match outcome {
            FinishOutcome::Complete | FinishOutcome::StillDue => entry.note_flushed(now),
            FinishOutcome::LeaseLost => {}
        };
        self.with_jobs_lent(std::slice::from_ref(token.job()), operation, note)
            .await
    }

    async fn is_due(&self, now: Timestamp) -> Result<bool, StoreError> {
        Ok(self.read().await?.next_due().is_some_and(|due| due <= now))
    }

    async fn claim_sessions(&self, claim: Claim<'_>) -> Result<Vec<ClaimedJob>, StoreError> {
        if claim.limits.jobs == 0 {
            return Ok(Vec::new());
        }
        if !self.is_due(claim.now).await? {
            self.catch_up().await?;
            if !self.is_due(claim.now).await? {
                return Ok(Vec::new());
            }
        }
        let mut locked = self.lock().await?;
        // A granted job may have changed in the inner store; then the grant is repeated.
        let (rounds, keys) = loop {
            let mut rounds = locked.state.rounds.clone();
            let keys = rounds.grant(&claim, locked.state.jobs());
            let mut moved = false;
            for key in &keys {
                let job = self.reconcile(&locked.state, key).await?;
                if job.as_ref() == locked.state.job(key) {
                    continue;
                }
                moved = true;
                match job {
                    Some(job) => drop(self.put_job(&mut locked.state, job).await?),
                    None => drop(locked.state.entries.remove(key)),
                }
            }
            if !moved {
                break (rounds, keys);
            }
        };
        let mut claimed = Vec::new();
        let mut lent = Vec::new();
        for key in &keys {
            let Some(entry) = locked.state.entry_mut(key) else {
                continue;
            };
            claimed.extend(entry.job.claim(claim.holder, claim.now, claim.lease));
            entry.granted_active_at = entry.active_at;
            lent.push(entry.job.clone());
        }
        if !claimed.is_empty() {
            locked.state.rounds = rounds;
            locked.state.claimed += claimed.len() as u64;
            lent.extend(locked.state.tidy(claim.now, self.stale_ttl));
            self.lend_all(&lent).await?;
        }
        locked.save()?;
        Ok(claimed)
    }

    /// Combines the versions of the rows and of the file into one number.
    fn joined_version(&self, inner: u64) -> Result<u64, StoreError> {
        blocking(|| self.file.load())?;
        let mut hasher = DefaultHasher::new();
        (inner, self.file.change_count()).hash(&mut hasher);
        Ok(hasher.finish())
    }
}
