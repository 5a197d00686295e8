//! Names, and the numbers that rows use for them: tenants, sessions, scopes.

use std::collections::BTreeSet;

use daybook_domain::{
    DueMark, EventSeq, JobKey, Priority, RulesRevision, Scope, Session, SessionId, SessionKind,
    Tenant, Timestamp, Venue,
};
use tokio_postgres::Row;

use super::connection::Tx;
use super::fault::Fault;
use super::job_rows;
use super::values::{SqlValue, get, parse_column, values};
use crate::log::{ScanState, SessionRow};
use crate::pollution::pollution_of;
use crate::ranges;

pub(super) async fn find_tenant(tx: &Tx, tenant: &Tenant) -> Result<Option<i64>, Fault> {
    let find = "SELECT tenant_no FROM tenants WHERE tenant = $1";
    let row = tx.row(find, values![&tenant.0]).await?;
    row.map(|row| get(&row, "tenant_no")).transpose()
}

pub(super) async fn tenant_no(tx: &Tx, tenant: &Tenant) -> Result<i64, Fault> {
    if let Some(no) = find_tenant(tx, tenant).await? {
        return Ok(no);
    }
    let insert = "INSERT INTO tenants (tenant) VALUES ($1) RETURNING tenant_no";
    get(&tx.one(insert, values![&tenant.0]).await?, "tenant_no")
}

pub(super) async fn find_scope(tx: &Tx, scope: &Scope) -> Result<Option<i64>, Fault> {
    let find = "SELECT scope_no FROM scopes JOIN tenants USING (tenant_no)
        WHERE tenant = $1 AND kind = $2 AND name = $3";
    let key = values![&scope.tenant.0, scope.kind.as_str(), &scope.name];
    let row = tx.row(find, key).await?;
    row.map(|row| get(&row, "scope_no")).transpose()
}

pub(super) async fn scope_no(tx: &Tx, scope: &Scope) -> Result<i64, Fault> {
    if let Some(no) = find_scope(tx, scope).await? {
        return Ok(no);
    }
    let tenant = tenant_no(tx, &scope.tenant).await?;
    let insert = "INSERT INTO scopes (tenant_no, kind, name, revision) VALUES ($1, $2, $3, 0)
        RETURNING scope_no";
    let key = values![tenant, scope.kind.as_str(), &scope.name];
    get(&tx.one(insert, key).await?, "scope_no")
}

/// The number of the scope of the room or the team that holds a session.
pub(super) async fn shared_no(tx: &Tx, session: &Session) -> Result<Option<i64>, Fault> {
    match session.venue.shared_scope(&session.id.tenant) {
        Some(scope) => scope_no(tx, &scope).await.map(Some),
        None => Ok(None),
    }
}

/// The scope in the columns tenant, kind and name.
pub(super) fn scope_of(row: &Row) -> Result<Scope, Fault> {
    Ok(Scope {
        tenant: Tenant(get(row, "tenant")?),
        kind: parse_column(row, "kind")?,
        name: get(row, "name")?,
    })
}

/// Raises the revisions of scopes, each once, with the inputs of their consolidations.
pub(super) async fn raise<'a>(
    tx: &Tx,
    scopes: impl IntoIterator<Item = &'a Scope>,
    now: Timestamp,
) -> Result<(), Fault> {
    let scopes: BTreeSet<&Scope> = scopes.into_iter().collect();
    // In their order, so that two transactions that raise the same scopes cannot wait for each other.
    let raised = raise_all(tx, &scopes).await?;
    let mark = |revision| DueMark::at_once(revision, now, Priority::Normal);
    let marks = raised.into_iter();
    let marks = marks.map(|(scope, revision)| (JobKey::Consolidate(scope), mark(revision)));
    job_rows::mark_all(tx, &marks.collect()).await
}

