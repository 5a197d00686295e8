//! The session log.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::index::DocumentNo;
use daybook_domain::seams::{
    Append, AppendOutcome, ImportStore, PlaceStore, ProjectKey, SessionCatalog, SessionKey,
    SessionLog, SourceStore,
};
use daybook_domain::source::{ImportNo, ImportRun, TranscriptSource, UndoneImport};
use daybook_domain::{
    Event, EventId, EventSeq, JobKey, NewEvent, Page, PageRequest, Place, Project, RootRecord,
    Session, SessionId, StoreError, Tenant, Timestamp,
};

use super::{MemorySessionRow, MemoryState, MemoryStore};
use crate::bounds::{FOUND_SESSIONS, check_append, check_source};
use crate::lines::Numbering;
use crate::log::{AddedEvents, AppendPositions, ExtractionEffect, ScanState};
use crate::page_keys::{key_of_project, key_of_session};
use crate::pollution::{PollutionEffect, mark_of_clean, pollute};
use crate::{labels, log};

#[async_trait]
impl SessionLog for MemoryStore {
    async fn append(&self, append: &Append) -> Result<AppendOutcome, StoreError> {
        check_append(append)?;
        let mut state = self.lock_for_change();
        state.check_import(&append.session.id.tenant, append.import)?;
        Ok(state.add(append, &[])?.outcome())
    }

    async fn event_ids(&self, session: &SessionId) -> Result<Vec<(EventSeq, EventId)>, StoreError> {
        let state = self.lock();
        let known = state.sessions.get(session).map(|row| &row.ids);
        let mut ids: Vec<(EventSeq, EventId)> = known
            .into_iter()
            .flatten()
            .map(|(id, seq)| (*seq, *id))
            .collect();
        ids.sort_unstable();
        Ok(ids)
    }

    async fn events(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Event>, StoreError> {
        let state = self.lock();
        let Some(row) = state.sessions.get(session) else {
            return Ok(Vec::new());
        };
        let window = row
            .events
            .values()
            .filter(|e| e.seq > after && e.seq <= upto);
        let mut events: Vec<Event> = Vec::new();
        let mut size = 0;
        for event in window.take(limit) {
            size += event.text.len();
            if size > bytes && !events.is_empty() {
                break;
            }
            events.push(event.clone());
        }
        Ok(events)
    }

    async fn events_at(
        &self,
        session: &SessionId,
        (from, to): (u32, u32),
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        let state = self.lock();
        let Some(row) = state.sessions.get(session) else {
            return Ok(Vec::new());
        };
        let cited = row
            .events
            .values()
            .filter(|e| (from..=to).contains(&e.line));
        Ok(cited.take(limit).cloned().collect())
    }

    async fn retracted_seqs(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
    ) -> Result<BTreeSet<EventSeq>, StoreError> {
        let state = self.lock();
        let Some(row) = state.sessions.get(session) else {
            return Ok(BTreeSet::new());
        };
        let within = |seq: &EventSeq| *seq > after && *seq <= upto;
        let retracts = row.retracts.iter().filter(|(seq, _)| within(seq));
        Ok(retracts.flat_map(|(_, targets)| targets).copied().collect())
    }
}

#[async_trait]
impl SessionCatalog for MemoryStore {
    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        let state = self.lock();
        Ok(state.sessions.get(id).map(|row| row.session.clone()))
    }

    async fn sessions(
        &self,
        tenant: &Tenant,
        page: PageRequest<SessionKey>,
    ) -> Result<Page<Session, SessionKey>, StoreError> {
        let mut sessions = self.lock().newest_sessions_of(tenant);
        if let Some((last_at, id)) = &page.after {
            sessions.retain(|session| {
                (Reverse(session.last_at), &session.id) > (Reverse(*last_at), id)
            });
        }
        Ok(Page::cut(sessions, page.most(), key_of_session))
    }

