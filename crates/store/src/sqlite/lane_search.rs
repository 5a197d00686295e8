//! Finds the job that a claim takes next: over lanes, then by urgency and time.

use std::collections::HashSet;

use daybook_domain::{Claim, Job, JobKind, Priority, Timestamp};
use rusqlite::{Connection, params};

use super::connection::Fault;
use super::job_rows::select;
use super::lanes::AGENT;

/// When the first job of a lane is due: the first of each priority, so that a long queue is not read.
const FIRST_DUE: &str = "SELECT min(first) FROM (
    SELECT min(due_at) AS first FROM jobs WHERE lane_no = ?1 AND priority = 0 AND due_at IS NOT NULL
    UNION ALL
    SELECT min(due_at) FROM jobs WHERE lane_no = ?1 AND priority = 1 AND due_at IS NOT NULL
    UNION ALL
    SELECT min(due_at) FROM jobs WHERE lane_no = ?1 AND priority = 2 AND due_at IS NOT NULL
    UNION ALL
    SELECT min(due_at) FROM jobs WHERE lane_no = ?1 AND priority = 3 AND due_at IS NOT NULL)";

/// Lanes read together.
const LANES_AT_ONCE: usize = 8;

/// The search of one claim for jobs, and the lanes that it has finished with.
pub(super) struct LaneSearch<'a> {
    tx: &'a Connection,
    kind: JobKind,
    now: Timestamp,
    /// Lanes that have no (more) jobs for this claim.
    closed: HashSet<i64>,
}

impl<'a> LaneSearch<'a> {
    pub(super) fn new(tx: &'a Connection, claim: &Claim<'_>) -> Self {
        Self {
            tx,
            kind: claim.kind,
            now: claim.now,
            closed: HashSet::new(),
        }
    }

    /// Excludes a lane from the rest of this claim.
    pub(super) fn close(&mut self, lane: i64) {
        self.closed.insert(lane);
    }

    /// Finds the next job to claim.
    pub(super) fn next(&mut self) -> Result<Option<NextJob>, Fault> {
        self.search_below(0, 1)
    }

    fn search_below(&mut self, parent: i64, level: u8) -> Result<Option<NextJob>, Fault> {
        loop {
            let waiting = self.due_lanes(parent)?;
            let mut open = waiting.iter().filter(|lane| !self.closed.contains(lane));
            let Some(&lane) = open.next() else {
                return Ok(None);
            };
            let found = if level == AGENT {
                self.first_job_of(lane)?.map(|job| NextJob {
                    job,
                    lanes: Vec::new(),
                })
            } else {
                self.search_below(lane, level + 1)?
            };
            if let Some(mut next) = found {
                next.lanes.push(lane);
                return Ok(Some(next));
            }
            self.correct_bound(lane, level)?;
            self.closed.insert(lane);
        }
    }

    /// The lanes below `parent` that may have a due job, in order of service: enough that one is open.
    fn due_lanes(&self, parent: i64) -> Result<Vec<i64>, Fault> {
        let mut find = self.tx.prepare_cached(
            "SELECT lane_no FROM lanes WHERE kind = ? AND parent = ? AND next_due <= ?
             ORDER BY served, tenant, user, agent LIMIT ?",
        )?;
        let most = self.closed.len() + LANES_AT_ONCE;
        let values = params![self.kind.as_str(), parent, self.now.0, most];
        let rows = find.query_map(values, |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The most urgent job of a lane, then the one due longest, then the first by key. One range of an
    /// index for each priority, so a long queue costs no sort.
    fn first_job_of(&self, lane: i64) -> Result<Option<Job>, Fault> {
        for priority in PRIORITIES {
            let first = "lane_no = ? AND priority = ? AND due_at <= ? AND due_at IS NOT NULL
                ORDER BY due_at, owner, name LIMIT 4";
            let values = params![lane, priority.rank(), self.now.0];
            // A damaged job is skipped, so that it holds up only itself.
            let jobs = select(self.tx, first, values)?.rows;
            if let Some(job) = jobs.into_iter().next() {
                return Ok(Some(job));
            }
        }
        Ok(None)
    }

    /// Sets the bound of a lane in which nothing was found to its exact value.
    fn correct_bound(&self, lane: i64, level: u8) -> Result<(), Fault> {
        let bound = if level == AGENT {
            FIRST_DUE
        } else {
            "SELECT min(next_due) FROM lanes WHERE kind = ?2 AND parent = ?1"
        };
        let sql = format!("UPDATE lanes SET next_due = ({bound}) WHERE lane_no = ?1 AND kind = ?2");
        let mut correct = self.tx.prepare_cached(&sql)?;
        correct.execute(params![lane, self.kind.as_str()])?;
        Ok(())
    }

    /// Records that these lanes were served.
    pub(super) fn note_served_lanes(&self, lanes: &[i64]) -> Result<(), Fault> {
        let mut last = self.tx.prepare_cached(
            "SELECT ifnull(max(served), 0) FROM lanes WHERE kind = ? AND parent = 0",
        )?;
        let last: i64 = last.query_row([self.kind.as_str()], |row| row.get(0))?;
        for lane in lanes {
            self.tx
                .prepare_cached("UPDATE lanes SET served = ? WHERE lane_no = ?")?
                .execute(params![last + 1, lane])?;
        }
        Ok(())
    }
}

/// The next job to claim, and its lanes from the agent's up to the tenant's.
pub(super) struct NextJob {
    pub(super) job: Job,
    pub(super) lanes: Vec<i64>,
}

/// Live leases of a claim's kind: in all, or in one lane.
pub(super) fn count_running(
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
        count.query_row(params![claim.now.0, claim.kind.as_str(), lane], |row| {
            row.get(0)
        })?,
    )
}

/// The most urgent first.
pub(super) const PRIORITIES: [Priority; 4] = [
    Priority::High,
    Priority::Raised,
    Priority::Normal,
    Priority::Low,
];
