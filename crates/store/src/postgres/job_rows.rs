//! A job as a row: one column for each of its fields, so that an operator can read it.
//!
//! Rows are transferred as JSON in both directions: many cost as many statements as one, and the server has one
//! column to describe where it would have thirty-two.

use std::collections::BTreeMap;

use daybook_domain::claim::Lane;
use daybook_domain::{
    DueMark, Failure, FailureClass, Job, JobKey, JobKind, Lease, Priority, TallyKind, Timestamp,
};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;

use super::connection::Tx;
use super::fault::Fault;
use super::gaps;
use super::kept_statements::Sql;
use super::values::{SqlValue, get, saturating_count, values, without_nul};

/// Loads and locks a job until this transaction ends.
pub(super) async fn load(tx: &Tx, key: &JobKey) -> Result<Option<Job>, Fault> {
    let (tenant, owner, name) = key.parts();
    let lock = "SELECT job::TEXT FROM lock_job($1, $2, $3, $4) AS job WHERE job IS NOT NULL";
    let parts = values![key.kind().as_str(), tenant, owner, name];
    let rows = tx.rows(Sql::Kept(lock), parts).await?;
    rows.first().map(job_of).transpose()
}

/// Loads and locks those of the jobs that exist, by key, until this transaction ends.
pub(super) async fn load_all(tx: &Tx, keys: &[&JobKey]) -> Result<Vec<Job>, Fault> {
    let locked = "(kind, tenant, owner, name) IN (SELECT * FROM unnest($1, $2, $3, $4))
        ORDER BY kind, tenant, owner, name FOR UPDATE";
    select(tx, locked, &columns(keys)).await
}

/// [`load_all`] without those that another transaction has locked.
pub(super) async fn load_free(tx: &Tx, keys: &[&JobKey]) -> Result<Vec<Job>, Fault> {
    let free = "(kind, tenant, owner, name) IN (SELECT * FROM unnest($1, $2, $3, $4))
        FOR UPDATE SKIP LOCKED";
    select(tx, free, &columns(keys)).await
}

fn columns(keys: &[&JobKey]) -> [SqlValue; 4] {
    let part = |of: fn(&JobKey) -> &str| -> SqlValue {
        let parts = keys.iter().map(|key| of(key).to_owned());
        SqlValue::from(parts.collect::<Vec<_>>())
    };
    [
        part(|key| key.kind().as_str()),
        part(|key| key.parts().0),
        part(|key| key.parts().1),
        part(|key| key.parts().2),
    ]
}

/// Jobs that `condition` selects and orders.
pub(super) async fn select(
    tx: &Tx,
    condition: &str,
    values: &[SqlValue],
) -> Result<Vec<Job>, Fault> {
    let sql = format!("SELECT row_to_json(jobs)::TEXT AS job FROM jobs WHERE {condition}");
    tx.rows(&sql, values).await?.iter().map(job_of).collect()
}

/// Writes a job that was loaded in this transaction.
pub(super) fn save(tx: &Tx, job: &Job) {
    save_all(tx, std::slice::from_ref(job));
}

/// Writes jobs that were loaded in this transaction.
pub(super) fn save_all(tx: &Tx, jobs: &[Job]) {
    if !jobs.is_empty() {
        let save = Sql::Kept("SELECT save_jobs($1::JSON)");
        tx.defer(save, values![objects(jobs)]);
    }
}

/// Inserts jobs that did not exist when this transaction looked for them. Where another transaction was faster,
/// this one fails and is tried again.
pub(super) fn insert_all(tx: &Tx, jobs: &[Job]) {
    if !jobs.is_empty() {
        let insert = "INSERT INTO jobs SELECT * FROM json_populate_recordset(NULL::jobs, $1::JSON)";
        tx.defer(Sql::Kept(insert), values![objects(jobs)]);
    }
}

/// Deletes a job and its gaps.
pub(super) async fn delete(tx: &Tx, key: &JobKey) -> Result<(), Fault> {
    let (tenant, owner, name) = key.parts();
    let gone = "DELETE FROM jobs WHERE kind = $1 AND tenant = $2 AND owner = $3 AND name = $4";
    tx.execute(gone, values![key.kind().as_str(), tenant, owner, name])
        .await?;
    gaps::delete(tx, key).await?;
    Ok(())
}

/// Jobs in the JSON form that the function `save_jobs` takes.
pub(super) fn objects(jobs: &[Job]) -> String {
    let rows: Vec<JobRow> = jobs.iter().map(JobRow::of).collect();
    serde_json::to_string(&rows).expect("numbers and texts are JSON")
}

/// The job in the column `job` of a row.
pub(super) fn job_of(row: &Row) -> Result<Job, Fault> {
    let text: String = get(row, "job")?;
    let row: JobRow = serde_json::from_str(&text)
        .map_err(|error| Fault::corrupt(format!("a job cannot be read: {error}")))?;
    row.job()
        .ok_or_else(|| Fault::corrupt(format!("a job cannot be read: {text}")))
}

/// The columns of the table `jobs`.
#[derive(Debug, Serialize, Deserialize)]
struct JobRow {
    kind: String,
    tenant: String,
    owner: String,
    name: String,
    user: Option<String>,
    lane_user: String,
    lane_agent: String,
    input: i64,
    done: i64,
    redo: u32,
    redo_until: Option<i64>,
    turns: u32,
    idle_due: i64,
    deadline: i64,
    priority: i64,
    retry_at: Option<i64>,
    outage: bool,
    tries: u32,
    failures: u32,
    vanished: u32,
    span: Option<i64>,
    suspect_to: i64,
    lease_generation: Option<i64>,
    lease_until: Option<i64>,
    lease_holder: Option<String>,
    lease_upto: Option<i64>,
    lease_arrived: Option<i64>,
    lease_turns: Option<u32>,
    claims: i64,
    failure_class: Option<String>,
    failure_message: Option<String>,
    due_at: Option<i64>,
}

