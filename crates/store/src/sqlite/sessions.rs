//! The session log. An append is one transaction: events, index, places, progress of the file, and
//! the mark that makes the session due.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use daybook_domain::seams::{Append, Appended, SessionStore};
use daybook_domain::source::{Import, ImportNo, Source, Undone};
use daybook_domain::{
    Event, EventId, EventSeq, JobKey, NewEvent, Place, Project, RootRecord, Session, SessionId,
    StoreError, Tenant, Timestamp,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::committer::{Named, Size};
use super::connection::Fault;
use super::names::{self, SessionRow, find_session, session_no, sessions_where, tenant_no};
use super::{SqliteStore, events, index, jobs, places, remotes, sources, threads};
use crate::bounds::{FOUND_SESSIONS, check_append, check_source};
use crate::lines::Numbering;
use crate::log::{Added, Concern, Placed};
use crate::{labels, log, ranges};

#[async_trait]
impl SessionStore for SqliteStore {
    async fn append(&self, append: &Append) -> Result<Appended, StoreError> {
        check_append(append)?;
        let (size, append) = (size_of(append), append.clone());
        self.write_together(size, move |tx, named| {
            let found = find_session(tx, &append.session.id)?.filter(|row| row.known);
            Ok(add_to(tx, found, &append, &[], named)?.appended())
        })
        .await
    }

    async fn event_ids(&self, session: &SessionId) -> Result<Vec<(EventSeq, EventId)>, StoreError> {
        self.read(|tx| events::ids(tx, session))
    }

    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        self.read(|tx| {
            let row = find_session(tx, id)?;
            Ok(row.filter(|row| row.known).map(|row| row.session))
        })
    }

    async fn sessions(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Session>, StoreError> {
        let newest = "tenant = ? ORDER BY last_at DESC, agent, host_id LIMIT ?";
        self.list(|tx| sessions_where(tx, newest, params![tenant.0, events::at_most(limit)]))
    }

    async fn sessions_active(
        &self,
        tenant: &Tenant,
        (from, to): (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        let newest = "tenant = ? AND last_at BETWEEN ? AND ?
            ORDER BY last_at DESC, agent, host_id LIMIT ?";
        let values = params![tenant.0, from.0, to.0, events::at_most(limit)];
        self.list(|tx| sessions_where(tx, newest, values))
    }

    async fn switch_memory(&self, session: &SessionId, on: bool) -> Result<bool, StoreError> {
        self.write(|tx| switch_memory(tx, session, on))
    }

    async fn find_sessions(&self, tenant: &Tenant, name: &str) -> Result<Vec<Session>, StoreError> {
        self.list(|tx| {
            let labelled = "tenant = ? AND label = ?";
            let found = sessions_where(tx, labelled, params![tenant.0, name])?;
            if !found.rows.is_empty() {
                return Ok(found);
            }
            let begins = "tenant = ?1 AND host_id >= ?2 AND substr(host_id, 1, length(?2)) = ?2
                ORDER BY agent, host_id LIMIT ?3";
            sessions_where(tx, begins, params![tenant.0, name, FOUND_SESSIONS])
        })
    }

    async fn events(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.read(|tx| events::window(tx, session, (after, upto), limit, bytes))
    }

    async fn events_at(
        &self,
        session: &SessionId,
        lines: (u32, u32),
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.read(|tx| events::at_lines(tx, session, lines, limit))
    }

    async fn sources(&self, tenant: &Tenant) -> Result<Vec<Source>, StoreError> {
        self.list(|tx| sources::all(tx, tenant))
    }

    async fn put_source(
        &self,
        tenant: &Tenant,
        source: &Source,
        import: Option<ImportNo>,
    ) -> Result<(), StoreError> {
        check_source(tenant, source)?;
        self.write(|tx| sources::put(tx, tenant, source, import))
    }

    async fn places(&self, tenant: &Tenant) -> Result<Vec<(Place, Option<String>)>, StoreError> {
        self.list(|tx| places::places(tx, tenant))
    }

    async fn projects(&self, tenant: &Tenant) -> Result<Vec<Project>, StoreError> {
        self.list(|tx| places::projects(tx, tenant))
    }

    async fn assign_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.assign(tenant, root, (project, false), now)
    }

    async fn roots(&self, tenant: &Tenant) -> Result<Vec<RootRecord>, StoreError> {
        self.read(|tx| remotes::roots(tx, tenant))
    }

    async fn derive_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.assign(tenant, root, (project, true), now)
    }

    async fn forget_identity(&self, tenant: &Tenant, identity: &str) -> Result<bool, StoreError> {
        self.write(|tx| places::forget_identity(tx, tenant, identity))
    }

    async fn begin_import(
        &self,
        tenant: &Tenant,
        what: &str,
        now: Timestamp,
    ) -> Result<ImportNo, StoreError> {
        self.write(|tx| sources::begin_import(tx, tenant, what, now))
    }

    async fn end_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(|tx| sources::end_import(tx, tenant, import, now))
    }

    async fn imports(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Import>, StoreError> {
        self.list(|tx| sources::imports(tx, tenant, limit))
    }

    async fn undo_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<Undone, StoreError> {
        self.undo(tenant, import, now)
    }
}

