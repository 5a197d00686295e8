//! The order of claims over lanes. One function of the schema, `next_jobs`, finds the jobs of a claim in order.
//!
//! It finds lanes with due work by stepping through the index of waiting jobs; so a claim costs a step for each
//! lane with waiting work, however long the queues are. No table records when a lane's work is due, so saving a
//! job has nothing else to update.
//!
//! Claims do not wait for each other. Each looks further than it has to, and skips jobs that another one has
//! locked; and the claim that is serving a lane at this moment records that for both. So with several claims at
//! once the order is nearly kept, and exactly with one.

use daybook_domain::claim::Lane;
use daybook_domain::{Claim, Job, JobKind};

use super::connection::Tx;
use super::fault::Fault;
use super::job_rows;
use super::kept_statements::Sql;
use super::values::values;

/// Most jobs that one claim grants, whatever its limits.
const MOST_GRANTED: usize = 256;
/// A claim looks for so many times the jobs that it may take, because others may take some of them. Finding
/// them is most of a claim's cost.
const CANDIDATES_PER_JOB: usize = 4;
/// Fewest jobs that a claim looks for.
const FEWEST_CANDIDATES: usize = 10;
/// A claim with bounds on running jobs takes the advisory lock of this number plus its kind: "running" in
/// ASCII.
const RUNNING_LOCK: i64 = 0x72_756e_6e69_6e67;

/// Finds the next jobs to claim, in order, and locks them until this transaction ends.
pub(super) async fn next_jobs(tx: &Tx, claim: &Claim<'_>) -> Result<Vec<Job>, Fault> {
    let limits = claim.limits;
    let jobs = limits.jobs.min(MOST_GRANTED);
    if limits.running < usize::MAX || limits.running_per_agent < usize::MAX {
        // Running jobs are counted and started by one claim at a time.
        let lock = "SELECT pg_advisory_xact_lock($1)";
        tx.execute(Sql::Kept(lock), values![running_lock(claim.kind)])
            .await?;
    }
    let bounds = values![
        claim.kind.as_str(),
        claim.now,
        jobs,
        limits.per_agent.max(1),
        limits.running,
        limits.running_per_agent,
        (jobs * CANDIDATES_PER_JOB).max(FEWEST_CANDIDATES),
    ];
    let next = "SELECT row_to_json(jobs)::TEXT AS job
        FROM next_jobs($1, $2, $3, $4, $5, $6, $7) AS jobs";
    let rows = tx.rows(Sql::Kept(next), bounds).await?;
    rows.iter().map(job_rows::job_of).collect()
}

fn running_lock(kind: JobKind) -> i64 {
    RUNNING_LOCK
        + match kind {
            JobKind::Extract => 0,
            JobKind::Consolidate => 1,
            JobKind::Redact => 2,
        }
}

/// The lanes of these jobs in the order in which they are served: tenants, users and agents.
pub(super) fn in_service_order(jobs: &[Job]) -> [Vec<String>; 3] {
    let mut lanes: Vec<Lane> = Vec::new();
    for lane in jobs.iter().map(Lane::of).rev() {
        if !lanes.contains(&lane) {
            lanes.push(lane);
        }
    }
    let column = |part: fn(&Lane) -> &String| lanes.iter().rev().map(part).cloned().collect();
    [
        column(|lane| &lane.tenant),
        column(|lane| &lane.user),
        column(|lane| &lane.agent),
    ]
}
