//! What can be found by words: every document's tokens, compared one by one.

use std::collections::HashSet;

use async_trait::async_trait;
use daybook_domain::index::{Document, FileEntry, Filter, Found, Layer, Step, TermStats};
use daybook_domain::limits::{APPEND_EVENTS, COUNTED};
use daybook_domain::seams::Index;
use daybook_domain::{EventSeq, Scope, SessionId, StoreError, Tenant, Timestamp};

use super::{EntryRow, FileRow, MemoryStore, State};
use crate::bounds::{DOCUMENT_TEXT, head};
use crate::evidence::assemble;

/// Where the numbers of observations begin; events lie below.
const OBSERVATIONS: i64 = 1 << 61;
/// Where the numbers of entries begin.
const ENTRIES: i64 = 1 << 62;

/// The document that an event is.
pub(super) fn event_doc(session: i64, seq: EventSeq) -> i64 {
    (session << 32) | i64::try_from(seq.0).unwrap_or(i64::from(u32::MAX))
}

/// The document that an observation is.
pub(super) fn observation_doc(observation: i64) -> i64 {
    OBSERVATIONS | observation
}

#[async_trait]
impl Index for MemoryStore {
    async fn term_stats(
        &self,
        tenant: &Tenant,
        tokens: &[String],
    ) -> Result<TermStats, StoreError> {
        let state = self.state();
        let own: Vec<&HashSet<String>> = state
            .documents
            .iter()
            .filter(|(doc, _)| state.tenant_of(**doc).as_ref() == Some(tenant))
            .map(|(_, tokens)| tokens)
            .collect();
        let holding = |token: &String| own.iter().filter(|held| held.contains(token)).count();
        Ok(TermStats {
            documents: own.len() as u64,
            frequencies: tokens
                .iter()
                .map(|token| (holding(token) as u64).min(COUNTED))
                .collect(),
        })
    }

    async fn candidates(
        &self,
        tenant: &Tenant,
        steps: &[Step],
        filter: &Filter,
    ) -> Result<Vec<Document>, StoreError> {
        let state = self.state();
        let mut seen = HashSet::new();
        let mut documents = Vec::new();
        for step in steps.iter().filter(|step| !step.all_of.is_empty()) {
            let holding = state.documents.iter().rev().filter(|(doc, held)| {
                step.all_of.iter().all(|token| held.contains(token))
                    && state.tenant_of(**doc).as_ref() == Some(tenant)
            });
            let found = holding
                .filter_map(|(&doc, _)| Some((doc, state.document(doc)?)))
                .filter(|(doc, document)| passes(filter, *doc, document));
            for (doc, document) in found.take(step.limit) {
                if seen.insert(doc) {
                    documents.push(document);
                }
            }
        }
        Ok(documents)
    }

    async fn put_file(
        &self,
        scope: &Scope,
        file: &str,
        stamp: &str,
        entries: &[FileEntry],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.state().put_file(scope, (file, stamp), entries, now);
        Ok(())
    }

    async fn file_stamps(&self, scope: &Scope) -> Result<Vec<(String, String)>, StoreError> {
        let state = self.state();
        let own = state.files.iter().filter(|((owner, _), _)| owner == scope);
        Ok(own
            .map(|((_, file), row)| (file.clone(), row.stamp.clone()))
            .collect())
    }

    async fn clear(&self, tenant: &Tenant) -> Result<(), StoreError> {
        let mut state = self.state();
        let docs = state.documents.keys().copied();
        let own: HashSet<i64> = docs
            .filter(|&doc| state.tenant_of(doc).as_ref() == Some(tenant))
            .collect();
        state.documents.retain(|doc, _| !own.contains(doc));
        state.files.retain(|(scope, _), _| &scope.tenant != tenant);
        state.entries.retain(|_, row| &row.scope.tenant != tenant);
        Ok(())
    }

    async fn index_events(
        &self,
        session: &SessionId,
        events: &[(EventSeq, String)],
    ) -> Result<(), StoreError> {
        if events.len() > APPEND_EVENTS {
            let what = format!("{} events at once, at most {APPEND_EVENTS}", events.len());
            return Err(StoreError::Refused(what));
        }
        let mut state = self.state();
        let Some(row) = state.sessions.get(session) else {
            return Err(StoreError::NotFound(format!("session {session}")));
        };
        let no = row.no;
        let known = events
            .iter()
            .filter(|(seq, _)| row.events.contains_key(seq));
        let known: Vec<&(EventSeq, String)> = known.collect();
        for (seq, tokens) in known {
            state.put_document(event_doc(no, *seq), tokens);
        }
        Ok(())
    }

    async fn index_observations(&self, scope: &Scope) -> Result<(), StoreError> {
        let mut state = self.state();
        let own = state.observations.iter().filter(|(_, o)| &o.scope == scope);
        let own: Vec<(i64, String)> = own
            .filter_map(|(&no, o)| Some((no, o.held.clone()?)))
            .collect();
        for (no, tokens) in own {
            state.put_document(observation_doc(no), &tokens);
        }
        Ok(())
    }
}