/// Number of an event's row: one tree holds all sessions, each in one stretch.
pub(super) fn event_no(session: i64, seq: EventSeq) -> i64 {
    let seq = i64::try_from(seq.0)
        .unwrap_or(i64::MAX)
        .min(i64::from(u32::MAX));
    (session << 32) | seq
}

/// The numbers between which all events of a session lie.
pub(super) fn event_nos(session: i64) -> (i64, i64) {
    (session << 32, (session << 32) | i64::from(u32::MAX))
}

/// The place in its session of the event with this row number.
pub(super) fn seq_of(event_no: i64) -> EventSeq {
    EventSeq(event_no.cast_unsigned() & u64::from(u32::MAX))
}

/// Appends within a transaction.
pub(super) fn add(tx: &Connection, append: &Append) -> Result<Placed, Fault> {
    let found = find_session(tx, &append.session.id)?.filter(|row| row.known);
    add_to(tx, found, append, &[], &mut Named::default())
}

/// How large an append is.
pub(super) fn size_of(append: &Append) -> Size {
    let texts = append.events.iter().map(|event| event.text.len());
    Size {
        events: append.events.len(),
        bytes: texts.sum(),
    }
}

/// [`add`] to the known session that was found, with what its thread keeps beside each event.
pub(super) fn add_to(
    tx: &Connection,
    found: Option<SessionRow>,
    append: &Append,
    entries: &[String],
    named: &mut Named,
) -> Result<Placed, Fault> {
    if let Some(import) = append.import {
        sources::check_import(tx, &append.session.id.tenant, import)?;
    }
    let before = found.as_ref().map(|row| row.session.clone());
    let mut row = match found {
        Some(row) => row,
        None => {
            let mut row = create(tx, append)?;
            row.session.kind = append.session.kind;
            row
        }
    };
    let last = row.session.events.0;
    log::learn(&mut row.session, &append.session);
    let (new, seqs) = add_events(tx, &mut row, append, entries, named)?;
    save(tx, &row)?;
    remotes::note(tx, &row, &append.remotes)?;
    let session = row.session.clone();
    let added = session.events.0 - last;
    if added > 0 && before.is_some() {
        threads::note_entries(tx, row.no, append.now)?;
    }
    if let Some(import) = append.import.filter(|_| before.is_none() || added > 0) {
        sources::note_range(tx, import, row.no, (EventSeq(last + 1), session.events))?;
    }
    if let Some(source) = &append.source {
        sources::put(tx, &session.id.tenant, source, append.import)?;
    }
    let key = JobKey::Extract(session.id.clone());
    let user = session.user.as_deref();
    match log::concern(before.as_ref(), &session, new, append) {
        Concern::Mark(mark) => jobs::change_or_create(tx, &key, user, |job| job.mark(mark))?,
        Concern::Pass(upto) => pass(tx, &mut row, upto)?,
        Concern::None => {}
    }
    Ok(Placed {
        before: EventSeq(last),
        last: session.events,
        seqs,
    })
}

fn switch_memory(tx: &Connection, id: &SessionId, on: bool) -> Result<bool, Fault> {
    let Some(mut row) = find_session(tx, id)?.filter(|row| row.known) else {
        return Ok(false);
    };
    let changed = row.session.switched_off == on;
    row.session.switched_off = !on;
    save(tx, &row)?;
    let upto = row.session.events.0;
    if changed && upto > 0 {
        pass(tx, &mut row, upto)?;
    }
    Ok(true)
}

/// Moves a session's extraction past what is never learned.
fn pass(tx: &Connection, row: &mut SessionRow, upto: u64) -> Result<(), Fault> {
    let key = JobKey::Extract(row.session.id.clone());
    let user = row.session.user.as_deref();
    if let Some(range) = jobs::change_or_create(tx, &key, user, |job| job.pass(upto))? {
        row.session.pass(range);
        save(tx, row)?;
    }
    Ok(())
}

/// Makes a session known and labels it.
fn create(tx: &Connection, append: &Append) -> Result<SessionRow, Fault> {
    let id = &append.session.id;
    let no = session_no(tx, id)?;
    let tenant = tenant_no(tx, &id.tenant)?;
    let label = labels::choose(
        &id.host_id,
        &neighbours(tx, tenant, &id.host_id)?,
        |label| {
            let mut find =
                tx.prepare_cached("SELECT 1 FROM sessions WHERE tenant_no = ? AND label = ?")?;
            find.exists(params![tenant, label])
        },
    )?;
    let first_source = append.source.as_ref().map(|source| &source.path);
    tx.prepare_cached(
        "UPDATE sessions SET known = 1, label = ?, first_source = ? WHERE session_no = ?",
    )?
    .execute(params![label, first_source, no])?;
    names::session_numbered(tx, no)?.ok_or_else(|| Fault::corrupt(format!("session {id} vanished")))
}

