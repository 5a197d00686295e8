//! Counts for overviews: sessions in groups ([`daybook_domain::session_group`]), and how much was learned when.

use std::time::Duration;

use daybook_domain::limits::LEARNED_EVIDENCE;
use daybook_domain::{Session, SessionGroup, Tenant, Timestamp};
use rusqlite::{Connection, Row, params};

use super::connection::Fault;
use super::names::{parse_column, session_numbered};
use super::row_numbers::at_most;
use crate::evidence::span_millis;

/// What the sessions of a group have in common stands after GROUP BY; `learned` is the name of a variant.
const GROUPS: &str = "SELECT min(session.session_no) AS session_no, count(*) AS sessions,
        sum(session.events) AS events,
        sum(coalesce(job.input > job.done AND session.last_at < ?2, 0)) AS rested,
        CASE
            WHEN job.kind IS NULL THEN 'unmarked'
            WHEN job.input <= job.done THEN 'learned'
            WHEN job.failure_class IS NOT NULL AND job.failure_class <> 'at_cap' THEN 'failing'
            ELSE 'waiting'
        END AS learned
    FROM sessions AS session
    LEFT JOIN jobs AS job ON job.kind = 'extract' AND job.tenant = ?1
        AND job.owner = session.agent AND job.name = session.host_id
    WHERE session.known AND session.tenant_no = (SELECT tenant_no FROM tenants WHERE tenant = ?1)
    GROUP BY session.agent, session.user, session.kind, session.switched_off, session.memory_off,
        session.pollution IS NOT NULL, session.room_id, session.thread_id, session.team, session.filed_in, learned";

/// CROSS JOIN keeps the order: the newest evidence first, until there is enough of it.
const LEARNED: &str = "SELECT span, count(DISTINCT observation_no) FROM (
    SELECT evidence.at / ?3 AS span, observation_no
    FROM evidence CROSS JOIN sessions USING (session_no)
    WHERE live AND evidence.at >= ?2
    AND sessions.tenant_no = (SELECT tenant_no FROM tenants WHERE tenant = ?1)
    ORDER BY evidence.at DESC LIMIT ?4)
    GROUP BY span ORDER BY span";

/// A tenant's known sessions in groups.
pub(super) fn session_groups(
    tx: &Connection,
    tenant: &Tenant,
    rested_before: Timestamp,
) -> Result<Vec<SessionGroup>, Fault> {
    let mut find = tx.prepare_cached(GROUPS)?;
    let rows = find.query_map(params![tenant.0, rested_before.0], counted)?;
    let mut groups = Vec::new();
    for row in rows {
        let (no, group) = row?;
        if let Some(sample) = session_numbered(tx, no)? {
            groups.push(group(sample.session));
        }
    }
    Ok(groups)
}

/// The number of a group's sample, and what makes the group of it.
fn counted(row: &Row<'_>) -> rusqlite::Result<(i64, impl FnOnce(Session) -> SessionGroup + use<>)> {
    let learned = parse_column(row, "learned")?;
    let (sessions, events) = (row.get("sessions")?, row.get("events")?);
    let rested = row.get("rested")?;
    let group = move |sample| SessionGroup {
        sample,
        learned,
        sessions,
        events,
        rested,
    };
    Ok((row.get("session_no")?, group))
}

/// How many observations have live evidence from each span of time since `from`.
pub(super) fn learned_by_span(
    tx: &Connection,
    tenant: &Tenant,
    (from, span): (Timestamp, Duration),
) -> Result<Vec<(Timestamp, u64)>, Fault> {
    let length = span_millis(span);
    let mut count = tx.prepare_cached(LEARNED)?;
    let values = params![tenant.0, from.0, length, at_most(LEARNED_EVIDENCE)];
    let rows = count.query_map(values, |row| {
        let span: i64 = row.get(0)?;
        Ok((Timestamp(span.saturating_mul(length)), row.get(1)?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use crate::sqlite::{SqliteOptions, SqliteStore, quarantine, staged};

    /// A page that people look at reads these, so they must not go through all sessions to find a few rows.
    #[test]
    fn what_few_windows_have_is_not_looked_for_in_all_sessions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daybook.db");
        drop(SqliteStore::open(&path, SqliteOptions::default()).unwrap());
        let database = rusqlite::Connection::open(&path).unwrap();
        for (sql, index) in [
            (super::LEARNED, "evidence_times"),
            (quarantine::QUARANTINED, "extractions_quarantined"),
            (staged::STAGED, "extractions_staged"),
        ] {
            let mut plan = database
                .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
                .unwrap();
            let given = rusqlite::params_from_iter(vec![1; plan.parameter_count()]);
            let steps = plan.query_map(given, |row| row.get(3)).unwrap();
            let steps: Vec<String> = steps.map(Result::unwrap).collect();
            let of = |name: &str| steps.iter().position(|step| step.contains(name));
            assert!(
                of(index).is_some() && of(index) < of("sessions USING"),
                "{steps:?}"
            );
        }
    }
}
