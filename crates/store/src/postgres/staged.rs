//! Writes of agents' tools that are not yet in a file: a column of their extraction.

use daybook_domain::{EventSeq, StagedEntityWrite, Tenant};

use super::connection::Tx;
use super::fault::Fault;
use super::names::{find_session, session_id_of};
use super::values::{get, values};
use crate::staged::{staged_of, staged_text};

pub(super) async fn of_tenant(tx: &Tx, tenant: &Tenant) -> Result<Vec<StagedEntityWrite>, Fault> {
    let find = "SELECT tenant, agent, host_id, label, from_seq, to_seq, writes, at
        FROM extractions JOIN sessions USING (session_no)
        JOIN tenants ON tenants.tenant_no = sessions.tenant_no
        WHERE writes IS NOT NULL AND pollution IS NULL AND tenant = $1
        ORDER BY at, agent, host_id, from_seq, generation";
    let mut all = Vec::new();
    for row in tx.rows(find, values![&tenant.0]).await? {
        all.push(StagedEntityWrite {
            session: session_id_of(&row)?,
            label: get::<Option<String>>(&row, "label")?.unwrap_or_default(),
            from: EventSeq(get(&row, "from_seq")?),
            to: EventSeq(get(&row, "to_seq")?),
            at: get(&row, "at")?,
            writes: staged_of(&get::<String>(&row, "writes")?).map_err(Fault::corrupt)?,
        });
    }
    Ok(all)
}

pub(super) async fn delete_staged(tx: &Tx, staged: &StagedEntityWrite) -> Result<(), Fault> {
    let Some(row) = find_session(tx, &staged.session).await? else {
        return Ok(());
    };
    let take = "UPDATE extractions SET writes = NULL
        WHERE session_no = $1 AND from_seq = $2 AND to_seq = $3 AND at = $4 AND writes = $5";
    let writes = staged_text(&staged.writes).map_err(Fault::corrupt)?;
    let which = values![row.no, staged.from.0, staged.to.0, staged.at, writes];
    tx.execute(take, which).await?;
    Ok(())
}

/// Deletes the staged writes and quarantined observations of windows with these events.
pub(super) async fn withdraw(tx: &Tx, session: i64, retracted: &[EventSeq]) -> Result<(), Fault> {
    let take = "UPDATE extractions SET writes = NULL, quarantined = NULL
        WHERE session_no = $1 AND (writes IS NOT NULL OR quarantined IS NOT NULL)
            AND from_seq <= $2 AND to_seq >= $2";
    for event in retracted {
        tx.execute(take, values![session, event.0]).await?;
    }
    Ok(())
}
