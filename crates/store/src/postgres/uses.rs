//! Which events were used, in PostgreSQL. Noting takes the same few statements however many uses there are.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use daybook_domain::seams::UseStore;
use daybook_domain::{
    EventId, EventSeq, Scope, SessionId, StoreError, Tenant, Timestamp, Use, UseKind, UsedBy,
};
use tokio_postgres::Row;

use super::connection::{TenantAccess, Tx};
use super::fault::Fault;
use super::names::{find_tenant, raise, scope_of, session_id_of, session_no};
use super::row_numbers::{event_no, seq_of};
use super::values::{get, parse_column, values};
use super::{PostgresStore, tombstones};
use crate::bounds::check_uses;
use crate::evidence::parse_numbers;
use crate::uses::{AdmitOutcome, KeptUses};

#[async_trait]
impl UseStore for PostgresStore {
    async fn note_uses(
        &self,
        tenant: &Tenant,
        uses: &[Use],
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        check_uses(tenant, uses)?;
        if uses.is_empty() {
            return Ok(0);
        }
        let access = TenantAccess::Only(tenant);
        let noting = |tx: Tx| async move { note(&tx, tenant, uses, now).await };
        let noted = self.write(access, noting).await?;
        if !noted.cited.is_empty() {
            // An extraction that was stored at the same time saw none of these uses, nor did they see it. What
            // is stored from now on raises its scopes itself.
            let noted = &noted;
            let raising = |tx: Tx| async move {
                let resting = scopes_resting_on(&tx, &noted.cited).await?;
                raise(&tx, resting.difference(&noted.raised), now).await
            };
            self.write(access, raising).await?;
        }
        Ok(noted.added)
    }

    async fn uses(&self, tenant: &Tenant, sessions: &[SessionId]) -> Result<Vec<Use>, StoreError> {
        let select = "SELECT used.agent AS used_agent, used.host_id AS used_host_id, event_no,
                uses.kind AS kind, by_session, by_event, by_door, at, tenant,
                users.agent AS agent, users.host_id AS host_id
            FROM unnest($2, $3) AS wanted (agent, host_id)
            JOIN sessions AS used ON used.agent = wanted.agent AND used.host_id = wanted.host_id
            JOIN tenants ON tenants.tenant_no = used.tenant_no
            JOIN uses ON uses.tenant_no = used.tenant_no AND event_no
                BETWEEN used.session_no << 32 AND (used.session_no << 32) | 4294967295
            LEFT JOIN sessions AS users ON users.session_no = by_session
            WHERE tenant = $1 AND (by_session = 0 OR users.session_no IS NOT NULL)";
        let reading = |tx: Tx| async move {
            let wanted: BTreeSet<&SessionId> = sessions.iter().collect();
            let (agents, hosts) = names_of(&wanted);
            let rows = tx.rows(select, values![&tenant.0, agents, hosts]).await?;
            let uses = rows.iter().map(|row| use_of(row, tenant));
            let mut uses = uses.collect::<Result<Vec<Use>, Fault>>()?;
            uses.sort();
            Ok(uses)
        };
        self.read(TenantAccess::Only(tenant), reading).await
    }
}

/// A session's number, or 0 and the name of an interface.
type UserKey = (i64, String);

