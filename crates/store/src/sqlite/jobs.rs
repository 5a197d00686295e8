//! Background work: each call loads a row, applies one transition of [`Job`] and saves it, in one
//! transaction that holds the write lock from its start. Two claimers therefore never see the same
//! job free.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::seams::JobStore;
use daybook_domain::{
    Claim, Claimed, FailOutcome, FailedTry, FailureClass, FinishOutcome, Gap, Job, JobKey, JobKind,
    LeaseToken, Mark, Priority, SessionId, StoreError, Tallied, Tally, Timestamp,
};
use rusqlite::{Connection, params};

use super::committer::Size;
use super::connection::Fault;
use super::lanes::{self, Turn};
use super::listing::{Listing, list};
use super::names::word;
use super::{SqliteStore, extractions, job_rows};
use crate::bounds::STEP_JOBS;
use crate::flush_state::JobRows;

/// How often somebody who waits for a change looks for one. A look is one read of the log's header.
const LOOK: Duration = Duration::from_millis(100);

#[async_trait]
impl JobStore for SqliteStore {
    async fn mark(&self, key: &JobKey, raise: Mark) -> Result<(), StoreError> {
        let key = key.clone();
        self.write_together(Size::default(), move |tx, _| mark(tx, &key, raise))
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

    async fn claim(&self, claim: Claim<'_>) -> Result<Vec<Claimed>, StoreError> {
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

    async fn set_aside(&self, token: &LeaseToken, now: Timestamp) -> Result<bool, StoreError> {
        self.write(|tx| change(tx, token.job(), false, |job| job.set_aside(token, now)))
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
        self.write(|tx| {
            let Some(mut job) = job_rows::load(tx, token.job())? else {
                return Ok(FinishOutcome::LeaseLost);
            };
            let outcome = job.finish(token, upto, now);
            tally(tx, job.key.kind(), Tallied::finish(outcome))?;
            extractions::settle_redo(tx, &mut job, now)?;
            job_rows::save(tx, &job)?;
            Ok(outcome)
        })
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
            for tallied in Tallied::failure(failed.failure.class, &outcome) {
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
                tally(tx, key.kind(), Tallied::Cancelled)?;
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

    async fn job(&self, key: &JobKey) -> Result<Option<Job>, StoreError> {
        self.read(|tx| job_rows::load(tx, key))
    }

    async fn jobs(&self, kind: JobKind) -> Result<Vec<Job>, StoreError> {
        self.list(|tx| select(tx, "kind = ? ORDER BY tenant, owner, name", [kind.word()]))
    }

    async fn next_due(&self, kind: JobKind) -> Result<Option<Timestamp>, StoreError> {
        self.read(|tx| {
            let mut first = tx.prepare_cached(
                "SELECT min(due_at) FROM jobs WHERE kind = ? AND due_at IS NOT NULL",
            )?;
            let due: Option<i64> = first.query_row([kind.word()], |row| row.get(0))?;
            Ok(due.map(Timestamp))
        })
    }

    async fn redo(&self, key: &JobKey, now: Timestamp) -> Result<(), StoreError> {
        self.write(|tx| redo(tx, key, now))
    }

    async fn gaps(&self) -> Result<Vec<Gap>, StoreError> {
        self.read(|tx| job_rows::gaps(tx))
    }

    async fn revive_gaps(
        &self,
        job: Option<&JobKey>,
        engine: &str,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let outdated =
            |gap: &Gap| gap.engine != engine && gap.failure.class != FailureClass::Cancelled;
        let wanted = |gap: &Gap| job.map_or(outdated(gap), |job| &gap.job == job);
        let gaps = self.read(|tx| job_rows::gaps(tx))?;
        let mut keys: Vec<JobKey> = gaps.into_iter().filter(wanted).map(|gap| gap.job).collect();
        keys.dedup();
        let mut revived = 0;
        for some in keys.chunks(STEP_JOBS) {
            revived += self.write(|tx| revive(tx, some, now))?;
        }
        Ok(revived)
    }

    async fn tallies(&self) -> Result<Vec<Tally>, StoreError> {
        self.read(|tx| {
            let mut find = tx.prepare_cached("SELECT kind, what, count FROM tallies")?;
            let rows = find.query_map([], |row| {
                Ok(Tally {
                    kind: word(row, "kind", JobKind::from_word)?,
                    what: word(row, "what", Tallied::from_word)?,
                    count: row.get("count")?,
                })
            })?;
            let mut tallies: Vec<Tally> = rows.collect::<Result<_, _>>()?;
            tallies.sort_by_key(|tally| (tally.kind, tally.what));
            Ok(tallies)
        })
    }

    async fn version(&self) -> Result<u64, StoreError> {
        self.data_version()
    }

    async fn until_changed(&self, seen: u64, longest: Duration) -> Result<(), StoreError> {
        let until = tokio::time::Instant::now() + longest;
        while self.data_version()? == seen && tokio::time::Instant::now() < until {
            tokio::time::sleep_until(until.min(tokio::time::Instant::now() + LOOK)).await;
        }
        Ok(())
    }
}

#[async_trait]
impl JobRows for SqliteStore {
    async fn put_jobs(&self, jobs: &[Job]) -> Result<(), StoreError> {
        self.write(|tx| jobs.iter().try_for_each(|job| job_rows::save(tx, job)))
    }
}

/// Takes out all gaps of these jobs and has the jobs redone.
fn revive(tx: &Connection, keys: &[JobKey], now: Timestamp) -> Result<usize, Fault> {
    let mut revived = 0;
    for key in keys {
        let taken = job_rows::delete_gaps(tx, key)?;
        revived += taken;
        // Somebody else may have been faster; a job is not redone twice for the same gaps.
        if taken > 0 {
            redo(tx, key, now)?;
        }
    }
    Ok(revived)
}

/// The most urgent first.
pub(super) const PRIORITIES: [Priority; 4] = [
    Priority::High,
    Priority::Raised,
    Priority::Normal,
    Priority::Low,
];

/// Raises a job's input, creating the job when it is new.
pub(super) fn mark(tx: &Connection, key: &JobKey, mark: Mark) -> Result<(), Fault> {
    change_or_create(tx, key, None, |job| job.mark(mark))
}

/// Changes a job, creating it when it is new.
pub(super) fn change_or_create<T>(
    tx: &Connection,
    key: &JobKey,
    user: Option<&str>,
    change: impl FnOnce(&mut Job) -> T,
) -> Result<T, Fault> {
    let mut job = job_rows::load(tx, key)?.unwrap_or_else(|| Job::new(key.clone()));
    if let Some(user) = user {
        job.user = Some(user.to_owned());
    }
    let changed = change(&mut job);
    job_rows::save(tx, &job)?;
    Ok(changed)
}

/// Counts one more.
pub(super) fn tally(tx: &Connection, kind: JobKind, what: Tallied) -> Result<(), Fault> {
    tx.prepare_cached(
        "INSERT INTO tallies (kind, what, count) VALUES (?, ?, 1)
         ON CONFLICT DO UPDATE SET count = count + 1",
    )?
    .execute(params![kind.word(), what.word()])?;
    Ok(())
}

fn is_due(tx: &Connection, kind: JobKind, now: Timestamp) -> Result<bool, Fault> {
    let mut find =
        tx.prepare_cached("SELECT 1 FROM jobs WHERE kind = ? AND due_at <= ? LIMIT 1")?;
    Ok(find.exists(params![kind.word(), now.0])?)
}

/// Grants jobs in turn, up to the claim's limits.
fn grant(tx: &Connection, claim: &Claim<'_>) -> Result<Vec<Claimed>, Fault> {
    let limits = claim.limits;
    let mut left = limits.jobs;
    if limits.running < usize::MAX {
        left = left.min(
            limits
                .running
                .saturating_sub(lanes::running(tx, claim, None)?),
        );
    }
    let mut turn = Turn::new(tx, claim);
    let mut taken: HashMap<i64, usize> = HashMap::new();
    let mut claimed = Vec::new();
    while claimed.len() < left {
        let Some(mut next) = turn.next()? else { break };
        let lane = next.lanes[0];
        if limits.running_per_agent < usize::MAX
            && lanes::running(tx, claim, Some(lane))? >= limits.running_per_agent
        {
            turn.close(lane);
            continue;
        }
        claimed.extend(next.job.claim(claim.holder, claim.now, claim.lease));
        job_rows::save(tx, &next.job)?;
        tally(tx, claim.kind, Tallied::Claimed)?;
        turn.serve(&next.lanes)?;
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

pub(super) fn select(
    tx: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Listing<Job>, Fault> {
    let sql = format!("SELECT {} FROM jobs WHERE {condition}", job_rows::COLUMNS);
    let mut find = tx.prepare_cached(&sql)?;
    list(
        find.query(values)?,
        ("jobs", &[0, 1, 2, 3]),
        job_rows::job_of,
    )
}
