//! Background work: each call locks a row, applies one transition of [`Job`] and saves it, in one transaction.
//! Two claims therefore never find the same job free.

use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::seams::{GapKey, JobControl, JobListing, JobQueue, JobWatch};
use daybook_domain::{
    Claim, ClaimedJob, DueMark, FailOutcome, FailedTry, FinishOutcome, Gap, Job, JobKey, JobKind,
    LeaseToken, Page, PageRequest, Priority, SessionGroup, SessionId, StoreError, Tally, TallyKind,
    Tenant, Timestamp, jobs_to_revive,
};

use super::connection::{TenantAccess, Tx};
use super::fault::Fault;
use super::job_rows::{self, mark, select};
use super::kept_statements::Sql;
use super::values::{get, parse_column, values};
use super::{PostgresStore, changes, extractions, gaps, lanes, overviews};
use crate::bounds::STEP_JOBS;

#[async_trait]
impl JobQueue for PostgresStore {
    async fn claim(&self, claim: Claim<'_>) -> Result<Vec<ClaimedJob>, StoreError> {
        if claim.limits.jobs == 0 {
            return Ok(Vec::new());
        }
        let work = |tx| async move { grant(&tx, &claim).await };
        self.write(TenantAccess::All, work).await
    }

    async fn heartbeat(
        &self,
        token: &LeaseToken,
        now: Timestamp,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        let beat = |job: &mut Job| job.heartbeat(token, now, lease);
        self.change(token.job(), false, beat).await
    }

    async fn release(&self, token: &LeaseToken, now: Timestamp) -> Result<bool, StoreError> {
        let release = |job: &mut Job| job.release(token, now);
        self.change(token.job(), false, release).await
    }

    async fn set_aside(
        &self,
        token: &LeaseToken,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let set_aside = |job: &mut Job| job.set_aside(token, until, now);
        self.change(token.job(), false, set_aside).await
    }

    async fn abandon(&self, holder: &str) -> Result<usize, StoreError> {
        let held = "lease_holder = $1 ORDER BY kind, tenant, owner, name FOR UPDATE";
        let work = |tx| async move {
            let mut held = select(&tx, held, values![holder]).await?;
            held.retain_mut(|job| job.abandon(holder));
            job_rows::save_all(&tx, &held);
            Ok(held.len())
        };
        self.write(TenantAccess::All, work).await
    }

    async fn holders(&self) -> Result<Vec<String>, StoreError> {
        let find = "SELECT DISTINCT lease_holder FROM jobs WHERE lease_holder IS NOT NULL
            ORDER BY lease_holder";
        let work = |tx: Tx| async move {
            let rows = tx.rows(find, &[]).await?;
            rows.iter().map(|row| get(row, "lease_holder")).collect()
        };
        self.read(TenantAccess::All, work).await
    }

    async fn finish(
        &self,
        token: &LeaseToken,
        upto: u64,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let work = |tx| async move { finish(&tx, token, upto, now).await };
        self.write(TenantAccess::Only(token.job().tenant()), work)
            .await
    }

    async fn fail(
        &self,
        token: &LeaseToken,
        failed: &FailedTry,
        now: Timestamp,
    ) -> Result<FailOutcome, StoreError> {
        let work = |tx| async move {
            let Some(mut job) = job_rows::load(&tx, token.job()).await? else {
                return Ok(FailOutcome::LeaseLost);
            };
            let outcome = job.fail(token, failed, now);
            if let FailOutcome::GaveUp(gap) = &outcome {
                gaps::put(&tx, gap).await?;
            }
            let tallied = TallyKind::failure(failed.failure.class, &outcome);
            end(&tx, &mut job, &tallied, now).await?;
            Ok(outcome)
        };
        self.write(TenantAccess::Only(token.job().tenant()), work)
            .await
    }
}

#[async_trait]
impl JobWatch for PostgresStore {
    async fn jobs_of_all_tenants(&self, kind: JobKind) -> Result<Vec<Job>, StoreError> {
        let of_kind = "kind = $1 ORDER BY tenant, owner, name";
        let work = |tx| async move { select(&tx, of_kind, values![kind.as_str()]).await };
        self.read(TenantAccess::All, work).await
    }

