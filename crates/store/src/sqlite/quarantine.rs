//! Observations that wait for a person's decision: a column of their extraction.

use daybook_domain::quarantine::{QuarantineDecision, QuarantinedObservation};
use daybook_domain::{ObservationId, Scope, Tenant};
use rusqlite::{Connection, params};

use super::connection::Fault;
use crate::quarantine::{decide_about, quarantined_of, quarantined_text};

/// CROSS JOIN keeps the order: few windows have anything in quarantine, and an index has them.
pub(super) const QUARANTINED: &str = "SELECT quarantined
    FROM extractions CROSS JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
    WHERE quarantined IS NOT NULL AND live AND tenant = ?
    ORDER BY at, agent, host_id, from_seq";

pub(super) fn of_tenant(
    tx: &Connection,
    tenant: &Tenant,
) -> Result<Vec<QuarantinedObservation>, Fault> {
    let mut find = tx.prepare_cached(QUARANTINED)?;
    let mut rows = find.query([&tenant.0])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.extend(quarantined_of(&row.get::<_, String>(0)?).map_err(Fault::corrupt)?);
    }
    Ok(all)
}

pub(super) fn decide(
    tx: &Connection,
    scope: &Scope,
    id: ObservationId,
    decision: QuarantineDecision,
) -> Result<bool, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT extraction_no, quarantined
         FROM extractions CROSS JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
         WHERE quarantined IS NOT NULL AND tenant = ?",
    )?;
    let rows = find.query_map([&scope.tenant.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let rows: Vec<(i64, String)> = rows.collect::<Result<_, _>>()?;
    let mut put =
        tx.prepare_cached("UPDATE extractions SET quarantined = ? WHERE extraction_no = ?")?;
    let mut found = false;
    for (no, text) in rows {
        let mut quarantined = quarantined_of(&text).map_err(Fault::corrupt)?;
        if decide_about(&mut quarantined, (scope, id), decision) {
            let text = quarantined_text(&quarantined).map_err(Fault::corrupt)?;
            put.execute(params![text, no])?;
            found = true;
        }
    }
    Ok(found)
}
