//! Evidence from events of which repositories folders are checkouts of, and its sums by folder.
//!
//! Not here: which project follows from it; `ingest` decides that.

use std::collections::BTreeMap;

use daybook_domain::{RemoteCount, RemoteEvidence, RootRecord, Tenant, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::connection::Fault;
use super::names::parse_column;
use super::row_numbers::event_no;
use crate::log::SessionRow;

/// Stores evidence, with the events of a session that it comes from.
pub(super) fn note(
    tx: &Connection,
    row: &SessionRow,
    remotes: &[RemoteEvidence],
) -> Result<(), Fault> {
    for evidence in remotes {
        let Some(event) = showing(tx, row, evidence)? else {
            continue;
        };
        tx.prepare_cached(
            "INSERT OR IGNORE INTO root_remotes (event_no, session_no, root, remote, shown_by)
             VALUES (?, ?, ?, ?, ?)",
        )?
        .execute(params![
            event,
            row.no,
            evidence.root,
            evidence.remote,
            evidence.source.as_str()
        ])?;
    }
    Ok(())
}

/// Number of the evidence's event, if the session has that event.
fn showing(
    tx: &Connection,
    row: &SessionRow,
    evidence: &RemoteEvidence,
) -> Result<Option<i64>, Fault> {
    let Some(id) = evidence.event else {
        let last = row.session.events;
        return Ok((last.0 > 0).then(|| event_no(row.no, last)));
    };
    let mut find =
        tx.prepare_cached("SELECT event_no FROM events WHERE session_no = ? AND id = ?")?;
    let key = params![row.no, id.0.to_be_bytes()];
    Ok(find.query_row(key, |row| row.get(0)).optional()?)
}

/// Folders in which events happened, with what is stored of their identity.
pub(super) fn roots(tx: &Connection, tenant: &Tenant) -> Result<Vec<RootRecord>, Fault> {
    let mut counts = counts(tx, tenant)?;
    let mut find = tx.prepare_cached(
        "SELECT root, project, derived, ifnull(min(nullif(first_at, 0)), 0) AS first_at
         FROM tenants JOIN roots USING (tenant_no) JOIN places USING (root_no)
         JOIN session_places USING (place_no)
         JOIN sessions ON sessions.session_no = session_places.session_no
         WHERE tenant = ? GROUP BY root_no ORDER BY root",
    )?;
    let mut rows = find.query([&tenant.0])?;
    let mut roots = Vec::new();
    while let Some(row) = rows.next()? {
        let root: String = row.get("root")?;
        roots.push(RootRecord {
            remotes: counts.remove(&root).unwrap_or_default(),
            root,
            project: row.get("project")?,
            derived: row.get("derived")?,
            first_at: Timestamp(row.get("first_at")?),
        });
    }
    Ok(roots)
}

fn counts(tx: &Connection, tenant: &Tenant) -> Result<BTreeMap<String, Vec<RemoteCount>>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT root, remote, shown_by, count(DISTINCT session_no) AS shown
         FROM root_remotes JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
         WHERE tenant = ? GROUP BY root, remote, shown_by",
    )?;
    let mut rows = find.query([&tenant.0])?;
    let mut counts: BTreeMap<String, Vec<RemoteCount>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let count = RemoteCount {
            source: parse_column(row, "shown_by")?,
            remote: row.get("remote")?,
            sessions: row.get("shown")?,
        };
        counts.entry(row.get("root")?).or_default().push(count);
    }
    counts.values_mut().for_each(|counts| counts.sort());
    Ok(counts)
}
