//! Names and the numbers that stand for them in rows: tenants, sessions, scopes.

use std::collections::BTreeSet;

use daybook_domain::{
    EventSeq, JobKey, Mark, Priority, Scope, ScopeKind, Session, SessionId, SessionKind, Tenant,
    Timestamp,
};
use tokio_postgres::Row;

use super::connection::Tx;
use super::fault::Fault;
use super::jobs;
use super::values::{Value, get, values, word};
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
    let key = values![&scope.tenant.0, scope.kind.word(), &scope.name];
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
    let key = values![tenant, scope.kind.word(), &scope.name];
    get(&tx.one(insert, key).await?, "scope_no")
}

/// The scope in the columns tenant, kind and name.
pub(super) fn scope_of(row: &Row) -> Result<Scope, Fault> {
    Ok(Scope {
        tenant: Tenant(get(row, "tenant")?),
        kind: word(row, "kind", ScopeKind::from_word)?,
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
    // In their order, so that nobody who raises some of them waits for us while we wait for them.
    let raised = raise_all(tx, &scopes).await?;
    let mark = |revision| Mark::at_once(revision, now, Priority::Normal);
    let marks = raised.into_iter();
    let marks = marks.map(|(scope, revision)| (JobKey::Consolidate(scope), mark(revision)));
    jobs::mark_all(tx, &marks.collect()).await
}

pub(super) async fn raise_one(tx: &Tx, scope: &Scope, now: Timestamp) -> Result<u64, Fault> {
    let raised = raise_all(tx, &BTreeSet::from([scope])).await?;
    let Some((_, revision)) = raised.into_iter().next() else {
        return Err(Fault::corrupt(format!("{scope:?} was not raised")));
    };
    let mark = Mark::at_once(revision, now, Priority::Normal);
    jobs::mark(tx, &JobKey::Consolidate(scope.clone()), mark).await?;
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
                column(|scope| scope.kind.word()),
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
    last_line, first_source
    FROM sessions JOIN tenants USING (tenant_no)";

/// The session's row, also when it has only been cited.
pub(super) async fn find_session(tx: &Tx, id: &SessionId) -> Result<Option<SessionRow>, Fault> {
    let sql = format!("{SESSION} WHERE tenant = $1 AND host_id = $2 AND agent = $3");
    let key = values![&id.tenant.0, &id.host_id, &id.agent];
    let row = tx.row(&sql, key).await?;
    row.as_ref().map(session_row).transpose()
}

/// [`find_session`], and nobody else changes it until this transaction ends.
pub(super) async fn lock_session(tx: &Tx, id: &SessionId) -> Result<Option<SessionRow>, Fault> {
    let sql = format!(
        "{SESSION} WHERE tenant = $1 AND host_id = $2 AND agent = $3 FOR UPDATE OF sessions"
    );
    let key = values![&id.tenant.0, &id.host_id, &id.agent];
    let row = tx.row(&sql, key).await?;
    row.as_ref().map(session_row).transpose()
}

/// Those of a tenant's sessions that nobody else is changing; nobody does until this transaction ends.
/// One that another transaction has locked is passed over, like one that does not exist.
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

/// The session that a number stands for, also when it has only been cited. Nobody else changes it
/// until this transaction ends.
pub(super) async fn lock_session_numbered(tx: &Tx, no: i64) -> Result<Option<SessionRow>, Fault> {
    let sql = format!("{SESSION} WHERE session_no = $1 FOR UPDATE OF sessions");
    let row = tx.row(&sql, values![no]).await?;
    row.as_ref().map(session_row).transpose()
}

/// Known sessions that `condition` selects and orders.
pub(super) async fn sessions_where(
    tx: &Tx,
    condition: &str,
    values: &[Value],
) -> Result<Vec<Session>, Fault> {
    let sql = format!("{SESSION} WHERE known AND {condition}");
    let rows = tx.rows(&sql, values).await?;
    rows.iter()
        .map(|row| Ok(session_row(row)?.session))
        .collect()
}

/// The number of a session; one that is not there is noted as cited.
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
    let key = values![tenant, &id.agent, &id.host_id, SessionKind::Root.word()];
    get(&tx.one(insert, key).await?, "session_no")
}

fn session_row(row: &Row) -> Result<SessionRow, Fault> {
    let session = Session {
        id: session_id_of(row)?,
        label: get::<Option<String>>(row, "label")?.unwrap_or_default(),
        kind: word(row, "kind", SessionKind::from_word)?,
        memory_off: get(row, "memory_off")?,
        switched_off: get(row, "switched_off")?,
        forked_from: get(row, "forked_from")?,
        user: get(row, "user")?,
        surface: get(row, "surface")?,
        first_at: get(row, "first_at")?,
        last_at: get(row, "last_at")?,
        events: EventSeq(get(row, "events")?),
        passed: ranges::read(&get::<String>(row, "passed")?),
    };
    Ok(SessionRow {
        no: get(row, "session_no")?,
        tenant: get(row, "tenant_no")?,
        session,
        known: get(row, "known")?,
        last_line: get(row, "last_line")?,
        first_source: get(row, "first_source")?,
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
