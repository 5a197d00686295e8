//! The session log. An append is one transaction: events, index, places, progress of the file, and the mark
//! that makes the session due. It takes the same few statements for any number of events.

use std::collections::{BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::seams::{
    Append, AppendOutcome, ImportStore, PlaceStore, ProjectKey, SessionCatalog, SessionKey,
    SessionLog, SourceStore,
};
use daybook_domain::source::{ImportNo, ImportRun, TranscriptSource, UndoneImport};
use daybook_domain::{
    Event, EventId, EventSeq, JobKey, NewEvent, Page, PageRequest, Place, Project, RootRecord,
    Session, SessionId, StoreError, Tenant, Timestamp,
};

use super::connection::{TenantAccess, Tx};
use super::fault::Fault;
use super::index_rows::{NewDocument, root_owner};
use super::kept_statements::Sql;
use super::names::{find_session, lock_session, session_no, sessions_where, shared_no, tenant_no};
use super::places::PlaceNumbers;
use super::pollution::rederive_learned;
use super::row_numbers::{event_no, seq_of};
use super::values::{get, saturating_count, values};
use super::{PostgresStore, events, index_rows, job_rows, places, remotes, sources, tombstones};
use crate::bounds::{FOUND_SESSIONS, check_append, check_source};
use crate::lines::Numbering;
use crate::log::{AddedEvents, AppendPositions, ExtractionEffect, ScanState, SessionRow};
use crate::page_keys::{key_of_project, key_of_session, place_before_page};
use crate::pollution::{PollutionEffect, mark_of_clean, pollute, pollution_text};
use crate::purge::PurgedAppend;
use crate::{labels, log, ranges};

#[async_trait]
impl SessionLog for PostgresStore {
    async fn append(&self, append: &Append) -> Result<AppendOutcome, StoreError> {
        check_append(append)?;
        self.append_together(append).await
    }

    async fn event_ids(&self, session: &SessionId) -> Result<Vec<(EventSeq, EventId)>, StoreError> {
        let access = TenantAccess::Only(&session.tenant);
        let ids = |tx: Tx| async move { events::ids(&tx, session).await };
        self.read(access, ids).await
    }

    async fn events(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Event>, StoreError> {
        let access = TenantAccess::Only(&session.tenant);
        let range = (after, upto);
        let read = |tx: Tx| async move { events::window(&tx, session, range, limit, bytes).await };
        self.read(access, read).await
    }

    async fn events_at(
        &self,
        session: &SessionId,
        lines: (u32, u32),
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        let access = TenantAccess::Only(&session.tenant);
        let read = |tx: Tx| async move { events::at_lines(&tx, session, lines, limit).await };
        self.read(access, read).await
    }

    async fn retracted_seqs(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
    ) -> Result<BTreeSet<EventSeq>, StoreError> {
        let access = TenantAccess::Only(&session.tenant);
        let read = |tx: Tx| async move { events::retracted(&tx, session, (after, upto)).await };
        self.read(access, read).await
    }
}

#[async_trait]
impl SessionCatalog for PostgresStore {
    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        let find = |tx: Tx| async move {
            let row = find_session(&tx, id).await?;
            Ok(row.filter(|row| row.known).map(|row| row.session))
        };
        self.read(TenantAccess::Only(&id.tenant), find).await
    }

    async fn sessions(
        &self,
        tenant: &Tenant,
        page: PageRequest<SessionKey>,
    ) -> Result<Page<Session, SessionKey>, StoreError> {
        let most = page.most();
        let (last_at, agent, host_id) = place_before_page(page.after.as_ref());
        let newest = "tenant = $1
            AND last_at <= $2 AND (last_at < $2 OR (agent, host_id) > ($3, $4))
            ORDER BY last_at DESC, agent, host_id LIMIT $5";
        let find = |tx: Tx| async move {
            let values = values![&tenant.0, last_at, agent, host_id, most + 1];
            sessions_where(&tx, newest, values).await
        };
        let sessions = self.read(TenantAccess::Only(tenant), find).await?;
        Ok(Page::cut(sessions, most, key_of_session))
    }

    async fn sessions_active(
        &self,
        tenant: &Tenant,
        (from, to): (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        let newest = "tenant = $1 AND last_at BETWEEN $2 AND $3
            ORDER BY last_at DESC, agent, host_id LIMIT $4";
        let find = |tx: Tx| async move {
            let values = values![&tenant.0, from, to, limit];
            sessions_where(&tx, newest, values).await
        };
        self.read(TenantAccess::Only(tenant), find).await
    }

    async fn switch_memory(
        &self,
        session: &SessionId,
        on: bool,
        switches: &Switches,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let access = TenantAccess::Only(&session.tenant);
        let circumstances = (switches, now);
        let switch = |tx: Tx| async move { switch_memory(&tx, session, on, circumstances).await };
        self.write(access, switch).await
    }

    async fn find_sessions(&self, tenant: &Tenant, name: &str) -> Result<Vec<Session>, StoreError> {
        let find = |tx: Tx| async move {
            let labelled = "tenant = $1 AND label = $2";
            let found = sessions_where(&tx, labelled, values![&tenant.0, name]).await?;
            if !found.is_empty() {
                return Ok(found);
            }
            let begins = "tenant = $1 AND host_id >= $2 AND starts_with(host_id, $2)
                ORDER BY agent, host_id LIMIT $3";
            sessions_where(&tx, begins, values![&tenant.0, name, FOUND_SESSIONS]).await
        };
        self.read(TenantAccess::Only(tenant), find).await
    }
}

#[async_trait]
impl SourceStore for PostgresStore {
    async fn sources(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError> {
        let page = &page;
        let read = |tx: Tx| async move { sources::page(&tx, tenant, "TRUE", page).await };
        self.read(TenantAccess::Only(tenant), read).await
    }

    async fn failing_sources(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError> {
        let (page, failing) = (&page, "failure IS NOT NULL");
        let read = |tx: Tx| async move { sources::page(&tx, tenant, failing, page).await };
        self.read(TenantAccess::Only(tenant), read).await
    }

    async fn sources_with_secrets(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError> {
        let page = &page;
        let read = |tx: Tx| async move { sources::page(&tx, tenant, "secrets > 0", page).await };
        self.read(TenantAccess::Only(tenant), read).await
    }

    async fn sources_at(
        &self,
        tenant: &Tenant,
        paths: &[&str],
    ) -> Result<Vec<TranscriptSource>, StoreError> {
        let read = |tx: Tx| async move { sources::at_paths(&tx, tenant, paths).await };
        self.read(TenantAccess::Only(tenant), read).await
    }

    async fn sources_of(&self, session: &SessionId) -> Result<Vec<TranscriptSource>, StoreError> {
        let read = |tx: Tx| async move { sources::of_session(&tx, session).await };
        self.read(TenantAccess::Only(&session.tenant), read).await
    }

    async fn put_source(
        &self,
        tenant: &Tenant,
        source: &TranscriptSource,
        import: Option<ImportNo>,
    ) -> Result<(), StoreError> {
        check_source(tenant, source)?;
        let put = |tx: Tx| async move { sources::put(&tx, tenant, source, import).await };
        self.write(TenantAccess::Only(tenant), put).await
    }
}

#[async_trait]
impl PlaceStore for PostgresStore {
    async fn places(&self, tenant: &Tenant) -> Result<Vec<(Place, Option<String>)>, StoreError> {
        let all = |tx: Tx| async move { places::places(&tx, tenant).await };
        self.read(TenantAccess::Only(tenant), all).await
    }

    async fn project_of_root(
        &self,
        tenant: &Tenant,
        root: &str,
    ) -> Result<Option<String>, StoreError> {
        let find = |tx: Tx| async move { places::project_of_root(&tx, tenant, root).await };
        self.read(TenantAccess::Only(tenant), find).await
    }

    async fn projects(
        &self,
        tenant: &Tenant,
        page: PageRequest<ProjectKey>,
    ) -> Result<Page<Project, ProjectKey>, StoreError> {
        let (most, after) = (page.most(), &page.after);
        let read =
            |tx: Tx| async move { places::projects(&tx, tenant, after.as_ref(), most + 1).await };
        let projects = self.read(TenantAccess::Only(tenant), read).await?;
        Ok(Page::cut(projects, most, key_of_project))
    }

    async fn assign_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.assign(tenant, root, (project, false), now).await
    }

    async fn roots(&self, tenant: &Tenant) -> Result<Vec<RootRecord>, StoreError> {
        let all = |tx: Tx| async move { remotes::roots(&tx, tenant).await };
        self.read(TenantAccess::Only(tenant), all).await
    }

    async fn derive_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.assign(tenant, root, (project, true), now).await
    }

    async fn forget_identity(&self, tenant: &Tenant, identity: &str) -> Result<bool, StoreError> {
        let forget = |tx: Tx| async move { places::forget_identity(&tx, tenant, identity).await };
        self.write(TenantAccess::Only(tenant), forget).await
    }
}

#[async_trait]
impl ImportStore for PostgresStore {
    async fn begin_import(
        &self,
        tenant: &Tenant,
        what: &str,
        now: Timestamp,
    ) -> Result<ImportNo, StoreError> {
        let begin = |tx: Tx| async move { sources::begin_import(&tx, tenant, what, now).await };
        self.write(TenantAccess::Only(tenant), begin).await
    }

    async fn end_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let end = |tx: Tx| async move { sources::end_import(&tx, tenant, import, now).await };
        self.write(TenantAccess::Only(tenant), end).await
    }

    async fn imports(
        &self,
        tenant: &Tenant,
        page: PageRequest<ImportNo>,
    ) -> Result<Page<ImportRun, ImportNo>, StoreError> {
        let most = page.most();
        let before = page.after.unwrap_or(ImportNo(i64::MAX));
        let newest = |tx: Tx| async move { sources::imports(&tx, tenant, before, most + 1).await };
        let imports = self.read(TenantAccess::Only(tenant), newest).await?;
        Ok(Page::cut(imports, most, |import| import.no))
    }

    async fn undo_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<UndoneImport, StoreError> {
        self.undo(tenant, import, now).await
    }
}

/// Appends within a transaction, with what a thread keeps beside each event.
pub(super) async fn add(
    tx: &Tx,
    append: &Append,
    entries: &[String],
) -> Result<AppendPositions, Fault> {
    if let Some(import) = append.import {
        sources::lock_import(tx, &append.session.id.tenant, import).await?;
    }
    let found = lock_session(tx, &append.session.id).await?;
    add_to(tx, found, append, entries).await
}

/// [`add`] to the session that was found and locked.
pub(super) async fn add_to(
    tx: &Tx,
    found: Option<SessionRow>,
    append: &Append,
    entries: &[String],
) -> Result<AppendPositions, Fault> {
    let purged = tombstones::purged_of(tx, &append.session.id.tenant, &[append]).await?;
    let purged = purged.into_iter().next().unwrap_or_default();
    let known = found.as_ref().filter(|row| row.known);
    if purged.refuses(append, known.is_some()) {
        let last = known.map_or(EventSeq(0), |row| row.session.events);
        return Ok(AppendPositions::of_purged(append, last));
    }
    purged.check_entries(append, entries)?;
    let (mut row, before) = match found {
        Some(row) if row.known => {
            let before = row.session.clone();
            (row, Some(before))
        }
        cited => (create(tx, append, cited).await?, None),
    };
    if before.is_some() {
        log::check_venue(&row.session, &append.session)?;
    }
    let last = row.session.events.0;
    log::merge_meta(&mut row.session, &append.session);
    let shared = shared_no(tx, &row.session).await?;
    row.scan.note_append(before.is_none(), append.rules);
    let (rows, new, seqs) = rows_to_add(tx, &mut row, append, (entries, &purged)).await?;
    let polluting = pollute(&mut row.session, &new);
    if polluting != PollutionEffect::None {
        save(tx, &row);
        rederive_learned(tx, &row, &append.switches, append.now).await?;
    }
    let added = row.session.events.0 - last;
    let range = (EventSeq(last + 1), row.session.events);
    let notes_range = before.is_none() || added > 0;
    insert(tx, row.tenant, shared, &rows);
    remotes::note(tx, &row, &append.remotes).await?;
    if added > 0 && before.is_some() {
        note_entries(tx, &[(row.no, append.now)]);
    }
    note(tx, &row, append, notes_range.then_some(range)).await?;
    let key = JobKey::Extract(row.session.id.clone());
    let user = row.session.user.as_deref();
    match log::extraction_effect(before.as_ref(), &row.session, &new, append) {
        ExtractionEffect::Mark(mark) => {
            job_rows::change_or_create(tx, &key, user, |job| job.mark(mark)).await?;
        }
        ExtractionEffect::Pass(upto) => pass_over(tx, &mut row, upto).await?,
        ExtractionEffect::None => {}
    }
    save(tx, &row);
    Ok(AppendPositions {
        before: EventSeq(last),
        last: row.session.events,
        seqs,
        polluted: polluting == PollutionEffect::Marked,
    })
}

/// Records an append for its import and its file.
async fn note(
    tx: &Tx,
    row: &SessionRow,
    append: &Append,
    range: Option<(EventSeq, EventSeq)>,
) -> Result<(), Fault> {
    if let (Some(import), Some(range)) = (append.import, range) {
        sources::note_range(tx, import, row.no, range).await?;
    }
    let Some(source) = &append.source else {
        return Ok(());
    };
    if let Some(import) = append.import {
        sources::keep_state_before(tx, row.tenant, import, &source.path).await?;
    }
    let session = match &source.session {
        Some(id) if *id == append.session.id => Some(row.no),
        Some(id) => Some(session_no(tx, id).await?),
        None => None,
    };
    sources::replace(tx, row.tenant, source, session).await
}

async fn switch_memory(
    tx: &Tx,
    id: &SessionId,
    on: bool,
    (switches, now): (&Switches, Timestamp),
) -> Result<bool, Fault> {
    let found = lock_session(tx, id).await?;
    let Some(mut row) = found.filter(|row| row.known) else {
        return Ok(false);
    };
    let was_polluted = row.session.pollution.is_some();
    let changed = row.session.switch(on);
    let upto = row.session.events.0;
    if changed && upto > 0 {
        pass_over(tx, &mut row, upto).await?;
    }
    save(tx, &row);
    if on && was_polluted {
        rederive_learned(tx, &row, switches, now).await?;
        if let Some(mark) = mark_of_clean(&row.session, switches, now) {
            let key = JobKey::Extract(id.clone());
            let user = row.session.user.as_deref();
            job_rows::change_or_create(tx, &key, user, |job| job.mark(mark)).await?;
        }
    }
    Ok(true)
}

/// Moves a session's extraction past events that are never learned. The caller saves the session's row.
async fn pass_over(tx: &Tx, row: &mut SessionRow, upto: u64) -> Result<(), Fault> {
    let key = JobKey::Extract(row.session.id.clone());
    let user = row.session.user.as_deref();
    let passed = job_rows::change_or_create(tx, &key, user, |job| job.pass(upto)).await?;
    if let Some(range) = passed {
        row.session.pass(range);
    }
    Ok(())
}

/// Inserts a session with a label; `cited` is its row where it was cited before.
async fn create(tx: &Tx, append: &Append, cited: Option<SessionRow>) -> Result<SessionRow, Fault> {
    let id = &append.session.id;
    let tenant = match &cited {
        Some(row) => row.tenant,
        None => tenant_no(tx, &id.tenant).await?,
    };
    let label = label(tx, tenant, &id.host_id).await?;
    let session = log::new_session(&append.session, label);
    let first_source = append.source.as_ref().map(|source| source.path.clone());
    let no = match cited {
        Some(row) => {
            let know = "UPDATE sessions SET known = TRUE, label = $2, first_source = $3
                WHERE session_no = $1";
            let values = values![row.no, &session.label, &first_source];
            tx.execute(know, values).await?;
            row.no
        }
        None => {
            let insert = "INSERT INTO sessions (tenant_no, agent, host_id, known, label, kind,
                    memory_off, first_at, last_at, events, last_line, first_source)
                VALUES ($1, $2, $3, TRUE, $4, $5, FALSE, 0, 0, 0, 0, $6) RETURNING session_no";
            let values = values![
                tenant,
                &id.agent,
                &id.host_id,
                &session.label,
                session.kind.as_str(),
                &first_source,
            ];
            get(&tx.one(insert, values).await?, "session_no")?
        }
    };
    Ok(SessionRow {
        no,
        tenant,
        session,
        known: true,
        last_line: 0,
        first_source,
        scan: ScanState::NEW,
    })
}

/// A label for a new session. If another transaction takes the same one meanwhile, this one is tried again.
async fn label(tx: &Tx, tenant: i64, host_id: &str) -> Result<String, Fault> {
    let beginnings: Vec<&str> = host_id
        .char_indices()
        .map(|(at, character)| &host_id[..at + character.len_utf8()])
        .collect();
    let look = "SELECT ARRAY (
            (SELECT host_id FROM sessions WHERE tenant_no = $1 AND known AND host_id <= $2
                ORDER BY host_id DESC LIMIT 1)
            UNION ALL
            (SELECT host_id FROM sessions WHERE tenant_no = $1 AND known AND host_id >= $2
                ORDER BY host_id LIMIT 1)
        ) AS neighbours, ARRAY (
            SELECT label FROM sessions WHERE tenant_no = $1 AND label = ANY ($3)
            UNION ALL
            SELECT label FROM sessions
            WHERE tenant_no = $1 AND label >= $2 || '~' AND label < $2 || chr(127)
        ) AS taken";
    let row = tx.one(look, values![tenant, host_id, beginnings]).await?;
    let neighbours: Vec<String> = get(&row, "neighbours")?;
    let taken: Vec<String> = get(&row, "taken")?;
    let taken: HashSet<&str> = taken.iter().map(String::as_str).collect();
    labels::choose(host_id, &neighbours, |label| Ok(taken.contains(label)))
}

