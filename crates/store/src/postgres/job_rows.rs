//! A job as a row: one column for each of its fields, so that an operator can read it.
//!
//! Rows travel as arrays, one for each column, so that many cost as many statements as one.

use std::sync::LazyLock;

use daybook_domain::claim::Lane;
use daybook_domain::{Failure, FailureClass, Gap, Job, JobKey, JobKind, Lease, Priority};
use tokio_postgres::Row;

use super::connection::{Fault, Tx};
use super::values::{Value, get, values, word};

/// The columns of a job's key.
const KEY: &str = "kind, tenant, owner, name";
/// The columns that a job's transitions change, and those that follow from them.
const STATE: [&str; 28] = [
    "\"user\"",
    "lane_user",
    "lane_agent",
    "input",
    "done",
    "redo",
    "redo_until",
    "turns",
    "idle_due",
    "deadline",
    "priority",
    "retry_at",
    "outage",
    "tries",
    "failures",
    "vanished",
    "span",
    "suspect_to",
    "lease_generation",
    "lease_until",
    "lease_holder",
    "lease_upto",
    "lease_arrived",
    "lease_turns",
    "claims",
    "failure_class",
    "failure_message",
    "due_at",
];

static INSERT: LazyLock<String> = LazyLock::new(|| {
    let columns = format!("{KEY}, {}", STATE.join(", "));
    format!("INSERT INTO jobs ({columns}) SELECT * FROM {}", rows())
});
static UPDATE: LazyLock<String> = LazyLock::new(|| {
    let saved = STATE.map(|column| format!("{column} = saved.{column}"));
    format!(
        "UPDATE jobs SET {} FROM {} WHERE (jobs.kind, jobs.tenant, jobs.owner, jobs.name)
            = (saved.kind, saved.tenant, saved.owner, saved.name)",
        saved.join(", "),
        rows()
    )
});

/// The parameters as rows of all columns.
fn rows() -> String {
    let columns = 1..=4 + STATE.len();
    let columns: Vec<String> = columns.map(|no| format!("${no}")).collect();
    let names = format!("{KEY}, {}", STATE.join(", "));
    format!("unnest({}) AS saved ({names})", columns.join(", "))
}

/// The job, which nobody else changes until this transaction ends.
pub(super) async fn load(tx: &Tx, key: &JobKey) -> Result<Option<Job>, Fault> {
    let (tenant, owner, name) = key.parts();
    let locked = "kind = $1 AND tenant = $2 AND owner = $3 AND name = $4 FOR UPDATE";
    let parts = values![key.kind().word(), tenant, owner, name];
    Ok(select(tx, locked, parts).await?.pop())
}

/// Those of the jobs that exist, by key; nobody else changes them until this transaction ends.
pub(super) async fn load_all(tx: &Tx, keys: &[&JobKey]) -> Result<Vec<Job>, Fault> {
    let locked = "(kind, tenant, owner, name) IN (SELECT * FROM unnest($1, $2, $3, $4))
        ORDER BY kind, tenant, owner, name FOR UPDATE";
    select(tx, locked, &key_columns(keys)).await
}

/// Jobs that `condition` selects and orders.
pub(super) async fn select(tx: &Tx, condition: &str, values: &[Value]) -> Result<Vec<Job>, Fault> {
    let sql = format!("SELECT * FROM jobs WHERE {condition}");
    tx.rows(&sql, values).await?.iter().map(job_of).collect()
}

/// Writes a job that was loaded in this transaction.
pub(super) async fn save(tx: &Tx, job: &Job) -> Result<(), Fault> {
    save_all(tx, std::slice::from_ref(job)).await
}

/// Writes jobs that were loaded in this transaction.
pub(super) async fn save_all(tx: &Tx, jobs: &[Job]) -> Result<(), Fault> {
    if jobs.is_empty() {
        return Ok(());
    }
    let saved = tx.execute(&UPDATE, &columns(jobs)).await?;
    if saved != jobs.len() as u64 {
        let what = format!("{saved} rows for {} jobs, from {}", jobs.len(), jobs[0].key);
        return Err(Fault::corrupt(what));
    }
    Ok(())
}

