//! Whose turn it is, as one statement that finds and locks the jobs of a claim in turn.
//!
//! Lanes with due work are found by stepping through the index of waiting jobs, from one lane and
//! priority to the next; so a claim costs a step for each lane with waiting work, and queues may be
//! as long as they like. Nothing is kept that says where work is due, and so nothing has to be kept
//! right by whoever saves a job.
//!
//! Turns need no simulation. The one that was served longest ago comes next, so all with work are
//! served once in that order, then all that are left in the same order, and so on: the n-th job of
//! each comes in round n. That holds for the agents of a user, the users of a tenant and the tenants.
//!
//! Claims do not wait for each other. Each looks further than it has to, and passes over jobs that
//! another one has locked; and who is serving a lane at this moment notes that for both. So with
//! several claims at once turns are nearly kept, and exactly with one.

use std::sync::LazyLock;

use daybook_domain::claim::Lane;
use daybook_domain::{Claim, Job, JobKind};

use super::connection::{Fault, Tx};
use super::job_rows;
use super::values::{Value, values};

/// Most jobs that one claim grants, whatever it asks for.
const MOST: usize = 256;
/// A claim finds so many times the jobs that it may take, for when others take some of them.
const BESIDE: usize = 10;
/// Whoever bounds what runs holds the advisory lock of this number and its kind: "running" in ASCII.
const RUNNING: i64 = 0x72_756e_6e69_6e67;

/// The first waiting job of each lane and priority after `$after`, or of all.
fn first(after: &str) -> String {
    format!(
        "SELECT tenant, lane_user, lane_agent, priority, due_at FROM jobs
         WHERE kind = $1 AND due_at IS NOT NULL AND {after}
         ORDER BY tenant, lane_user, lane_agent, priority, due_at LIMIT 1"
    )
}

/// Parameters: kind, now, jobs wanted, bounds per lane in this claim, of all that runs, and of what
/// runs in a lane, and how many jobs to look at.
static NEXT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH RECURSIVE firsts AS (
            ({any})
            UNION ALL
            SELECT further.* FROM firsts, LATERAL ({further}) AS further
        ), running AS (
            SELECT tenant, lane_user, lane_agent, count(*) AS leases FROM jobs
            WHERE kind = $1 AND lease_holder IS NOT NULL AND lease_until > $2
            GROUP BY tenant, lane_user, lane_agent
        ), wanted AS (
            SELECT greatest(0, least($3, $5 - (SELECT coalesce(sum(leases), 0) FROM running)))::BIGINT
                AS jobs
        ), due AS (
            SELECT DISTINCT tenant, lane_user, lane_agent,
                least($4, $6 - coalesce(leases, 0)) AS room
            FROM firsts LEFT JOIN running USING (tenant, lane_user, lane_agent)
            WHERE due_at <= $2
        ), lane AS (
            SELECT due.*, coalesce(of_tenant.served, 0) AS tenant_served,
                coalesce(of_user.served, 0) AS user_served, coalesce(lanes.served, 0) AS served
            FROM due
            LEFT JOIN lanes ON lanes.kind = $1 AND lanes.tenant = due.tenant
                AND lanes.\"user\" = lane_user AND agent = lane_agent
            LEFT JOIN LATERAL (SELECT served FROM lanes WHERE kind = $1 AND tenant = due.tenant
                ORDER BY served DESC LIMIT 1) AS of_tenant ON TRUE
            LEFT JOIN LATERAL (SELECT served FROM lanes WHERE kind = $1 AND tenant = due.tenant
                AND \"user\" = lane_user ORDER BY served DESC LIMIT 1) AS of_user ON TRUE
            WHERE room > 0
        ), placed AS (
            SELECT *, count(*) OVER () AS lanes,
                dense_rank() OVER (ORDER BY tenant_served, tenant)
                + dense_rank() OVER (PARTITION BY tenant ORDER BY user_served, lane_user)
                + row_number() OVER (PARTITION BY tenant, lane_user ORDER BY served, lane_agent)
                - 2 AS place
            FROM lane
        ), candidate AS (
            SELECT placed.*, priority, queued.due_at, owner, name
            FROM placed JOIN firsts USING (tenant, lane_user, lane_agent), LATERAL (
                SELECT jobs.due_at, owner, name FROM jobs
                WHERE kind = $1 AND jobs.tenant = placed.tenant
                    AND jobs.lane_user = placed.lane_user AND jobs.lane_agent = placed.lane_agent
                    AND jobs.priority = firsts.priority AND jobs.due_at <= $2
                ORDER BY jobs.due_at, owner, name
                LIMIT least(room, greatest($3 - place, $7 / lanes) + 1)
            ) AS queued
            WHERE firsts.due_at <= $2 AND place <= $7
        ), of_agent AS (
            SELECT *, row_number() OVER (PARTITION BY tenant, lane_user, lane_agent
                ORDER BY priority DESC, due_at, owner, name) AS agent_round
            FROM candidate
        ), of_user AS (
            SELECT *, row_number() OVER (PARTITION BY tenant, lane_user
                ORDER BY agent_round, served, lane_agent) AS user_round
            FROM of_agent WHERE agent_round <= room
        ), of_tenant AS (
            SELECT *, row_number() OVER (PARTITION BY tenant
                ORDER BY user_round, user_served, lane_user) AS tenant_round
            FROM of_user
        ), turn AS (
            SELECT tenant, owner, name, tenant_round, tenant_served
            FROM of_tenant ORDER BY tenant_round, tenant_served, tenant
        )
        SELECT granted.* FROM turn, LATERAL (
            SELECT * FROM jobs
            WHERE kind = $1 AND tenant = turn.tenant AND owner = turn.owner AND name = turn.name
                AND due_at <= $2
            FOR UPDATE SKIP LOCKED
        ) AS granted
        ORDER BY turn.tenant_round, turn.tenant_served, turn.tenant
        LIMIT (SELECT jobs FROM wanted)",
        any = first("EXISTS (SELECT FROM jobs WHERE kind = $1 AND due_at <= $2)"),
        further = first(
            "(tenant, lane_user, lane_agent, priority)
                > (firsts.tenant, firsts.lane_user, firsts.lane_agent, firsts.priority)"
        ),
    )
});

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
        jobs * BESIDE,
    ];
    let rows = tx.rows(&NEXT, bounds).await?;
    rows.iter().map(job_rows::job_of).collect()
}

