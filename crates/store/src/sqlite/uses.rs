//! Which events were used, in SQLite.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use daybook_domain::seams::UseStore;
use daybook_domain::{
    EventId, EventSeq, Scope, SessionId, StoreError, Tenant, Timestamp, Use, UseKind, UsedBy,
};
use rusqlite::{Connection, Row, params};

use super::connection::Fault;
use super::listing::{Listing, list};
use super::names::{
    find_session, parse_column, scope_named, session_id_of, session_no, session_numbered,
};
use super::revisions::raise;
use super::row_numbers::{event_no, event_nos, seq_of, session_of};
use super::{SqliteStore, tombstones};
use crate::bounds::check_uses;
use crate::evidence::parse_numbers;
use crate::uses::{AdmitOutcome, KeptUses};

#[async_trait]
impl UseStore for SqliteStore {
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
        let is_shown =
            |one: &Use| matches!(one.by, UsedBy::Interface(_)) && one.kind != UseKind::Cited;
        match uses.iter().all(is_shown) {
            true => self.write_beside(|tx| note(tx, uses, now)),
            false => self.write(|tx| note(tx, uses, now)),
        }
    }

    async fn uses(&self, _: &Tenant, sessions: &[SessionId]) -> Result<Vec<Use>, StoreError> {
        let mut uses = self.list(|tx| {
            let mut uses = Listing::empty();
            let mut asked: BTreeSet<&SessionId> = sessions.iter().collect();
            if let Some(used) = used_sessions(tx, asked.len())? {
                asked.retain(|session| used.contains(*session));
            }
            for session in asked {
                uses.append(of_session(tx, session)?);
            }
            Ok(uses)
        })?;
        uses.sort();
        Ok(uses)
    }
}

/// A session's number, or 0 and the name of an interface.
type UserKey = (i64, String);

fn note(tx: &Connection, uses: &[Use], now: Timestamp) -> Result<u64, Fault> {
    let mut numbers: HashMap<&SessionId, Option<i64>> = HashMap::new();
    let mut kept: HashMap<UserKey, KeptUses<i64>> = HashMap::new();
    let (mut added, mut cited) = (0, BTreeSet::new());
    for one in uses.iter().filter(|one| !one.is_by_itself()) {
        let number = match numbers.get(&one.session) {
            Some(number) => *number,
            None => {
                let number = find_session(tx, &one.session)?.map(|row| row.no);
                *numbers.entry(&one.session).or_insert(number)
            }
        };
        let Some(session) = number else { continue };
        let event = event_no(session, one.event);
        let mut find = tx.prepare_cached("SELECT 1 FROM events WHERE event_no = ?")?;
        if !find.exists([event])? {
            continue;
        }
        if let UsedBy::Session { session, .. } = &one.by
            && tombstones::is_name_purged(tx, session)?
        {
            continue;
        }
        let user = user_of(tx, &one.by)?;
        if !kept.contains_key(&user) {
            kept.insert(user.clone(), load_kept_uses(tx, &user)?);
        }
        let admitted = kept.get_mut(&user).map(|kept| kept.admit(one.kind, event));
        match admitted {
            Some(AdmitOutcome::New) => {
                insert(tx, (event, session), one, &user)?;
                added += 1;
                if one.kind == UseKind::Cited {
                    cited.insert((session, one.event));
                }
            }
            Some(AdmitOutcome::Known) => set_time(tx, event, one, &user)?,
            Some(AdmitOutcome::TooMany) | None => {}
        }
    }
    raise(tx, &scopes_resting_on(tx, &cited)?, now)?;
    Ok(added)
}

fn user_of(tx: &Connection, by: &UsedBy) -> Result<UserKey, Fault> {
    Ok(match by {
        UsedBy::Session { session, .. } => (session_no(tx, session)?, String::new()),
        UsedBy::Interface(interface) => (0, interface.clone()),
    })
}

fn load_kept_uses(tx: &Connection, (session, interface): &UserKey) -> Result<KeptUses<i64>, Fault> {
    let mut find =
        tx.prepare_cached("SELECT kind, event_no FROM uses WHERE by_session = ? AND by_door = ?")?;
    let decode = |row: &Row<'_>| Ok((parse_column::<UseKind>(row, 0)?, row.get(1)?));
    // A session with a damaged row is left out alone.
    let known = list(
        find.query(params![session, interface])?,
        ("uses", &[1]),
        decode,
    )?;
    Ok(KeptUses::new(known.rows))
}

fn insert(
    tx: &Connection,
    (event, session): (i64, i64),
    one: &Use,
    (by_session, by_door): &UserKey,
) -> Result<(), Fault> {
    let by_event = match &one.by {
        UsedBy::Session { event, .. } => event.0.to_be_bytes().to_vec(),
        UsedBy::Interface(_) => Vec::new(),
    };
    tx.prepare_cached(
        "INSERT INTO uses (event_no, session_no, kind, by_session, by_event, by_door, at)
         VALUES (?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        event,
        session,
        one.kind.as_str(),
        by_session,
        by_event,
        by_door,
        one.at.0
    ])?;
    Ok(())
}

fn set_time(
    tx: &Connection,
    event: i64,
    one: &Use,
    (by_session, by_door): &UserKey,
) -> Result<(), Fault> {
    tx.prepare_cached(
        "UPDATE uses SET at = max(at, ?) WHERE event_no = ? AND kind = ? AND by_session = ?
         AND by_door = ?",
    )?
    .execute(params![
        one.at.0,
        event,
        one.kind.as_str(),
        by_session,
        by_door
    ])?;
    Ok(())
}

