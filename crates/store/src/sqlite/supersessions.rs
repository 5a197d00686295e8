//! Which observations no longer hold: columns of their rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::seams::SupersessionStore;
use daybook_domain::{
    EventSeq, KnownObservation, ObservationId, Scope, SessionId, StoreError, SupersededObservation,
    Supersession, SupersessionReason, Tenant, Timestamp,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::SqliteStore;
use super::connection::Fault;
use super::ended_evidence::EndedEvidence;
use super::evidence_rows::{self, VISIBLE};
use super::names::{find_scope, parse_column, scope_of};
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
        let mut sessions: Vec<SessionId> =
            events.iter().map(|(session, _)| session.clone()).collect();
        sessions.sort();
        sessions.dedup();
        let ended = self.cached(&self.read_caches.ended, &sessions, ended_of)?;
        let ended: BTreeMap<SessionId, Vec<EndedEvidence>> =
            sessions.into_iter().zip(ended).collect();
        let mut found = BTreeSet::new();
        for event in events {
            let of_session = ended.get(&event.0).into_iter().flatten();
            found.extend(of_session.filter_map(|ended| ended.of_event(event)));
        }
        Ok(found.into_iter().collect())
    }

    async fn known_observations(
        &self,
        _: &Tenant,
        wanted: &[(Scope, ObservationId)],
    ) -> Result<Vec<Option<KnownObservation>>, StoreError> {
        let read = |tx: &Transaction<'_>, (scope, id): &(Scope, ObservationId)| {
            let Some(found) = evidence_rows::observation(tx, scope, *id)? else {
                return Ok(None);
            };
            Ok(Some(Arc::new((found, ended(tx, scope, *id)?))))
        };
        self.cached(&self.read_caches.observations, wanted, read)
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

/// What ended an observation.
fn ended(tx: &Connection, scope: &Scope, id: ObservationId) -> Result<Option<Supersession>, Fault> {
    let Some(scope) = find_scope(tx, scope)? else {
        return Ok(None);
    };
    let mut find = tx.prepare_cached(
        "SELECT id, later, ended_because, ended_at FROM observations
         WHERE scope_no = ? AND id = ? AND later IS NOT NULL",
    )?;
    let found = find.query_row([scope, id.0.cast_signed()], supersession_of);
    Ok(found.optional()?)
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

/// What no longer holds of a session's observations, which are few.
fn ended_of(tx: &Transaction<'_>, session: &SessionId) -> Result<Vec<EndedEvidence>, Fault> {
    let mut find = tx.prepare_cached(&format!(
        "SELECT id, later, ended_because, ended_at, evidence.events AS events, tenant, scopes.kind AS kind, name
         FROM evidence JOIN sessions USING (session_no)
         JOIN observations USING (observation_no) JOIN scopes USING (scope_no)
         JOIN tenants ON tenants.tenant_no = scopes.tenant_no
         WHERE evidence.session_no = (
                SELECT session_no FROM sessions JOIN tenants USING (tenant_no)
                WHERE tenant = ? AND host_id = ? AND agent = ?)
            AND later IS NOT NULL AND holds AND {VISIBLE}"
    ))?;
    let mut rows = find.query(params![session.tenant.0, session.host_id, session.agent])?;
    let mut ended = Vec::new();
    while let Some(row) = rows.next()? {
        let stated: String = row.get("events")?;
        ended.push(EndedEvidence {
            stated: parse_numbers(&stated).collect(),
            scope: scope_of(row)?,
            supersession: supersession_of(row)?,
        });
    }
    Ok(ended)
}
