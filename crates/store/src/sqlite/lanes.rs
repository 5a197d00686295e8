//! Whose turn it is, as rows: a tree of tenants, users and agents, so that finding the next turn costs
//! a few steps however many lanes there are and however long each is.
//!
//! `next_due` is a bound: nothing below a lane is due before it. Saving a job lowers it, and a claim
//! that finds nothing there raises it to what is true.

use std::collections::HashSet;

use daybook_domain::claim::Lane;
use daybook_domain::{Claim, Job, JobKind, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::connection::Fault;
use super::jobs::{PRIORITIES, select};

/// A lane's jobs belong to agents, the lowest level.
const AGENT: u8 = 3;
/// When the first job of a lane is due: the first of each priority, so that a long queue is not read.
const FIRST_DUE: &str = "SELECT min(first) FROM (
    SELECT min(due_at) AS first FROM jobs WHERE lane_no = ?1 AND priority = 0 AND due_at IS NOT NULL
    UNION ALL
    SELECT min(due_at) FROM jobs WHERE lane_no = ?1 AND priority = 1 AND due_at IS NOT NULL
    UNION ALL
    SELECT min(due_at) FROM jobs WHERE lane_no = ?1 AND priority = 2 AND due_at IS NOT NULL
    UNION ALL
    SELECT min(due_at) FROM jobs WHERE lane_no = ?1 AND priority = 3 AND due_at IS NOT NULL)";
/// Lanes looked at together.
const SOME: usize = 8;

/// The number of a job's lane, given when it is first named, and the lane's bound.
pub(super) fn lane_of(tx: &Connection, job: &Job) -> Result<(i64, Option<Timestamp>), Fault> {
    bounded(tx, job.key.kind().word(), &Lane::of(job))
}

/// The number of a lane of jobs of a kind, given when it is first named.
pub(super) fn number(tx: &Connection, kind: &str, lane: &Lane) -> Result<i64, Fault> {
    Ok(bounded(tx, kind, lane)?.0)
}

fn bounded(tx: &Connection, kind: &str, lane: &Lane) -> Result<(i64, Option<Timestamp>), Fault> {
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

/// Lowers the bounds above a job that is due then.
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

/// Notes that a lane was served then, and with it those above.
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

/// What one claim looks at, and what it looks at no more.
pub(super) struct Turn<'a> {
    tx: &'a Connection,
    kind: JobKind,
    now: Timestamp,
    /// Lanes that have nothing for this claim, or no more.
    closed: HashSet<i64>,
}

/// A job whose turn has come, and its lanes from the agent's up to the tenant's.
pub(super) struct Next {
    pub(super) job: Job,
    pub(super) lanes: Vec<i64>,
}

impl<'a> Turn<'a> {
    pub(super) fn new(tx: &'a Connection, claim: &Claim<'_>) -> Self {
        Self {
            tx,
            kind: claim.kind,
            now: claim.now,
            closed: HashSet::new(),
        }
    }

    /// Grants this claim no more from a lane.
    pub(super) fn close(&mut self, lane: i64) {
        self.closed.insert(lane);
    }

    /// The job whose turn it is.
    pub(super) fn next(&mut self) -> Result<Option<Next>, Fault> {
        self.below(0, 1)
    }

    fn below(&mut self, parent: i64, level: u8) -> Result<Option<Next>, Fault> {
        loop {
            let waiting = self.waiting(parent)?;
            let mut open = waiting.iter().filter(|lane| !self.closed.contains(lane));
            let Some(&lane) = open.next() else {
                return Ok(None);
            };
            let found = if level == AGENT {
                self.first_of(lane)?.map(|job| Next {
                    job,
                    lanes: Vec::new(),
                })
            } else {
                self.below(lane, level + 1)?
            };
            if let Some(mut next) = found {
                next.lanes.push(lane);
                return Ok(Some(next));
            }
            self.correct(lane, level)?;
            self.closed.insert(lane);
        }
    }

    /// The lanes below `parent` that may have something due, in turn: enough that one is open.
    fn waiting(&self, parent: i64) -> Result<Vec<i64>, Fault> {
        let mut find = self.tx.prepare_cached(
            "SELECT lane_no FROM lanes WHERE kind = ? AND parent = ? AND next_due <= ?
             ORDER BY served, tenant, user, agent LIMIT ?",
        )?;
        let most = self.closed.len() + SOME;
        let values = params![self.kind.word(), parent, self.now.0, most];
        let rows = find.query_map(values, |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The most urgent job of a lane, then the one due longest, then the first by key. One range of an
    /// index for each priority, so a long queue costs no sort.
    fn first_of(&self, lane: i64) -> Result<Option<Job>, Fault> {
        for priority in PRIORITIES {
            let first = "lane_no = ? AND priority = ? AND due_at <= ? AND due_at IS NOT NULL
                ORDER BY due_at, owner, name LIMIT 4";
            let values = params![lane, priority.rank(), self.now.0];
            // A damaged job is passed over, so that it holds up only itself.
            let jobs = select(self.tx, first, values)?.rows;
            if let Some(job) = jobs.into_iter().next() {
                return Ok(Some(job));
            }
        }
        Ok(None)
    }

    /// Sets the bound of a lane in which nothing was found to what is true.
    fn correct(&self, lane: i64, level: u8) -> Result<(), Fault> {
        let below = if level == AGENT {
            FIRST_DUE
        } else {
            "SELECT min(next_due) FROM lanes WHERE kind = ?2 AND parent = ?1"
        };
        let sql = format!("UPDATE lanes SET next_due = ({below}) WHERE lane_no = ?1 AND kind = ?2");
        let mut correct = self.tx.prepare_cached(&sql)?;
        correct.execute(params![lane, self.kind.word()])?;
        Ok(())
    }

    /// Notes that these lanes were served.
    pub(super) fn serve(&self, lanes: &[i64]) -> Result<(), Fault> {
        let mut last = self.tx.prepare_cached(
            "SELECT ifnull(max(served), 0) FROM lanes WHERE kind = ? AND parent = 0",
        )?;
        let last: i64 = last.query_row([self.kind.word()], |row| row.get(0))?;
        for lane in lanes {
            self.tx
                .prepare_cached("UPDATE lanes SET served = ? WHERE lane_no = ?")?
                .execute(params![last + 1, lane])?;
        }
        Ok(())
    }
}

/// Live leases of a claim's kind: in all, or in one lane.
pub(super) fn running(
    tx: &Connection,
    claim: &Claim<'_>,
    lane: Option<i64>,
) -> Result<usize, Fault> {
    let mut count = tx.prepare_cached(
        "SELECT count(*) FROM jobs
         WHERE lease_holder IS NOT NULL AND lease_until > ?1 AND kind = ?2
            AND (?3 IS NULL OR lane_no = ?3)",
    )?;
    Ok(
        count.query_row(params![claim.now.0, claim.kind.word(), lane], |row| {
            row.get(0)
        })?,
    )
}
