//! A job as a row: one column for each of its fields, so that an operator can read it.

use daybook_domain::{
    Failure, FailureClass, Gap, Job, JobKey, JobKind, Lease, Priority, Timestamp,
};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

use super::connection::Fault;
use super::lanes;
use super::names::word;

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
    let parts = params![key.kind().word(), tenant, owner, name];
    Ok(find.query_row(parts, job_of).optional()?)
}

pub(super) fn save(tx: &Connection, job: &Job) -> Result<(), Fault> {
    let (tenant, owner, name) = job.key.parts();
    let lane = lanes::lane_no(tx, job)?;
    let lease = job.lease.as_ref();
    let failure = job.last_failure.as_ref();
    tx.prepare_cached(
        "INSERT INTO jobs (kind, tenant, owner, name, user, lane_no, input, done, redo,
            redo_until, turns, idle_due, deadline, priority, retry_at, outage, tries, failures,
            vanished, span, suspect_to, lease_generation, lease_until, lease_holder, lease_upto,
            lease_arrived, lease_turns, claims, failure_class, failure_message, due_at)
         VALUES (:kind, :tenant, :owner, :name, :user, :lane, :input, :done, :redo,
            :redo_until, :turns, :idle_due, :deadline, :priority, :retry_at, :outage, :tries,
            :failures, :vanished, :span, :suspect_to, :lease_generation, :lease_until,
            :lease_holder, :lease_upto, :lease_arrived, :lease_turns, :claims, :failure_class,
            :failure_message, :due_at)
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
    .execute(named_params! {
        ":kind": job.key.kind().word(),
        ":tenant": tenant,
        ":owner": owner,
        ":name": name,
        ":user": job.user,
        ":lane": lane,
        ":input": job.input,
        ":done": job.done,
        ":redo": job.redo,
        ":redo_until": job.redo_until,
        ":turns": job.turns,
        ":idle_due": job.idle_due.0,
        ":deadline": job.deadline.0,
        ":priority": job.priority.rank(),
        ":retry_at": job.retry_at.map(|at| at.0),
        ":outage": job.outage,
        ":tries": job.tries,
        ":failures": job.failures,
        ":vanished": job.vanished,
        ":span": job.span,
        ":suspect_to": job.suspect_to,
        ":lease_generation": lease.map(|lease| lease.generation),
        ":lease_until": lease.map(|lease| lease.until.0),
        ":lease_holder": lease.map(|lease| lease.holder.as_str()),
        ":lease_upto": lease.map(|lease| lease.upto),
        ":lease_arrived": lease.and_then(|lease| lease.arrived).map(|at| at.0),
        ":lease_turns": lease.map(|lease| lease.turns),
        ":claims": job.claims,
        ":failure_class": failure.map(|failure| failure.class.word()),
        ":failure_message": failure.map(|failure| failure.message.as_str()),
        ":due_at": job.due_at().map(|at| at.0),
    })?;
    lanes::note_due(tx, lane, job.due_at())
}

/// Forgets a job and its gaps.
pub(super) fn delete(tx: &Connection, key: &JobKey) -> Result<(), Fault> {
    let (tenant, owner, name) = key.parts();
    tx.prepare_cached("DELETE FROM jobs WHERE kind = ? AND tenant = ? AND owner = ? AND name = ?")?
        .execute(params![key.kind().word(), tenant, owner, name])?;
    delete_gaps(tx, key)?;
    Ok(())
}

pub(super) fn job_of(row: &Row<'_>) -> rusqlite::Result<Job> {
    let time = |column: &str| row.get(column).map(Timestamp);
    let maybe_time =
        |column: &str| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(Timestamp));
    Ok(Job {
        key: key_of(row)?,
        user: row.get("user")?,
        input: row.get("input")?,
        done: row.get("done")?,
        redo: row.get("redo")?,
        redo_until: row.get("redo_until")?,
        turns: row.get("turns")?,
        idle_due: time("idle_due")?,
        deadline: time("deadline")?,
        priority: Priority::from_rank(row.get("priority")?).ok_or_else(|| broken("priority"))?,
        retry_at: maybe_time("retry_at")?,
        outage: row.get("outage")?,
        tries: row.get("tries")?,
        failures: row.get("failures")?,
        vanished: row.get("vanished")?,
        span: row.get("span")?,
        suspect_to: row.get("suspect_to")?,
        lease: lease_of(row)?,
        claims: row.get("claims")?,
        last_failure: match row.get::<_, Option<String>>("failure_class")? {
            Some(_) => Some(failure_of(row)?),
            None => None,
        },
    })
}

fn lease_of(row: &Row<'_>) -> rusqlite::Result<Option<Lease>> {
    let Some(generation) = row.get("lease_generation")? else {
        return Ok(None);
    };
    Ok(Some(Lease {
        generation,
        until: Timestamp(row.get("lease_until")?),
        holder: row.get("lease_holder")?,
        upto: row.get("lease_upto")?,
        arrived: row.get::<_, Option<i64>>("lease_arrived")?.map(Timestamp),
        turns: row.get("lease_turns")?,
    }))
}

fn key_of(row: &Row<'_>) -> rusqlite::Result<JobKey> {
    let kind = word(row, "kind", JobKind::from_word)?;
    let part = |column: &str| row.get::<_, String>(column);
    JobKey::from_parts(kind, &part("tenant")?, &part("owner")?, &part("name")?)
        .ok_or_else(|| broken("owner"))
}

fn failure_of(row: &Row<'_>) -> rusqlite::Result<Failure> {
    Ok(Failure {
        class: word(row, "failure_class", FailureClass::from_word)?,
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
        gap.job.kind().word(),
        tenant,
        owner,
        name,
        gap.from,
        gap.to,
        gap.failure.class.word(),
        gap.failure.message,
        gap.at.0,
        gap.engine,
    ])?;
    Ok(())
}

pub(super) fn gaps(tx: &Connection) -> Result<Vec<Gap>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT kind, tenant, owner, name, from_seq, to_seq, failure_class, failure_message, at,
            engine
         FROM gaps ORDER BY kind DESC, tenant, owner, name, from_seq",
    )?;
    let rows = find.query_map([], |row| {
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
        .execute(params![key.kind().word(), tenant, owner, name])?)
}
