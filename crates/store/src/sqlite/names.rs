//! Names and the numbers that stand for them in rows: tenants, sessions, scopes.

use std::fmt::Display;

use daybook_domain::{
    JobKey, Mark, Priority, Scope, ScopeKind, Session, SessionId, SessionKind, Tenant, Timestamp,
};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, RowIndex, params};

use super::connection::Fault;
use super::jobs;
use super::listing::{Listing, list};
use crate::ranges;

/// A session's row: what callers know of it, and what only the store needs.
#[derive(Debug, Clone)]
pub(super) struct SessionRow {
    pub(super) no: i64,
    pub(super) tenant: i64,
    pub(super) session: Session,
    /// False while it has only been cited.
    pub(super) known: bool,
    pub(super) last_line: u32,
    pub(super) first_source: Option<String>,
}

/// Reads one of our own words.
pub(super) fn word<T>(
    row: &Row<'_>,
    column: impl RowIndex + Display,
    from: fn(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    from(&text).ok_or_else(|| {
        let what = format!("column {column} holds the unknown word {text:?}");
        rusqlite::Error::FromSqlConversionFailure(0, Type::Text, what.into())
    })
}

pub(super) fn find_tenant(tx: &Connection, tenant: &Tenant) -> Result<Option<i64>, Fault> {
    let mut find = tx.prepare_cached("SELECT tenant_no FROM tenants WHERE tenant = ?")?;
    Ok(find.query_row([&tenant.0], |row| row.get(0)).optional()?)
}

pub(super) fn tenant_no(tx: &Connection, tenant: &Tenant) -> Result<i64, Fault> {
    if let Some(no) = find_tenant(tx, tenant)? {
        return Ok(no);
    }
    tx.prepare_cached("INSERT INTO tenants (tenant) VALUES (?)")?
        .execute([&tenant.0])?;
    Ok(tx.last_insert_rowid())
}

pub(super) fn find_scope(tx: &Connection, scope: &Scope) -> Result<Option<i64>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT scope_no FROM scopes JOIN tenants USING (tenant_no)
         WHERE tenant = ? AND kind = ? AND name = ?",
    )?;
    let key = params![scope.tenant.0, scope.kind.word(), scope.name];
    Ok(find.query_row(key, |row| row.get(0)).optional()?)
}

pub(super) fn scope_no(tx: &Connection, scope: &Scope) -> Result<i64, Fault> {
    if let Some(no) = find_scope(tx, scope)? {
        return Ok(no);
    }
    let tenant = tenant_no(tx, &scope.tenant)?;
    tx.prepare_cached("INSERT INTO scopes (tenant_no, kind, name, revision) VALUES (?, ?, ?, 0)")?
        .execute(params![tenant, scope.kind.word(), scope.name])?;
    Ok(tx.last_insert_rowid())
}

/// The scope that a number stands for.
pub(super) fn scope_named(tx: &Connection, no: i64) -> Result<Scope, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT tenant, kind, name FROM scopes JOIN tenants USING (tenant_no) WHERE scope_no = ?",
    )?;
    Ok(find.query_row([no], scope_of)?)
}

/// The scope in the columns tenant, kind and name.
pub(super) fn scope_of(row: &Row<'_>) -> rusqlite::Result<Scope> {
    Ok(Scope {
        tenant: Tenant(row.get("tenant")?),
        kind: word(row, "kind", ScopeKind::from_word)?,
        name: row.get("name")?,
    })
}

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
    let mark = Mark::at_once(revision, now, Priority::Normal);
    jobs::mark(tx, &JobKey::Consolidate(scope.clone()), mark)?;
    Ok(revision)
}

const SESSION: &str =
    "SELECT session_no, tenant_no, tenant, agent, host_id, known, label, kind, memory_off,
    switched_off, forked_from, user, surface, first_at, last_at, events, passed, last_line, first_source
    FROM sessions JOIN tenants USING (tenant_no)";

/// The session's row, also when it has only been cited.
pub(super) fn find_session(tx: &Connection, id: &SessionId) -> Result<Option<SessionRow>, Fault> {
    let sql = format!("{SESSION} WHERE tenant = ? AND host_id = ? AND agent = ?");
    let mut find = tx.prepare_cached(&sql)?;
    let key = params![id.tenant.0, id.host_id, id.agent];
    Ok(find.query_row(key, session_row).optional()?)
}

/// The session that a number stands for, also when it has only been cited.
pub(super) fn session_numbered(tx: &Connection, no: i64) -> Result<Option<SessionRow>, Fault> {
    let sql = format!("{SESSION} WHERE session_no = ?");
    Ok(tx
        .prepare_cached(&sql)?
        .query_row([no], session_row)
        .optional()?)
}

/// Known sessions that `condition` selects and orders.
pub(super) fn sessions_where(
    tx: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Listing<Session>, Fault> {
    let sql = format!("{SESSION} WHERE known AND {condition}");
    let mut find = tx.prepare_cached(&sql)?;
    let decode = |row: &Row<'_>| Ok(session_row(row)?.session);
    list(find.query(values)?, ("sessions", &[0]), decode)
}

/// The number of a session; one that is not there is noted as cited.
pub(super) fn session_no(tx: &Connection, id: &SessionId) -> Result<i64, Fault> {
    if let Some(row) = find_session(tx, id)? {
        return Ok(row.no);
    }
    let tenant = tenant_no(tx, &id.tenant)?;
    tx.prepare_cached(
        "INSERT INTO sessions (tenant_no, agent, host_id, known, kind, memory_off, first_at,
            last_at, events, last_line)
         VALUES (?, ?, ?, 0, ?, 0, 0, 0, 0, 0)",
    )?
    .execute(params![
        tenant,
        id.agent,
        id.host_id,
        SessionKind::Root.word()
    ])?;
    Ok(tx.last_insert_rowid())
}

/// Columns by their places: looking their names up takes longer than the query.
fn session_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let id = SessionId {
        tenant: Tenant(row.get(2)?),
        agent: row.get(3)?,
        host_id: row.get(4)?,
    };
    let session = Session {
        id,
        label: row.get::<_, Option<String>>(6)?.unwrap_or_default(),
        kind: word(row, 7, SessionKind::from_word)?,
        memory_off: row.get(8)?,
        switched_off: row.get(9)?,
        forked_from: row.get(10)?,
        user: row.get(11)?,
        surface: row.get(12)?,
        first_at: Timestamp(row.get(13)?),
        last_at: Timestamp(row.get(14)?),
        events: daybook_domain::EventSeq(row.get(15)?),
        passed: ranges::read(&row.get::<_, String>(16)?),
    };
    Ok(SessionRow {
        no: row.get(0)?,
        tenant: row.get(1)?,
        session,
        known: row.get(5)?,
        last_line: row.get(17)?,
        first_source: row.get(18)?,
    })
}

/// The session in the columns tenant, agent and host_id.
pub(super) fn session_id_of(row: &Row<'_>) -> rusqlite::Result<SessionId> {
    Ok(SessionId {
        tenant: Tenant(row.get("tenant")?),
        agent: row.get("agent")?,
        host_id: row.get("host_id")?,
    })
}
