//! A job as a row: one column for each of its fields, so that an operator can read it.
//!
//! Rows are written as JSON, so that many cost as many statements as one.

use daybook_domain::claim::Lane;
use daybook_domain::{Failure, FailureClass, Gap, Job, JobKey, JobKind, Lease, Priority};
use serde_json::json;
use tokio_postgres::Row;

use super::connection::Tx;
use super::fault::Fault;
use super::values::{Value, counted, get, storable, values, word};

/// The job, which nobody else changes until this transaction ends.
pub(super) async fn load(tx: &Tx, key: &JobKey) -> Result<Option<Job>, Fault> {
    let (tenant, owner, name) = key.parts();
    let lock = "SELECT *, pg_current_xact_id()::TEXT AS number FROM lock_job($1, $2, $3, $4)";
    let parts = values![key.kind().word(), tenant, owner, name];
    let rows = tx.numbered(lock, parts).await?;
    rows.first().map(job_of).transpose()
}

/// Those of the jobs that exist, by key; nobody else changes them until this transaction ends.
pub(super) async fn load_all(tx: &Tx, keys: &[&JobKey]) -> Result<Vec<Job>, Fault> {
    let locked = "(kind, tenant, owner, name) IN (SELECT * FROM unnest($1, $2, $3, $4))
        ORDER BY kind, tenant, owner, name FOR UPDATE";
    let part = |of: fn(&JobKey) -> &str| -> Value {
        Value::from(
            keys.iter()
                .map(|key| of(key).to_owned())
                .collect::<Vec<_>>(),
        )
    };
    let keys = values![
        part(|key| key.kind().word()),
        part(|key| key.parts().0),
        part(|key| key.parts().1),
        part(|key| key.parts().2)
    ];
    select(tx, locked, keys).await
}

/// Jobs that `condition` selects and orders.
pub(super) async fn select(tx: &Tx, condition: &str, values: &[Value]) -> Result<Vec<Job>, Fault> {
    let sql = format!("SELECT * FROM jobs WHERE {condition}");
    tx.rows(&sql, values).await?.iter().map(job_of).collect()
}

/// Writes a job that was loaded in this transaction.
pub(super) fn save(tx: &Tx, job: &Job) {
    save_all(tx, std::slice::from_ref(job));
}

/// Writes jobs that were loaded in this transaction.
pub(super) fn save_all(tx: &Tx, jobs: &[Job]) {
    if !jobs.is_empty() {
        tx.leave("SELECT save_jobs($1::JSON)", values![objects(jobs)]);
    }
}

/// Writes jobs that did not exist when they were looked for in this transaction. Where somebody
/// else was faster, the transaction fails and is tried again.
pub(super) fn insert_all(tx: &Tx, jobs: &[Job]) {
    if !jobs.is_empty() {
        let insert = "INSERT INTO jobs SELECT * FROM json_populate_recordset(NULL::jobs, $1::JSON)";
        tx.leave(insert, values![objects(jobs)]);
    }
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

/// Jobs as the function `save_jobs` takes them.
pub(super) fn objects(jobs: &[Job]) -> String {
    serde_json::Value::from_iter(jobs.iter().map(object)).to_string()
}

/// A job as an object with a member for each column.
fn object(job: &Job) -> serde_json::Value {
    let (tenant, owner, name) = job.key.parts();
    let lane = Lane::of(job);
    let lease = job.lease.as_ref();
    let failure = job.last_failure.as_ref();
    json!({
        "kind": job.key.kind().word(),
        "tenant": storable(tenant),
        "owner": storable(owner),
        "name": storable(name),
        "user": job.user.as_deref().map(storable),
        "lane_user": storable(&lane.user),
        "lane_agent": storable(&lane.agent),
        "input": counted(job.input),
        "done": counted(job.done),
        "redo": job.redo,
        "redo_until": job.redo_until.map(counted),
        "turns": job.turns,
        "idle_due": job.idle_due.0,
        "deadline": job.deadline.0,
        "priority": job.priority.rank(),
        "retry_at": job.retry_at.map(|at| at.0),
        "outage": job.outage,
        "tries": job.tries,
        "failures": job.failures,
        "vanished": job.vanished,
        "span": job.span.map(counted),
        "suspect_to": counted(job.suspect_to),
        "lease_generation": lease.map(|lease| counted(lease.generation)),
        "lease_until": lease.map(|lease| lease.until.0),
        "lease_holder": lease.map(|lease| storable(&lease.holder)),
        "lease_upto": lease.map(|lease| counted(lease.upto)),
        "lease_arrived": lease.and_then(|lease| lease.arrived).map(|at| at.0),
        "lease_turns": lease.map(|lease| lease.turns),
        "claims": counted(job.claims),
        "failure_class": failure.map(|failure| failure.class.word()),
        "failure_message": failure.map(|failure| storable(&failure.message)),
        "due_at": job.due_at().map(|at| at.0),
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