/// What identifies a row, apart from its tenant.
type UseKey = (i64, &'static str, UserKey);

/// The changes that noting uses made.
struct NotedUses {
    added: u64,
    /// Newly cited events, each with the number of its session.
    cited: BTreeSet<(i64, EventSeq)>,
    /// Scopes that were raised for them.
    raised: BTreeSet<Scope>,
}

async fn note(tx: &Tx, tenant: &Tenant, uses: &[Use], now: Timestamp) -> Result<NotedUses, Fault> {
    let used = events_of(tx, tenant, uses).await?;
    let mut users: HashMap<&UsedBy, UserKey> = HashMap::new();
    let mut kept: HashMap<UserKey, KeptUses<i64>> = HashMap::new();
    let mut rows: BTreeMap<UseKey, (Vec<u8>, i64, Timestamp)> = BTreeMap::new();
    let (mut added, mut cited) = (0, BTreeSet::new());
    for (one, (event, session)) in used {
        if let UsedBy::Session { session, .. } = &one.by
            && !users.contains_key(&one.by)
            && tombstones::is_name_purged(tx, session).await?
        {
            continue;
        }
        let user = match users.get(&one.by) {
            Some(user) => user.clone(),
            None => {
                let user = user_of(tx, &one.by).await?;
                users.entry(&one.by).or_insert(user).clone()
            }
        };
        if !kept.contains_key(&user) {
            kept.insert(user.clone(), load_kept_uses(tx, &user).await?);
        }
        let Some(uses_of) = kept.get_mut(&user) else {
            continue;
        };
        match uses_of.admit(one.kind, event) {
            AdmitOutcome::New => {
                added += 1;
                if one.kind == UseKind::Cited {
                    cited.insert((session, one.event));
                }
            }
            AdmitOutcome::Known => {}
            AdmitOutcome::TooMany => continue,
        }
        let by_event = match &one.by {
            UsedBy::Session { event, .. } => event.0.to_be_bytes().to_vec(),
            UsedBy::Interface(_) => Vec::new(),
        };
        let row = rows.entry((event, one.kind.as_str(), user));
        let row = row.or_insert((by_event, session, one.at));
        row.2 = row.2.max(one.at);
    }
    put(tx, tenant, rows).await?;
    let raised = scopes_resting_on(tx, &cited).await?;
    raise(tx, &raised, now).await?;
    Ok(NotedUses {
        added,
        cited,
        raised,
    })
}

/// Agents and host ids.
fn names_of(sessions: &BTreeSet<&SessionId>) -> (Vec<String>, Vec<String>) {
    let names = sessions.iter();
    names
        .map(|id| (id.agent.clone(), id.host_id.clone()))
        .unzip()
}

/// The uses of existing events, each with the event's number and that of its session.
async fn events_of<'u>(
    tx: &Tx,
    tenant: &Tenant,
    uses: &'u [Use],
) -> Result<Vec<(&'u Use, (i64, i64))>, Fault> {
    let uses = || uses.iter().filter(|one| !one.is_by_itself());
    let (agents, hosts) = names_of(&uses().map(|one| &one.session).collect());
    let find = "SELECT session_no, tenant, agent, host_id
        FROM sessions JOIN tenants USING (tenant_no)
        JOIN unnest($2, $3) AS wanted (agent, host_id) USING (agent, host_id) WHERE tenant = $1";
    let mut numbers: HashMap<SessionId, i64> = HashMap::new();
    for row in tx.rows(find, values![&tenant.0, agents, hosts]).await? {
        numbers.insert(session_id_of(&row)?, get(&row, "session_no")?);
    }
    let numbered = uses().filter_map(|one| {
        let session = *numbers.get(&one.session)?;
        Some((one, (event_no(session, one.event), session)))
    });
    let numbered: Vec<(&Use, (i64, i64))> = numbered.collect();
    let wanted: Vec<i64> = numbered.iter().map(|(_, (event, _))| *event).collect();
    let find = "SELECT event_no FROM events WHERE event_no = ANY ($1)";
    let rows = tx.rows(find, values![wanted]).await?;
    let there = rows.iter().map(|row| get(row, "event_no"));
    let there: HashSet<i64> = there.collect::<Result<_, Fault>>()?;
    let numbered = numbered.into_iter();
    Ok(numbered
        .filter(|(_, (event, _))| there.contains(event))
        .collect())
}

async fn user_of(tx: &Tx, by: &UsedBy) -> Result<UserKey, Fault> {
    Ok(match by {
        UsedBy::Session { session, .. } => (session_no(tx, session).await?, String::new()),
        UsedBy::Interface(interface) => (0, interface.clone()),
    })
}

async fn load_kept_uses(tx: &Tx, (session, interface): &UserKey) -> Result<KeptUses<i64>, Fault> {
    let find = "SELECT kind, event_no FROM uses WHERE by_session = $1 AND by_door = $2";
    let rows = tx.rows(find, values![*session, interface]).await?;
    let known = rows.iter().map(|row| {
        let kind = parse_column::<UseKind>(row, "kind")?;
        Ok((kind, get(row, "event_no")?))
    });
    Ok(KeptUses::new(known.collect::<Result<Vec<_>, Fault>>()?))
}

