//! The order of claims over lanes, as rows: a tree of tenants, users and agents, so that finding the next job
//! costs a few steps for any number of lanes and any length of queue.
//!
//! `next_due` is a lower bound: no job below a lane is due before it. Saving a job lowers the bound, and a
//! claim that finds nothing there raises it to the exact value.

use daybook_domain::claim::Lane;
use daybook_domain::{Job, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::connection::Fault;

/// The level of agents, the lowest, whose lanes hold the jobs.
pub(super) const AGENT: u8 = 3;

/// The number of a job's lane, issued at its first use, and the lane's bound.
pub(super) fn lane_of(tx: &Connection, job: &Job) -> Result<(i64, Option<Timestamp>), Fault> {
    find_or_insert(tx, job.key.kind().as_str(), &Lane::of(job))
}

/// The number of a lane of jobs of a kind, issued at its first use.
pub(super) fn number(tx: &Connection, kind: &str, lane: &Lane) -> Result<i64, Fault> {
    Ok(find_or_insert(tx, kind, lane)?.0)
}

fn find_or_insert(
    tx: &Connection,
    kind: &str,
    lane: &Lane,
) -> Result<(i64, Option<Timestamp>), Fault> {
    let mut find = tx.prepare_cached(
        "SELECT lane_no, next_due FROM lanes
         WHERE kind = ? AND level = ? AND tenant = ? AND user = ? AND agent = ?",
    )?;
    let path = params![kind, AGENT, lane.tenant, lane.user, lane.agent];
    let found = find.query_row(path, |row| {
        let bound: Option<i64> = row.get(1)?;
        Ok((row.get(0)?, bound.map(Timestamp)))
    });
    if let Some(lane) = found.optional()? {
        return Ok(lane);
    }
    let mut parent = 0;
    for level in 1..=AGENT {
        let user = if level > 1 { lane.user.as_str() } else { "" };
        let agent = if level > 2 { lane.agent.as_str() } else { "" };
        tx.prepare_cached(
            "INSERT INTO lanes (kind, level, tenant, user, agent, parent, served)
             VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING",
        )?
        .execute(params![kind, level, lane.tenant, user, agent, parent])?;
        let path = params![kind, level, lane.tenant, user, agent];
        parent = find.query_row(path, |row| row.get(0))?;
    }
    Ok((parent, None))
}

/// Lowers the bounds of the lanes above a job that is due then.
pub(super) fn note_due(tx: &Connection, lane: i64, due: Option<Timestamp>) -> Result<(), Fault> {
    let Some(due) = due else { return Ok(()) };
    let mut lower = tx.prepare_cached(
        "UPDATE lanes SET next_due = ?2
         WHERE lane_no = ?1 AND (next_due IS NULL OR next_due > ?2) RETURNING parent",
    )?;
    let mut lane = Some(lane);
    while let Some(no) = lane {
        lane = lower
            .query_row(params![no, due.0], |row| row.get(0))
            .optional()?;
    }
    Ok(())
}

/// Records that a lane and those above it were served then.
pub(super) fn note_served(tx: &Connection, lane: i64, served: i64) -> Result<(), Fault> {
    let mut note = tx.prepare_cached(
        "UPDATE lanes SET served = max(served, ?2) WHERE lane_no = ?1 RETURNING parent",
    )?;
    let mut lane = Some(lane);
    while let Some(no) = lane {
        lane = note
            .query_row(params![no, served], |row| row.get(0))
            .optional()?;
    }
    Ok(())
}