impl JobRow {
    fn of(job: &Job) -> Self {
        let (tenant, owner, name) = job.key.parts();
        let lane = Lane::of(job);
        let lease = job.lease.as_ref();
        let failure = job.last_failure.as_ref();
        Self {
            kind: job.key.kind().as_str().to_owned(),
            tenant: without_nul(tenant),
            owner: without_nul(owner),
            name: without_nul(name),
            user: job.user.as_deref().map(without_nul),
            lane_user: without_nul(&lane.user),
            lane_agent: without_nul(&lane.agent),
            input: saturating_count(job.input),
            done: saturating_count(job.done),
            redo: job.redo,
            redo_until: job.redo_until.map(saturating_count),
            turns: job.turns,
            idle_due: job.idle_due.0,
            deadline: job.deadline.0,
            priority: job.priority.rank(),
            retry_at: job.retry_at.map(|at| at.0),
            outage: job.outage,
            tries: job.tries,
            failures: job.failures,
            vanished: job.vanished,
            span: job.span.map(saturating_count),
            suspect_to: saturating_count(job.suspect_to),
            lease_generation: lease.map(|lease| saturating_count(lease.generation)),
            lease_until: lease.map(|lease| lease.until.0),
            lease_holder: lease.map(|lease| without_nul(&lease.holder)),
            lease_upto: lease.map(|lease| saturating_count(lease.upto)),
            lease_arrived: lease.and_then(|lease| lease.arrived).map(|at| at.0),
            lease_turns: lease.map(|lease| lease.turns),
            claims: saturating_count(job.claims),
            failure_class: failure.map(|failure| failure.class.as_str().to_owned()),
            failure_message: failure.map(|failure| without_nul(&failure.message)),
            due_at: job.due_at().map(|at| at.0),
        }
    }

    /// `None` where a column holds a value that no job has.
    fn job(self) -> Option<Job> {
        let kind = self.kind.parse::<JobKind>().ok()?;
        let lease = self.lease()?;
        Some(Job {
            key: JobKey::from_parts(kind, &self.tenant, &self.owner, &self.name)?,
            user: self.user,
            input: count(self.input)?,
            done: count(self.done)?,
            redo: self.redo,
            redo_until: counts(self.redo_until)?,
            turns: self.turns,
            idle_due: Timestamp(self.idle_due),
            deadline: Timestamp(self.deadline),
            priority: Priority::from_rank(self.priority)?,
            retry_at: self.retry_at.map(Timestamp),
            outage: self.outage,
            tries: self.tries,
            failures: self.failures,
            vanished: self.vanished,
            span: counts(self.span)?,
            suspect_to: count(self.suspect_to)?,
            lease,
            claims: count(self.claims)?,
            last_failure: match self.failure_class {
                Some(class) => Some(Failure {
                    class: class.parse::<FailureClass>().ok()?,
                    message: self.failure_message?,
                }),
                None => None,
            },
        })
    }

    fn lease(&self) -> Option<Option<Lease>> {
        let Some(generation) = self.lease_generation else {
            return Some(None);
        };
        Some(Some(Lease {
            generation: count(generation)?,
            until: Timestamp(self.lease_until?),
            holder: self.lease_holder.clone()?,
            upto: count(self.lease_upto?)?,
            arrived: self.lease_arrived.map(Timestamp),
            turns: self.lease_turns?,
        }))
    }
}

fn count(column: i64) -> Option<u64> {
    u64::try_from(column).ok()
}

fn counts(column: Option<i64>) -> Option<Option<u64>> {
    column.map_or(Some(None), |column| count(column).map(Some))
}

/// Raises a job's input, creating the job when it is new.
pub(super) async fn mark(tx: &Tx, key: &JobKey, mark: DueMark) -> Result<(), Fault> {
    change_or_create(tx, key, None, |job| job.mark(mark)).await
}

/// Raises the inputs of jobs, creating those that are new.
pub(super) async fn mark_all(tx: &Tx, marks: &BTreeMap<JobKey, DueMark>) -> Result<(), Fault> {
    let keys: Vec<&JobKey> = marks.keys().collect();
    let mut known = load_all(tx, &keys).await?;
    let mut new: Vec<Job> = Vec::new();
    for (key, mark) in marks {
        match known.iter_mut().find(|job| &job.key == key) {
            Some(job) => job.mark(*mark),
            None => {
                let mut job = Job::new(key.clone());
                job.mark(*mark);
                new.push(job);
            }
        }
    }
    save_all(tx, &known);
    insert_all(tx, &new);
    Ok(())
}

/// Changes a job, creating it when it is new.
pub(super) async fn change_or_create<T>(
    tx: &Tx,
    key: &JobKey,
    user: Option<&str>,
    change: impl FnOnce(&mut Job) -> T,
) -> Result<T, Fault> {
    let known = load(tx, key).await?;
    let is_new = known.is_none();
    let mut job = known.unwrap_or_else(|| Job::new(key.clone()));
    if let Some(user) = user {
        job.user = Some(user.to_owned());
    }
    let changed = change(&mut job);
    if is_new {
        insert_all(tx, std::slice::from_ref(&job));
    } else {
        save(tx, &job);
    }
    Ok(changed)
}

/// Adds one to a tally.
pub(super) fn tally(tx: &Tx, kind: JobKind, what: TallyKind) {
    let count = "SELECT count_more($1, $2, 1)";
    tx.defer(
        Sql::Kept(count),
        values![kind.as_str(), vec![what.as_str()]],
    );
}
