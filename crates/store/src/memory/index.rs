//! The full-text index in memory: the tokens of every document, compared one by one.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use async_trait::async_trait;
use daybook_domain::index::{
    CandidateQuery, DocumentKind, DocumentNo, DocumentOutline, DocumentVectors, EmbeddingInput,
    FileEntry, IndexedDocument, MemoryLayer, SearchFilter, TermStats, Terms, WordsDigest,
};
use daybook_domain::limits::{APPEND_EVENTS, COUNTED};
use daybook_domain::nearest::Nearest;
use daybook_domain::seams::{IndexReader, IndexWriter, VectorStore};
use daybook_domain::{EventSeq, Origin, Scope, SessionId, StoreError, Tenant, Timestamp};

use super::{EntryRow, FileRow, MemoryState, MemoryStore};
use crate::bounds::{DOCUMENT_TEXT, head};
use crate::documents::{ENTRIES, OBSERVATIONS, SAID, observation_doc};
use crate::evidence::assemble;

/// The tokens and terms of a document.
#[derive(Debug, Default)]
pub(super) struct IndexedTokens {
    tokens: HashSet<String>,
    terms: Terms,
}

/// The vectors of a document, and the signs of the first.
#[derive(Debug)]
pub(super) struct VectorRow {
    codes: Vec<i8>,
    signs: Vec<u64>,
}

#[async_trait]
impl IndexReader for MemoryStore {
    async fn term_stats(
        &self,
        tenant: &Tenant,
        tokens: &[String],
    ) -> Result<TermStats, StoreError> {
        let state = self.lock();
        let own: Vec<&HashSet<String>> = state
            .documents
            .iter()
            .filter(|(doc, _)| state.tenant_of(**doc).as_ref() == Some(tenant))
            .map(|(_, indexed)| &indexed.tokens)
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

    async fn matches(
        &self,
        tenant: &Tenant,
        steps: &[CandidateQuery],
        filter: &SearchFilter,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        let state = self.lock();
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for step in steps.iter().filter(|step| !step.all_of.is_empty()) {
            let holding = state.documents.iter().filter(|(doc, indexed)| {
                step.all_of
                    .iter()
                    .all(|token| indexed.tokens.contains(token))
                    && state.is_searchable(tenant, filter, **doc)
            });
            let mut docs: Vec<DocumentNo> = holding.map(|(doc, _)| DocumentNo(*doc)).collect();
            docs.sort_unstable_by_key(|doc| Reverse(doc.age()));
            docs.truncate(step.limit);
            found.extend(docs.into_iter().filter(|doc| seen.insert(*doc)));
        }
        Ok(found)
    }

    async fn outlines(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        model: Option<&str>,
    ) -> Result<Vec<DocumentOutline>, StoreError> {
        let state = self.lock();
        let with_vectors = model.is_some() && state.models.get(tenant).map(String::as_str) == model;
        let outline = |doc: &DocumentNo| {
            let document = state.document(doc.0)?;
            let vectors = state.vectors.get(&doc.0).filter(|_| with_vectors);
            Some(DocumentOutline {
                doc: *doc,
                origin: origin_of(&document.what),
                at: document.at,
                terms: state.documents.get(&doc.0)?.terms.clone(),
                vectors: vectors
                    .map(|vectors| vectors.codes.as_slice().into())
                    .unwrap_or_default(),
            })
        };
        let own = docs
            .iter()
            .filter(|doc| state.tenant_of(doc.0).as_ref() == Some(tenant));
        Ok(own.filter_map(outline).collect())
    }

    async fn surroundings(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        reach: usize,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        let state = self.lock();
        let mut found = BTreeSet::new();
        for doc in docs.iter().filter(|doc| doc.is_said()) {
            if state.tenant_of(doc.0).as_ref() != Some(tenant) {
                continue;
            }
            let first = doc.0 & !i64::from(u32::MAX);
            let last = doc.0 | i64::from(u32::MAX);
            let before = state.documents.range(first..=doc.0).rev().take(reach + 1);
            let after = state.documents.range(doc.0 + 1..=last).take(reach);
            found.extend(before.chain(after).map(|(doc, _)| DocumentNo(*doc)));
        }
        Ok(found.into_iter().collect())
    }

    async fn documents(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
    ) -> Result<Vec<IndexedDocument>, StoreError> {
        let state = self.lock();
        let own = docs
            .iter()
            .filter(|doc| state.tenant_of(doc.0).as_ref() == Some(tenant));
        Ok(own.filter_map(|doc| state.document(doc.0)).collect())
    }
}

#[async_trait]
impl VectorStore for MemoryStore {
    async fn nearest(
        &self,
        tenant: &Tenant,
        (model, signs): (&str, &[u64]),
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        let state = self.lock();
        if state.models.get(tenant).map(String::as_str) != Some(model) {
            return Ok(Vec::new());
        }
        let mut best = Nearest::new(limit);
        for (doc, vectors) in &state.vectors {
            let pairs = vectors.signs.iter().zip(signs);
            let distance = pairs.map(|(a, b)| (a ^ b).count_ones()).sum();
            if state.is_searchable(tenant, filter, *doc) {
                best.offer(distance, Reverse(DocumentNo(*doc).age()), DocumentNo(*doc));
            }
        }
        Ok(best.into_sorted())
    }

