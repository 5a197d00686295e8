//! Names, and the numbers that rows use for them: tenants, sessions, scopes.

use std::fmt::Display;
use std::str::FromStr;

use daybook_domain::{
    Pollution, RulesRevision, Scope, Session, SessionId, SessionKind, Tenant, Timestamp, Venue,
};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, RowIndex, params};

use super::connection::Fault;
use super::listing::{Listing, list};
use crate::log::{ScanState, SessionRow};
use crate::pollution::pollution_of;
use crate::ranges;

/// Reads a column that holds the name of an enum's variant.
pub(super) fn parse_column<T: FromStr>(
    row: &Row<'_>,
    column: impl RowIndex + Display,
) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?;
    let text = text.as_str().map_err(rusqlite::Error::from)?;
    text.parse().map_err(|_| {
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
    let key = params![scope.tenant.0, scope.kind.as_str(), scope.name];
    Ok(find.query_row(key, |row| row.get(0)).optional()?)
}

pub(super) fn scope_no(tx: &Connection, scope: &Scope) -> Result<i64, Fault> {
    if let Some(no) = find_scope(tx, scope)? {
        return Ok(no);
    }
    let tenant = tenant_no(tx, &scope.tenant)?;
    tx.prepare_cached("INSERT INTO scopes (tenant_no, kind, name, revision) VALUES (?, ?, ?, 0)")?
        .execute(params![tenant, scope.kind.as_str(), scope.name])?;
    Ok(tx.last_insert_rowid())
}

/// The scope with a number.
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
        kind: parse_column(row, "kind")?,
        name: row.get("name")?,
    })
}

/// The scope of the room or the team in the columns tenant, room_id and team of a session.
pub(super) fn shared_scope(row: &Row<'_>) -> rusqlite::Result<Option<Scope>> {
    let venue = Venue {
        room_id: row.get("room_id")?,
        team: row.get("team")?,
        filed_in: row.get("filed_in")?,
        ..Venue::default()
    };
    Ok(match venue.is_empty() {
        true => None,
        false => venue.shared_scope(&Tenant(row.get("tenant")?)),
    })
}

const SESSION: &str =
    "SELECT session_no, tenant_no, tenant, agent, host_id, known, label, kind, memory_off,
    switched_off, forked_from, user, surface, first_at, last_at, events, passed, last_line, first_source,
    rules, rescan, kept_on, pollution, room_id, thread_id, team, filed_in
    FROM sessions JOIN tenants USING (tenant_no)";

/// The session's row, also of one that has only been cited.
pub(super) fn find_session(tx: &Connection, id: &SessionId) -> Result<Option<SessionRow>, Fault> {
    let sql = format!("{SESSION} WHERE tenant = ? AND host_id = ? AND agent = ?");
    let mut find = tx.prepare_cached(&sql)?;
    let key = params![id.tenant.0, id.host_id, id.agent];
    Ok(find.query_row(key, session_row).optional()?)
}

/// The session with a number, also one that has only been cited.
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

/// The number of a session; a missing one is inserted as cited.
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
        SessionKind::Root.as_str()
    ])?;
    Ok(tx.last_insert_rowid())
}

/// Columns by position: looking up their names takes longer than the query.
fn session_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let id = SessionId {
        tenant: Tenant(row.get(2)?),
        agent: row.get(3)?,
        host_id: row.get(4)?,
    };
    let session = Session {
        id,
        label: row.get::<_, Option<String>>(6)?.unwrap_or_default(),
        kind: parse_column(row, 7)?,
        memory_off: row.get(8)?,
        switched_off: row.get(9)?,
        kept_on: row.get(21)?,
        pollution: pollution_column(row, 22)?,
        forked_from: row.get(10)?,
        user: row.get(11)?,
        surface: row.get(12)?,
        venue: Venue {
            room_id: row.get(23)?,
            thread_id: row.get(24)?,
            team: row.get(25)?,
            filed_in: row.get(26)?,
        },
        first_at: Timestamp(row.get(13)?),
        last_at: Timestamp(row.get(14)?),
        events: daybook_domain::EventSeq(row.get(15)?),
        passed: ranges::parse(&row.get::<_, String>(16)?),
    };
    Ok(SessionRow {
        no: row.get(0)?,
        tenant: row.get(1)?,
        session,
        known: row.get(5)?,
        last_line: row.get(17)?,
        first_source: row.get(18)?,
        scan: ScanState {
            rules: RulesRevision(row.get(19)?),
            rescan: row.get::<_, Option<u64>>(20)?.map(RulesRevision),
        },
    })
}

fn pollution_column(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Pollution>> {
    let text: Option<String> = row.get(column)?;
    pollution_of(text.as_deref())
        .map_err(|what| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, what.into()))
}

/// The session in the columns tenant, agent and host_id.
pub(super) fn session_id_of(row: &Row<'_>) -> rusqlite::Result<SessionId> {
    Ok(SessionId {
        tenant: Tenant(row.get("tenant")?),
        agent: row.get("agent")?,
        host_id: row.get("host_id")?,
    })
}