/// Whether a search may see a document.
fn passes(filter: &Filter, doc: i64, document: &Document) -> bool {
    let layer = layer_of(doc);
    let scope_fits = filter.scopes.as_ref().is_none_or(|scopes| {
        document
            .scope
            .as_ref()
            .is_some_and(|scope| scopes.contains(scope))
    });
    let origin_fits = match &document.what {
        Found::Event { origin } => filter.origins.is_empty() || filter.origins.contains(origin),
        Found::Entry { .. } | Found::Observation { .. } => true,
    };
    let layer_fits = filter.layers.is_empty() || filter.layers.contains(&layer);
    layer_fits && scope_fits && origin_fits
}

fn layer_of(doc: i64) -> Layer {
    if doc >= ENTRIES {
        Layer::Entry
    } else if doc >= OBSERVATIONS {
        Layer::Observation
    } else {
        Layer::Event
    }
}

impl State {
    /// Replaces a document; one without tokens cannot be found.
    pub(super) fn put_document(&mut self, doc: i64, tokens: &str) {
        self.documents.remove(&doc);
        if !tokens.is_empty() {
            let tokens = tokens.split(' ').map(str::to_owned).collect();
            self.documents.insert(doc, tokens);
        }
    }

    fn put_file(
        &mut self,
        scope: &Scope,
        (file, stamp): (&str, &str),
        entries: &[FileEntry],
        now: Timestamp,
    ) {
        let key = (scope.clone(), file.to_owned());
        for entry in self
            .files
            .remove(&key)
            .map(|row| row.entries)
            .unwrap_or_default()
        {
            self.entries.remove(&entry);
            self.documents.remove(&(ENTRIES | entry));
        }
        if entries.is_empty() {
            return;
        }
        let mut row = FileRow {
            stamp: stamp.to_owned(),
            at: now,
            entries: Vec::new(),
        };
        for entry in entries {
            self.last_entry += 1;
            row.entries.push(self.last_entry);
            self.put_document(ENTRIES | self.last_entry, &entry.tokens);
            let entry = EntryRow {
                scope: scope.clone(),
                file: file.to_owned(),
                entry: entry.clone(),
            };
            self.entries.insert(self.last_entry, entry);
        }
        self.files.insert(key, row);
    }

    fn session_numbered(&self, no: i64) -> Option<&super::SessionRow> {
        self.sessions.values().find(|row| row.no == no)
    }

    fn tenant_of(&self, doc: i64) -> Option<Tenant> {
        match layer_of(doc) {
            Layer::Entry => Some(self.entries.get(&(doc - ENTRIES))?.scope.tenant.clone()),
            Layer::Observation => Some(
                self.observations
                    .get(&(doc - OBSERVATIONS))?
                    .scope
                    .tenant
                    .clone(),
            ),
            Layer::Event => Some(self.session_numbered(doc >> 32)?.session.id.tenant.clone()),
        }
    }

    fn document(&self, doc: i64) -> Option<Document> {
        match layer_of(doc) {
            Layer::Entry => self.entry_document(doc - ENTRIES),
            Layer::Observation => self.observation_document(doc - OBSERVATIONS),
            Layer::Event => self.event_document(doc),
        }
    }

    fn event_document(&self, doc: i64) -> Option<Document> {
        let row = self.session_numbered(doc >> 32)?;
        let seq = EventSeq(doc.cast_unsigned() & u64::from(u32::MAX));
        let event = row.events.get(&seq)?;
        let id = &row.session.id;
        let root = event.place.as_ref().map(|place| &place.root);
        Some(Document {
            what: Found::Event {
                origin: event.origin,
            },
            scope: root.and_then(|root| self.scope_of_root(&id.tenant, root)),
            text: head(&event.text, DOCUMENT_TEXT).to_owned(),
            context: None,
            at: event.at,
            session: Some((id.clone(), row.session.label.clone())),
            events: vec![seq],
            lines: vec![event.line],
        })
    }

    fn observation_document(&self, no: i64) -> Option<Document> {
        let row = self.observations.get(&no)?;
        let observation = assemble(row.scope.clone(), row.id, row.kind, self.pieces(no))?;
        let shown = observation.evidence.first()?.clone();
        Some(Document {
            what: Found::Observation {
                id: row.id,
                kind: row.kind,
            },
            scope: Some(row.scope.clone()),
            text: observation.text,
            context: observation.context,
            at: shown.at,
            session: Some((shown.session, shown.label)),
            events: shown.events,
            lines: shown.lines,
        })
    }

    fn entry_document(&self, no: i64) -> Option<Document> {
        let row = self.entries.get(&no)?;
        let file = self.files.get(&(row.scope.clone(), row.file.clone()))?;
        Some(Document {
            what: Found::Entry {
                file: row.file.clone(),
                line: row.entry.line,
                observation: row.entry.observation,
                citation: row.entry.citation.clone(),
            },
            scope: Some(row.scope.clone()),
            text: row.entry.text.clone(),
            context: Some(row.entry.heading.clone()).filter(|heading| !heading.is_empty()),
            at: file.at,
            session: None,
            events: Vec::new(),
            lines: Vec::new(),
        })
    }
}