/// Scopes of the observations that hold and rest on one of these events.
fn scopes_resting_on(
    tx: &Connection,
    events: &BTreeSet<(i64, EventSeq)>,
) -> Result<BTreeSet<Scope>, Fault> {
    let mut scopes = BTreeSet::new();
    let mut find = tx.prepare_cached(
        "SELECT scope_no, events FROM evidence JOIN observations USING (observation_no)
         WHERE session_no = ?1 AND first_seq <= ?2 AND last_seq >= ?2 AND live",
    )?;
    for (session, seq) in events {
        let mut rows = find.query(params![session, seq.0])?;
        while let Some(row) = rows.next()? {
            let on: String = row.get(1)?;
            if parse_numbers(&on).any(|event| event == seq.0) {
                scopes.insert(row.get::<_, i64>(0)?);
            }
        }
    }
    let scopes = scopes.into_iter().map(|no| scope_named(tx, no));
    scopes.collect()
}

/// All sessions with uses; `None` if there are more than `most`. A scope has thousands of sessions, and few of them were
/// ever used.
fn used_sessions(tx: &Connection, most: usize) -> Result<Option<BTreeSet<SessionId>>, Fault> {
    let mut next = tx.prepare_cached("SELECT min(event_no) FROM uses WHERE event_no > ?")?;
    let (mut used, mut after) = (BTreeSet::new(), -1);
    while let Some(event) = next.query_row([after], |row| row.get::<_, Option<i64>>(0))? {
        if used.len() == most {
            return Ok(None);
        }
        let session = session_of(event);
        used.extend(session_numbered(tx, session)?.map(|row| row.session.id));
        after = event_nos(session).1;
    }
    Ok(Some(used))
}

fn of_session(tx: &Connection, session: &SessionId) -> Result<Listing<Use>, Fault> {
    let Some(no) = find_session(tx, session)?.map(|row| row.no) else {
        return Ok(Listing::empty());
    };
    let (from, to) = event_nos(no);
    let mut find = tx.prepare_cached(
        "SELECT event_no, uses.kind AS kind, by_session, by_event, by_door, at, tenant, agent, host_id
         FROM uses LEFT JOIN sessions ON sessions.session_no = by_session
         LEFT JOIN tenants USING (tenant_no) WHERE event_no BETWEEN ? AND ?",
    )?;
    let decode = |row: &Row<'_>| {
        Ok(Use {
            session: session.clone(),
            event: seq_of(row.get("event_no")?),
            kind: parse_column(row, "kind")?,
            by: used_by(row)?,
            at: Timestamp(row.get("at")?),
        })
    };
    list(find.query([from, to])?, ("uses", &[0, 1, 2, 4]), decode)
}

fn used_by(row: &Row<'_>) -> rusqlite::Result<UsedBy> {
    if row.get::<_, i64>("by_session")? == 0 {
        return Ok(UsedBy::Interface(row.get("by_door")?));
    }
    let event: Vec<u8> = row.get("by_event")?;
    let event = event.as_slice().try_into().unwrap_or_default();
    Ok(UsedBy::Session {
        session: session_id_of(row)?,
        event: EventId(u128::from_be_bytes(event)),
    })
}

/// Deletes uses of events that are about to be deleted, and uses by them. Returns the scopes that were ranked
/// by these.
pub(super) fn forget(
    tx: &Connection,
    session: i64,
    (from, to): (EventSeq, EventSeq),
) -> Result<BTreeSet<Scope>, Fault> {
    let range = params![event_no(session, from), event_no(session, to)];
    tx.prepare_cached("DELETE FROM uses WHERE event_no BETWEEN ? AND ?")?
        .execute(range)?;
    let mut delete = tx.prepare_cached(
        "DELETE FROM uses WHERE by_session = ? AND by_door = '' AND by_event IN (
            SELECT id FROM events WHERE event_no BETWEEN ? AND ?)
         RETURNING session_no, event_no, kind",
    )?;
    let key = params![session, event_no(session, from), event_no(session, to)];
    let mut uncited = BTreeSet::new();
    let mut rows = delete.query(key)?;
    while let Some(row) = rows.next()? {
        if parse_column::<UseKind>(row, "kind")? == UseKind::Cited {
            uncited.insert((row.get(0)?, seq_of(row.get(1)?)));
        }
    }
    drop(rows);
    scopes_resting_on(tx, &uncited)
}

/// Deletes the uses by a deleted session.
pub(super) fn forget_user(tx: &Connection, session: i64) -> Result<(), Fault> {
    tx.prepare_cached("DELETE FROM uses WHERE by_session = ? AND by_door = ''")?
        .execute([session])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use daybook_domain::seams::SessionLog;
    use daybook_testkit::fixtures::*;
    use daybook_testkit::run;

    use super::*;
    use crate::SqliteOptions;

    #[test]
    fn a_note_of_what_was_shown_leaves_what_was_read_valid() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daybook.db");
        let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
        let other = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
        let pier = session("pier");
        let shown = Use {
            session: pier.clone(),
            event: EventSeq(1),
            kind: UseKind::Shown,
            by: UsedBy::Interface("http".to_owned()),
            at: at(3),
        };
        run(async {
            let said = vec![event("the tide table")];
            store.append(&append(&pier, said)).await.unwrap();
            let (version, data) = (store.read_version().unwrap(), store.data_version().unwrap());
            let added = other.note_uses(&Tenant::local(), &[shown], at(3)).await;
            assert_eq!(added.unwrap(), 1);
            assert_ne!(store.data_version().unwrap(), data);
            assert_eq!(store.read_version().unwrap(), version);
            let more = vec![event("the ebb")];
            other.append(&append(&pier, more)).await.unwrap();
            assert_ne!(store.read_version().unwrap(), version);
        });
    }
}
