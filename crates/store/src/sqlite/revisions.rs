//! Revisions of scopes, each with the input of its consolidation.

use daybook_domain::{DueMark, JobKey, Priority, Scope, Timestamp};
use rusqlite::Connection;

use super::connection::Fault;
use super::job_rows;
use super::names::scope_no;

/// Raises the revisions of scopes, each once, with the inputs of their consolidations.
pub(super) fn raise<'a>(
    tx: &Connection,
    scopes: impl IntoIterator<Item = &'a Scope>,
    now: Timestamp,
) -> Result<(), Fault> {
    let scopes: std::collections::BTreeSet<&Scope> = scopes.into_iter().collect();
    for scope in scopes {
        raise_one(tx, scope, now)?;
    }
    Ok(())
}

pub(super) fn raise_one(tx: &Connection, scope: &Scope, now: Timestamp) -> Result<u64, Fault> {
    let no = scope_no(tx, scope)?;
    let revision = tx
        .prepare_cached(
            "UPDATE scopes SET revision = revision + 1 WHERE scope_no = ? RETURNING revision",
        )?
        .query_row([no], |row| row.get(0))?;
    let mark = DueMark::at_once(revision, now, Priority::Normal);
    job_rows::mark(tx, &JobKey::Consolidate(scope.clone()), mark)?;
    Ok(revision)
}