    async fn sessions_active(
        &self,
        tenant: &Tenant,
        (from, to): (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        let mut sessions = self.lock().newest_sessions_of(tenant);
        sessions.retain(|session| (from..=to).contains(&session.last_at));
        sessions.truncate(limit);
        Ok(sessions)
    }

    async fn switch_memory(
        &self,
        id: &SessionId,
        on: bool,
        switches: &Switches,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock_for_change();
        let Some(row) = state.sessions.get_mut(id) else {
            return Ok(false);
        };
        let was_polluted = row.session.pollution.is_some();
        let changed = row.session.switch(on);
        let session = row.session.clone();
        let (key, user) = (JobKey::Extract(id.clone()), session.user.as_deref());
        if changed && session.events.0 > 0 {
            state.pass_over(&key, user, session.events.0);
        }
        if on && was_polluted {
            state.rederive_learned(&session, switches, now);
            if let Some(mark) = mark_of_clean(&session, switches, now) {
                state.change_or_create(&key, user, |job| job.mark(mark));
            }
        }
        Ok(true)
    }

    async fn find_sessions(&self, tenant: &Tenant, name: &str) -> Result<Vec<Session>, StoreError> {
        let sessions = self.lock().sessions_of(tenant);
        let labelled: Vec<Session> = sessions
            .iter()
            .filter(|s| s.label == name)
            .cloned()
            .collect();
        if !labelled.is_empty() {
            return Ok(labelled);
        }
        let begins = sessions
            .into_iter()
            .filter(|s| s.id.host_id.starts_with(name));
        Ok(begins.take(FOUND_SESSIONS).collect())
    }
}

#[async_trait]
impl SourceStore for MemoryStore {
    async fn sources(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError> {
        Ok(self.lock().page_of_sources(tenant, &page, |_| true))
    }

    async fn failing_sources(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError> {
        let is_failing = |source: &TranscriptSource| source.failure.is_some();
        Ok(self.lock().page_of_sources(tenant, &page, is_failing))
    }

    async fn sources_with_secrets(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError> {
        let has_secrets = |source: &TranscriptSource| source.secrets > 0;
        Ok(self.lock().page_of_sources(tenant, &page, has_secrets))
    }

    async fn sources_at(
        &self,
        tenant: &Tenant,
        paths: &[&str],
    ) -> Result<Vec<TranscriptSource>, StoreError> {
        let state = self.lock();
        let paths: BTreeSet<&str> = paths.iter().copied().collect();
        let known = paths.into_iter().filter_map(|path| {
            let key = (tenant.clone(), path.to_owned());
            state.sources.get(&key).cloned()
        });
        Ok(known.collect())
    }

    async fn sources_of(&self, session: &SessionId) -> Result<Vec<TranscriptSource>, StoreError> {
        let state = self.lock();
        let known = state.sources.values();
        let own = known.filter(|source| source.session.as_ref() == Some(session));
        Ok(own.cloned().collect())
    }

    async fn put_source(
        &self,
        tenant: &Tenant,
        source: &TranscriptSource,
        import: Option<ImportNo>,
    ) -> Result<(), StoreError> {
        check_source(tenant, source)?;
        let mut state = self.lock();
        state.check_import(tenant, import)?;
        state.put_source(tenant, source, import);
        Ok(())
    }
}

#[async_trait]
impl PlaceStore for MemoryStore {
    async fn places(&self, tenant: &Tenant) -> Result<Vec<(Place, Option<String>)>, StoreError> {
        Ok(self.lock().places(tenant))
    }

    async fn project_of_root(
        &self,
        tenant: &Tenant,
        root: &str,
    ) -> Result<Option<String>, StoreError> {
        Ok(self.lock().project_of_root(tenant, root))
    }

    async fn projects(
        &self,
        tenant: &Tenant,
        page: PageRequest<ProjectKey>,
    ) -> Result<Page<Project, ProjectKey>, StoreError> {
        let state = self.lock();
        let own = state.projects.iter().filter(|((of, _), _)| of == tenant);
        let is_behind = |key: ProjectKey| page.after.as_ref().is_none_or(|after| key > *after);
        let own = own.map(|(_, project)| project.clone());
        let mut projects: Vec<Project> = own
            .filter(|project| is_behind(key_of_project(project)))
            .collect();
        projects.sort();
        Ok(Page::cut(projects, page.most(), key_of_project))
    }

    async fn assign_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.lock_for_change()
            .assign_root(tenant, root, project, false, now);
        Ok(())
    }

    async fn roots(&self, tenant: &Tenant) -> Result<Vec<RootRecord>, StoreError> {
        Ok(self.lock().root_records(tenant))
    }

    async fn derive_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.lock_for_change()
            .assign_root(tenant, root, project, true, now);
        Ok(())
    }

    async fn forget_identity(&self, tenant: &Tenant, identity: &str) -> Result<bool, StoreError> {
        let key = (tenant.clone(), identity.to_owned());
        Ok(self.lock_for_change().projects.remove(&key).is_some())
    }
}

#[async_trait]
impl ImportStore for MemoryStore {
    async fn begin_import(
        &self,
        tenant: &Tenant,
        what: &str,
        now: Timestamp,
    ) -> Result<ImportNo, StoreError> {
        Ok(self.lock().begin_import(tenant, what, now))
    }

