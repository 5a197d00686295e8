//! Evidence from events of which repositories folders are checkouts of, and its sums by folder.
//!
//! Not here: which project follows from it; `ingest` decides that.

use std::collections::BTreeMap;

use daybook_domain::{RemoteCount, RemoteEvidence, RootRecord, Tenant};

use super::connection::Tx;
use super::fault::Fault;
use super::row_numbers::event_no;
use super::values::{get, parse_column, values};
use crate::log::SessionRow;

/// Stores evidence, with the events of a session that it comes from.
pub(super) async fn note(
    tx: &Tx,
    row: &SessionRow,
    remotes: &[RemoteEvidence],
) -> Result<(), Fault> {
    if remotes.is_empty() {
        return Ok(());
    }
    let last = row.session.events;
    let (mut ids, mut last_ones) = (Vec::new(), Vec::new());
    for evidence in remotes {
        // No event has an empty id.
        let id = evidence.event.map(|id| id.0.to_be_bytes().to_vec());
        last_ones.push((id.is_none() && last.0 > 0).then(|| event_no(row.no, last)));
        ids.push(id.unwrap_or_default());
    }
    let roots: Vec<&str> = remotes.iter().map(|one| one.root.as_str()).collect();
    let shown: Vec<&str> = remotes.iter().map(|one| one.remote.as_str()).collect();
    let sources: Vec<&str> = remotes.iter().map(|one| one.source.as_str()).collect();
    let insert = "INSERT INTO root_remotes
            (tenant_no, session_no, event_no, root, remote, shown_by)
        SELECT $1, $2, coalesce(shown.event_no, events.event_no), root, remote, shown_by
        FROM unnest($3, $4, $5, $6, $7) AS shown (id, event_no, root, remote, shown_by)
        LEFT JOIN events ON events.session_no = $2 AND events.id = shown.id
        WHERE coalesce(shown.event_no, events.event_no) IS NOT NULL
        ON CONFLICT DO NOTHING";
    let values = values![row.tenant, row.no, ids, last_ones, roots, shown, sources];
    tx.execute(insert, values).await?;
    Ok(())
}

/// Folders in which events happened, with what is stored of their identity.
pub(super) async fn roots(tx: &Tx, tenant: &Tenant) -> Result<Vec<RootRecord>, Fault> {
    let mut counts = counts(tx, tenant).await?;
    let find = "SELECT root, project, derived, coalesce(min(nullif(first_at, 0)), 0) AS first_at
        FROM tenants JOIN roots USING (tenant_no) JOIN places USING (root_no)
        JOIN session_places USING (place_no)
        JOIN sessions ON sessions.session_no = session_places.session_no
        WHERE tenant = $1 GROUP BY root_no, root, project, derived ORDER BY root";
    let mut roots = Vec::new();
    for row in tx.rows(find, values![&tenant.0]).await? {
        let root: String = get(&row, "root")?;
        roots.push(RootRecord {
            remotes: counts.remove(&root).unwrap_or_default(),
            root,
            project: get(&row, "project")?,
            derived: get(&row, "derived")?,
            first_at: get(&row, "first_at")?,
        });
    }
    Ok(roots)
}

async fn counts(tx: &Tx, tenant: &Tenant) -> Result<BTreeMap<String, Vec<RemoteCount>>, Fault> {
    let find = "SELECT root, remote, shown_by, count(DISTINCT session_no) AS shown
        FROM root_remotes JOIN tenants USING (tenant_no)
        WHERE tenant = $1 GROUP BY root, remote, shown_by";
    let mut counts: BTreeMap<String, Vec<RemoteCount>> = BTreeMap::new();
    for row in tx.rows(find, values![&tenant.0]).await? {
        let count = RemoteCount {
            source: parse_column(&row, "shown_by")?,
            remote: get(&row, "remote")?,
            sessions: get(&row, "shown")?,
        };
        counts.entry(get(&row, "root")?).or_default().push(count);
    }
    counts.values_mut().for_each(|counts| counts.sort());
    Ok(counts)
}
