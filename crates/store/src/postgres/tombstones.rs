//! The tombstones of what was purged: whether something that comes in again is among it.
//!
//! Not here: purging (`purge`).

use std::collections::BTreeSet;

use daybook_domain::seams::Append;
use daybook_domain::{ObservationId, PurgeKey, Scope, SessionId, Tenant, Tombstone};

use super::connection::Tx;
use super::fault::Fault;
use super::names::{find_session, find_tenant};
use super::values::{get, values};
use crate::purge::{AppendMarks, PurgedAppend, purged_session};

pub(super) fn bytes_of(marks: &[Tombstone]) -> Vec<Vec<u8>> {
    marks
        .iter()
        .map(|mark| mark.0.to_be_bytes().to_vec())
        .collect()
}

pub(super) fn mark_of(bytes: &[u8]) -> Result<Tombstone, Fault> {
    let bytes = <[u8; 16]>::try_from(bytes);
    let bytes = bytes.map_err(|_| Fault::corrupt("a tombstone has not 16 bytes".to_owned()))?;
    Ok(Tombstone(u128::from_be_bytes(bytes)))
}

/// The key of a tenant's tombstones, if anything of it was ever purged.
pub(super) async fn key_of(tx: &Tx, tenant: i64) -> Result<Option<PurgeKey>, Fault> {
    let find = "SELECT key FROM purge_keys WHERE tenant_no = $1";
    let Some(row) = tx.row(find, values![tenant]).await? else {
        return Ok(None);
    };
    let key = <[u8; 32]>::try_from(get::<Vec<u8>>(&row, "key")?);
    let key = key.map_err(|_| Fault::corrupt("a key of tombstones has not 32 bytes".to_owned()))?;
    Ok(Some(PurgeKey(key)))
}

/// The tenant's number and key, if anything of it was ever purged.
async fn keyed_tenant(tx: &Tx, tenant: &Tenant) -> Result<Option<(i64, PurgeKey)>, Fault> {
    let Some(no) = find_tenant(tx, tenant).await? else {
        return Ok(None);
    };
    Ok(key_of(tx, no).await?.map(|key| (no, key)))
}

/// Those of the marks that are stored.
async fn stored(tx: &Tx, tenant: i64, marks: &[Tombstone]) -> Result<BTreeSet<Tombstone>, Fault> {
    let find = "SELECT mark FROM tombstones WHERE tenant_no = $1 AND mark = ANY ($2)";
    let rows = tx.rows(find, values![tenant, bytes_of(marks)]).await?;
    rows.iter()
        .map(|row| mark_of(&get::<Vec<u8>>(row, "mark")?))
        .collect()
}

/// What of appends of one tenant was purged, in their order.
pub(super) async fn purged_of(
    tx: &Tx,
    tenant: &Tenant,
    appends: &[&Append],
) -> Result<Vec<PurgedAppend>, Fault> {
    let Some((tenant, key)) = keyed_tenant(tx, tenant).await? else {
        return Ok(appends.iter().map(|_| PurgedAppend::default()).collect());
    };
    let marks: Vec<AppendMarks> = appends
        .iter()
        .map(|append| AppendMarks::of(&key, append))
        .collect();
    let all: Vec<Tombstone> = marks.iter().flat_map(AppendMarks::all).collect();
    let stored = stored(tx, tenant, &all).await?;
    Ok(marks.iter().map(|marks| marks.purged(&stored)).collect())
}

/// Refuses a thread of a purged session.
pub(super) async fn check_session(tx: &Tx, id: &SessionId) -> Result<(), Fault> {
    let Some((tenant, key)) = keyed_tenant(tx, &id.tenant).await? else {
        return Ok(());
    };
    match stored(tx, tenant, &[key.session(id)]).await?.is_empty() {
        true => Ok(()),
        false => Err(purged_session(id).into()),
    }
}

/// Whether nothing may name a session: nothing was left of it, and it does not exist again.
pub(super) async fn is_name_purged(tx: &Tx, id: &SessionId) -> Result<bool, Fault> {
    let Some((tenant, key)) = keyed_tenant(tx, &id.tenant).await? else {
        return Ok(false);
    };
    if stored(tx, tenant, &[key.name_of(id)]).await?.is_empty() {
        return Ok(false);
    }
    let found = find_session(tx, id).await?;
    Ok(!found.is_some_and(|row| row.known))
}

/// Which pieces of evidence are not stored: of purged observations and sessions.
pub(super) async fn purged_evidence(
    tx: &Tx,
    pieces: &[(&Scope, ObservationId, &SessionId)],
) -> Result<Vec<bool>, Fault> {
    let Some((first, _, _)) = pieces.first() else {
        return Ok(Vec::new());
    };
    let Some((tenant, key)) = keyed_tenant(tx, &first.tenant).await? else {
        return Ok(vec![false; pieces.len()]);
    };
    let marks = pieces
        .iter()
        .map(|(scope, id, session)| [key.observation(scope, *id), key.session(session)]);
    let marks: Vec<[Tombstone; 2]> = marks.collect();
    let stored = stored(tx, tenant, marks.as_flattened()).await?;
    Ok(marks
        .iter()
        .map(|of| of.iter().any(|mark| stored.contains(mark)))
        .collect())
}