/// An event to be inserted as a row.
pub(super) struct NewEventRow<'a> {
    no: i64,
    line: u32,
    place: Option<PlaceNumbers>,
    event: &'a NewEvent,
    entry: Option<&'a str>,
}

/// The events that are new, as rows, with the session's own row extended; and the position of each event, old
/// or new.
async fn rows_to_add<'a>(
    tx: &Tx,
    row: &mut SessionRow,
    append: &'a Append,
    (entries, purged): (&'a [String], &PurgedAppend),
) -> Result<(Vec<NewEventRow<'a>>, AddedEvents, Vec<EventSeq>), Fault> {
    let mut known = known_ids(tx, row, append).await?;
    // Passed over like events that the session has.
    let gone = append.events.iter().filter(|event| purged.has(event.id));
    known.extend(gone.map(|event| (event.id, EventSeq(0))));
    let mut named: Vec<&Place> = append
        .events
        .iter()
        .filter(|event| !known.contains_key(&event.id))
        .filter_map(|event| event.place.as_ref())
        .collect();
    named.sort();
    named.dedup();
    let numbers = if named.is_empty() {
        Vec::new()
    } else {
        places::place_nos(tx, row.tenant, &named).await?
    };
    let number_of = |place: &Place| named.binary_search(&place).ok().map(|nth| numbers[nth]);
    Ok(place_rows(row, append, entries, &mut known, number_of))
}