    async fn end_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut state = self.lock();
        state.check_import(tenant, Some(import))?;
        if let Some(row) = state.imports.get_mut(&import.0) {
            row.import.ended_at = Some(now);
        }
        Ok(())
    }

    async fn imports(
        &self,
        tenant: &Tenant,
        page: PageRequest<ImportNo>,
    ) -> Result<Page<ImportRun, ImportNo>, StoreError> {
        let state = self.lock();
        let own = state.imports.values().filter(|row| &row.tenant == tenant);
        let is_behind = |import: &ImportRun| page.after.is_none_or(|after| import.no < after);
        let older = own.rev().filter(|row| is_behind(&row.import));
        let older = older.take(page.most() + 1).map(|row| row.import.clone());
        Ok(Page::cut(older.collect(), page.most(), |import| import.no))
    }

    async fn undo_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<UndoneImport, StoreError> {
        let mut state = self.lock_for_change();
        state.check_import(tenant, Some(import))?;
        Ok(state.undo_import(import, now))
    }
}

impl MemoryState {
    /// A tenant's sessions, by id.
    pub(super) fn sessions_of(&self, tenant: &Tenant) -> Vec<Session> {
        let rows = self
            .sessions
            .values()
            .filter(|row| &row.session.id.tenant == tenant);
        rows.map(|row| row.session.clone()).collect()
    }

    /// A tenant's sessions, newest activity first, then by id.
    fn newest_sessions_of(&self, tenant: &Tenant) -> Vec<Session> {
        let mut sessions = self.sessions_of(tenant);
        sessions.sort_by_key(|session| Reverse(session.last_at));
        sessions
    }

    /// Appends, with what a thread keeps beside each event.
    pub(super) fn add(
        &mut self,
        append: &Append,
        entries: &[String],
    ) -> Result<AppendPositions, StoreError> {
        let id = &append.session.id;
        let before = self.sessions.get(id).map(|row| row.session.clone());
        if let Some(before) = &before {
            log::check_venue(before, &append.session)?;
        }
        let mut row = match self.sessions.remove(id) {
            Some(row) => row,
            None => self.new_session(append),
        };
        let last = row.session.events.0;
        log::merge_meta(&mut row.session, &append.session);
        row.scan.note_append(before.is_none(), append.rules);
        let (new, seqs) = self.add_events(&mut row, append, entries);
        let polluting = pollute(&mut row.session, &new);
        self.note_remotes(&row, &append.remotes);
        let session = row.session.clone();
        self.sessions.insert(id.clone(), row);
        if polluting != PollutionEffect::None {
            self.rederive_learned(&session, &append.switches, append.now);
        }
        let added = session.events.0 - last;
        if let Some(thread) = self.threads.get_mut(id).filter(|_| added > 0) {
            thread.row.updated_at = append.now;
        }
        if let Some(import) = append.import.filter(|_| before.is_none() || added > 0) {
            self.note_range(import, id, (last + 1, session.events.0));
        }
        if let Some(source) = &append.source {
            self.put_source(&id.tenant, source, append.import);
        }
        let key = JobKey::Extract(id.clone());
        let user = session.user.as_deref();
        match log::extraction_effect(before.as_ref(), &session, &new, append) {
            ExtractionEffect::Mark(mark) => self.change_or_create(&key, user, |job| job.mark(mark)),
            ExtractionEffect::Pass(upto) => self.pass_over(&key, user, upto),
            ExtractionEffect::None => {}
        }
        Ok(AppendPositions {
            before: EventSeq(last),
            last: session.events,
            seqs,
            polluted: polluting == PollutionEffect::Marked,
        })
    }