/// Writes jobs that did not exist when they were looked for in this transaction. Where somebody
/// else was faster, the transaction fails and is tried again.
pub(super) async fn insert_all(tx: &Tx, jobs: &[Job]) -> Result<(), Fault> {
    if !jobs.is_empty() {
        tx.execute(&INSERT, &columns(jobs)).await?;
    }
    Ok(())
}

/// Forgets a job and its gaps.
pub(super) async fn delete(tx: &Tx, key: &JobKey) -> Result<(), Fault> {
    let (tenant, owner, name) = key.parts();
    let gone = "DELETE FROM jobs WHERE kind = $1 AND tenant = $2 AND owner = $3 AND name = $4";
    tx.execute(gone, values![key.kind().word(), tenant, owner, name])
        .await?;
    delete_gaps(tx, key).await?;
    Ok(())
}

fn key_columns(keys: &[&JobKey]) -> [Value; 4] {
    [
        texts(keys, |key| Some(key.kind().word())),
        texts(keys, |key| Some(key.parts().0)),
        texts(keys, |key| Some(key.parts().1)),
        texts(keys, |key| Some(key.parts().2)),
    ]
}

/// Keys and states of jobs, an array for each column.
fn columns(jobs: &[Job]) -> Vec<Value> {
    let keys: Vec<&JobKey> = jobs.iter().map(|job| &job.key).collect();
    let lanes: Vec<Lane> = jobs.iter().map(Lane::of).collect();
    let lease = |job: &Job, field: fn(&Lease) -> u64| job.lease.as_ref().map(field);
    let mut columns = Vec::from(key_columns(&keys));
    columns.extend([
        texts(jobs, |job| job.user.as_deref()),
        texts(&lanes, |lane| Some(&lane.user)),
        texts(&lanes, |lane| Some(&lane.agent)),
        counts(jobs, |job| Some(job.input)),
        counts(jobs, |job| Some(job.done)),
        counts(jobs, |job| Some(job.redo.into())),
        counts(jobs, |job| job.redo_until),
        counts(jobs, |job| Some(job.turns.into())),
        ints(jobs, |job| Some(job.idle_due.0)),
        ints(jobs, |job| Some(job.deadline.0)),
        ints(jobs, |job| Some(job.priority.rank())),
        ints(jobs, |job| job.retry_at.map(|at| at.0)),
        Value::from(jobs.iter().map(|job| job.outage).collect::<Vec<_>>()),
        counts(jobs, |job| Some(job.tries.into())),
        counts(jobs, |job| Some(job.failures.into())),
        counts(jobs, |job| Some(job.vanished.into())),
        counts(jobs, |job| job.span),
        counts(jobs, |job| Some(job.suspect_to)),
        counts(jobs, |job| lease(job, |lease| lease.generation)),
        ints(jobs, |job| Some(job.lease.as_ref()?.until.0)),
        texts(jobs, |job| Some(&job.lease.as_ref()?.holder)),
        counts(jobs, |job| lease(job, |lease| lease.upto)),
        ints(jobs, |job| Some(job.lease.as_ref()?.arrived?.0)),
        counts(jobs, |job| lease(job, |lease| lease.turns.into())),
        counts(jobs, |job| Some(job.claims)),
        texts(jobs, |job| Some(job.last_failure.as_ref()?.class.word())),
        texts(jobs, |job| Some(&job.last_failure.as_ref()?.message)),
        ints(jobs, |job| job.due_at().map(|at| at.0)),
    ]);
    columns
}

fn texts<T>(rows: &[T], field: impl Fn(&T) -> Option<&str>) -> Value {
    let column = rows.iter().map(|row| field(row).map(str::to_owned));
    Value::from(column.collect::<Vec<_>>())
}

fn ints<T>(rows: &[T], field: impl Fn(&T) -> Option<i64>) -> Value {
    Value::from(rows.iter().map(field).collect::<Vec<_>>())
}

fn counts<T>(rows: &[T], field: impl Fn(&T) -> Option<u64>) -> Value {
    ints(rows, |row| {
        field(row).map(|count| i64::try_from(count).unwrap_or(i64::MAX))
    })
}

