//! The view that a store should show.

use std::collections::BTreeSet;

use daybook_domain::index::{DocumentKind, FileEntry, IndexedDocument, SearchFilter};
use daybook_domain::seams::ScopeState;
use daybook_domain::source::ImportRun;
use daybook_domain::{
    Event, ExtractionRecord, Gap, Job, JobKind, Place, Scope, Session, SessionId, Tally, Tenant,
    Timestamp,
};
use strum::VariantArray;

use super::view::{self, View};
use super::{ExtractionPass, FileState, Spec, admits, project_scope};

impl Spec {
    /// Replaces the indexed entries of a memory file.
    pub fn put_file(&mut self, scope: &Scope, file: &str, entries: &[FileEntry], now: Timestamp) {
        self.forget_vectors_of(scope, file);
        self.entries.retain(|(s, f, ..)| s != scope || f != file);
        for entry in entries {
            self.entries
                .push((scope.clone(), file.to_owned(), now, entry.clone()));
        }
    }

    /// All memory files, each with the time of its indexing and its entries.
    #[must_use]
    pub fn memory_files(&self) -> Vec<(Scope, String, Timestamp, Vec<FileEntry>)> {
        let mut files: Vec<(Scope, String, Timestamp, Vec<FileEntry>)> = Vec::new();
        for (scope, file, at, entry) in &self.entries {
            match files.iter_mut().find(|(s, f, ..)| s == scope && f == file) {
                Some((.., entries)) => entries.push(entry.clone()),
                None => files.push((scope.clone(), file.clone(), *at, vec![entry.clone()])),
            }
        }
        files
    }

    pub(super) fn documents(&self) -> Vec<(String, IndexedDocument)> {
        let mut documents = Vec::new();
        for logged in &self.log {
            let event = &logged.event;
            let project = event
                .place
                .as_ref()
                .and_then(|place| self.roots.get(&place.root));
            let label = self
                .known_session(&logged.session)
                .map(|k| k.session.label.clone());
            let document = IndexedDocument {
                what: DocumentKind::Event {
                    origin: event.origin,
                },
                scope: project.map(|project| project_scope(&project.key)),
                text: event.text.clone(),
                context: None,
                at: event.at,
                session: Some((logged.session.clone(), label.unwrap_or_default())),
                events: vec![event.seq],
                lines: vec![event.line],
            };
            documents.push((logged.new.tokens.clone(), document));
        }
        for observation in view::scopes()
            .iter()
            .flat_map(|scope| self.observations(scope))
        {
            let shown = observation.evidence[0].clone();
            let document = IndexedDocument {
                what: DocumentKind::Observation {
                    id: observation.id,
                    kind: observation.kind,
                    origin: observation.origin,
                },
                scope: Some(observation.scope),
                text: observation.text,
                context: observation.context,
                at: shown.at,
                session: Some((shown.session, shown.label)),
                events: shown.events,
                lines: shown.lines,
            };
            documents.push((observation.tokens, document));
        }
        for (scope, file, at, entry) in &self.entries {
            let document = IndexedDocument {
                what: DocumentKind::Entry {
                    file: file.clone(),
                    line: entry.line,
                    observation: entry.observation,
                    citation: entry.citation.clone(),
                },
                scope: Some(scope.clone()),
                text: entry.text.clone(),
                context: Some(entry.heading.clone()),
                at: *at,
                session: None,
                events: Vec::new(),
                lines: Vec::new(),
            };
            documents.push((entry.tokens.clone(), document));
        }
        documents
    }

    /// The whole expected view.
    #[must_use]
    pub fn view(&self) -> View {
        let documents = self.documents();
        let holds = |tokens: &str, word: &String| tokens.split(' ').any(|token| token == word);
        let frequency = |word: &String| {
            documents
                .iter()
                .filter(|(tokens, _)| holds(tokens, word))
                .count() as u64
        };
        let search = |(words, filter): (Vec<String>, SearchFilter)| {
            let found = documents.iter().filter(|(tokens, document)| {
                words.iter().all(|word| holds(tokens, word)) && admits(&filter, document)
            });
            let found: Vec<IndexedDocument> = found.map(|(_, document)| document.clone()).collect();
            view::render_documents(&found)
        };
        let scopes = view::scopes();
        View {
            sessions: self.listed_sessions(),
            logs: view::sessions()
                .iter()
                .map(|id| self.sorted_log(id))
                .collect(),
            sources: self
                .files
                .values()
                .filter_map(|s| s.last()?.1.clone())
                .collect(),
            imports: self
                .imports
                .iter()
                .rev()
                .map(|import| self.with_counts(import))
                .collect(),
            places: self.places(),
            projects: self
                .projects
                .values()
                .cloned()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
            jobs: self.sorted_jobs(),
            tallies: self.sorted_tallies(),
            due: JobKind::VARIANTS
                .iter()
                .map(|&kind| self.next_due(kind))
                .collect(),
            holders: self.holders(),
            gaps: self.sorted_gaps(),
            scopes: self.scope_states(),
            observations: scopes
                .iter()
                .map(|scope| self.observations(scope))
                .collect(),
            extractions: self.records(|_| true),
            of_project: self.records(|pass| {
                !self.is_polluted(&pass.session) && self.worked_in(&pass.session, "left")
            }),
            without_root: self.records(|pass| {
                let digest = pass.digest.as_ref();
                !self.is_polluted(&pass.session)
                    && digest.is_some_and(|digest| digest.root.is_none())
            }),
            preferences: scopes[..2]
                .iter()
                .flat_map(|scope| self.observations(scope))
                .collect(),
            stamps: scopes.iter().map(|scope| self.stamps(scope)).collect(),
            documents: documents.len() as u64,
            frequencies: view::vocabulary().iter().map(frequency).collect(),
            found: view::searches(&Tenant::local())
                .into_iter()
                .map(search)
                .collect(),
            waiting: self.waiting(),
            near: self.near(),
        }
    }