    async fn choose_model(&self, tenant: &Tenant, model: &str) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let known = state.models.insert(tenant.clone(), model.to_owned());
        if known.as_deref() == Some(model) {
            return Ok(false);
        }
        let docs = state.documents.range(SAID..).map(|(doc, _)| *doc);
        let own: Vec<i64> = docs
            .filter(|&doc| state.tenant_of(doc).as_ref() == Some(tenant))
            .collect();
        for doc in own {
            state.vectors.remove(&doc);
            state.unembedded.insert(doc);
        }
        Ok(true)
    }

    async fn unembedded(
        &self,
        tenant: &Tenant,
        limit: usize,
    ) -> Result<Vec<EmbeddingInput>, StoreError> {
        let state = self.lock();
        let waiting = state.unembedded.iter().rev();
        let own = waiting.filter(|doc| state.tenant_of(**doc).as_ref() == Some(tenant));
        let unembedded = |doc: &i64| {
            let document = state.document(*doc)?;
            Some(EmbeddingInput {
                doc: DocumentNo(*doc),
                text: document.text,
                context: document.context,
            })
        };
        Ok(own.filter_map(unembedded).take(limit).collect())
    }

    async fn put_vectors(
        &self,
        tenant: &Tenant,
        model: &str,
        embedded: &[DocumentVectors],
    ) -> Result<(), StoreError> {
        let mut state = self.lock();
        if state.models.get(tenant).map(String::as_str) != Some(model) {
            return Ok(());
        }
        for one in embedded {
            let doc = one.doc.0;
            let words = state.document(doc);
            let digest = words.map(|d| WordsDigest::of(&d.text, d.context.as_deref()));
            if state.tenant_of(doc).as_ref() == Some(tenant)
                && digest == Some(one.digest)
                && state.unembedded.remove(&doc)
                && !one.vectors.is_empty()
            {
                let vectors = VectorRow {
                    codes: one.vectors.clone(),
                    signs: one.signs.clone(),
                };
                state.vectors.insert(doc, vectors);
            }
        }
        Ok(())
    }
}

#[async_trait]
impl IndexWriter for MemoryStore {
    async fn put_file(
        &self,
        scope: &Scope,
        file: &str,
        stamp: &str,
        entries: &[FileEntry],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.lock().put_file(scope, (file, stamp), entries, now);
        Ok(())
    }

    async fn file_stamps(&self, scope: &Scope) -> Result<Vec<(String, String)>, StoreError> {
        let state = self.lock();
        let own = state.files.iter().filter(|((owner, _), _)| owner == scope);
        Ok(own
            .map(|((_, file), row)| (file.clone(), row.stamp.clone()))
            .collect())
    }

    async fn clear(&self, tenant: &Tenant) -> Result<(), StoreError> {
        let mut state = self.lock();
        let docs = state.documents.keys().copied();
        let own: HashSet<i64> = docs
            .filter(|&doc| state.tenant_of(doc).as_ref() == Some(tenant))
            .collect();
        for doc in own {
            state.forget_document(doc);
        }
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
        let mut state = self.lock();
        let Some(row) = state.sessions.get(session) else {
            return Err(StoreError::NotFound(format!("session {session}")));
        };
        let no = row.no;
        let known = events
            .iter()
            .filter(|(seq, _)| row.events.contains_key(seq));
        let known: Vec<&(EventSeq, String)> = known.collect();
        let known: Vec<(DocumentNo, &String)> = known
            .into_iter()
            .filter_map(|(seq, tokens)| {
                let origin = row.events.get(seq)?.origin;
                Some((DocumentNo::event(no, *seq, origin), tokens))
            })
            .collect();
        for (doc, tokens) in known {
            state.put_document(doc.0, tokens);
        }
        Ok(())
    }

    async fn index_observations(&self, scope: &Scope) -> Result<(), StoreError> {
        let mut state = self.lock();
        let own = state.observations.iter().filter(|(_, o)| &o.scope == scope);
        let own: Vec<(i64, String)> = own
            .filter_map(|(&no, o)| Some((no, o.tokens.clone()?)))
            .collect();
        for (no, tokens) in own {
            state.put_document(observation_doc(no), &tokens);
        }
        Ok(())
    }
}