pub(super) fn job_of(row: &Row) -> Result<Job, Fault> {
    Ok(Job {
        key: key_of(row)?,
        user: get(row, "user")?,
        input: get(row, "input")?,
        done: get(row, "done")?,
        redo: get(row, "redo")?,
        redo_until: get(row, "redo_until")?,
        turns: get(row, "turns")?,
        idle_due: get(row, "idle_due")?,
        deadline: get(row, "deadline")?,
        priority: Priority::from_rank(get(row, "priority")?).ok_or_else(|| broken("priority"))?,
        retry_at: get(row, "retry_at")?,
        outage: get(row, "outage")?,
        tries: get(row, "tries")?,
        failures: get(row, "failures")?,
        vanished: get(row, "vanished")?,
        span: get(row, "span")?,
        suspect_to: get(row, "suspect_to")?,
        lease: lease_of(row)?,
        claims: get(row, "claims")?,
        last_failure: match get::<Option<String>>(row, "failure_class")? {
            Some(_) => Some(failure_of(row)?),
            None => None,
        },
    })
}

fn lease_of(row: &Row) -> Result<Option<Lease>, Fault> {
    let Some(generation) = get(row, "lease_generation")? else {
        return Ok(None);
    };
    Ok(Some(Lease {
        generation,
        until: get(row, "lease_until")?,
        holder: get(row, "lease_holder")?,
        upto: get(row, "lease_upto")?,
        arrived: get(row, "lease_arrived")?,
        turns: get(row, "lease_turns")?,
    }))
}

fn key_of(row: &Row) -> Result<JobKey, Fault> {
    let kind = word(row, "kind", JobKind::from_word)?;
    let part = |column: &str| get::<String>(row, column);
    JobKey::from_parts(kind, &part("tenant")?, &part("owner")?, &part("name")?)
        .ok_or_else(|| broken("owner"))
}

fn failure_of(row: &Row) -> Result<Failure, Fault> {
    Ok(Failure {
        class: word(row, "failure_class", FailureClass::from_word)?,
        message: get(row, "failure_message")?,
    })
}

fn broken(column: &str) -> Fault {
    Fault::corrupt(format!("{column} of a job cannot be read"))
}

pub(super) async fn put_gap(tx: &Tx, gap: &Gap) -> Result<(), Fault> {
    let (tenant, owner, name) = gap.job.parts();
    let put = "INSERT INTO gaps (kind, tenant, owner, name, from_seq, to_seq, failure_class,
            failure_message, at, engine)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (kind, tenant, owner, name, from_seq) DO UPDATE SET to_seq = excluded.to_seq,
            failure_class = excluded.failure_class, failure_message = excluded.failure_message,
            at = excluded.at, engine = excluded.engine";
    let gap = values![
        gap.job.kind().word(),
        tenant,
        owner,
        name,
        gap.from,
        gap.to,
        gap.failure.class.word(),
        &gap.failure.message,
        gap.at,
        &gap.engine,
    ];
    tx.execute(put, gap).await?;
    Ok(())
}

pub(super) async fn gaps(tx: &Tx) -> Result<Vec<Gap>, Fault> {
    let find = "SELECT * FROM gaps ORDER BY kind DESC, tenant, owner, name, from_seq";
    let gap_of = |row: &Row| {
        Ok(Gap {
            job: key_of(row)?,
            from: get(row, "from_seq")?,
            to: get(row, "to_seq")?,
            failure: failure_of(row)?,
            at: get(row, "at")?,
            engine: get(row, "engine")?,
        })
    };
    tx.rows(find, &[]).await?.iter().map(gap_of).collect()
}

/// Forgets the gaps of a job, and says how many there were.
pub(super) async fn delete_gaps(tx: &Tx, key: &JobKey) -> Result<usize, Fault> {
    let (tenant, owner, name) = key.parts();
    let gone = "DELETE FROM gaps WHERE kind = $1 AND tenant = $2 AND owner = $3 AND name = $4";
    let key = values![key.kind().word(), tenant, owner, name];
    let gone = tx.execute(gone, key).await?;
    usize::try_from(gone).map_err(|_| broken("number of gaps"))
}
