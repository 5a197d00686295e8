//! Background work: each call loads a row, applies one transition of [`Job`] and saves it, in one
//! transaction that holds the write lock from its start. Two claimers therefore never see the same
//! job free.

use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::seams::JobStore;
use daybook_domain::{
    Claimed, FailOutcome, Failure, FinishOutcome, Gap, Job, JobKey, JobKind, LeaseToken, Mark,
    Priority, StoreError, Timestamp,
};
use rusqlite::{Connection, params};

use super::connection::Fault;
use super::{SqliteStore, extractions, job_rows};
use crate::bounds::STEP_JOBS;

#[async_trait]
impl JobStore for SqliteStore {
    async fn mark(&self, key: &JobKey, raise: Mark) -> Result<(), StoreError> {
        self.write(|tx| mark(tx, key, raise))
    }

    async fn hasten(
        &self,
        key: &JobKey,
        now: Timestamp,
        priority: Priority,
    ) -> Result<(), StoreError> {
        self.write(|tx| change(tx, key, (), |job| job.hasten(now, priority)))
    }

    async fn claim(
        &self,
        kind: JobKind,
        holder: &str,
        now: Timestamp,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<Claimed>, StoreError> {
        // A worker that finds nothing due must not queue for the write lock.
        if self.read(|tx| Ok(due(tx, kind, now, limit.min(1))?.is_empty()))? {
            return Ok(Vec::new());
        }
        self.write(|tx| {
            let mut claimed = Vec::new();
            for mut job in due(tx, kind, now, limit)? {
                claimed.extend(job.claim(holder, now, lease));
                job_rows::save(tx, &job)?;
            }
            Ok(claimed)
        })
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

    async fn abandon(&self, holder: &str) -> Result<usize, StoreError> {
        self.write(|tx| {
            let held = select(tx, "lease_holder = ?", [holder])?;
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
            extractions::settle_redo(tx, &mut job, now)?;
            job_rows::save(tx, &job)?;
            Ok(outcome)
        })
    }

    async fn fail(
        &self,
        token: &LeaseToken,
        failure: Failure,
        now: Timestamp,
        jitter: f64,
        engine: &str,
    ) -> Result<FailOutcome, StoreError> {
        self.write(|tx| {
            let Some(mut job) = job_rows::load(tx, token.job())? else {
                return Ok(FailOutcome::LeaseLost);
            };
            let outcome = job.fail(token, failure.clone(), now, jitter, engine);
            if let FailOutcome::GaveUp(gap) = &outcome {
                job_rows::put_gap(tx, gap)?;
            }
            extractions::settle_redo(tx, &mut job, now)?;
            job_rows::save(tx, &job)?;
            Ok(outcome)
        })
    }

    async fn job(&self, key: &JobKey) -> Result<Option<Job>, StoreError> {
        self.read(|tx| job_rows::load(tx, key))
    }

    async fn jobs(&self, kind: JobKind) -> Result<Vec<Job>, StoreError> {
        self.read(|tx| select(tx, "kind = ? ORDER BY tenant, owner, name", [kind.word()]))
    }

    async fn next_due(&self, kind: JobKind) -> Result<Option<Timestamp>, StoreError> {
        self.read(|tx| {
            let mut next: Option<Timestamp> = None;
            for priority in PRIORITIES {
                let mut first = tx.prepare_cached(
                    "SELECT min(due_at) FROM jobs
                     WHERE kind = ? AND priority = ? AND due_at IS NOT NULL",
                )?;
                let key = params![kind.word(), priority.rank()];
                let due: Option<i64> = first.query_row(key, |row| row.get(0))?;
                next = [next, due.map(Timestamp)].into_iter().flatten().min();
            }
            Ok(next)
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
        let wanted = |gap: &Gap| job.map_or(gap.engine != engine, |job| &gap.job == job);
        let gaps = self.read(|tx| job_rows::gaps(tx))?;
        let mut keys: Vec<JobKey> = gaps.into_iter().filter(wanted).map(|gap| gap.job).collect();
        keys.dedup();
        let mut revived = 0;
        for some in keys.chunks(STEP_JOBS) {
            revived += self.write(|tx| revive(tx, some, now))?;
        }
        Ok(revived)
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
const PRIORITIES: [Priority; 4] = [
    Priority::High,
    Priority::Raised,
    Priority::Normal,
    Priority::Low,
];

/// Raises a job's input, creating the job when it is new.
pub(super) fn mark(tx: &Connection, key: &JobKey, mark: Mark) -> Result<(), Fault> {
    let mut job = job_rows::load(tx, key)?.unwrap_or_else(|| Job::new(key.clone()));
    job.mark(mark);
    job_rows::save(tx, &job)
}

/// Due jobs in the order in which they are granted. One range of an index for each priority, so a
/// long queue costs no sort.
fn due(tx: &Connection, kind: JobKind, now: Timestamp, limit: usize) -> Result<Vec<Job>, Fault> {
    let mut jobs = Vec::new();
    for priority in PRIORITIES {
        let left = limit - jobs.len();
        if left == 0 {
            break;
        }
        jobs.extend(select(
            tx,
            "kind = ? AND priority = ? AND due_at <= ? AND due_at IS NOT NULL
             ORDER BY due_at, tenant, owner, name LIMIT ?",
            params![kind.word(), priority.rank(), now.0, left],
        )?);
    }
    Ok(jobs)
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

fn select(
    tx: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<Job>, Fault> {
    let sql = format!("SELECT {} FROM jobs WHERE {condition}", job_rows::COLUMNS);
    let mut find = tx.prepare_cached(&sql)?;
    let rows = find.query_map(values, job_rows::job_of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}
