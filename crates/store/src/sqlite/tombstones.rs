//! The tombstones of what was purged: whether something that comes in again is among it.
//!
//! Not here: purging (`purge`).

use std::collections::BTreeSet;

use daybook_domain::seams::Append;
use daybook_domain::{ObservationId, PurgeKey, Scope, SessionId, Tenant, Tombstone};
use rusqlite::{Connection, OptionalExtension, params};

use super::connection::Fault;
use super::names::{find_session, find_tenant};
use crate::purge::{AppendMarks, PurgedAppend, purged_session};

/// The key of a tenant's tombstones, if anything of it was ever purged.
pub(super) fn key_of(tx: &Connection, tenant: i64) -> Result<Option<PurgeKey>, Fault> {
    let mut find = tx.prepare_cached("SELECT key FROM purge_keys WHERE tenant_no = ?")?;
    Ok(find
        .query_row([tenant], |row| row.get(0))
        .optional()?
        .map(PurgeKey))
}

/// The tenant's number and key, if anything of it was ever purged.
fn keyed_tenant(tx: &Connection, tenant: &Tenant) -> Result<Option<(i64, PurgeKey)>, Fault> {
    let Some(no) = find_tenant(tx, tenant)? else {
        return Ok(None);
    };
    Ok(key_of(tx, no)?.map(|key| (no, key)))
}

fn has_mark(tx: &Connection, tenant: i64, mark: Tombstone) -> Result<bool, Fault> {
    let mut find =
        tx.prepare_cached("SELECT 1 FROM tombstones WHERE tenant_no = ? AND mark = ?")?;
    Ok(find.exists(params![tenant, mark.0.to_be_bytes()])?)
}

/// What of an append was purged.
pub(super) fn purged_of(tx: &Connection, append: &Append) -> Result<PurgedAppend, Fault> {
    let Some((tenant, key)) = keyed_tenant(tx, &append.session.id.tenant)? else {
        return Ok(PurgedAppend::default());
    };
    let marks = AppendMarks::of(&key, append);
    let mut stored = BTreeSet::new();
    for mark in marks.all() {
        if has_mark(tx, tenant, mark)? {
            stored.insert(mark);
        }
    }
    Ok(marks.purged(&stored))
}

/// Refuses a thread of a purged session.
pub(super) fn check_session(tx: &Connection, id: &SessionId) -> Result<(), Fault> {
    match keyed_tenant(tx, &id.tenant)? {
        Some((tenant, key)) if has_mark(tx, tenant, key.session(id))? => {
            Err(purged_session(id).into())
        }
        Some(_) | None => Ok(()),
    }
}

/// Whether nothing may name a session: nothing was left of it, and it does not exist again.
pub(super) fn is_name_purged(tx: &Connection, id: &SessionId) -> Result<bool, Fault> {
    let Some((tenant, key)) = keyed_tenant(tx, &id.tenant)? else {
        return Ok(false);
    };
    let exists = || Ok::<_, Fault>(find_session(tx, id)?.is_some_and(|row| row.known));
    Ok(has_mark(tx, tenant, key.name_of(id))? && !exists()?)
}

/// Whether an observation of a scope was purged, or the session that evidence of it comes from.
pub(super) fn is_evidence_purged(
    tx: &Connection,
    scope: &Scope,
    id: ObservationId,
    session: &SessionId,
) -> Result<bool, Fault> {
    let Some((tenant, key)) = keyed_tenant(tx, &scope.tenant)? else {
        return Ok(false);
    };
    Ok(has_mark(tx, tenant, key.observation(scope, id))?
        || has_mark(tx, tenant, key.session(session))?)
}