/// The host ids just before and just after `host_id` in order.
fn neighbours(tx: &Connection, tenant: i64, host_id: &str) -> Result<Vec<String>, Fault> {
    let mut neighbours = Vec::new();
    for (compare, order) in [("<=", "DESC"), (">=", "ASC")] {
        let sql = format!(
            "SELECT host_id FROM sessions WHERE tenant_no = ? AND host_id {compare} ? AND known
             ORDER BY host_id {order} LIMIT 1"
        );
        let mut find = tx.prepare_cached(&sql)?;
        let mut rows = find.query(params![tenant, host_id])?;
        if let Some(row) = rows.next()? {
            neighbours.push(row.get(0)?);
        }
    }
    Ok(neighbours)
}

/// Adds the events that are new and moves the session's row on. Says where each of them stands, old or
/// new.
fn add_events(
    tx: &Connection,
    row: &mut SessionRow,
    append: &Append,
    entries: &[String],
    named: &mut Named,
) -> Result<(Added, Vec<EventSeq>), Fault> {
    let source = append.source.as_ref().map(|source| &source.path);
    let mut numbering = Numbering::after(row.last_line, row.first_source.as_ref() == source);
    let mut noted = HashSet::new();
    let mut added = Added::default();
    let mut known = known_ids(tx, row, append)?;
    let mut seqs = Vec::with_capacity(append.events.len());
    for (nth, event) in append.events.iter().enumerate() {
        let seq = EventSeq(row.session.events.0 + 1);
        let at = *known.entry(event.id).or_insert(seq);
        seqs.push(at);
        if at != seq {
            continue;
        }
        let place = match &event.place {
            None => None,
            Some(place) => {
                let numbers = named.place(tx, row.tenant, place)?;
                if noted.insert(numbers.0) {
                    places::note(tx, row.no, numbers.0)?;
                }
                Some(numbers)
            }
        };
        let line = numbering.number(event);
        let no = event_no(row.no, seq);
        let place_no = place.map(|(place, _)| place);
        let entry = entries.get(nth);
        insert(tx, (row.no, no, line), event, place_no, entry)?;
        index::put_event(tx, no, row.tenant, place.map(|(_, root)| root), event)?;
        log::extend(&mut row.session, seq, event.at);
        row.last_line = line;
        added.note(event);
    }
    Ok((added, seqs))
}

/// Where those of the events stand that the session has.
fn known_ids(
    tx: &Connection,
    row: &SessionRow,
    append: &Append,
) -> Result<HashMap<EventId, EventSeq>, Fault> {
    let mut known = HashMap::new();
    if row.session.events.0 > 0 {
        let mut find =
            tx.prepare_cached("SELECT event_no FROM events WHERE session_no = ? AND id = ?")?;
        for event in &append.events {
            let key = params![row.no, event.id.0.to_be_bytes()];
            let found = find.query_row(key, |row| row.get(0)).optional()?;
            known.extend(found.map(|no| (event.id, seq_of(no))));
        }
    }
    Ok(known)
}

fn insert(
    tx: &Connection,
    (session, no, line): (i64, i64, u32),
    event: &NewEvent,
    place: Option<i64>,
    entry: Option<&String>,
) -> Result<(), Fault> {
    tx.prepare_cached(
        "INSERT INTO events (event_no, session_no, id, line, origin, at, tool, call, status,
            sidechain, place_no, text, entry)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        no,
        session,
        event.id.0.to_be_bytes(),
        line,
        event.origin.word(),
        event.at.0,
        event.tool,
        event.call,
        event.status.map(|status| status.word()),
        event.sidechain,
        place,
        event.text,
        entry,
    ])?;
    Ok(())
}

pub(super) fn save(tx: &Connection, row: &SessionRow) -> Result<(), Fault> {
    let session = &row.session;
    tx.prepare_cached(
        "UPDATE sessions SET kind = ?, memory_off = ?, switched_off = ?, forked_from = ?, user = ?,
            surface = ?, first_at = ?, last_at = ?, events = ?, passed = ?, last_line = ?
            WHERE session_no = ?",
    )?
    .execute(params![
        session.kind.word(),
        session.memory_off,
        session.switched_off,
        session.forked_from,
        session.user,
        session.surface,
        session.first_at.0,
        session.last_at.0,
        session.events.0,
        ranges::spelled(&session.passed),
        row.last_line,
        row.no
    ])?;
    Ok(())
}