/// Stores rows in the order of their keys, so that two transactions that note the same rows cannot block each
/// other.
async fn put(
    tx: &Tx,
    tenant: &Tenant,
    rows: BTreeMap<UseKey, (Vec<u8>, i64, Timestamp)>,
) -> Result<(), Fault> {
    let Some(tenant) = find_tenant(tx, tenant).await?.filter(|_| !rows.is_empty()) else {
        return Ok(());
    };
    let (mut events, mut sessions, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    let (mut by_sessions, mut by_events, mut by_doors) = (Vec::new(), Vec::new(), Vec::new());
    let mut times: Vec<i64> = Vec::new();
    for ((event, kind, (by_session, by_door)), (by_event, session, at)) in rows {
        events.push(event);
        sessions.push(session);
        kinds.push(kind);
        by_sessions.push(by_session);
        by_events.push(by_event);
        by_doors.push(by_door);
        times.push(at.0);
    }
    let put = "INSERT INTO uses
            (tenant_no, event_no, session_no, kind, by_session, by_event, by_door, at)
        SELECT $1, noted.* FROM unnest($2, $3, $4, $5, $6, $7, $8) AS noted
        ON CONFLICT (tenant_no, event_no, kind, by_session, by_door)
            DO UPDATE SET at = greatest(uses.at, excluded.at)";
    let values = values![
        tenant,
        events,
        sessions,
        kinds,
        by_sessions,
        by_events,
        by_doors,
        times
    ];
    tx.execute(put, values).await?;
    Ok(())
}

/// Scopes of the observations that hold and rest on one of these events.
async fn scopes_resting_on(
    tx: &Tx,
    events: &BTreeSet<(i64, EventSeq)>,
) -> Result<BTreeSet<Scope>, Fault> {
    let mut scopes = BTreeSet::new();
    if events.is_empty() {
        return Ok(scopes);
    }
    let (sessions, seqs): (Vec<i64>, Vec<i64>) = events
        .iter()
        .map(|(session, seq)| (*session, seq.0.cast_signed()))
        .unzip();
    let find = "SELECT DISTINCT tenant, scopes.kind AS kind, name, events, seq
        FROM unnest($1, $2) AS cited (session_no, seq)
        JOIN evidence ON evidence.session_no = cited.session_no
            AND first_seq <= seq AND last_seq >= seq AND live
        JOIN observations ON observations.observation_no = evidence.observation_no
        JOIN scopes ON scopes.scope_no = observations.scope_no
        JOIN tenants ON tenants.tenant_no = scopes.tenant_no";
    for row in tx.rows(find, values![sessions, seqs]).await? {
        let (on, seq): (String, u64) = (get(&row, "events")?, get(&row, "seq")?);
        if parse_numbers(&on).any(|event| event == seq) {
            scopes.insert(scope_of(&row)?);
        }
    }
    Ok(scopes)
}

fn use_of(row: &Row, tenant: &Tenant) -> Result<Use, Fault> {
    let by = match get::<i64>(row, "by_session")? {
        0 => UsedBy::Interface(get(row, "by_door")?),
        _ => {
            let event: Vec<u8> = get(row, "by_event")?;
            let event = event.as_slice().try_into().unwrap_or_default();
            UsedBy::Session {
                session: session_id_of(row)?,
                event: EventId(u128::from_be_bytes(event)),
            }
        }
    };
    Ok(Use {
        session: SessionId {
            tenant: tenant.clone(),
            agent: get(row, "used_agent")?,
            host_id: get(row, "used_host_id")?,
        },
        event: seq_of(get(row, "event_no")?),
        kind: parse_column(row, "kind")?,
        by,
        at: get(row, "at")?,
    })
}

/// Deletes uses of events that are about to be deleted, and uses by them. Returns the scopes that were ranked
/// by these.
pub(super) async fn forget(
    tx: &Tx,
    session: i64,
    (from, to): (EventSeq, EventSeq),
) -> Result<BTreeSet<Scope>, Fault> {
    let (from, to) = (event_no(session, from), event_no(session, to));
    let delete = "DELETE FROM uses WHERE event_no BETWEEN $1 AND $2";
    tx.execute(delete, values![from, to]).await?;
    let delete = "DELETE FROM uses WHERE by_session = $1 AND by_door = '' AND by_event IN (
            SELECT id FROM events WHERE event_no BETWEEN $2 AND $3)
        RETURNING session_no, event_no, kind";
    let mut uncited = BTreeSet::new();
    for row in tx.rows(delete, values![session, from, to]).await? {
        if parse_column::<UseKind>(&row, "kind")? == UseKind::Cited {
            uncited.insert((get(&row, "session_no")?, seq_of(get(&row, "event_no")?)));
        }
    }
    scopes_resting_on(tx, &uncited).await
}

/// Deletes the uses by a deleted session.
pub(super) async fn forget_user(tx: &Tx, session: i64) -> Result<(), Fault> {
    let delete = "DELETE FROM uses WHERE by_session = $1 AND by_door = ''";
    tx.execute(delete, values![session]).await?;
    Ok(())
}