/// The events that are not `known`, as rows. Extends the session's row and `known`.
pub(super) fn place_rows<'a>(
    row: &mut SessionRow,
    append: &'a Append,
    entries: &'a [String],
    known: &mut HashMap<EventId, EventSeq>,
    number_of: impl Fn(&Place) -> Option<PlaceNumbers>,
) -> (Vec<NewEventRow<'a>>, AddedEvents, Vec<EventSeq>) {
    let source = append.source.as_ref().map(|source| &source.path);
    let mut numbering = Numbering::after(row.last_line, row.first_source.as_ref() == source);
    let mut added = AddedEvents::default();
    let mut rows = Vec::with_capacity(append.events.len());
    let mut seqs = Vec::with_capacity(append.events.len());
    for (nth, event) in append.events.iter().enumerate() {
        let seq = EventSeq(row.session.events.0 + 1);
        let at = *known.entry(event.id).or_insert(seq);
        seqs.push(at);
        if at != seq {
            continue;
        }
        let line = numbering.number(event);
        rows.push(NewEventRow {
            no: event_no(row.no, seq),
            line,
            place: event.place.as_ref().and_then(&number_of),
            event,
            entry: entries.get(nth).map(String::as_str),
        });
        log::add_event(&mut row.session, seq, event.at);
        row.last_line = line;
        added.note(event, (seq, line), &append.switches.pollution);
    }
    (rows, added, seqs)
}