fn running(kind: JobKind) -> i64 {
    RUNNING + i64::from(kind == JobKind::Consolidate)
}

/// Notes that the lanes of these jobs were served, in their order.
pub(super) async fn serve(tx: &Tx, jobs: &[Job]) -> Result<(), Fault> {
    let Some(kind) = jobs.first().map(|job| job.key.kind()) else {
        return Ok(());
    };
    let mut lanes: Vec<Lane> = Vec::new();
    for lane in jobs.iter().map(Lane::of).rev() {
        if !lanes.contains(&lane) {
            lanes.push(lane);
        }
    }
    let column = |part: fn(&Lane) -> &String| -> Value {
        let parts = lanes.iter().rev().map(part).cloned();
        Value::from(parts.collect::<Vec<_>>())
    };
    let serve = "WITH turn AS MATERIALIZED (
            SELECT *, nextval('turns') AS served
            FROM unnest($2, $3, $4) AS lane (tenant, \"user\", agent)
        ), free AS MATERIALIZED (
            SELECT lanes.tenant, lanes.\"user\", lanes.agent, turn.served
            FROM lanes JOIN turn USING (tenant, \"user\", agent)
            WHERE kind = $1 FOR NO KEY UPDATE OF lanes SKIP LOCKED
        ), again AS (
            UPDATE lanes SET served = free.served FROM free
            WHERE lanes.kind = $1 AND (lanes.tenant, lanes.\"user\", lanes.agent)
                = (free.tenant, free.\"user\", free.agent)
        )
        INSERT INTO lanes (kind, tenant, \"user\", agent, served)
        SELECT $1, tenant, \"user\", agent, served FROM turn
        WHERE NOT EXISTS (SELECT FROM lanes WHERE kind = $1
            AND (lanes.tenant, lanes.\"user\", lanes.agent)
                = (turn.tenant, turn.\"user\", turn.agent))
        ON CONFLICT DO NOTHING";
    let lanes = values![
        kind.word(),
        column(|lane| &lane.tenant),
        column(|lane| &lane.user),
        column(|lane| &lane.agent)
    ];
    tx.execute(serve, lanes).await?;
    Ok(())
}
