//! Observations that wait for a person's decision: a column of their extraction.

use daybook_domain::quarantine::{QuarantineDecision, QuarantinedObservation};
use daybook_domain::{ObservationId, Scope, Tenant};

use super::connection::Tx;
use super::fault::Fault;
use super::values::{get, values};
use crate::quarantine::{decide_about, quarantined_of, quarantined_text};

pub(super) async fn of_tenant(
    tx: &Tx,
    tenant: &Tenant,
) -> Result<Vec<QuarantinedObservation>, Fault> {
    let find = "SELECT quarantined
        FROM extractions JOIN sessions USING (session_no)
        JOIN tenants ON tenants.tenant_no = sessions.tenant_no
        WHERE quarantined IS NOT NULL AND live AND tenant = $1
        ORDER BY at, agent, host_id, from_seq";
    let mut all = Vec::new();
    for row in tx.rows(find, values![&tenant.0]).await? {
        let text: String = get(&row, "quarantined")?;
        all.extend(quarantined_of(&text).map_err(Fault::corrupt)?);
    }
    Ok(all)
}

pub(super) async fn decide(
    tx: &Tx,
    scope: &Scope,
    id: ObservationId,
    decision: QuarantineDecision,
) -> Result<bool, Fault> {
    let find = "SELECT extraction_no, quarantined
        FROM extractions JOIN sessions USING (session_no)
        JOIN tenants ON tenants.tenant_no = sessions.tenant_no
        WHERE quarantined IS NOT NULL AND tenant = $1
        ORDER BY extraction_no FOR UPDATE OF extractions";
    let mut found = false;
    for row in tx.rows(find, values![&scope.tenant.0]).await? {
        let text: String = get(&row, "quarantined")?;
        let mut quarantined = quarantined_of(&text).map_err(Fault::corrupt)?;
        if decide_about(&mut quarantined, (scope, id), decision) {
            let text = quarantined_text(&quarantined).map_err(Fault::corrupt)?;
            let no: i64 = get(&row, "extraction_no")?;
            let put = "UPDATE extractions SET quarantined = $1 WHERE extraction_no = $2";
            tx.execute(put, values![text, no]).await?;
            found = true;
        }
    }
    Ok(found)
}