    async fn gaps_of_all_tenants(&self) -> Result<Vec<Gap>, StoreError> {
        let work = |tx| async move { gaps::all(&tx).await };
        self.read(TenantAccess::All, work).await
    }

    async fn tallies(&self) -> Result<Vec<Tally>, StoreError> {
        let find =
            "SELECT kind, what, sum(count)::BIGINT AS count FROM tallies GROUP BY kind, what";
        let work = |tx: Tx| async move {
            let mut tallies = Vec::new();
            for row in &tx.rows(find, &[]).await? {
                tallies.push(Tally {
                    kind: parse_column(row, "kind")?,
                    what: parse_column(row, "what")?,
                    count: get(row, "count")?,
                });
            }
            tallies.sort_by_key(|tally| (tally.kind, tally.what));
            Ok(tallies)
        };
        self.read(TenantAccess::All, work).await
    }

    async fn next_due(&self, kind: JobKind) -> Result<Option<Timestamp>, StoreError> {
        let first = "SELECT due_at FROM jobs WHERE kind = $1 AND due_at IS NOT NULL
            ORDER BY due_at LIMIT 1";
        let work = |tx: Tx| async move {
            let row = tx.row(first, values![kind.as_str()]).await?;
            row.map(|row| get(&row, "due_at")).transpose()
        };
        self.read(TenantAccess::All, work).await
    }

    async fn version(&self) -> Result<u64, StoreError> {
        let work = |tx| async move { changes::version(&tx).await };
        self.read(TenantAccess::All, work).await
    }

    async fn until_changed(&self, seen: u64, longest: Duration) -> Result<(), StoreError> {
        changes::until_changed(self, seen, longest).await
    }
}

#[async_trait]
impl JobControl for PostgresStore {
    async fn mark(&self, key: &JobKey, raise: DueMark) -> Result<(), StoreError> {
        let work = |tx| async move { mark(&tx, key, raise).await };
        self.write(TenantAccess::Only(key.tenant()), work).await
    }

    async fn hasten(
        &self,
        key: &JobKey,
        now: Timestamp,
        priority: Priority,
    ) -> Result<(), StoreError> {
        self.change(key, (), |job| job.hasten(now, priority)).await
    }

    async fn reprioritize(
        &self,
        session: &SessionId,
        user: Option<&str>,
        most: usize,
    ) -> Result<usize, StoreError> {
        // A job that another transaction is changing at this moment is not waiting, or gets its new urgency
        // from that change.
        let beside = "kind = 'extract' AND tenant = $1 AND lane_user = $2 AND lane_agent = $3
            AND name <> $4 AND \"user\" IS NOT DISTINCT FROM $5 AND due_at IS NOT NULL
            ORDER BY deadline, name LIMIT $6 FOR UPDATE SKIP LOCKED";
        let work = |tx| async move {
            let lane = (user.unwrap_or_default(), &session.agent);
            let key = (&session.tenant.0, &session.host_id);
            let values = values![key.0, lane.0, lane.1, key.1, user, most];
            let mut waiting = select(&tx, beside, values).await?;
            waiting
                .iter_mut()
                .for_each(|job| job.raise(Priority::Raised));
            job_rows::save_all(&tx, &waiting);
            Ok(waiting.len())
        };
        self.write(TenantAccess::Only(&session.tenant), work).await
    }

    async fn cancel(
        &self,
        key: &JobKey,
        now: Timestamp,
        engine: &str,
    ) -> Result<Option<Gap>, StoreError> {
        let work = |tx| async move {
            let Some(mut job) = job_rows::load(&tx, key).await? else {
                return Ok(None);
            };
            let gap = job.cancel(now, engine);
            if let Some(gap) = &gap {
                gaps::put(&tx, gap).await?;
                end(&tx, &mut job, &[TallyKind::Cancelled], now).await?;
            }
            Ok(gap)
        };
        self.write(TenantAccess::Only(key.tenant()), work).await
    }

    async fn retry(&self, key: &JobKey, now: Timestamp) -> Result<bool, StoreError> {
        let retry = |job: &mut Job| {
            let waits = job.is_ahead();
            if waits {
                job.retry(now);
            }
            waits
        };
        self.change(key, false, retry).await
    }

