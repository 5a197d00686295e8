//! Which observations no longer hold: columns of their rows.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use daybook_domain::seams::SupersessionStore;
use daybook_domain::{
    EventSeq, Observation, ObservationId, Scope, SessionId, StoreError, SupersededObservation,
    Supersession, SupersessionReason, Tenant, Timestamp,
};
use rusqlite::{Connection, Row, params};

use super::SqliteStore;
use super::connection::Fault;
use super::evidence_rows::{self, VISIBLE};
use super::names::{find_scope, find_session, parse_column, scope_of};
use crate::evidence::parse_numbers;
use crate::supersessions::{WRITTEN_AT_ONCE, changed};

#[async_trait]
impl SupersessionStore for SqliteStore {
    async fn set_supersessions(
        &self,
        scope: &Scope,
        supersessions: &[Supersession],
    ) -> Result<(), StoreError> {
        let noted = self.read(|tx| noted(tx, scope))?;
        for some in changed(&noted, supersessions).chunks(WRITTEN_AT_ONCE) {
            self.write(|tx| set(tx, scope, some))?;
        }
        Ok(())
    }

    async fn superseded_by_event(
        &self,
        _: &Tenant,
        events: &[(SessionId, EventSeq)],
    ) -> Result<Vec<SupersededObservation>, StoreError> {
        self.read(|tx| {
            let mut found = BTreeSet::new();
            for (session, seq) in events {
                found.extend(superseded(tx, session, *seq)?);
            }
            Ok(found.into_iter().collect())
        })
    }

    async fn observation(
        &self,
        scope: &Scope,
        id: ObservationId,
    ) -> Result<Option<Observation>, StoreError> {
        self.read(|tx| evidence_rows::observation(tx, scope, id))
    }
}

/// What is noted of a scope.
fn noted(tx: &Connection, scope: &Scope) -> Result<BTreeMap<ObservationId, Supersession>, Fault> {
    let Some(scope) = find_scope(tx, scope)? else {
        return Ok(BTreeMap::new());
    };
    let mut find = tx.prepare_cached(
        "SELECT id, later, ended_because, ended_at FROM observations
         WHERE scope_no = ? AND later IS NOT NULL",
    )?;
    let rows = find.query_map([scope], supersession_of)?;
    rows.map(|row| Ok(row.map(|noted| (noted.earlier, noted))?))
        .collect()
}

/// The supersession in the first four columns: id, later, ended_because, ended_at.
fn supersession_of(row: &Row<'_>) -> rusqlite::Result<Supersession> {
    Ok(Supersession {
        earlier: ObservationId(row.get::<_, i64>(0)?.cast_unsigned()),
        later: ObservationId(row.get::<_, i64>(1)?.cast_unsigned()),
        reason: parse_column::<SupersessionReason>(row, 2)?,
        until: Timestamp(row.get(3)?),
    })
}

fn set(
    tx: &Connection,
    scope: &Scope,
    changes: &[(ObservationId, Option<Supersession>)],
) -> Result<(), Fault> {
    let Some(scope) = find_scope(tx, scope)? else {
        return Ok(());
    };
    let mut set = tx.prepare_cached(
        "UPDATE observations SET later = ?, ended_because = ?, ended_at = ?
         WHERE scope_no = ? AND id = ?",
    )?;
    for (id, ended) in changes {
        let later = ended.map(|ended| ended.later.0.cast_signed());
        let reason = ended.map(|ended| ended.reason.as_str());
        let until = ended.map(|ended| ended.until.0);
        set.execute(params![later, reason, until, scope, id.0.cast_signed()])?;
    }
    Ok(())
}

fn superseded(
    tx: &Connection,
    session: &SessionId,
    seq: EventSeq,
) -> Result<Vec<SupersededObservation>, Fault> {
    let Some(row) = find_session(tx, session)? else {
        return Ok(Vec::new());
    };
    let mut find = tx.prepare_cached(&format!(
        "SELECT id, later, ended_because, ended_at, evidence.events AS events, tenant, scopes.kind AS kind, name
         FROM evidence JOIN sessions USING (session_no)
         JOIN observations USING (observation_no) JOIN scopes USING (scope_no)
         JOIN tenants ON tenants.tenant_no = scopes.tenant_no
         WHERE evidence.session_no = ? AND first_seq <= ? AND last_seq >= ?
            AND later IS NOT NULL AND holds AND {VISIBLE}"
    ))?;
    let mut rows = find.query(params![row.no, seq.0, seq.0])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let events: String = row.get("events")?;
        if parse_numbers(&events).any(|event| event == seq.0) {
            found.push(SupersededObservation {
                event: (session.clone(), seq),
                scope: scope_of(row)?,
                supersession: supersession_of(row)?,
            });
        }
    }
    Ok(found)
}
