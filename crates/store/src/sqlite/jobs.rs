//! Background work: each call loads a row, applies one transition of [`Job`] and saves it, in one transaction
//! that holds the write lock from its start. Two claims therefore never find the same job free.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::seams::{GapKey, JobControl, JobListing, JobQueue, JobWatch};
use daybook_domain::{
    Claim, ClaimedJob, DueMark, FailOutcome, FailedTry, FinishOutcome, Gap, Job, JobKey, JobKind,
    LeaseToken, Page, PageRequest, Priority, SessionGroup, SessionId, StoreError, Tally, TallyKind,
    Tenant, Timestamp, jobs_to_revive,
};
use rusqlite::{Connection, params};

use super::committer::WriteSize;
use super::connection::Fault;
use super::job_rows::{mark, select, tally};
use super::lane_search::LaneSearch;
use super::names::parse_column;
use super::{SqliteStore, extractions, job_rows, lane_search, overviews, row_numbers};
use crate::bounds::STEP_JOBS;
use crate::flush_state::JobRows;

/// How often a waiting caller polls for a change. Each poll is one read of the log's header.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

#[async_trait]
impl JobQueue for SqliteStore {
    async fn claim(&self, claim: Claim<'_>) -> Result<Vec<ClaimedJob>, StoreError> {
        // A worker that finds nothing due must not queue for the write lock.
        if claim.limits.jobs == 0 || !self.read(|tx| is_due(tx, claim.kind, claim.now))? {
            return Ok(Vec::new());
        }
        self.write(|tx| grant(tx, &claim))
    }

    async fn heartbeat(
        &self,
        token: &LeaseToken,
        now: Timestamp,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        self.write(|tx| {
            change(tx, token.job(), false, |job| {
                job.heartbeat(token, now, lease)
            })
        })
    }

    async fn release(&self, token: &LeaseToken, now: Timestamp) -> Result<bool, StoreError> {
        self.write(|tx| change(tx, token.job(), false, |job| job.release(token, now)))
    }

    async fn set_aside(
        &self,
        token: &LeaseToken,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(|tx| {
            change(tx, token.job(), false, |job| {
                job.set_aside(token, until, now)
            })
        })
    }

    async fn abandon(&self, holder: &str) -> Result<usize, StoreError> {
        self.write(|tx| {
            let held = select(tx, "lease_holder = ?", [holder])?.rows;
            let count = held.len();
            for mut job in held {
                job.abandon(holder);
                job_rows::save(tx, &job)?;
            }
            Ok(count)
        })
    }