    /// Moves a session's extraction past events that are never learned.
    fn pass_over(&mut self, key: &JobKey, user: Option<&str>, upto: u64) {
        let passed = self.change_or_create(key, user, |job| job.pass(upto));
        if let (Some(range), JobKey::Extract(id)) = (passed, key)
            && let Some(row) = self.sessions.get_mut(id)
        {
            row.session.pass(range);
        }
    }

    fn new_session(&mut self, append: &Append) -> MemorySessionRow {
        let id = &append.session.id;
        let others = self.sessions_of(&id.tenant);
        let ids: Vec<String> = others
            .iter()
            .map(|other| other.id.host_id.clone())
            .collect();
        let label = labels::choose(&id.host_id, &ids, |label| {
            Ok::<_, std::convert::Infallible>(others.iter().any(|other| other.label == label))
        });
        let Ok(label) = label;
        MemorySessionRow {
            no: self.number(id),
            session: log::new_session(&append.session, label),
            last_line: 0,
            first_source: append.source.as_ref().map(|source| source.path.clone()),
            scan: ScanState::NEW,
            events: BTreeMap::new(),
            entries: BTreeMap::new(),
            retracts: BTreeMap::new(),
            ids: HashMap::new(),
        }
    }

    /// Adds the events that are new. Returns the position of each event, old or new.
    fn add_events(
        &mut self,
        row: &mut MemorySessionRow,
        append: &Append,
        entries: &[String],
    ) -> (AddedEvents, Vec<EventSeq>) {
        let source = append.source.as_ref().map(|source| &source.path);
        let mut numbering = Numbering::after(row.last_line, row.first_source.as_ref() == source);
        let mut added = AddedEvents::default();
        let mut seqs = Vec::with_capacity(append.events.len());
        for (nth, event) in append.events.iter().enumerate() {
            if let Some(&seq) = row.ids.get(&event.id) {
                seqs.push(seq);
                continue;
            }
            let seq = EventSeq(row.session.events.0 + 1);
            row.last_line = numbering.number(event);
            row.ids.insert(event.id, seq);
            row.events.insert(seq, stored(event, seq, row.last_line));
            if !event.retracts.is_empty() {
                row.retracts.insert(seq, event.retracts.clone());
            }
            if let Some(entry) = entries.get(nth) {
                row.entries.insert(seq, entry.clone());
            }
            if let Some(place) = &event.place {
                let root = (row.session.id.tenant.clone(), place.root.clone());
                self.roots.entry(root).or_default();
            }
            let doc = DocumentNo::event(row.no, seq, event.origin);
            self.put_document(doc.0, &event.tokens);
            log::add_event(&mut row.session, seq, event.at);
            added.note(event, (seq, row.last_line), &append.switches.pollution);
            seqs.push(seq);
        }
        (added, seqs)
    }
}

fn stored(event: &NewEvent, seq: EventSeq, line: u32) -> Event {
    Event {
        seq,
        line,
        origin: event.origin,
        at: event.at,
        text: event.text.clone(),
        tool: event.tool.clone(),
        call: event.call.clone(),
        status: event.status,
        sidechain: event.sidechain,
        place: event.place.clone(),
    }
}
