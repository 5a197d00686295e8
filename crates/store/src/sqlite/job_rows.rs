//! A job as a row: one column for each of its fields, so that an operator can read it.

use daybook_domain::{
    DueMark, Failure, Gap, Job, JobKey, JobKind, Lease, Priority, TallyKind, Timestamp,
};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::connection::Fault;
use super::lanes;
use super::listing::{Listing, list};
use super::names::parse_column;

pub(super) const COLUMNS: &str = "kind, tenant, owner, name, user, input, done, redo, redo_until,
    turns, idle_due, deadline, priority, retry_at, outage, tries, failures, vanished, span,
    suspect_to, lease_generation, lease_until, lease_holder, lease_upto, lease_arrived,
    lease_turns, claims, failure_class, failure_message";

pub(super) fn load(tx: &Connection, key: &JobKey) -> Result<Option<Job>, Fault> {
    let (tenant, owner, name) = key.parts();
    let sql = format!(
        "SELECT {COLUMNS} FROM jobs WHERE kind = ? AND tenant = ? AND owner = ? AND name = ?"
    );
    let mut find = tx.prepare_cached(&sql)?;
    let parts = params![key.kind().as_str(), tenant, owner, name];
    Ok(find.query_row(parts, job_of).optional()?)
}

pub(super) fn save(tx: &Connection, job: &Job) -> Result<(), Fault> {
    let (tenant, owner, name) = job.key.parts();
    let (lane, bound) = lanes::lane_of(tx, job)?;
    let lease = job.lease.as_ref();
    let failure = job.last_failure.as_ref();
    tx.prepare_cached(
        "INSERT INTO jobs (kind, tenant, owner, name, user, lane_no, input, done, redo,
            redo_until, turns, idle_due, deadline, priority, retry_at, outage, tries, failures,
            vanished, span, suspect_to, lease_generation, lease_until, lease_holder, lease_upto,
            lease_arrived, lease_turns, claims, failure_class, failure_message, due_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
            ?)
         ON CONFLICT (kind, tenant, owner, name) DO UPDATE SET
            user = excluded.user, lane_no = excluded.lane_no,
            input = excluded.input, done = excluded.done, redo = excluded.redo,
            redo_until = excluded.redo_until, turns = excluded.turns,
            idle_due = excluded.idle_due, deadline = excluded.deadline,
            priority = excluded.priority, retry_at = excluded.retry_at,
            outage = excluded.outage, tries = excluded.tries,
            failures = excluded.failures, vanished = excluded.vanished,
            span = excluded.span, suspect_to = excluded.suspect_to,
            lease_generation = excluded.lease_generation, lease_until = excluded.lease_until,
            lease_holder = excluded.lease_holder, lease_upto = excluded.lease_upto,
            lease_arrived = excluded.lease_arrived, lease_turns = excluded.lease_turns,
            claims = excluded.claims, failure_class = excluded.failure_class,
            failure_message = excluded.failure_message, due_at = excluded.due_at",
    )?
    .execute(params![
        job.key.kind().as_str(),
        tenant,
        owner,
        name,
        job.user,
        lane,
        job.input,
        job.done,
        job.redo,
        job.redo_until,
        job.turns,
        job.idle_due.0,
        job.deadline.0,
        job.priority.rank(),
        job.retry_at.map(|at| at.0),
        job.outage,
        job.tries,
        job.failures,
        job.vanished,
        job.span,
        job.suspect_to,
        lease.map(|lease| lease.generation),
        lease.map(|lease| lease.until.0),
        lease.map(|lease| lease.holder.as_str()),
        lease.map(|lease| lease.upto),
        lease.and_then(|lease| lease.arrived).map(|at| at.0),
        lease.map(|lease| lease.turns),
        job.claims,
        failure.map(|failure| failure.class.as_str()),
        failure.map(|failure| failure.message.as_str()),
        job.due_at().map(|at| at.0),
    ])?;
    match (bound, job.due_at()) {
        // The bound is right, and so are those of the lanes above.
        (Some(bound), Some(due)) if bound <= due => Ok(()),
        (_, due) => lanes::note_due(tx, lane, due),
    }
}

/// Deletes a job and its gaps.
pub(super) fn delete(tx: &Connection, key: &JobKey) -> Result<(), Fault> {
    let (tenant, owner, name) = key.parts();
    tx.prepare_cached("DELETE FROM jobs WHERE kind = ? AND tenant = ? AND owner = ? AND name = ?")?
        .execute(params![key.kind().as_str(), tenant, owner, name])?;
    delete_gaps(tx, key)?;
    Ok(())
}

/// Columns by position: looking up their names takes longer than the query.
pub(super) fn job_of(row: &Row<'_>) -> rusqlite::Result<Job> {
    let time = |column: usize| row.get(column).map(Timestamp);
    let maybe_time =
        |column: usize| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(Timestamp));
    Ok(Job {
        key: key_of(row)?,
        user: row.get(4)?,
        input: row.get(5)?,
        done: row.get(6)?,
        redo: row.get(7)?,
        redo_until: row.get(8)?,
        turns: row.get(9)?,
        idle_due: time(10)?,
        deadline: time(11)?,
        priority: Priority::from_rank(row.get(12)?).ok_or_else(|| broken("priority"))?,
        retry_at: maybe_time(13)?,
        outage: row.get(14)?,
        tries: row.get(15)?,
        failures: row.get(16)?,
        vanished: row.get(17)?,
        span: row.get(18)?,
        suspect_to: row.get(19)?,
        lease: lease_of(row)?,
        claims: row.get(26)?,
        last_failure: match row.get::<_, Option<String>>(27)? {
            Some(_) => Some(failure_of(row)?),
            None => None,
        },
    })
}