    pub(super) fn listed_sessions(&self) -> Vec<Session> {
        let ids = self.sessions.iter().map(|known| &known.session.id);
        let mut sessions: Vec<Session> = ids.filter_map(|id| self.session(id)).collect();
        sessions.sort_by(|a, b| b.last_at.cmp(&a.last_at).then_with(|| a.id.cmp(&b.id)));
        sessions
    }

    pub(super) fn sorted_log(&self, id: &SessionId) -> Vec<Event> {
        let mut events: Vec<Event> = self.log_of(id).map(|l| l.event.clone()).collect();
        events.sort_by_key(|event| event.seq);
        events
    }

    pub(super) fn with_counts(&self, import: &ImportRun) -> ImportRun {
        let touched =
            |states: &&Vec<FileState>| states.iter().any(|(by, _)| *by == Some(import.no.0));
        ImportRun {
            files: self.files.values().filter(touched).count() as u64,
            ..import.clone()
        }
    }

    pub(super) fn places(&self) -> Vec<(Place, Option<String>)> {
        let places: BTreeSet<&Place> = self
            .log
            .iter()
            .filter_map(|logged| logged.event.place.as_ref())
            .collect();
        let key = |place: &Place| {
            self.roots
                .get(&place.root)
                .map(|project| project.key.clone())
        };
        places
            .into_iter()
            .map(|place| (place.clone(), key(place)))
            .collect()
    }

    fn sorted_tallies(&self) -> Vec<Tally> {
        let mut tallies = self.tallies.clone();
        tallies.sort_by_key(|tally| (tally.kind, tally.what));
        tallies
    }

    pub(super) fn sorted_jobs(&self) -> Vec<Job> {
        let mut jobs = self.jobs.clone();
        let order = |job: &Job| (job.key.kind(), format!("{:?}", job.key.parts()));
        jobs.sort_by_key(order);
        jobs
    }

    pub(super) fn holders(&self) -> Vec<String> {
        let leases = self.jobs.iter().filter_map(|job| job.lease.as_ref());
        let holders: BTreeSet<String> = leases.map(|lease| lease.holder.clone()).collect();
        holders.into_iter().collect()
    }

    pub(super) fn sorted_gaps(&self) -> Vec<Gap> {
        let mut gaps = self.gaps.clone();
        gaps.sort_by_key(|gap| (gap.job.kind(), format!("{:?}", gap.job.parts()), gap.from));
        gaps
    }

    pub(super) fn scope_states(&self) -> Vec<ScopeState> {
        let state = |(scope, &revision): (&Scope, &u64)| ScopeState {
            scope: scope.clone(),
            revision,
            observations: self.observations(scope).len() as u64,
        };
        self.revisions.iter().map(state).collect()
    }

    pub(super) fn records(
        &self,
        wanted: impl Fn(&ExtractionRecord) -> bool,
    ) -> Vec<ExtractionRecord> {
        let live = self
            .passes
            .iter()
            .filter(|pass| pass.live && wanted(&pass.record));
        let labelled = |pass: &ExtractionPass| ExtractionRecord {
            label: self
                .known_session(&pass.record.session)
                .map_or(String::new(), |k| k.session.label.clone()),
            ..pass.record.clone()
        };
        let mut records: Vec<ExtractionRecord> = live.map(labelled).collect();
        records.sort_by(|a, b| (&a.session, a.from, a.to).cmp(&(&b.session, b.from, b.to)));
        records
    }

    pub(super) fn worked_in(&self, id: &SessionId, key: &str) -> bool {
        let mut places = self
            .log_of(id)
            .filter_map(|logged| logged.event.place.as_ref());
        places.any(|place| {
            self.roots
                .get(&place.root)
                .is_some_and(|project| project.key == key)
        })
    }

    pub(super) fn stamps(&self, scope: &Scope) -> Vec<(String, String)> {
        let own = self.entries.iter().filter(|(s, ..)| s == scope);
        let files: BTreeSet<String> = own.map(|(_, file, ..)| file.clone()).collect();
        files
            .into_iter()
            .map(|file| (file, "stamp".to_owned()))
            .collect()
    }
}
