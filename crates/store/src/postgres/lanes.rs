//! Whose turn it is. One function of the schema, `next_jobs`, finds the jobs of a claim in turn.
//!
//! It finds lanes with due work by stepping through the index of waiting jobs; so a claim costs a
//! step for each lane with waiting work, and queues may be as long as they like. Nothing is kept that
//! says where work is due, and so nothing has to be kept right by whoever saves a job.
//!
//! Claims do not wait for each other. Each looks further than it has to, and passes over jobs that
//! another one has locked; and who is serving a lane at this moment notes that for both. So with
//! several claims at once turns are nearly kept, and exactly with one.

use daybook_domain::claim::Lane;
use daybook_domain::{Claim, Job, JobKind};

use super::connection::Tx;
use super::fault::Fault;
use super::job_rows;
use super::values::values;

/// Most jobs that one claim grants, whatever it asks for.
const MOST: usize = 256;
/// A claim finds so many times the jobs that it may take, for when others take some of them. Finding is
/// most of what a claim costs.
const BESIDE: usize = 4;
/// A claim finds no fewer.
const FOUND: usize = 10;
/// Whoever bounds what runs holds the advisory lock of this number and its kind: "running" in ASCII.
const RUNNING: i64 = 0x72_756e_6e69_6e67;

/// The jobs whose turn it is, in turn; nobody else changes them until this transaction ends.
pub(super) async fn next(tx: &Tx, claim: &Claim<'_>) -> Result<Vec<Job>, Fault> {
    let limits = claim.limits;
    let jobs = limits.jobs.min(MOST);
    if limits.running < usize::MAX || limits.running_per_agent < usize::MAX {
        // What runs is counted and added to by one claim at a time.
        let lock = "SELECT pg_advisory_xact_lock($1)";
        tx.execute(lock, values![running(claim.kind)]).await?;
    }
    let bounds = values![
        claim.kind.word(),
        claim.now,
        jobs,
        limits.per_agent.max(1),
        limits.running,
        limits.running_per_agent,
        (jobs * BESIDE).max(FOUND),
    ];
    let next = "SELECT row_to_json(jobs)::TEXT AS job
        FROM next_jobs($1, $2, $3, $4, $5, $6, $7) AS jobs";
    let rows = tx.rows(next, bounds).await?;
    rows.iter().map(job_rows::job_of).collect()
}

fn running(kind: JobKind) -> i64 {
    RUNNING + i64::from(kind == JobKind::Consolidate)
}

/// The lanes of these jobs in the order in which they were served: tenants, users and agents.
pub(super) fn served(jobs: &[Job]) -> [Vec<String>; 3] {
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