    async fn holders(&self) -> Result<Vec<String>, StoreError> {
        self.read(|tx| {
            let mut find = tx.prepare_cached(
                "SELECT DISTINCT lease_holder FROM jobs WHERE lease_holder IS NOT NULL
                 ORDER BY lease_holder",
            )?;
            let rows = find.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    async fn finish(
        &self,
        token: &LeaseToken,
        upto: u64,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        self.write(|tx| finish(tx, token, upto, now))
    }

    async fn fail(
        &self,
        token: &LeaseToken,
        failed: &FailedTry,
        now: Timestamp,
    ) -> Result<FailOutcome, StoreError> {
        self.write(|tx| {
            let Some(mut job) = job_rows::load(tx, token.job())? else {
                return Ok(FailOutcome::LeaseLost);
            };
            let outcome = job.fail(token, failed, now);
            for tallied in TallyKind::failure(failed.failure.class, &outcome) {
                tally(tx, job.key.kind(), tallied)?;
            }
            if let FailOutcome::GaveUp(gap) = &outcome {
                job_rows::put_gap(tx, gap)?;
            }
            extractions::settle_redo(tx, &mut job, now)?;
            job_rows::save(tx, &job)?;
            Ok(outcome)
        })
    }
}

#[async_trait]
impl JobWatch for SqliteStore {
    async fn jobs_of_all_tenants(&self, kind: JobKind) -> Result<Vec<Job>, StoreError> {
        self.list(|tx| select(tx, "kind = ? ORDER BY tenant, owner, name", [kind.as_str()]))
    }

    async fn gaps_of_all_tenants(&self) -> Result<Vec<Gap>, StoreError> {
        self.read(|tx| job_rows::gaps(tx))
    }

    async fn tallies(&self) -> Result<Vec<Tally>, StoreError> {
        self.read(|tx| {
            let mut find = tx.prepare_cached("SELECT kind, what, count FROM tallies")?;
            let rows = find.query_map([], |row| {
                Ok(Tally {
                    kind: parse_column(row, "kind")?,
                    what: parse_column(row, "what")?,
                    count: row.get("count")?,
                })
            })?;
            let mut tallies: Vec<Tally> = rows.collect::<Result<_, _>>()?;
            tallies.sort_by_key(|tally| (tally.kind, tally.what));
            Ok(tallies)
        })
    }

    async fn next_due(&self, kind: JobKind) -> Result<Option<Timestamp>, StoreError> {
        self.read(|tx| {
            let mut first = tx.prepare_cached(
                "SELECT min(due_at) FROM jobs WHERE kind = ? AND due_at IS NOT NULL",
            )?;
            let due: Option<i64> = first.query_row([kind.as_str()], |row| row.get(0))?;
            Ok(due.map(Timestamp))
        })
    }

    async fn version(&self) -> Result<u64, StoreError> {
        self.data_version()
    }

    async fn until_changed(&self, seen: u64, longest: Duration) -> Result<(), StoreError> {
        let until = tokio::time::Instant::now() + longest;
        while self.data_version()? == seen && tokio::time::Instant::now() < until {
            tokio::time::sleep_until(until.min(tokio::time::Instant::now() + POLL_INTERVAL)).await;
        }
        Ok(())
    }
}

#[async_trait]
impl JobControl for SqliteStore {
    async fn mark(&self, key: &JobKey, raise: DueMark) -> Result<(), StoreError> {
        let key = key.clone();
        self.write_together(WriteSize::default(), move |tx, _| mark(tx, &key, raise))
            .await
    }

    async fn hasten(
        &self,
        key: &JobKey,
        now: Timestamp,
        priority: Priority,
    ) -> Result<(), StoreError> {
        self.write(|tx| change(tx, key, (), |job| job.hasten(now, priority)))
    }

    async fn reprioritize(
        &self,
        session: &SessionId,
        user: Option<&str>,
        most: usize,
    ) -> Result<usize, StoreError> {
        self.write(|tx| {
            let beside = "kind = 'extract' AND tenant = ? AND owner = ? AND name <> ? AND user IS ?
                AND due_at IS NOT NULL ORDER BY deadline, name LIMIT ?";
            let (tenant, agent, host_id) = (&session.tenant.0, &session.agent, &session.host_id);
            let waiting = select(tx, beside, params![tenant, agent, host_id, user, most])?.rows;
            let count = waiting.len();
            for mut job in waiting {
                job.raise(Priority::Raised);
                job_rows::save(tx, &job)?;
            }
            Ok(count)
        })
    }

    async fn cancel(
        &self,
        key: &JobKey,
        now: Timestamp,
        engine: &str,
    ) -> Result<Option<Gap>, StoreError> {
        self.write(|tx| {
            let Some(mut job) = job_rows::load(tx, key)? else {
                return Ok(None);
            };
            let gap = job.cancel(now, engine);
            if let Some(gap) = &gap {
                tally(tx, key.kind(), TallyKind::Cancelled)?;
                job_rows::put_gap(tx, gap)?;
            }
            extractions::settle_redo(tx, &mut job, now)?;
            job_rows::save(tx, &job)?;
            Ok(gap)
        })
    }

    async fn retry(&self, key: &JobKey, now: Timestamp) -> Result<bool, StoreError> {
        self.write(|tx| {
            let waiting = job_rows::load(tx, key)?.filter(Job::is_ahead);
            let Some(mut job) = waiting else {
                return Ok(false);
            };
            job.retry(now);
            job_rows::save(tx, &job)?;
            Ok(true)
        })
    }

    async fn redo(&self, key: &JobKey, now: Timestamp) -> Result<(), StoreError> {
        self.write(|tx| redo(tx, key, now))
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
            revived += self.write(|tx| revive(tx, some, now))?;
        }
        Ok(revived)
    }
}

#[async_trait]
impl JobListing for SqliteStore {
    async fn job(&self, key: &JobKey) -> Result<Option<Job>, StoreError> {
        self.read(|tx| job_rows::load(tx, key))
    }

    async fn jobs(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<JobKey>,
    ) -> Result<Page<Job, JobKey>, StoreError> {
        self.page_of_jobs(tenant, kind, ("TRUE", page))
    }

    async fn open_jobs(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<JobKey>,
    ) -> Result<Page<Job, JobKey>, StoreError> {
        self.page_of_jobs(tenant, kind, ("input > done", page))
    }

    async fn session_groups(
        &self,
        tenant: &Tenant,
        rested_before: Timestamp,
    ) -> Result<Vec<SessionGroup>, StoreError> {
        self.read(|tx| overviews::session_groups(tx, tenant, rested_before))
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
        let rows = format!(
            "kind = ? AND tenant = ? AND (owner, name, from_seq) {behind} (?, ?, ?)
             ORDER BY owner, name, from_seq LIMIT ?"
        );
        let one_more = row_numbers::at_most(most + 1);
        let values = params![kind.as_str(), tenant.0, owner, name, from, one_more];
        let gaps = self.read(|tx| job_rows::gaps_where(tx, &rows, values))?;
        Ok(Page::cut(gaps, most, |gap| (gap.job.clone(), gap.from)))
    }

    async fn gaps_of(&self, job: &JobKey) -> Result<Vec<Gap>, StoreError> {
        let (tenant, owner, name) = job.parts();
        let of_job = "kind = ? AND tenant = ? AND owner = ? AND name = ? ORDER BY from_seq";
        let values = params![job.kind().as_str(), tenant, owner, name];
        self.read(|tx| job_rows::gaps_where(tx, of_job, values))
    }
}

impl SqliteStore {
    /// A page of the jobs for which a condition holds.
    fn page_of_jobs(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        (condition, page): (&str, PageRequest<JobKey>),
    ) -> Result<Page<Job, JobKey>, StoreError> {
        let after = page.after.as_ref().map(JobKey::parts);
        let (behind, (_, owner, name)) = match after {
            Some(parts) => (">", parts),
            None => (">=", ("", "", "")),
        };
        let rows = format!(
            "kind = ? AND tenant = ? AND {condition} AND (owner, name) {behind} (?, ?)
             ORDER BY owner, name LIMIT ?"
        );
        let key = |job: &Job| job.key.clone();
        self.page(page.most(), key, |tx, rows_at_most| {
            let values = params![kind.as_str(), tenant.0, owner, name, rows_at_most];
            select(tx, &rows, values)
        })
    }
}

#[async_trait]
impl JobRows for SqliteStore {
    async fn put_jobs(&self, jobs: &[Job]) -> Result<(), StoreError> {
        self.write(|tx| jobs.iter().try_for_each(|job| job_rows::save(tx, job)))
    }
}

/// Deletes all gaps of these jobs and starts redoing the jobs.
fn revive(tx: &Connection, keys: &[JobKey], now: Timestamp) -> Result<usize, Fault> {
    let mut revived = 0;
    for key in keys {
        let taken = job_rows::delete_gaps(tx, key)?;
        revived += taken;
        // Another call may have been faster; a job is not redone twice for the same gaps.
        if taken > 0 {
            redo(tx, key, now)?;
        }
    }
    Ok(revived)
}

/// Ends a claim, and returns how.
pub(super) fn finish(
    tx: &Connection,
    token: &LeaseToken,
    upto: u64,
    now: Timestamp,
) -> Result<FinishOutcome, Fault> {
    let Some(mut job) = job_rows::load(tx, token.job())? else {
        return Ok(FinishOutcome::LeaseLost);
    };
    let outcome = job.finish(token, upto, now);
    tally(tx, job.key.kind(), TallyKind::finish(outcome))?;
    extractions::settle_redo(tx, &mut job, now)?;
    job_rows::save(tx, &job)?;
    Ok(outcome)
}

fn is_due(tx: &Connection, kind: JobKind, now: Timestamp) -> Result<bool, Fault> {
    let mut find =
        tx.prepare_cached("SELECT 1 FROM jobs WHERE kind = ? AND due_at <= ? LIMIT 1")?;
    Ok(find.exists(params![kind.as_str(), now.0])?)
}

/// Grants jobs in order, up to the claim's limits.
fn grant(tx: &Connection, claim: &Claim<'_>) -> Result<Vec<ClaimedJob>, Fault> {
    let limits = claim.limits;
    let mut left = limits.jobs;
    if limits.running < usize::MAX {
        left = left.min(
            limits
                .running
                .saturating_sub(lane_search::count_running(tx, claim, None)?),
        );
    }
    let mut turn = LaneSearch::new(tx, claim);
    let mut taken: HashMap<i64, usize> = HashMap::new();
    let mut claimed = Vec::new();
    while claimed.len() < left {
        let Some(mut next) = turn.next()? else { break };
        let lane = next.lanes[0];
        if limits.running_per_agent < usize::MAX
            && lane_search::count_running(tx, claim, Some(lane))? >= limits.running_per_agent
        {
            turn.close(lane);
            continue;
        }
        claimed.extend(next.job.claim(claim.holder, claim.now, claim.lease));
        job_rows::save(tx, &next.job)?;
        tally(tx, claim.kind, TallyKind::Claimed)?;
        turn.note_served_lanes(&next.lanes)?;
        let from_lane = taken.entry(lane).or_default();
        *from_lane += 1;
        if *from_lane >= limits.per_agent {
            turn.close(lane);
        }
    }
    Ok(claimed)
}

/// Changes a job that exists; `missing` is the answer where it does not.
fn change<T>(
    tx: &Connection,
    key: &JobKey,
    missing: T,
    transition: impl FnOnce(&mut Job) -> T,
) -> Result<T, Fault> {
    let Some(mut job) = job_rows::load(tx, key)? else {
        return Ok(missing);
    };
    let outcome = transition(&mut job);
    job_rows::save(tx, &job)?;
    Ok(outcome)
}

fn redo(tx: &Connection, key: &JobKey, now: Timestamp) -> Result<(), Fault> {
    let Some(mut job) = job_rows::load(tx, key)? else {
        return Ok(());
    };
    job_rows::delete_gaps(tx, key)?;
    job.begin_redo(now);
    extractions::drop_unfinished_redo(tx, &job)?;
    job_rows::save(tx, &job)
}