/// The origin of an event's document; `None` for other documents.
fn origin_of(found: &DocumentKind) -> Option<Origin> {
    match found {
        DocumentKind::Event { origin } => Some(*origin),
        DocumentKind::Entry { .. } | DocumentKind::Observation { .. } => None,
    }
}

impl MemoryState {
    /// Replaces a document; one without tokens cannot be found. Events of tools get no vectors.
    pub(super) fn put_document(&mut self, doc: i64, tokens: &str) {
        self.forget_document(doc);
        if !tokens.is_empty() {
            let indexed = IndexedTokens {
                tokens: tokens.split_whitespace().map(str::to_owned).collect(),
                terms: Terms::of(tokens),
            };
            self.documents.insert(doc, indexed);
            if doc >= SAID {
                self.unembedded.insert(doc);
            }
        }
    }

    /// Deletes a document, if it exists.
    pub(super) fn forget_document(&mut self, doc: i64) {
        self.documents.remove(&doc);
        self.vectors.remove(&doc);
        self.unembedded.remove(&doc);
    }

    /// Whether a tenant's search with this filter may return a document.
    fn is_searchable(&self, tenant: &Tenant, filter: &SearchFilter, doc: i64) -> bool {
        if self.tenant_of(doc).as_ref() != Some(tenant) {
            return false;
        }
        let Some(document) = self.document(doc) else {
            return false;
        };
        let scope_fits = filter.scopes.as_ref().is_none_or(|scopes| {
            document
                .scope
                .as_ref()
                .is_some_and(|scope| scopes.contains(scope))
        });
        let is_excepted = |scope: &Scope| filter.except.contains(scope);
        let scope_fits = scope_fits && !document.scope.as_ref().is_some_and(is_excepted);
        scope_fits && filter.admits(DocumentNo(doc), origin_of(&document.what))
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
            self.forget_document(ENTRIES | entry);
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

    fn session_numbered(&self, no: i64) -> Option<&super::MemorySessionRow> {
        self.sessions.values().find(|row| row.no == no)
    }

    fn tenant_of(&self, doc: i64) -> Option<Tenant> {
        match DocumentNo(doc).layer() {
            MemoryLayer::Entry => Some(self.entries.get(&(doc - ENTRIES))?.scope.tenant.clone()),
            MemoryLayer::Observation => Some(
                self.observations
                    .get(&(doc - OBSERVATIONS))?
                    .scope
                    .tenant
                    .clone(),
            ),
            MemoryLayer::Event => {
                let no = DocumentNo(doc).session()?;
                Some(self.session_numbered(no)?.session.id.tenant.clone())
            }
        }
    }

    fn document(&self, doc: i64) -> Option<IndexedDocument> {
        match DocumentNo(doc).layer() {
            MemoryLayer::Entry => self.entry_document(doc - ENTRIES),
            MemoryLayer::Observation => self.observation_document(doc - OBSERVATIONS),
            MemoryLayer::Event => self.event_document(doc),
        }
    }

    fn event_document(&self, doc: i64) -> Option<IndexedDocument> {
        let row = self.session_numbered(DocumentNo(doc).session()?)?;
        let seq = EventSeq(doc.cast_unsigned() & u64::from(u32::MAX));
        let event = row.events.get(&seq)?;
        let id = &row.session.id;
        let root = event.place.as_ref().map(|place| &place.root);
        let project = root.and_then(|root| self.scope_of_root(&id.tenant, root));
        let project = project.map(|scope| scope.name);
        Some(IndexedDocument {
            what: DocumentKind::Event {
                origin: event.origin,
            },
            scope: row
                .session
                .venue
                .event_scope(&id.tenant, (project, row.session.user.clone())),
            text: head(&event.text, DOCUMENT_TEXT).to_owned(),
            context: None,
            at: event.at,
            session: Some((id.clone(), row.session.label.clone())),
            events: vec![seq],
            lines: vec![event.line],
        })
    }

    fn observation_document(&self, no: i64) -> Option<IndexedDocument> {
        let row = self.observations.get(&no)?;
        let observation = assemble(row.scope.clone(), row.id, row.kind, self.pieces(no))?;
        let shown = observation.evidence.first()?.clone();
        Some(IndexedDocument {
            what: DocumentKind::Observation {
                id: row.id,
                kind: row.kind,
                origin: observation.origin,
            },
            scope: Some(row.scope.clone()),
            text: observation.statement(),
            context: observation.context,
            at: shown.at,
            session: Some((shown.session, shown.label)),
            events: shown.events,
            lines: shown.lines,
        })
    }

    fn entry_document(&self, no: i64) -> Option<IndexedDocument> {
        let row = self.entries.get(&no)?;
        let file = self.files.get(&(row.scope.clone(), row.file.clone()))?;
        Some(IndexedDocument {
            what: DocumentKind::Entry {
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