    async fn redo(&self, key: &JobKey, now: Timestamp) -> Result<(), StoreError> {
        let work = |tx| async move {
            if let Some(job) = job_rows::load(&tx, key).await? {
                gaps::delete(&tx, key).await?;
                redo(&tx, job, now).await?;
            }
            Ok(())
        };
        self.write(TenantAccess::Only(key.tenant()), work).await
    }

    async fn revive_gaps(
        &self,
        job: Option<&JobKey>,
        engine: &str,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let keys: Vec<JobKey> = match job {
            Some(job) => vec![job.clone()],
            None => {
                let gaps = self.gaps_of_all_tenants().await?;
                jobs_to_revive(&gaps, engine).into_iter().collect()
            }
        };
        let mut revived = 0;
        for some in keys.chunks(STEP_JOBS) {
            let work = |tx| async move { revive(&tx, some, now).await };
            revived += self.write(TenantAccess::All, work).await?;
        }
        Ok(revived)
    }
}

#[async_trait]
impl JobListing for PostgresStore {
    async fn job(&self, key: &JobKey) -> Result<Option<Job>, StoreError> {
        let (tenant, owner, name) = key.parts();
        let found = "kind = $1 AND tenant = $2 AND owner = $3 AND name = $4";
        let work = |tx| async move {
            let parts = values![key.kind().as_str(), tenant, owner, name];
            Ok(select(&tx, found, parts).await?.pop())
        };
        self.read(TenantAccess::Only(key.tenant()), work).await
    }

    async fn jobs(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<JobKey>,
    ) -> Result<Page<Job, JobKey>, StoreError> {
        self.page_of_jobs(tenant, kind, ("TRUE", page)).await
    }

    async fn open_jobs(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<JobKey>,
    ) -> Result<Page<Job, JobKey>, StoreError> {
        self.page_of_jobs(tenant, kind, ("input > done", page))
            .await
    }

    async fn session_groups(
        &self,
        tenant: &Tenant,
        rested_before: Timestamp,
    ) -> Result<Vec<SessionGroup>, StoreError> {
        let groups =
            |tx| async move { overviews::session_groups(&tx, tenant, rested_before).await };
        self.read(TenantAccess::Only(tenant), groups).await
    }

    async fn gaps(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<GapKey>,
    ) -> Result<Page<Gap, GapKey>, StoreError> {
        let most = page.most();
        let (behind, (_, owner, name), from) = match &page.after {
            Some((job, from)) => (">", job.parts(), *from),
            None => (">=", ("", "", ""), 0),
        };
        let of_tenant = format!(
            "kind = $1 AND tenant = $2 AND (owner, name, from_seq) {behind} ($3, $4, $5)
             ORDER BY owner, name, from_seq LIMIT $6"
        );
        let of_tenant = &of_tenant;
        let work = |tx| async move {
            let values = values![kind.as_str(), &tenant.0, owner, name, from, most + 1];
            gaps::select(&tx, of_tenant, values).await
        };
        let gaps = self.read(TenantAccess::Only(tenant), work).await?;
        Ok(Page::cut(gaps, most, |gap| (gap.job.clone(), gap.from)))
    }

    async fn gaps_of(&self, job: &JobKey) -> Result<Vec<Gap>, StoreError> {
        let (tenant, owner, name) = job.parts();
        let of_job = "kind = $1 AND tenant = $2 AND owner = $3 AND name = $4 ORDER BY from_seq";
        let work = |tx| async move {
            let values = values![job.kind().as_str(), tenant, owner, name];
            gaps::select(&tx, of_job, values).await
        };
        self.read(TenantAccess::Only(job.tenant()), work).await
    }
}

impl PostgresStore {
    /// A page of the jobs for which a condition holds.
    async fn page_of_jobs(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        (condition, page): (&str, PageRequest<JobKey>),
    ) -> Result<Page<Job, JobKey>, StoreError> {
        let most = page.most();
        let (behind, (_, owner, name)) = match &page.after {
            Some(job) => (">", job.parts()),
            None => (">=", ("", "", "")),
        };
        let rows = format!(
            "kind = $1 AND tenant = $2 AND {condition} AND (owner, name) {behind} ($3, $4)
             ORDER BY owner, name LIMIT $5"
        );
        let rows = &rows;
        let work = |tx| async move {
            let values = values![kind.as_str(), &tenant.0, owner, name, most + 1];
            select(&tx, rows, values).await
        };
        let jobs = self.read(TenantAccess::Only(tenant), work).await?;
        Ok(Page::cut(jobs, most, |job| job.key.clone()))
    }