pub(super) async fn raise_one(tx: &Tx, scope: &Scope, now: Timestamp) -> Result<u64, Fault> {
    let raised = raise_all(tx, &BTreeSet::from([scope])).await?;
    let Some((_, revision)) = raised.into_iter().next() else {
        return Err(Fault::corrupt(format!("{scope:?} was not raised")));
    };
    let mark = DueMark::at_once(revision, now, Priority::Normal);
    job_rows::mark(tx, &JobKey::Consolidate(scope.clone()), mark).await?;
    Ok(revision)
}

/// Raises the revisions of scopes in one statement, in order.
async fn raise_all(tx: &Tx, scopes: &BTreeSet<&Scope>) -> Result<Vec<(Scope, u64)>, Fault> {
    let tenants: BTreeSet<&Tenant> = scopes.iter().map(|scope| &scope.tenant).collect();
    for tenant in tenants {
        tenant_no(tx, tenant).await?;
    }
    let column = |part: fn(&Scope) -> &str| -> Vec<String> {
        scopes.iter().map(|scope| part(scope).to_owned()).collect()
    };
    let raise = "INSERT INTO scopes AS known (tenant_no, kind, name, revision)
        SELECT tenant_no, kind, name, 1
        FROM unnest($1, $2, $3) WITH ORDINALITY AS raised (tenant, kind, name, nth)
        JOIN tenants USING (tenant) ORDER BY nth
        ON CONFLICT (tenant_no, kind, name) DO UPDATE SET revision = known.revision + 1
        RETURNING (SELECT tenant FROM tenants WHERE tenants.tenant_no = known.tenant_no) AS tenant,
            kind, name, revision";
    let rows = tx
        .rows(
            raise,
            values![
                column(|scope| &scope.tenant.0),
                column(|scope| scope.kind.as_str()),
                column(|scope| &scope.name),
            ],
        )
        .await?;
    rows.iter()
        .map(|row| Ok((scope_of(row)?, get(row, "revision")?)))
        .collect()
}

const SESSION: &str = "SELECT session_no, tenant_no, tenant, agent, host_id, known, label, kind,
    memory_off, switched_off, forked_from, \"user\", surface, first_at, last_at, events, passed,
    last_line, first_source, rules, rescan, kept_on, pollution, room_id, thread_id, team, filed_in
    FROM sessions JOIN tenants USING (tenant_no)";

/// The session's row, also of one that has only been cited.
pub(super) async fn find_session(tx: &Tx, id: &SessionId) -> Result<Option<SessionRow>, Fault> {
    let sql = format!("{SESSION} WHERE tenant = $1 AND host_id = $2 AND agent = $3");
    let key = values![&id.tenant.0, &id.host_id, &id.agent];
    let row = tx.row(&sql, key).await?;
    row.as_ref().map(session_row).transpose()
}

/// [`find_session`], locked until this transaction ends.
pub(super) async fn lock_session(tx: &Tx, id: &SessionId) -> Result<Option<SessionRow>, Fault> {
    let sql = format!(
        "{SESSION} WHERE tenant = $1 AND host_id = $2 AND agent = $3 FOR UPDATE OF sessions"
    );
    let key = values![&id.tenant.0, &id.host_id, &id.agent];
    let row = tx.row(&sql, key).await?;
    row.as_ref().map(session_row).transpose()
}

/// Finds and locks a tenant's sessions until this transaction ends. Skips a session that another transaction
/// has locked, like one that does not exist.
pub(super) async fn lock_free_sessions(
    tx: &Tx,
    tenant: &Tenant,
    ids: &[&SessionId],
) -> Result<Vec<SessionRow>, Fault> {
    let sql = format!(
        "{SESSION} JOIN unnest($2, $3) AS asked (host_id, agent) USING (host_id, agent)
        WHERE sessions.tenant_no = (SELECT tenant_no FROM tenants WHERE tenant = $1)
        FOR UPDATE OF sessions SKIP LOCKED"
    );
    let hosts: Vec<&str> = ids.iter().map(|id| id.host_id.as_str()).collect();
    let agents: Vec<&str> = ids.iter().map(|id| id.agent.as_str()).collect();
    let rows = tx.rows(&sql, values![&tenant.0, hosts, agents]).await?;
    rows.iter().map(session_row).collect()
}

