//! Writes of agents' tools that are not yet in a file: a column of their extraction.

use daybook_domain::{EventSeq, StagedEntityWrite, Tenant, Timestamp};
use rusqlite::{Connection, params};

use super::connection::Fault;
use super::names::{find_session, session_id_of};
use crate::staged::{staged_of, staged_text};

/// CROSS JOIN keeps the order: few windows have staged writes, and an index has them.
pub(super) const STAGED: &str = "SELECT tenant, agent, host_id, label, from_seq, to_seq, writes, at
    FROM extractions CROSS JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
    WHERE writes IS NOT NULL AND pollution IS NULL AND tenant = ?
    ORDER BY at, agent, host_id, from_seq, generation";

pub(super) fn of_tenant(tx: &Connection, tenant: &Tenant) -> Result<Vec<StagedEntityWrite>, Fault> {
    let mut find = tx.prepare_cached(STAGED)?;
    let mut rows = find.query([&tenant.0])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(StagedEntityWrite {
            session: session_id_of(row)?,
            label: row.get::<_, Option<String>>("label")?.unwrap_or_default(),
            from: EventSeq(row.get("from_seq")?),
            to: EventSeq(row.get("to_seq")?),
            at: Timestamp(row.get("at")?),
            writes: staged_of(&row.get::<_, String>("writes")?).map_err(Fault::corrupt)?,
        });
    }
    Ok(all)
}

pub(super) fn delete_staged(tx: &Connection, staged: &[StagedEntityWrite]) -> Result<(), Fault> {
    let mut take = tx.prepare_cached(
        "UPDATE extractions SET writes = NULL
         WHERE session_no = ? AND from_seq = ? AND to_seq = ? AND at = ? AND writes = ?",
    )?;
    for one in staged {
        let Some(row) = find_session(tx, &one.session)? else {
            continue;
        };
        let writes = staged_text(&one.writes).map_err(Fault::corrupt)?;
        take.execute(params![row.no, one.from.0, one.to.0, one.at.0, writes])?;
    }
    Ok(())
}

/// Deletes the staged writes and quarantined observations of windows with these events.
pub(super) fn withdraw(tx: &Connection, session: i64, retracted: &[EventSeq]) -> Result<(), Fault> {
    let mut take = tx.prepare_cached(
        "UPDATE extractions SET writes = NULL, quarantined = NULL
         WHERE session_no = ?1 AND (writes IS NOT NULL OR quarantined IS NOT NULL)
            AND from_seq <= ?2 AND to_seq >= ?2",
    )?;
    for event in retracted {
        take.execute(params![session, event.0])?;
    }
    Ok(())
}