    /// Changes a job that exists; `missing` is the answer where it does not.
    async fn change<T: Copy>(
        &self,
        key: &JobKey,
        missing: T,
        transition: impl Fn(&mut Job) -> T,
    ) -> Result<T, StoreError> {
        let transition = &transition;
        let work = |tx| async move {
            let Some(mut job) = job_rows::load(&tx, key).await? else {
                return Ok(missing);
            };
            let before = job.clone();
            let outcome = transition(&mut job);
            if job != before {
                job_rows::save(&tx, &job);
            }
            Ok(outcome)
        };
        self.write(TenantAccess::Only(key.tenant()), work).await
    }
}

/// Grants jobs in turn, up to the claim's limits.
async fn grant(tx: &Tx, claim: &Claim<'_>) -> Result<Vec<ClaimedJob>, Fault> {
    let mut jobs = lanes::next_jobs(tx, claim).await?;
    let mut claimed = Vec::new();
    jobs.retain_mut(|job| {
        let granted = job.claim(claim.holder, claim.now, claim.lease);
        let is_granted = granted.is_some();
        claimed.extend(granted);
        is_granted
    });
    if !jobs.is_empty() {
        let [tenants, users, agents] = lanes::in_service_order(&jobs);
        let save =
            "SELECT save_jobs($1::JSON), serve_lanes($2, $3, $4, $5), count_more($2, $6, $7)";
        let saturating_count = vec![TallyKind::Claimed.as_str()];
        tx.defer(
            Sql::Kept(save),
            values![
                job_rows::objects(&jobs),
                claim.kind.as_str(),
                tenants,
                users,
                agents,
                saturating_count,
                jobs.len(),
            ],
        );
    }
    Ok(claimed)
}

/// Ends a claim, and returns how.
pub(super) async fn finish(
    tx: &Tx,
    token: &LeaseToken,
    upto: u64,
    now: Timestamp,
) -> Result<FinishOutcome, Fault> {
    let Some(mut job) = job_rows::load(tx, token.job()).await? else {
        return Ok(FinishOutcome::LeaseLost);
    };
    let outcome = job.finish(token, upto, now);
    end(tx, &mut job, &[TallyKind::finish(outcome)], now).await?;
    Ok(outcome)
}

/// Saves a job whose claim ended or failed to end, and counts the outcome.
async fn end(tx: &Tx, job: &mut Job, tallied: &[TallyKind], now: Timestamp) -> Result<(), Fault> {
    if job.redo_until.is_some() {
        extractions::settle_redo(tx, job, now).await?;
    }
    let kind = job.key.kind();
    let save = "SELECT save_jobs($1::JSON), count_more($2, $3, 1)";
    let saturating_count: Vec<&str> = tallied.iter().map(|what| what.as_str()).collect();
    let job = job_rows::objects(std::slice::from_ref(job));
    tx.defer(
        Sql::Kept(save),
        values![job, kind.as_str(), saturating_count],
    );
    Ok(())
}

/// Begins a new generation of a job that was loaded.
async fn redo(tx: &Tx, mut job: Job, now: Timestamp) -> Result<(), Fault> {
    job.begin_redo(now);
    extractions::drop_unfinished_redo(tx, &job).await?;
    job_rows::save(tx, &job);
    Ok(())
}

/// Deletes all gaps of these jobs and starts redoing the jobs.
async fn revive(tx: &Tx, keys: &[JobKey], now: Timestamp) -> Result<usize, Fault> {
    let mut revived = 0;
    let keys: Vec<&JobKey> = keys.iter().collect();
    for job in job_rows::load_all(tx, &keys).await? {
        let taken = gaps::delete(tx, &job.key).await?;
        revived += taken;
        // Another call may have been faster; a job is not redone twice for the same gaps.
        if taken > 0 {
            redo(tx, job, now).await?;
        }
    }
    Ok(revived)
}