/// Finds and locks a session by its number until this transaction ends, also one that has only been cited.
pub(super) async fn lock_session_numbered(tx: &Tx, no: i64) -> Result<Option<SessionRow>, Fault> {
    let sql = format!("{SESSION} WHERE session_no = $1 FOR UPDATE OF sessions");
    let row = tx.row(&sql, values![no]).await?;
    row.as_ref().map(session_row).transpose()
}

/// Known sessions that `condition` selects and orders.
pub(super) async fn sessions_where(
    tx: &Tx,
    condition: &str,
    values: &[SqlValue],
) -> Result<Vec<Session>, Fault> {
    let sql = format!("{SESSION} WHERE known AND {condition}");
    let rows = tx.rows(&sql, values).await?;
    rows.iter()
        .map(|row| Ok(session_row(row)?.session))
        .collect()
}

/// The number of a session; a missing one is inserted as cited.
pub(super) async fn session_no(tx: &Tx, id: &SessionId) -> Result<i64, Fault> {
    let find = "SELECT session_no FROM sessions JOIN tenants USING (tenant_no)
        WHERE tenant = $1 AND host_id = $2 AND agent = $3";
    let key = values![&id.tenant.0, &id.host_id, &id.agent];
    if let Some(row) = tx.row(find, key).await? {
        return get(&row, "session_no");
    }
    let tenant = tenant_no(tx, &id.tenant).await?;
    let insert = "INSERT INTO sessions (tenant_no, agent, host_id, known, kind, memory_off,
            first_at, last_at, events, last_line)
        VALUES ($1, $2, $3, FALSE, $4, FALSE, 0, 0, 0, 0) RETURNING session_no";
    let key = values![tenant, &id.agent, &id.host_id, SessionKind::Root.as_str()];
    get(&tx.one(insert, key).await?, "session_no")
}

/// The venue in the columns of a session.
pub(super) fn venue_of(row: &Row) -> Result<Venue, Fault> {
    Ok(Venue {
        room_id: get(row, "room_id")?,
        thread_id: get(row, "thread_id")?,
        team: get(row, "team")?,
        filed_in: get(row, "filed_in")?,
    })
}

fn session_row(row: &Row) -> Result<SessionRow, Fault> {
    let session = Session {
        id: session_id_of(row)?,
        label: get::<Option<String>>(row, "label")?.unwrap_or_default(),
        kind: parse_column(row, "kind")?,
        memory_off: get(row, "memory_off")?,
        switched_off: get(row, "switched_off")?,
        kept_on: get(row, "kept_on")?,
        pollution: pollution_of(get::<Option<String>>(row, "pollution")?.as_deref())
            .map_err(Fault::corrupt)?,
        forked_from: get(row, "forked_from")?,
        user: get(row, "user")?,
        surface: get(row, "surface")?,
        venue: venue_of(row)?,
        first_at: get(row, "first_at")?,
        last_at: get(row, "last_at")?,
        events: EventSeq(get(row, "events")?),
        passed: ranges::parse(&get::<String>(row, "passed")?),
    };
    Ok(SessionRow {
        no: get(row, "session_no")?,
        tenant: get(row, "tenant_no")?,
        session,
        known: get(row, "known")?,
        last_line: get(row, "last_line")?,
        first_source: get(row, "first_source")?,
        scan: ScanState {
            rules: RulesRevision(get(row, "rules")?),
            rescan: get::<Option<i64>>(row, "rescan")?
                .map(|rules| RulesRevision(rules.cast_unsigned())),
        },
    })
}

/// The session in the columns tenant, agent and host_id.
pub(super) fn session_id_of(row: &Row) -> Result<SessionId, Fault> {
    Ok(SessionId {
        tenant: Tenant(get(row, "tenant")?),
        agent: get(row, "agent")?,
        host_id: get(row, "host_id")?,
    })
}