/// The positions of those of the events that the session has.
async fn known_ids(
    tx: &Tx,
    row: &SessionRow,
    append: &Append,
) -> Result<HashMap<EventId, EventSeq>, Fault> {
    if row.session.events.0 == 0 || append.events.is_empty() {
        return Ok(HashMap::new());
    }
    let ids = append.events.iter().map(|event| event.id);
    let ids: Vec<Vec<u8>> = ids.map(|id| id.0.to_be_bytes().to_vec()).collect();
    let find = "SELECT id, event_no FROM events WHERE session_no = $1 AND id = ANY ($2)";
    let rows = tx.rows(find, values![row.no, ids]).await?;
    rows.iter()
        .map(|row| Ok((events::id_of(row)?, seq_of(get(row, "event_no")?))))
        .collect()
}

/// Inserts events of a tenant, their places, and their index entries. `shared` is the scope of the room or the team that
/// holds their session.
pub(super) fn insert(tx: &Tx, tenant: i64, shared: Option<i64>, rows: &[NewEventRow<'_>]) {
    if rows.is_empty() {
        return;
    }
    let insert = "WITH added AS (
            SELECT event_no >> 32 AS session_no, added.*
            FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) AS added
                (event_no, id, line, origin, at, tool, call, status, sidechain, place_no, text, entry)
        ), noted AS (
            INSERT INTO session_places (tenant_no, session_no, place_no)
            SELECT DISTINCT $1, session_no, place_no FROM added WHERE place_no IS NOT NULL
            ON CONFLICT DO NOTHING
        )
        INSERT INTO events (tenant_no, session_no, event_no, id, line, origin, at, tool, call,
            status, sidechain, place_no, text, entry)
        SELECT $1, added.* FROM added";
    let values = values![
        tenant,
        column(rows, |row| row.no),
        column(rows, |row| row.event.id.0.to_be_bytes().to_vec()),
        column(rows, |row| i64::from(row.line)),
        column(rows, |row| row.event.origin.as_str()),
        column(rows, |row| row.event.at.0),
        column(rows, |row| row.event.tool.as_deref()),
        column(rows, |row| row.event.call.as_deref()),
        column(rows, |row| row.event.status.map(|status| status.as_str())),
        column(rows, |row| row.event.sidechain),
        column(rows, |row| row.place.map(|(place, _)| place)),
        column(rows, |row| row.event.text.as_str()),
        column(rows, |row| row.entry),
    ];
    let documents = column(rows, |row| {
        let root = row.place.map(|(_, root)| root_owner(root));
        NewDocument::event(row.no, shared.or(root), row.event)
    });
    tx.defer(Sql::Kept(insert), values);
    insert_retractions(tx, tenant, rows);
    index_rows::put(tx, tenant, &documents);
}

