//! Counts for overviews: sessions in groups ([`daybook_domain::session_group`]), and how much was learned when.

use std::time::Duration;

use daybook_domain::limits::LEARNED_EVIDENCE;
use daybook_domain::{Session, SessionGroup, Tenant, Timestamp};
use tokio_postgres::Row;

use super::connection::Tx;
use super::fault::Fault;
use super::names::sessions_where;
use super::values::{get, parse_column, values};
use crate::evidence::span_millis;

/// What the sessions of a group have in common stands after GROUP BY; `learned` is the name of a variant.
const GROUPS: &str = "SELECT min(session.session_no) AS session_no, count(*) AS sessions,
        sum(session.events)::BIGINT AS events,
        count(*) FILTER (WHERE job.input > job.done AND session.last_at < $2) AS rested,
        CASE
            WHEN job.kind IS NULL THEN 'unmarked'
            WHEN job.input <= job.done THEN 'learned'
            WHEN job.failure_class IS NOT NULL AND job.failure_class <> 'at_cap' THEN 'failing'
            ELSE 'waiting'
        END AS learned
    FROM sessions AS session
    LEFT JOIN jobs AS job ON job.kind = 'extract' AND job.tenant = $1
        AND job.owner = session.agent AND job.name = session.host_id
    WHERE session.known AND session.tenant_no = (SELECT tenant_no FROM tenants WHERE tenant = $1)
    GROUP BY session.agent, session.\"user\", session.kind, session.switched_off, session.memory_off,
        session.pollution IS NOT NULL, session.room_id, session.thread_id, session.team, session.filed_in, learned";

/// A tenant's known sessions in groups.
pub(super) async fn session_groups(
    tx: &Tx,
    tenant: &Tenant,
    rested_before: Timestamp,
) -> Result<Vec<SessionGroup>, Fault> {
    let rows = tx.rows(GROUPS, values![&tenant.0, rested_before]).await?;
    let mut groups = Vec::new();
    for row in &rows {
        let no: i64 = get(row, "session_no")?;
        let sample = sessions_where(tx, "session_no = $1", values![no]).await?;
        if let Some(sample) = sample.into_iter().next() {
            groups.push(group_of(row, sample)?);
        }
    }
    Ok(groups)
}

fn group_of(row: &Row, sample: Session) -> Result<SessionGroup, Fault> {
    Ok(SessionGroup {
        sample,
        learned: parse_column(row, "learned")?,
        sessions: get(row, "sessions")?,
        events: get(row, "events")?,
        rested: get(row, "rested")?,
    })
}

/// How many observations have live evidence from each span of time since `from`.
pub(super) async fn learned_by_span(
    tx: &Tx,
    tenant: &Tenant,
    (from, span): (Timestamp, Duration),
) -> Result<Vec<(Timestamp, u64)>, Fault> {
    let length = span_millis(span);
    let count = "SELECT span, count(DISTINCT observation_no) AS learned FROM (
            SELECT at / $3 AS span, observation_no FROM evidence
            WHERE live AND at >= $2
                AND tenant_no = (SELECT tenant_no FROM tenants WHERE tenant = $1)
            ORDER BY at DESC LIMIT $4) AS newest
        GROUP BY span ORDER BY span";
    let values = values![&tenant.0, from, length, LEARNED_EVIDENCE];
    let rows = tx.rows(count, values).await?;
    let learned = |row: &Row| {
        let span: i64 = get(row, "span")?;
        Ok((Timestamp(span.saturating_mul(length)), get(row, "learned")?))
    };
    rows.iter().map(learned).collect()
}
