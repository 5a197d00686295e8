//! The session log. An append is one transaction: events, index, places, progress of the file, and
//! the mark that makes the session due.

use std::collections::{BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::seams::{
    Append, AppendOutcome, ImportStore, PlaceStore, ProjectKey, SessionCatalog, SessionKey,
    SessionLog, SourceStore,
};
use daybook_domain::source::{ImportNo, ImportRun, TranscriptSource, UndoneImport};
use daybook_domain::{
    EXPIRED_EVENT, Event, EventId, EventSeq, JobKey, NewEvent, Page, PageRequest, Place, Project,
    RootRecord, Session, SessionId, StoreError, Tenant, Timestamp,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::committer::{PlaceCache, WriteSize};
use super::connection::Fault;
use super::names::{self, find_session, session_no, sessions_where, tenant_no};
use super::outlines::Owner;
use super::pollution::rederive_learned;
use super::row_numbers::{event_no, seq_of};
use super::{
    SqliteStore, events, index_rows, job_rows, places, remotes, row_numbers, sources, tombstones,
};
use crate::bounds::{FOUND_SESSIONS, check_append, check_source};
use crate::lines::Numbering;
use crate::log::{AddedEvents, AppendPositions, ExtractionEffect, SessionRow};
use crate::page_keys::{key_of_project, key_of_session, place_before_page};
use crate::pollution::{PollutionEffect, mark_of_clean, pollute, pollution_text};
use crate::purge::PurgedAppend;
use crate::{labels, log, ranges};

#[async_trait]
impl SessionLog for SqliteStore {
    async fn append(&self, append: &Append) -> Result<AppendOutcome, StoreError> {
        check_append(append)?;
        let (size, append) = (size_of(append), append.clone());
        self.write_together(size, move |tx, places| {
            let found = find_session(tx, &append.session.id)?.filter(|row| row.known);
            Ok(add_to(tx, found, &append, &[], places)?.outcome())
        })
        .await
    }

    async fn event_ids(&self, session: &SessionId) -> Result<Vec<(EventSeq, EventId)>, StoreError> {
        self.read(|tx| events::ids(tx, session))
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

    async fn retracted_seqs(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
    ) -> Result<BTreeSet<EventSeq>, StoreError> {
        self.read(|tx| events::retracted(tx, session, (after, upto)))
    }
}

#[async_trait]
impl SessionCatalog for SqliteStore {
    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        self.read(|tx| {
            let row = find_session(tx, id)?;
            Ok(row.filter(|row| row.known).map(|row| row.session))
        })
    }

    async fn sessions(
        &self,
        tenant: &Tenant,
        page: PageRequest<SessionKey>,
    ) -> Result<Page<Session, SessionKey>, StoreError> {
        let (last_at, agent, host_id) = place_before_page(page.after.as_ref());
        let newest = "tenant = ?1
            AND last_at <= ?2 AND (last_at < ?2 OR (agent, host_id) > (?3, ?4))
            ORDER BY last_at DESC, agent, host_id LIMIT ?5";
        self.page(page.most(), key_of_session, |tx, rows_at_most| {
            let values = params![tenant.0, last_at.0, agent, host_id, rows_at_most];
            sessions_where(tx, newest, values)
        })
    }

    async fn sessions_active(
        &self,
        tenant: &Tenant,
        (from, to): (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        let newest = "tenant = ? AND last_at BETWEEN ? AND ?
            ORDER BY last_at DESC, agent, host_id LIMIT ?";
        let values = params![tenant.0, from.0, to.0, row_numbers::at_most(limit)];
        self.list(|tx| sessions_where(tx, newest, values))
    }

    async fn switch_memory(
        &self,
        session: &SessionId,
        on: bool,
        switches: &Switches,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(|tx| switch_memory(tx, session, on, (switches, now)))
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
}

#[async_trait]
impl SourceStore for SqliteStore {
    async fn sources(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError> {
        self.page_of_sources(tenant, ("TRUE", ""), &page)
    }

    async fn failing_sources(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError> {
        let failing = ("failure IS NOT NULL", "INDEXED BY sources_failing");
        self.page_of_sources(tenant, failing, &page)
    }

    async fn sources_with_secrets(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError> {
        let secret = ("secrets > 0", "INDEXED BY sources_secret");
        self.page_of_sources(tenant, secret, &page)
    }

    async fn sources_at(
        &self,
        tenant: &Tenant,
        paths: &[&str],
    ) -> Result<Vec<TranscriptSource>, StoreError> {
        self.list(|tx| sources::at_paths(tx, tenant, paths))
    }

    async fn sources_of(&self, session: &SessionId) -> Result<Vec<TranscriptSource>, StoreError> {
        self.list(|tx| sources::of_session(tx, session))
    }

    async fn put_source(
        &self,
        tenant: &Tenant,
        source: &TranscriptSource,
        import: Option<ImportNo>,
    ) -> Result<(), StoreError> {
        check_source(tenant, source)?;
        self.write(|tx| sources::put(tx, tenant, source, import))
    }
}

#[async_trait]
impl PlaceStore for SqliteStore {
    async fn places(&self, tenant: &Tenant) -> Result<Vec<(Place, Option<String>)>, StoreError> {
        self.list(|tx| places::places(tx, tenant))
    }

    async fn project_of_root(
        &self,
        tenant: &Tenant,
        root: &str,
    ) -> Result<Option<String>, StoreError> {
        self.read(|tx| places::project_of_root(tx, tenant, root))
    }

    async fn projects(
        &self,
        tenant: &Tenant,
        page: PageRequest<ProjectKey>,
    ) -> Result<Page<Project, ProjectKey>, StoreError> {
        let (behind, (key, identity)) = match &page.after {
            Some((key, identity)) => (">", (key.as_str(), identity.as_str())),
            None => (">=", ("", "")),
        };
        self.page(page.most(), key_of_project, |tx, rows_at_most| {
            let values = params![tenant.0, key, identity, rows_at_most];
            places::projects(tx, behind, values)
        })
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
}

#[async_trait]
impl ImportStore for SqliteStore {
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

    async fn imports(
        &self,
        tenant: &Tenant,
        page: PageRequest<ImportNo>,
    ) -> Result<Page<ImportRun, ImportNo>, StoreError> {
        let before = page.after.unwrap_or(ImportNo(i64::MAX));
        let number = |import: &ImportRun| import.no;
        self.page(page.most(), number, |tx, rows_at_most| {
            sources::imports(tx, tenant, before, rows_at_most)
        })
    }

    async fn undo_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<UndoneImport, StoreError> {
        self.undo(tenant, import, now)
    }
}

/// Appends within a transaction.
pub(super) fn add(tx: &Connection, append: &Append) -> Result<AppendPositions, Fault> {
    let found = find_session(tx, &append.session.id)?.filter(|row| row.known);
    add_to(tx, found, append, &[], &mut PlaceCache::default())
}

/// The size of an append.
pub(super) fn size_of(append: &Append) -> WriteSize {
    let texts = append.events.iter().map(|event| event.text.len());
    WriteSize {
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
    places: &mut PlaceCache,
) -> Result<AppendPositions, Fault> {
    if let Some(import) = append.import {
        sources::check_import(tx, &append.session.id.tenant, import)?;
    }
    let purged = tombstones::purged_of(tx, append)?;
    if purged.refuses(append, found.is_some()) {
        let last = found.map_or(EventSeq(0), |row| row.session.events);
        return Ok(AppendPositions::of_purged(append, last));
    }
    purged.check_entries(append, entries)?;
    let before = found.as_ref().map(|row| row.session.clone());
    let mut row = match found {
        Some(row) => row,
        None => {
            let mut row = create(tx, append)?;
            row.session.kind = append.session.kind;
            row
        }
    };
    if before.is_some() {
        log::check_venue(&row.session, &append.session)?;
    }
    let last = row.session.events.0;
    log::merge_meta(&mut row.session, &append.session);
    row.scan.note_append(before.is_none(), append.rules);
    let (new, seqs) = add_events(tx, &mut row, append, (entries, &purged), places)?;
    let polluting = pollute(&mut row.session, &new);
    save(tx, &row)?;
    if polluting != PollutionEffect::None {
        rederive_learned(tx, &row, &append.switches, append.now)?;
    }
    remotes::note(tx, &row, &append.remotes)?;
    let session = row.session.clone();
    let added = session.events.0 - last;
    if added > 0 && before.is_some() {
        note_entries(tx, row.no, append.now)?;
    }
    if let Some(import) = append.import.filter(|_| before.is_none() || added > 0) {
        sources::note_range(tx, import, row.no, (EventSeq(last + 1), session.events))?;
    }
    if let Some(source) = &append.source {
        sources::put(tx, &session.id.tenant, source, append.import)?;
    }
    let key = JobKey::Extract(session.id.clone());
    let user = session.user.as_deref();
    match log::extraction_effect(before.as_ref(), &session, &new, append) {
        ExtractionEffect::Mark(mark) => {
            job_rows::change_or_create(tx, &key, user, |job| job.mark(mark))?
        }
        ExtractionEffect::Pass(upto) => pass_over(tx, &mut row, upto)?,
        ExtractionEffect::None => {}
    }
    Ok(AppendPositions {
        before: EventSeq(last),
        last: session.events,
        seqs,
        polluted: polluting == PollutionEffect::Marked,
    })
}

fn switch_memory(
    tx: &Connection,
    id: &SessionId,
    on: bool,
    (switches, now): (&Switches, Timestamp),
) -> Result<bool, Fault> {
    let Some(mut row) = find_session(tx, id)?.filter(|row| row.known) else {
        return Ok(false);
    };
    let was_polluted = row.session.pollution.is_some();
    let changed = row.session.switch(on);
    save(tx, &row)?;
    let upto = row.session.events.0;
    if changed && upto > 0 {
        pass_over(tx, &mut row, upto)?;
    }
    if on && was_polluted {
        rederive_learned(tx, &row, switches, now)?;
        if let Some(mark) = mark_of_clean(&row.session, switches, now) {
            let key = JobKey::Extract(id.clone());
            let user = row.session.user.as_deref();
            job_rows::change_or_create(tx, &key, user, |job| job.mark(mark))?;
        }
    }
    Ok(true)
}

/// Moves a session's extraction past events that are never learned.
fn pass_over(tx: &Connection, row: &mut SessionRow, upto: u64) -> Result<(), Fault> {
    let key = JobKey::Extract(row.session.id.clone());
    let user = row.session.user.as_deref();
    if let Some(range) = job_rows::change_or_create(tx, &key, user, |job| job.pass(upto))? {
        row.session.pass(range);
        save(tx, row)?;
    }
    Ok(())
}

/// Inserts a session with a label.
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

/// Adds the events that are new and extends the session's row. Returns the position of each event, old or new.
fn add_events(
    tx: &Connection,
    row: &mut SessionRow,
    append: &Append,
    (entries, purged): (&[String], &PurgedAppend),
    places: &mut PlaceCache,
) -> Result<(AddedEvents, Vec<EventSeq>), Fault> {
    let source = append.source.as_ref().map(|source| &source.path);
    let mut numbering = Numbering::after(row.last_line, row.first_source.as_ref() == source);
    let mut noted = HashSet::new();
    let mut added = AddedEvents::default();
    let (mut known, mut expired) = known_ids(tx, row, append)?;
    let shared = row.session.venue.shared_scope(&row.session.id.tenant);
    let mut seqs = Vec::with_capacity(append.events.len());
    for (nth, event) in append.events.iter().enumerate() {
        if purged.has(event.id) {
            seqs.push(EventSeq(0));
            continue;
        }
        let seq = EventSeq(row.session.events.0 + 1);
        let at = *known.entry(event.id).or_insert(seq);
        seqs.push(at);
        let is_expired = expired.remove(&at);
        if at != seq && !is_expired {
            continue;
        }
        let place = match &event.place {
            None => None,
            Some(place) => {
                let numbers = places.place(tx, row.tenant, place)?;
                if noted.insert(numbers.0) {
                    places::note(tx, row.no, numbers.0)?;
                }
                Some(numbers)
            }
        };
        let place_no = place.map(|(place, _)| place);
        let no = event_no(row.no, at);
        let owner = Owner::of_event(tx, shared.as_ref(), place.map(|(_, root)| root))?;
        if is_expired {
            fill_expired(tx, no, event, place_no)?;
            index_rows::put_event(tx, no, row.tenant, owner, event)?;
            continue;
        }
        let line = numbering.number(event);
        let entry = entries.get(nth);
        insert(tx, (row.no, no, line), event, place_no, entry)?;
        index_rows::put_event(tx, no, row.tenant, owner, event)?;
        log::add_event(&mut row.session, seq, event.at);
        row.last_line = line;
        added.note(event, (seq, line), &append.switches.pollution);
    }
    Ok((added, seqs))
}

/// The positions of those of the events that the session has, and which of these have lost their words.
fn known_ids(
    tx: &Connection,
    row: &SessionRow,
    append: &Append,
) -> Result<(HashMap<EventId, EventSeq>, HashSet<EventSeq>), Fault> {
    let (mut known, mut expired) = (HashMap::new(), HashSet::new());
    if row.session.events.0 > 0 {
        let mut find = tx.prepare_cached(
            "SELECT event_no, text = ?3 AND origin = 'harness' FROM events
             WHERE session_no = ?1 AND id = ?2",
        )?;
        for event in &append.events {
            let key = params![row.no, event.id.0.to_be_bytes(), EXPIRED_EVENT];
            let found: Option<(i64, bool)> = find
                .query_row(key, |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((no, is_expired)) = found else {
                continue;
            };
            known.insert(event.id, seq_of(no));
            if is_expired && event.text != EXPIRED_EVENT {
                expired.insert(seq_of(no));
            }
        }
    }
    Ok((known, expired))
}

/// Gives an event whose words were lost with a database its words back, in its old place. It was extracted already,
/// so nothing becomes due.
fn fill_expired(
    tx: &Connection,
    no: i64,
    event: &NewEvent,
    place: Option<i64>,
) -> Result<(), Fault> {
    tx.prepare_cached(
        "UPDATE events SET origin = ?2, at = ?3, tool = ?4, call = ?5, status = ?6, sidechain = ?7,
            place_no = ?8, text = ?9 WHERE event_no = ?1",
    )?
    .execute(params![
        no,
        event.origin.as_str(),
        event.at.0,
        event.tool,
        event.call,
        event.status.map(|status| status.as_str()),
        event.sidechain,
        place,
        event.text,
    ])?;
    insert_retractions(tx, no, event)
}

fn insert_retractions(tx: &Connection, no: i64, event: &NewEvent) -> Result<(), Fault> {
    for target in &event.retracts {
        tx.prepare_cached(
            "INSERT OR IGNORE INTO event_retractions (event_no, target) VALUES (?, ?)",
        )?
        .execute(params![no, target.0])?;
    }
    Ok(())
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
        event.origin.as_str(),
        event.at.0,
        event.tool,
        event.call,
        event.status.map(|status| status.as_str()),
        event.sidechain,
        place,
        event.text,
        entry,
    ])?;
    insert_retractions(tx, no, event)
}

pub(super) fn save(tx: &Connection, row: &SessionRow) -> Result<(), Fault> {
    let session = &row.session;
    tx.prepare_cached(
        "UPDATE sessions SET kind = ?, memory_off = ?, switched_off = ?, kept_on = ?,
            pollution = ?, forked_from = ?, user = ?, surface = ?, room_id = ?, thread_id = ?,
            team = ?, filed_in = ?, first_at = ?, last_at = ?,
            events = ?, passed = ?, last_line = ?, rules = ?, rescan = ? WHERE session_no = ?",
    )?
    .execute(params![
        session.kind.as_str(),
        session.memory_off,
        session.switched_off,
        session.kept_on,
        pollution_text(session.pollution.as_ref()),
        session.forked_from,
        session.user,
        session.surface,
        session.venue.room_id,
        session.venue.thread_id,
        session.venue.team,
        session.venue.filed_in,
        session.first_at.0,
        session.last_at.0,
        session.events.0,
        ranges::to_text(&session.passed),
        row.last_line,
        row.scan.rules.0,
        row.scan.rescan.map(|rules| rules.0),
        row.no
    ])?;
    Ok(())
}

/// Records when a session had its last event, if it has a thread.
fn note_entries(tx: &Connection, session: i64, now: Timestamp) -> Result<(), Fault> {
    tx.prepare_cached("UPDATE threads SET updated_at = ? WHERE session_no = ?")?
        .execute(params![now.0, session])?;
    Ok(())
}
