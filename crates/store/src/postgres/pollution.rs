//! Hides and shows again what was learned from a session.

use std::collections::BTreeSet;

use daybook_domain::eligibility::Switches;
use daybook_domain::{JobKey, Scope, ScopeKind, Timestamp};

use super::connection::Tx;
use super::evidence_rows;
use super::extractions::settle;
use super::fault::Fault;
use super::job_rows;
use super::values::{get, values};
use crate::evidence::TouchedObservations;
use crate::log::SessionRow;
use crate::pollution::owner_scope;

/// Derives again what rests on a session whose row says that it is polluted or clean, and raises the scopes that show
/// it. Without anything learned there is nothing to raise. The session's row is locked and saved.
pub(super) async fn rederive_learned(
    tx: &Tx,
    row: &SessionRow,
    switches: &Switches,
    now: Timestamp,
) -> Result<(), Fault> {
    let id = &row.session.id;
    // An extraction that ends meanwhile holds the job: either its evidence is seen here, or it sees the session's row.
    job_rows::load(tx, &JobKey::Extract(id.clone())).await?;
    evidence_rows::lock(tx, &BTreeSet::new(), Some(row.no)).await?;
    let mut touched = TouchedObservations::default();
    evidence_rows::touch_session(tx, row.no, &mut touched).await?;
    let find = "SELECT 1 FROM extractions WHERE session_no = $1 AND live AND digest IS NOT NULL
        LIMIT 1";
    let has_digest = tx.row(find, values![row.no]).await?.is_some();
    if touched.0.is_empty() && !has_digest {
        return Ok(());
    }
    // Accounts of the session are on the pages of all its projects, or else on its person's.
    let find = "SELECT DISTINCT project FROM session_places JOIN places USING (place_no)
        JOIN roots USING (root_no) WHERE session_no = $1 AND project IS NOT NULL";
    let mut scopes = BTreeSet::new();
    for found in tx.rows(find, values![row.no]).await? {
        scopes.insert(Scope {
            tenant: id.tenant.clone(),
            kind: ScopeKind::Project,
            name: get(&found, "project")?,
        });
    }
    scopes.extend(owner_scope(&row.session, switches));
    settle(tx, &touched, scopes, now).await
}
