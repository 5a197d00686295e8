//! Retractions by a person: observations that these events do not bring back.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::seams::RetractedText;
use daybook_domain::{EventSeq, ObservationId, Scope, SessionId, Tenant};

use super::connection::Tx;
use super::evidence_rows::{delete_where, lock, positions, rows_where, seq_column};
use super::fault::Fault;
use super::names::find_scope;
use super::values::{get, values};
use crate::evidence::TouchedObservations;

/// Retracts an observation for good, for the events of its evidence. False when it does not hold.
pub(super) async fn retract(
    tx: &Tx,
    scope: &Scope,
    id: ObservationId,
    touched: &mut TouchedObservations,
) -> Result<bool, Fault> {
    if find_scope(tx, scope).await?.is_none() {
        return Ok(false);
    }
    let no = lock(tx, &BTreeSet::from([scope]), None).await?.no(scope)?;
    let find = "SELECT observation_no FROM observations WHERE scope_no = $1 AND id = $2 AND holds";
    let found = tx.row(find, values![no, id.0.cast_signed()]).await?;
    let Some(found) = found else {
        return Ok(false);
    };
    let observation: i64 = get(&found, "observation_no")?;
    let rows = rows_where(tx, "observation_no = $1", values![observation]).await?;
    let mut took_back = BTreeMap::new();
    for row in rows {
        let evidence = row.piece.evidence;
        for seq in positions(&evidence.events) {
            let kept = (row.piece.text.clone(), evidence.root.clone());
            took_back.insert((evidence.session.clone(), seq), kept);
        }
    }
    note_retracted(tx, observation, took_back).await?;
    delete_where(tx, "observation_no = $1", values![observation], touched).await?;
    Ok(true)
}

/// The words that a person took back of these sessions' events.
pub(super) async fn texts(
    tx: &Tx,
    tenant: &Tenant,
    sessions: &[SessionId],
) -> Result<Vec<RetractedText>, Fault> {
    let agents: Vec<String> = sessions.iter().map(|id| id.agent.clone()).collect();
    let host_ids: Vec<String> = sessions.iter().map(|id| id.host_id.clone()).collect();
    let find = "SELECT agent, host_id, seq, retractions.text AS text
        FROM retractions JOIN sessions USING (session_no)
        JOIN unnest($1::TEXT[], $2::TEXT[]) AS wanted (agent, host_id) USING (agent, host_id)";
    let mut found = BTreeSet::new();
    for row in tx.rows(find, values![agents, host_ids]).await? {
        found.insert(RetractedText {
            session: SessionId {
                tenant: tenant.clone(),
                agent: get(&row, "agent")?,
                host_id: get(&row, "host_id")?,
            },
            seq: EventSeq(get::<i64>(&row, "seq")?.cast_unsigned()),
            text: get(&row, "text")?,
        });
    }
    Ok(found.into_iter().collect())
}

/// Deletes the retractions of an observation in a locked scope, so that evidence brings it back.
pub(super) async fn lift(tx: &Tx, scope: i64, id: ObservationId) -> Result<(), Fault> {
    let delete = "DELETE FROM retractions WHERE scope_no = $1 AND id = $2";
    tx.execute(delete, values![scope, id.0.cast_signed()])
        .await?;
    Ok(())
}

/// Stores that these positions, each with the words and the root of its evidence, do not bring an observation
/// back.
async fn note_retracted(
    tx: &Tx,
    observation: i64,
    took_back: BTreeMap<(SessionId, u64), (String, Option<String>)>,
) -> Result<(), Fault> {
    let (mut agents, mut host_ids, mut seqs) = (Vec::new(), Vec::new(), Vec::new());
    let (mut texts, mut roots) = (Vec::new(), Vec::new());
    for ((session, seq), (text, root)) in took_back {
        agents.push(session.agent);
        host_ids.push(session.host_id);
        seqs.push(seq_column(EventSeq(seq)));
        texts.push(text);
        roots.push(root);
    }
    let insert = "INSERT INTO retractions (tenant_no, scope_no, id, session_no, seq, kind, text,
            root)
        SELECT observations.tenant_no, scope_no, id, session_no, seq, observations.kind, took.text,
            root
        FROM unnest($2, $3, $4, $5, $6) AS took (agent, host_id, seq, text, root)
        JOIN observations ON observation_no = $1
        JOIN sessions ON sessions.tenant_no = observations.tenant_no
            AND sessions.agent = took.agent AND sessions.host_id = took.host_id
        ON CONFLICT (scope_no, id, session_no, seq)
            DO UPDATE SET kind = excluded.kind, text = excluded.text, root = excluded.root";
    let columns = values![observation, agents, host_ids, seqs, texts, roots];
    tx.execute(insert, columns).await?;
    Ok(())
}
