//! Which observations no longer hold: columns of their rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::seams::SupersessionStore;
use daybook_domain::{
    EventSeq, KnownObservation, ObservationId, Scope, SessionId, StoreError, SupersededObservation,
    Supersession, SupersessionReason, Tenant, Timestamp,
};
use tokio_postgres::Row;

use super::PostgresStore;
use super::connection::{TenantAccess, Tx};
use super::evidence_rows::VISIBLE;
use super::fault::Fault;
use super::names::{find_scope, find_session, scope_of};
use super::observation_rows;
use super::values::{get, parse_column, values};
use crate::evidence::parse_numbers;
use crate::supersessions::{WRITTEN_AT_ONCE, changed};

#[async_trait]
impl SupersessionStore for PostgresStore {
    async fn set_supersessions(
        &self,
        scope: &Scope,
        supersessions: &[Supersession],
    ) -> Result<(), StoreError> {
        let access = TenantAccess::Only(&scope.tenant);
        let noted = |tx| async move { noted(&tx, scope).await };
        let noted = self.read(access, noted).await?;
        for some in changed(&noted, supersessions).chunks(WRITTEN_AT_ONCE) {
            let write = |tx| async move { set(&tx, scope, some).await };
            self.write(access, write).await?;
        }
        Ok(())
    }

    async fn superseded_by_event(
        &self,
        tenant: &Tenant,
        events: &[(SessionId, EventSeq)],
    ) -> Result<Vec<SupersededObservation>, StoreError> {
        let find = |tx: Tx| async move {
            let mut found = BTreeSet::new();
            for (session, seq) in events {
                found.extend(superseded(&tx, session, *seq).await?);
            }
            Ok(found.into_iter().collect())
        };
        self.read(TenantAccess::Only(tenant), find).await
    }

    async fn known_observations(
        &self,
        tenant: &Tenant,
        wanted: &[(Scope, ObservationId)],
    ) -> Result<Vec<Option<KnownObservation>>, StoreError> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let find = |tx| async move {
            let mut known = Vec::with_capacity(wanted.len());
            for (scope, id) in wanted {
                known.push(match observation_rows::with_id(&tx, scope, *id).await? {
                    Some(found) => Some(Arc::new((found, ended(&tx, scope, *id).await?))),
                    None => None,
                });
            }
            Ok(known)
        };
        self.read(TenantAccess::Only(tenant), find).await
    }
}

/// What is noted of a scope.
async fn noted(tx: &Tx, scope: &Scope) -> Result<BTreeMap<ObservationId, Supersession>, Fault> {
    let Some(scope) = find_scope(tx, scope).await? else {
        return Ok(BTreeMap::new());
    };
    let find = "SELECT id, later, ended_because, ended_at FROM observations
        WHERE scope_no = $1 AND later IS NOT NULL";
    let rows = tx.rows(find, values![scope]).await?;
    let noted = rows.iter().map(supersession_of);
    noted
        .map(|noted| noted.map(|noted| (noted.earlier, noted)))
        .collect()
}

/// What ended an observation.
async fn ended(tx: &Tx, scope: &Scope, id: ObservationId) -> Result<Option<Supersession>, Fault> {
    let Some(scope) = find_scope(tx, scope).await? else {
        return Ok(None);
    };
    let find = "SELECT id, later, ended_because, ended_at FROM observations
        WHERE scope_no = $1 AND id = $2 AND later IS NOT NULL";
    let rows = tx.rows(find, values![scope, id.0.cast_signed()]).await?;
    rows.first().map(supersession_of).transpose()
}

fn supersession_of(row: &Row) -> Result<Supersession, Fault> {
    Ok(Supersession {
        earlier: ObservationId(get::<i64>(row, "id")?.cast_unsigned()),
        later: ObservationId(get::<i64>(row, "later")?.cast_unsigned()),
        reason: parse_column::<SupersessionReason>(row, "ended_because")?,
        until: Timestamp(get(row, "ended_at")?),
    })
}

async fn set(
    tx: &Tx,
    scope: &Scope,
    changes: &[(ObservationId, Option<Supersession>)],
) -> Result<(), Fault> {
    let Some(scope) = find_scope(tx, scope).await? else {
        return Ok(());
    };
    let ids: Vec<i64> = changes.iter().map(|(id, _)| id.0.cast_signed()).collect();
    let ended = changes.iter().map(|(_, ended)| ended);
    let laters: Vec<Option<i64>> = ended
        .clone()
        .map(|ended| ended.map(|it| it.later.0.cast_signed()))
        .collect();
    let reasons: Vec<Option<String>> = ended
        .clone()
        .map(|ended| ended.map(|it| it.reason.as_str().to_owned()))
        .collect();
    let untils: Vec<Option<i64>> = ended.map(|ended| ended.map(|it| it.until.0)).collect();
    let set = "UPDATE observations SET later = new.later, ended_because = new.because,
            ended_at = new.until
        FROM unnest($2, $3, $4, $5) AS new (id, later, because, until)
        WHERE scope_no = $1 AND observations.id = new.id";
    tx.execute(set, values![scope, ids, laters, reasons, untils])
        .await?;
    Ok(())
}

async fn superseded(
    tx: &Tx,
    session: &SessionId,
    seq: EventSeq,
) -> Result<Vec<SupersededObservation>, Fault> {
    let Some(row) = find_session(tx, session).await? else {
        return Ok(Vec::new());
    };
    let find = format!(
        "SELECT id, later, ended_because, ended_at, evidence.events AS events, tenant, scopes.kind AS kind, name
        FROM evidence JOIN sessions USING (session_no)
        JOIN observations USING (observation_no) JOIN scopes USING (scope_no)
        JOIN tenants ON tenants.tenant_no = scopes.tenant_no
        WHERE evidence.session_no = $1 AND first_seq <= $2 AND last_seq >= $2
            AND later IS NOT NULL AND holds AND {VISIBLE}"
    );
    let mut found = Vec::new();
    for row in tx.rows(&find, values![row.no, seq.0]).await? {
        let events: String = get(&row, "events")?;
        if parse_numbers(&events).any(|event| event == seq.0) {
            found.push(SupersededObservation {
                event: (session.clone(), seq),
                scope: scope_of(&row)?,
                supersession: supersession_of(&row)?,
            });
        }
    }
    Ok(found)
}