/// Adds what events of a tenant retract.
fn insert_retractions(tx: &Tx, tenant: i64, rows: &[NewEventRow<'_>]) {
    let (mut events, mut targets): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
    for row in rows {
        events.extend(row.event.retracts.iter().map(|_| row.no));
        targets.extend(row.event.retracts.iter().map(|seq| seq.0.cast_signed()));
    }
    if events.is_empty() {
        return;
    }
    let insert = "INSERT INTO event_retractions (tenant_no, event_no, target)
        SELECT $1, added.* FROM unnest($2, $3) AS added (event_no, target) ON CONFLICT DO NOTHING";
    tx.defer(insert, values![tenant, events, targets]);
}

fn column<'a, T>(rows: &[NewEventRow<'a>], part: impl Fn(&NewEventRow<'a>) -> T) -> Vec<T> {
    rows.iter().map(part).collect()
}

pub(super) fn save(tx: &Tx, row: &SessionRow) {
    save_all(tx, &[row]);
}

/// Writes sessions that were locked in this transaction.
pub(super) fn save_all(tx: &Tx, rows: &[&SessionRow]) {
    if rows.is_empty() {
        return;
    }
    let update = "UPDATE sessions SET kind = now.kind, memory_off = now.memory_off,
            switched_off = now.switched_off, kept_on = now.kept_on, pollution = now.pollution,
            forked_from = now.forked_from, \"user\" = now.user, surface = now.surface,
            first_at = now.first_at, last_at = now.last_at, events = now.events,
            passed = now.passed, last_line = now.last_line, rules = now.rules,
            rescan = now.rescan, room_id = now.room_id, thread_id = now.thread_id,
            team = now.team, filed_in = now.filed_in
        FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
            $18, $19, $20) AS now
            (session_no, kind, memory_off, switched_off, kept_on, pollution, forked_from, \"user\",
            surface, first_at, last_at, events, passed, last_line, rules, rescan, room_id,
            thread_id, team, filed_in)
        WHERE sessions.session_no = now.session_no";
    let values = values![
        part(rows, |row| row.no),
        part(rows, |row| row.session.kind.as_str()),
        part(rows, |row| row.session.memory_off),
        part(rows, |row| row.session.switched_off),
        part(rows, |row| row.session.kept_on),
        part(rows, |row| pollution_text(row.session.pollution.as_ref())),
        part(rows, |row| row.session.forked_from.as_deref()),
        part(rows, |row| row.session.user.as_deref()),
        part(rows, |row| row.session.surface.as_deref()),
        part(rows, |row| row.session.first_at.0),
        part(rows, |row| row.session.last_at.0),
        part(rows, |row| saturating_count(row.session.events.0)),
        part(rows, |row| ranges::to_text(&row.session.passed)),
        part(rows, |row| i64::from(row.last_line)),
        part(rows, |row| saturating_count(row.scan.rules.0)),
        part(rows, |row| row
            .scan
            .rescan
            .map(|rules| saturating_count(rules.0))),
        part(rows, |row| row.session.venue.room_id.as_deref()),
        part(rows, |row| row.session.venue.thread_id.as_deref()),
        part(rows, |row| row.session.venue.team.as_deref()),
        part(rows, |row| row.session.venue.filed_in.as_deref()),
    ];
    tx.defer(update, values);
}

fn part<'a, T>(rows: &[&'a SessionRow], of: impl Fn(&'a SessionRow) -> T) -> Vec<T> {
    rows.iter().map(|row| of(row)).collect()
}

/// Records when sessions had their last events, if they have threads.
pub(super) fn note_entries(tx: &Tx, sessions: &[(i64, Timestamp)]) {
    if sessions.is_empty() {
        return;
    }
    let note = "UPDATE threads SET updated_at = now.at
        FROM (SELECT session_no, max(at) AS at FROM unnest($1, $2) AS noted (session_no, at)
            GROUP BY session_no) AS now
        WHERE threads.session_no = now.session_no";
    let numbers: Vec<i64> = sessions.iter().map(|(no, _)| *no).collect();
    let times: Vec<i64> = sessions.iter().map(|(_, at)| at.0).collect();
    tx.defer(note, values![numbers, times]);
}
