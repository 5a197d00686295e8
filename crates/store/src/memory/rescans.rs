//! Rescans: sessions that other rules redacted, and the replacement of their texts.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use daybook_domain::index::DocumentNo;
use daybook_domain::rescan::{
    EventRewrite, SessionRewrite, SessionTexts, StoredEvent, TextField, TextRewrite,
};
use daybook_domain::seams::RescanStore;
use daybook_domain::source::TranscriptSource;
use daybook_domain::{
    EventSeq, FinishOutcome, JobKey, JobKind, LeaseToken, ObservationId, RulesRevision, SessionId,
    StoreError, TallyKind, Timestamp,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use strum::VariantArray;

use super::{ImportRow, MemoryState, MemoryStore};
use crate::evidence::TouchedObservations;

/// Reads a text, and returns what takes its place, if anything.
type Visit<'a> = &'a mut dyn FnMut(&str) -> Option<String>;

#[async_trait]
impl RescanStore for MemoryStore {
    async fn raise_rescans(
        &self,
        rules: RulesRevision,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let mut state = self.lock_for_change();
        let lacking = state.sessions.iter();
        let lacking: Vec<SessionId> = lacking
            .filter(|(_, row)| row.scan.lacks(rules))
            .map(|(id, _)| id.clone())
            .collect();
        for id in &lacking {
            state.raise_rescan(id, rules, now);
        }
        Ok(lacking.len())
    }

    async fn raise_rescan(
        &self,
        session: &SessionId,
        rules: RulesRevision,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        Ok(self.lock_for_change().raise_rescan(session, rules, now))
    }

    async fn log_entries(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let state = self.lock();
        let Some(row) = state.sessions.get(session) else {
            return Ok(Vec::new());
        };
        let mut entries: Vec<StoredEvent> = Vec::new();
        let mut size = 0;
        let window = row.events.values();
        let window = window.filter(|event| event.seq > after && event.seq <= upto);
        for event in window.take(limit) {
            let entry = row.entries.get(&event.seq).cloned();
            size += event.text.len() + entry.as_ref().map_or(0, String::len);
            if size > bytes && !entries.is_empty() {
                break;
            }
            let event = event.clone();
            entries.push(StoredEvent { event, entry });
        }
        Ok(entries)
    }

    async fn rewrite_events(
        &self,
        lease: &LeaseToken,
        upto: EventSeq,
        rewrites: &[EventRewrite],
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let mut state = self.lock_for_change();
        let (outcome, session) = state.finish_rescan(lease, Some(upto), now);
        let Some(session) = session.filter(|_| !rewrites.is_empty()) else {
            return Ok(outcome);
        };
        for rewrite in rewrites {
            state.rewrite_event(&session, rewrite);
        }
        if let Some(thread) = state.threads.get_mut(&session) {
            thread.snapshot = None;
        }
        if let Some(job) = state.jobs.get_mut(&JobKey::Extract(session)) {
            job.interrupt();
        }
        Ok(outcome)
    }

    async fn session_texts(&self, session: &SessionId) -> Result<SessionTexts, StoreError> {
        let mut state = self.lock();
        let mut texts = BTreeSet::new();
        for &field in TextField::VARIANTS {
            state.visit_texts(session, field, &mut |text| {
                texts.insert((field, text.to_owned()));
                None
            });
        }
        Ok(SessionTexts {
            evidence: state.stored_evidence(session),
            texts: texts.into_iter().collect(),
        })
    }

    async fn rewrite_session(
        &self,
        lease: &LeaseToken,
        rewrite: &SessionRewrite,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let mut state = self.lock_for_change();
        let (outcome, session) = state.finish_rescan(lease, None, now);
        let Some(session) = session else {
            return Ok(outcome);
        };
        let mut touched = TouchedObservations::default();
        let mut changed = false;
        for evidence in &rewrite.evidence {
            changed |= state.rewrite_piece(&session, evidence, &mut touched);
        }
        for text in &rewrite.texts {
            changed |= state.rewrite_text(&session, text);
        }
        let mut scopes = state.settle(&touched).scopes;
        if changed {
            scopes.extend(rewrite.concerns.iter().cloned());
        }
        state.raise(scopes, now);
        if let Some(row) = state.sessions.get_mut(&session)
            && outcome == FinishOutcome::Complete
        {
            row.scan.finish(rewrite.rules);
        }
        Ok(outcome)
    }

    async fn erase_replaced(&self) -> Result<bool, StoreError> {
        Ok(true)
    }
}

impl MemoryState {
    /// Raises a session's rescan. False when there is no such session.
    fn raise_rescan(&mut self, id: &SessionId, rules: RulesRevision, now: Timestamp) -> bool {
        let Some(row) = self.sessions.get_mut(id) else {
            return false;
        };
        row.scan.raise(rules);
        let (user, input) = (row.session.user.clone(), row.session.events.0 + 1);
        let key = JobKey::Redact(id.clone());
        self.delete_gaps(&key);
        self.change_or_create(&key, user.as_deref(), |job| job.start_over(input, now));
        true
    }

    /// Ends the claim of a rescan. The session is missing where an import was undone.
    fn finish_rescan(
        &mut self,
        lease: &LeaseToken,
        upto: Option<EventSeq>,
        now: Timestamp,
    ) -> (FinishOutcome, Option<SessionId>) {
        let (JobKey::Redact(id), Some(job)) = (lease.job(), self.jobs.get_mut(lease.job())) else {
            return (FinishOutcome::LeaseLost, None);
        };
        let upto = upto.map_or(job.input, |upto| upto.0);
        let outcome = job.finish(lease, upto, now);
        self.tally(JobKind::Redact, TallyKind::finish(outcome));
        let is_ours = outcome != FinishOutcome::LeaseLost && self.sessions.contains_key(id);
        (outcome, is_ours.then(|| id.clone()))
    }

    fn rewrite_event(&mut self, session: &SessionId, rewrite: &EventRewrite) {
        let EventRewrite {
            before,
            after,
            tokens,
        } = rewrite;
        let seq = before.event.seq;
        let Some(row) = self.sessions.get_mut(session) else {
            return;
        };
        let entry = row.entries.get(&seq);
        if row.events.get(&seq) != Some(&before.event) || entry != before.entry.as_ref() {
            return;
        }
        row.events.insert(seq, after.event.clone());
        if let Some(entry) = &after.entry {
            row.entries.insert(seq, entry.clone());
        }
        let doc = DocumentNo::event(row.no, seq, after.event.origin);
        self.put_document(doc.0, tokens);
        if after.event.place == before.event.place {
            return;
        }
        let roots = [&before.event, &after.event].map(|event| event.place.as_ref());
        if let [Some(former), Some(place)] = roots {
            self.replace_root(session, &former.root, &place.root);
        }
    }

    /// Adds a root, which takes over what the former one belonged to where that has no events left.
    fn replace_root(&mut self, session: &SessionId, former: &str, root: &str) {
        let key = |root: &str| (session.tenant.clone(), root.to_owned());
        self.roots.entry(key(root)).or_default();
        if self.is_place(&session.tenant, former) {
            return;
        }
        let Some(old) = self.roots.remove(&key(former)) else {
            return;
        };
        let new = self.roots.entry(key(root)).or_default();
        if new.project.is_none() {
            *new = old;
        }
    }

    fn rewrite_text(&mut self, session: &SessionId, text: &TextRewrite) -> bool {
        if text.field == TextField::Retraction {
            self.move_retraction(session, text);
        }
        let mut changed = false;
        self.visit_texts(session, text.field, &mut |stored| {
            let is_it = stored == text.before;
            changed |= is_it;
            is_it.then(|| text.after.clone())
        });
        changed
    }

    /// Gives retractions of a replaced text the identity of the text that takes its place.
    fn move_retraction(&mut self, session: &SessionId, text: &TextRewrite) {
        let moved = std::mem::take(&mut self.retractions).into_iter();
        let moved = moved.map(|((scope, id, of, seq), row)| {
            let is_it = &of == session
                && row.text == text.before
                && id == ObservationId::of(&scope, row.kind, &text.before);
            let id = match is_it {
                true => ObservationId::of(&scope, row.kind, &text.after),
                false => id,
            };
            ((scope, id, of, seq), row)
        });
        self.retractions = moved.collect();
    }

    /// Visits the values of a field that a session has.
    fn visit_texts(&mut self, session: &SessionId, field: TextField, visit: Visit<'_>) {
        match field {
            TextField::ForkedFrom
            | TextField::User
            | TextField::Surface
            | TextField::RoomId
            | TextField::ThreadId
            | TextField::Team
            | TextField::FiledIn
            | TextField::FirstSource => self.visit_session(session, field, visit),
            TextField::ThreadCustom => {
                if let Some(thread) = self.threads.get_mut(session) {
                    visit_json(&mut thread.row.custom, visit);
                }
            }
            TextField::SourcePath
            | TextField::SourceBadLine
            | TextField::SourceState
            | TextField::SourceFailure
            | TextField::SourceClaimedId => self.visit_sources(session, field, visit),
            TextField::ImportedPath
            | TextField::ImportedBadLine
            | TextField::ImportedState
            | TextField::ImportedFailure
            | TextField::ImportedClaimedId => {
                for import in self.imports.values_mut() {
                    visit_import(import, session, field, visit);
                }
            }
            TextField::ImportWhat => {
                let added = |row: &&mut ImportRow| row.ranges.iter().any(|(of, ..)| of == session);
                for row in self.imports.values_mut().filter(added) {
                    visit_text(&mut row.import.what, visit);
                }
            }
            TextField::RemoteRoot | TextField::RemoteName => {
                self.visit_remotes(session, field, visit);
            }
            TextField::Digest | TextField::StagedWrites | TextField::Quarantined => {
                self.visit_extractions(session, field, visit);
            }
            TextField::Retraction => {
                let own = self.retractions.iter_mut();
                for (_, row) in own.filter(|((_, _, of, _), _)| of == session) {
                    visit_text(&mut row.text, visit);
                }
            }
            TextField::RetractionRoot => {
                let own = self.retractions.iter_mut();
                for (_, row) in own.filter(|((_, _, of, _), _)| of == session) {
                    visit_maybe(&mut row.root, visit);
                }
            }
            TextField::JobFailure => {
                let job = self.jobs.get_mut(&JobKey::Extract(session.clone()));
                if let Some(failure) = job.and_then(|job| job.last_failure.as_mut()) {
                    visit_text(&mut failure.message, visit);
                }
            }
            TextField::GapFailure => {
                let key = JobKey::Extract(session.clone());
                for gap in self.gaps.values_mut().filter(|gap| gap.job == key) {
                    visit_text(&mut gap.failure.message, visit);
                }
            }
        }
    }

    fn visit_session(&mut self, session: &SessionId, field: TextField, visit: Visit<'_>) {
        let Some(row) = self.sessions.get_mut(session) else {
            return;
        };
        let text = match field {
            TextField::ForkedFrom => &mut row.session.forked_from,
            TextField::User => &mut row.session.user,
            TextField::Surface => &mut row.session.surface,
            TextField::RoomId => &mut row.session.venue.room_id,
            TextField::ThreadId => &mut row.session.venue.thread_id,
            TextField::Team => &mut row.session.venue.team,
            TextField::FiledIn => &mut row.session.venue.filed_in,
            _ => &mut row.first_source,
        };
        visit_maybe(text, visit);
    }

    fn visit_sources(&mut self, session: &SessionId, field: TextField, visit: Visit<'_>) {
        let own = |source: &TranscriptSource| source.session.as_ref() == Some(session);
        if field != TextField::SourcePath {
            for source in self.sources.values_mut().filter(|source| own(source)) {
                visit_source(source, field, visit);
            }
            return;
        }
        let mut moved = BTreeMap::new();
        for ((tenant, path), source) in std::mem::take(&mut self.sources) {
            let to = own(&source).then(|| visit(&path)).flatten();
            match to {
                Some(to) => drop(moved.insert(
                    (tenant, to.clone()),
                    TranscriptSource { path: to, ..source },
                )),
                None => drop(self.sources.insert((tenant, path), source)),
            }
        }
        for (key, source) in moved {
            self.sources.entry(key).or_insert(source);
        }
    }

    fn visit_remotes(&mut self, session: &SessionId, field: TextField, visit: Visit<'_>) {
        let remotes = std::mem::take(&mut self.remotes).into_iter();
        let visited = remotes.filter_map(|mut row| {
            if &row.session != session {
                return Some(row);
            }
            if field == TextField::RemoteRoot {
                visit_text(&mut row.root, visit);
                return Some(row);
            }
            // A remote with a secret is no evidence of a folder's project.
            visit(&row.remote).is_none().then_some(row)
        });
        self.remotes = visited.collect();
    }

    fn visit_extractions(&mut self, session: &SessionId, field: TextField, visit: Visit<'_>) {
        let own = self.extractions.iter_mut();
        for row in own.filter(|row| &row.record.session == session) {
            match field {
                TextField::Digest => {
                    if let Some(digest) = &mut row.record.digest {
                        visit_json(digest, visit);
                    }
                }
                TextField::StagedWrites if !row.writes.is_empty() => {
                    visit_json(&mut row.writes, visit);
                }
                TextField::Quarantined if !row.quarantined.is_empty() => {
                    visit_json(&mut row.quarantined, visit);
                }
                _ => {}
            }
        }
    }
}

fn visit_import(import: &mut ImportRow, session: &SessionId, field: TextField, visit: Visit<'_>) {
    let mut visited = BTreeMap::new();
    for (mut path, mut before) in std::mem::take(&mut import.before) {
        if let Some(source) = &mut before
            && source.session.as_ref() == Some(session)
        {
            if field == TextField::ImportedPath {
                visit_text(&mut path, visit);
                source.path.clone_from(&path);
            }
            visit_source(source, field, visit);
        }
        visited.insert(path, before);
    }
    import.before = visited;
}

/// Visits a file's text other than its path.
fn visit_source(source: &mut TranscriptSource, field: TextField, visit: Visit<'_>) {
    match field {
        TextField::SourceBadLine | TextField::ImportedBadLine => {
            if let Some((_, why)) = &mut source.first_bad {
                visit_text(why, visit);
            }
        }
        TextField::SourceState | TextField::ImportedState => visit_text(&mut source.state, visit),
        TextField::SourceFailure | TextField::ImportedFailure => {
            visit_maybe(&mut source.failure, visit);
        }
        TextField::SourceClaimedId | TextField::ImportedClaimedId => {
            visit_maybe(&mut source.claimed_id, visit);
        }
        _ => {}
    }
}

fn visit_text(text: &mut String, visit: Visit<'_>) {
    if let Some(after) = visit(text) {
        *text = after;
    }
}

fn visit_maybe(text: &mut Option<String>, visit: Visit<'_>) {
    if let Some(text) = text {
        visit_text(text, visit);
    }
}

/// Visits a value as the JSON that a database would hold. What is no such value stays.
fn visit_json<T: Serialize + DeserializeOwned>(value: &mut T, visit: Visit<'_>) {
    let Ok(json) = serde_json::to_string(value) else {
        return;
    };
    let after = visit(&json).and_then(|json| serde_json::from_str(&json).ok());
    if let Some(after) = after {
        *value = after;
    }
}