fn lease_of(row: &Row<'_>) -> rusqlite::Result<Option<Lease>> {
    let Some(generation) = row.get(20)? else {
        return Ok(None);
    };
    Ok(Some(Lease {
        generation,
        until: Timestamp(row.get(21)?),
        holder: row.get(22)?,
        upto: row.get(23)?,
        arrived: row.get::<_, Option<i64>>(24)?.map(Timestamp),
        turns: row.get(25)?,
    }))
}

/// The job that the first four columns name.
fn key_of(row: &Row<'_>) -> rusqlite::Result<JobKey> {
    let kind = parse_column::<JobKind>(row, 0)?;
    let part = |column: usize| row.get::<_, String>(column);
    JobKey::from_parts(kind, &part(1)?, &part(2)?, &part(3)?).ok_or_else(|| broken("owner"))
}

fn failure_of(row: &Row<'_>) -> rusqlite::Result<Failure> {
    Ok(Failure {
        class: parse_column(row, "failure_class")?,
        message: row.get("failure_message")?,
    })
}

fn broken(column: &str) -> rusqlite::Error {
    let what = format!("{column} of a job cannot be read");
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, what.into())
}

pub(super) fn put_gap(tx: &Connection, gap: &Gap) -> Result<(), Fault> {
    let (tenant, owner, name) = gap.job.parts();
    tx.prepare_cached(
        "INSERT OR REPLACE INTO gaps (kind, tenant, owner, name, from_seq, to_seq, failure_class,
            failure_message, at, engine)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        gap.job.kind().as_str(),
        tenant,
        owner,
        name,
        gap.from,
        gap.to,
        gap.failure.class.as_str(),
        gap.failure.message,
        gap.at.0,
        gap.engine,
    ])?;
    Ok(())
}

/// The gaps of all tenants, by job and position.
pub(super) fn gaps(tx: &Connection) -> Result<Vec<Gap>, Fault> {
    gaps_where(
        tx,
        "true ORDER BY kind = 'redact', kind DESC, tenant, owner, name, from_seq",
        [],
    )
}

/// Gaps for which a condition holds, in the order that it ends with.
pub(super) fn gaps_where(
    tx: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<Gap>, Fault> {
    let sql = format!(
        "SELECT kind, tenant, owner, name, from_seq, to_seq, failure_class, failure_message, at,
            engine
         FROM gaps WHERE {condition}"
    );
    let mut find = tx.prepare_cached(&sql)?;
    let rows = find.query_map(values, |row| {
        Ok(Gap {
            job: key_of(row)?,
            from: row.get("from_seq")?,
            to: row.get("to_seq")?,
            failure: failure_of(row)?,
            at: Timestamp(row.get("at")?),
            engine: row.get("engine")?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn delete_gaps(tx: &Connection, key: &JobKey) -> Result<usize, Fault> {
    let (tenant, owner, name) = key.parts();
    Ok(tx
        .prepare_cached(
            "DELETE FROM gaps WHERE kind = ? AND tenant = ? AND owner = ? AND name = ?",
        )?
        .execute(params![key.kind().as_str(), tenant, owner, name])?)
}

/// Raises a job's input, creating the job when it is new.
pub(super) fn mark(tx: &Connection, key: &JobKey, mark: DueMark) -> Result<(), Fault> {
    change_or_create(tx, key, None, |job| job.mark(mark))
}

/// Changes a job, creating it when it is new.
pub(super) fn change_or_create<T>(
    tx: &Connection,
    key: &JobKey,
    user: Option<&str>,
    change: impl FnOnce(&mut Job) -> T,
) -> Result<T, Fault> {
    let mut job = load(tx, key)?.unwrap_or_else(|| Job::new(key.clone()));
    if let Some(user) = user {
        job.user = Some(user.to_owned());
    }
    let changed = change(&mut job);
    save(tx, &job)?;
    Ok(changed)
}

/// Adds one to a tally.
pub(super) fn tally(tx: &Connection, kind: JobKind, what: TallyKind) -> Result<(), Fault> {
    tx.prepare_cached(
        "INSERT INTO tallies (kind, what, count) VALUES (?, ?, 1)
         ON CONFLICT DO UPDATE SET count = count + 1",
    )?
    .execute(params![kind.as_str(), what.as_str()])?;
    Ok(())
}

pub(super) fn select(
    tx: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Listing<Job>, Fault> {
    let sql = format!("SELECT {} FROM jobs WHERE {condition}", COLUMNS);
    let mut find = tx.prepare_cached(&sql)?;
    list(find.query(values)?, ("jobs", &[0, 1, 2, 3]), job_of)
}
