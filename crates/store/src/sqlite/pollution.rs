//! Hides and shows again what was learned from a session.

use std::collections::BTreeSet;

use daybook_domain::eligibility::Switches;
use daybook_domain::{Scope, ScopeKind, Tenant, Timestamp};
use rusqlite::{Connection, params};

use super::connection::Fault;
use super::evidence_rows;
use super::revisions::raise;
use crate::evidence::TouchedObservations;
use crate::log::SessionRow;
use crate::pollution::owner_scope;

/// Derives again what rests on a session whose row says that it is polluted or clean, and raises the scopes that show
/// it. Without anything learned there is nothing to raise.
pub(super) fn rederive_learned(
    tx: &Connection,
    row: &SessionRow,
    switches: &Switches,
    now: Timestamp,
) -> Result<(), Fault> {
    let mut touched = TouchedObservations::default();
    evidence_rows::touch_session(tx, row.no, &mut touched)?;
    let mut scopes = evidence_rows::settle(tx, &touched)?.scopes;
    let mut find = tx.prepare_cached(
        "SELECT 1 FROM extractions WHERE session_no = ? AND live AND digest IS NOT NULL",
    )?;
    if scopes.is_empty() && !find.exists([row.no])? {
        return Ok(());
    }
    // Accounts of the session are on the pages of all its projects, or else on its person's.
    scopes.extend(projects_of_places(tx, &row.session.id.tenant, row.no)?);
    scopes.extend(owner_scope(&row.session, switches));
    raise(tx, &scopes, now)
}

fn projects_of_places(
    tx: &Connection,
    tenant: &Tenant,
    session: i64,
) -> Result<BTreeSet<Scope>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT DISTINCT project FROM session_places JOIN places USING (place_no)
         JOIN roots USING (root_no) WHERE session_no = ? AND project IS NOT NULL",
    )?;
    let names = find.query_map(params![session], |row| row.get(0))?;
    names
        .map(|name| {
            Ok(Scope {
                tenant: tenant.clone(),
                kind: ScopeKind::Project,
                name: name?,
            })
        })
        .collect()
}
