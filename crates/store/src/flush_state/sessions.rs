//! Everything that is not a job: calls go to the inner store, and its jobs are lent and taken back where they
//! change in the same transaction.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::index::{
    CandidateQuery, DocumentNo, DocumentOutline, DocumentVectors, EmbeddingInput, FileEntry,
    IndexedDocument, SearchFilter, TermStats,
};
use daybook_domain::quarantine::{QuarantineDecision, QuarantinedObservation};
use daybook_domain::rescan::{
    EventRewrite, SessionRewrite, SessionTexts, StoredEvent, TextField, TextRewrite,
};
use daybook_domain::seams::{
    Append, AppendOutcome, ConsolidationResults, ExtractionStore, ImportStore, IndexReader,
    IndexWriter, ObservationStore, PlaceStore, ProjectKey, ProposalStore, QuarantineStore,
    RescanStore, RetractedText, ScopeState, ScopeStore, SelectionStore, SessionCatalog, SessionKey,
    SessionLog, SourceStore, StagedWrites, Store, SupersessionStore, UseStore, VectorStore,
};
use daybook_domain::source::{ImportNo, ImportRun, TranscriptSource, UndoneImport};
use daybook_domain::{
    Digest, Event, EventId, EventSeq, Extraction, ExtractionRecord, FinishOutcome, JobKey,
    KnownObservation, LeaseToken, Observation, ObservationId, ObservationKind, Page, PageRequest,
    Place, Project, ProposalRecord, Provenance, RootRecord, RulesRevision, Scope, ScopeKind,
    SelectionRecord, Session, SessionId, StagedEntityWrite, StoreError, SupersededObservation,
    Supersession, Tenant, Timestamp, Use,
};

use super::state::{LedgerEntry, seconds};
use super::{JobRows, Ledgered};

#[async_trait]
impl<S: Store + JobRows> SessionLog for Ledgered<S> {
    async fn append(&self, append: &Append) -> Result<AppendOutcome, StoreError> {
        let key = JobKey::Extract(append.session.id.clone());
        let record_mark = |entry: &mut LedgerEntry, _: &AppendOutcome| {
            entry.marked_at = entry.marked_at.max(seconds(append.now));
        };
        let operation = self.inner.append(append);
        self.with_jobs_lent(&[key], operation, record_mark).await
    }

    async fn event_ids(&self, session: &SessionId) -> Result<Vec<(EventSeq, EventId)>, StoreError> {
        self.inner.event_ids(session).await
    }

    async fn events(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.inner.events(session, after, upto, limit, bytes).await
    }

    async fn events_at(
        &self,
        session: &SessionId,
        lines: (u32, u32),
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.inner.events_at(session, lines, limit).await
    }

    async fn retracted_seqs(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
    ) -> Result<BTreeSet<EventSeq>, StoreError> {
        self.inner.retracted_seqs(session, after, upto).await
    }
}

#[async_trait]
impl<S: Store + JobRows> SessionCatalog for Ledgered<S> {
    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        self.inner.session(id).await
    }

    async fn sessions(
        &self,
        tenant: &Tenant,
        page: PageRequest<SessionKey>,
    ) -> Result<Page<Session, SessionKey>, StoreError> {
        self.inner.sessions(tenant, page).await
    }

    async fn sessions_active(
        &self,
        tenant: &Tenant,
        between: (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        self.inner.sessions_active(tenant, between, limit).await
    }

    async fn switch_memory(
        &self,
        session: &SessionId,
        on: bool,
        switches: &Switches,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let key = JobKey::Extract(session.clone());
        let operation = self.inner.switch_memory(session, on, switches, now);
        self.with_jobs_lent(&[key], operation, |_, _| ()).await
    }

    async fn find_sessions(&self, tenant: &Tenant, name: &str) -> Result<Vec<Session>, StoreError> {
        self.inner.find_sessions(tenant, name).await
    }
}

#[async_trait]
impl<S: Store + JobRows> SourceStore for Ledgered<S> {
    async fn sources(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError> {
        self.inner.sources(tenant, page).await
    }

    async fn failing_sources(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError> {
        self.inner.failing_sources(tenant, page).await
    }

    async fn sources_with_secrets(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError> {
        self.inner.sources_with_secrets(tenant, page).await
    }

    async fn sources_at(
        &self,
        tenant: &Tenant,
        paths: &[&str],
    ) -> Result<Vec<TranscriptSource>, StoreError> {
        self.inner.sources_at(tenant, paths).await
    }

    async fn sources_of(&self, session: &SessionId) -> Result<Vec<TranscriptSource>, StoreError> {
        self.inner.sources_of(session).await
    }

    async fn put_source(
        &self,
        tenant: &Tenant,
        source: &TranscriptSource,
        import: Option<ImportNo>,
    ) -> Result<(), StoreError> {
        self.inner.put_source(tenant, source, import).await
    }
}

#[async_trait]
impl<S: Store + JobRows> PlaceStore for Ledgered<S> {
    async fn places(&self, tenant: &Tenant) -> Result<Vec<(Place, Option<String>)>, StoreError> {
        self.inner.places(tenant).await
    }

    async fn project_of_root(
        &self,
        tenant: &Tenant,
        root: &str,
    ) -> Result<Option<String>, StoreError> {
        self.inner.project_of_root(tenant, root).await
    }

    async fn projects(
        &self,
        tenant: &Tenant,
        page: PageRequest<ProjectKey>,
    ) -> Result<Page<Project, ProjectKey>, StoreError> {
        self.inner.projects(tenant, page).await
    }

    async fn assign_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.inner.assign_root(tenant, root, project, now).await
    }

    async fn roots(&self, tenant: &Tenant) -> Result<Vec<RootRecord>, StoreError> {
        self.inner.roots(tenant).await
    }

    async fn derive_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.inner.derive_root(tenant, root, project, now).await
    }

    async fn forget_identity(&self, tenant: &Tenant, identity: &str) -> Result<bool, StoreError> {
        self.inner.forget_identity(tenant, identity).await
    }
}

#[async_trait]
impl<S: Store + JobRows> ImportStore for Ledgered<S> {
    async fn begin_import(
        &self,
        tenant: &Tenant,
        what: &str,
        now: Timestamp,
    ) -> Result<ImportNo, StoreError> {
        self.inner.begin_import(tenant, what, now).await
    }

    async fn end_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.inner.end_import(tenant, import, now).await
    }

    async fn imports(
        &self,
        tenant: &Tenant,
        page: PageRequest<ImportNo>,
    ) -> Result<Page<ImportRun, ImportNo>, StoreError> {
        self.inner.imports(tenant, page).await
    }

    async fn undo_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<UndoneImport, StoreError> {
        self.with_all_jobs_lent(self.inner.undo_import(tenant, import, now))
            .await
    }
}

#[async_trait]
impl<S: Store + JobRows> ExtractionStore for Ledgered<S> {
    async fn finish_extraction(
        &self,
        lease: &LeaseToken,
        extraction: &Extraction,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let operation = self.inner.finish_extraction(lease, extraction, now);
        self.end_claim(lease, operation, now).await
    }

    async fn extractions_in_project(
        &self,
        tenant: &Tenant,
        project: &str,
    ) -> Result<Vec<ExtractionRecord>, StoreError> {
        self.inner.extractions_in_project(tenant, project).await
    }

    async fn extractions_without_root(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<ExtractionRecord>, StoreError> {
        self.inner.extractions_without_root(tenant).await
    }

    async fn extractions_of(
        &self,
        session: &SessionId,
    ) -> Result<Vec<ExtractionRecord>, StoreError> {
        self.inner.extractions_of(session).await
    }

    async fn extractors(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<(SessionId, Provenance)>, StoreError> {
        self.inner.extractors(tenant).await
    }

    async fn digest_before(
        &self,
        session: &SessionId,
        redo: u32,
        before: EventSeq,
    ) -> Result<Option<Digest>, StoreError> {
        self.inner.digest_before(session, redo, before).await
    }
}

#[async_trait]
impl<S: Store + JobRows> ObservationStore for Ledgered<S> {
    async fn observe(
        &self,
        observations: &[Observation],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.inner.observe(observations, now).await
    }

    async fn retract(
        &self,
        scope: &Scope,
        id: ObservationId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.inner.retract(scope, id, now).await
    }

    async fn retracted_texts(
        &self,
        tenant: &Tenant,
        sessions: &[SessionId],
    ) -> Result<Vec<RetractedText>, StoreError> {
        self.inner.retracted_texts(tenant, sessions).await
    }

    async fn reinstate(&self, observation: &Observation, now: Timestamp) -> Result<(), StoreError> {
        self.inner.reinstate(observation, now).await
    }

    async fn observations(&self, scope: &Scope) -> Result<Vec<Observation>, StoreError> {
        self.inner.observations(scope).await
    }

    async fn observations_of_kinds(
        &self,
        tenant: &Tenant,
        scopes: ScopeKind,
        kinds: &[ObservationKind],
    ) -> Result<Vec<Observation>, StoreError> {
        self.inner
            .observations_of_kinds(tenant, scopes, kinds)
            .await
    }

    async fn learned_by_span(
        &self,
        tenant: &Tenant,
        from: Timestamp,
        span: Duration,
    ) -> Result<Vec<(Timestamp, u64)>, StoreError> {
        self.inner.learned_by_span(tenant, from, span).await
    }
}

#[async_trait]
impl<S: Store + JobRows> SupersessionStore for Ledgered<S> {
    async fn set_supersessions(
        &self,
        scope: &Scope,
        supersessions: &[Supersession],
    ) -> Result<(), StoreError> {
        self.inner.set_supersessions(scope, supersessions).await
    }

    async fn superseded_by_event(
        &self,
        tenant: &Tenant,
        events: &[(SessionId, EventSeq)],
    ) -> Result<Vec<SupersededObservation>, StoreError> {
        self.inner.superseded_by_event(tenant, events).await
    }

    async fn known_observations(
        &self,
        tenant: &Tenant,
        wanted: &[(Scope, ObservationId)],
    ) -> Result<Vec<Option<KnownObservation>>, StoreError> {
        self.inner.known_observations(tenant, wanted).await
    }
}

#[async_trait]
impl<S: Store + JobRows> ScopeStore for Ledgered<S> {
    async fn touch_scope(&self, scope: &Scope, now: Timestamp) -> Result<u64, StoreError> {
        self.inner.touch_scope(scope, now).await
    }

    async fn scopes(
        &self,
        tenant: &Tenant,
        page: PageRequest<Scope>,
    ) -> Result<Page<ScopeState, Scope>, StoreError> {
        self.inner.scopes(tenant, page).await
    }
}

#[async_trait]
impl<S: Store + JobRows> QuarantineStore for Ledgered<S> {
    async fn quarantined(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<QuarantinedObservation>, StoreError> {
        self.inner.quarantined(tenant).await
    }

    async fn decide(
        &self,
        scope: &Scope,
        id: ObservationId,
        decision: QuarantineDecision,
    ) -> Result<bool, StoreError> {
        self.inner.decide(scope, id, decision).await
    }
}

#[async_trait]
impl<S: Store + JobRows> RescanStore for Ledgered<S> {
    async fn raise_rescans(
        &self,
        rules: RulesRevision,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        self.inner.raise_rescans(rules, now).await
    }

    async fn raise_rescan(
        &self,
        session: &SessionId,
        rules: RulesRevision,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.inner.raise_rescan(session, rules, now).await
    }

    async fn log_entries(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        self.inner
            .log_entries(session, after, upto, limit, bytes)
            .await
    }

    async fn rewrite_events(
        &self,
        lease: &LeaseToken,
        upto: EventSeq,
        rewrites: &[EventRewrite],
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let rewriting = self.inner.rewrite_events(lease, upto, rewrites, now);
        match extraction_of(lease).filter(|_| !rewrites.is_empty()) {
            Some(key) => self.with_jobs_lent(&[key], rewriting, |_, _| ()).await,
            None => rewriting.await,
        }
    }

    async fn session_texts(&self, session: &SessionId) -> Result<SessionTexts, StoreError> {
        self.inner.session_texts(session).await
    }

    async fn rewrite_session(
        &self,
        lease: &LeaseToken,
        rewrite: &SessionRewrite,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let rewriting = self.inner.rewrite_session(lease, rewrite, now);
        let is_job = |text: &TextRewrite| text.field == TextField::JobFailure;
        match extraction_of(lease).filter(|_| rewrite.texts.iter().any(is_job)) {
            Some(key) => self.with_jobs_lent(&[key], rewriting, |_, _| ()).await,
            None => rewriting.await,
        }
    }

    async fn erase_replaced(&self) -> Result<bool, StoreError> {
        self.inner.erase_replaced().await
    }
}

/// The extraction of the session that a rescan works on.
fn extraction_of(rescan: &LeaseToken) -> Option<JobKey> {
    match rescan.job() {
        JobKey::Redact(session) => Some(JobKey::Extract(session.clone())),
        JobKey::Extract(_) | JobKey::Consolidate(_) => None,
    }
}

#[async_trait]
impl<S: Store + JobRows> StagedWrites for Ledgered<S> {
    async fn staged(&self, tenant: &Tenant) -> Result<Vec<StagedEntityWrite>, StoreError> {
        self.inner.staged(tenant).await
    }

    async fn unstage(&self, staged: &[StagedEntityWrite]) -> Result<(), StoreError> {
        self.inner.unstage(staged).await
    }
}

#[async_trait]
impl<S: Store + JobRows> SelectionStore for Ledgered<S> {
    async fn selection(&self, scope: &Scope) -> Result<Option<SelectionRecord>, StoreError> {
        self.inner.selection(scope).await
    }

    async fn finish_consolidation(
        &self,
        lease: &LeaseToken,
        upto: u64,
        results: ConsolidationResults<'_>,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        self.inner
            .finish_consolidation(lease, upto, results, now)
            .await
    }
}

#[async_trait]
impl<S: Store + JobRows> ProposalStore for Ledgered<S> {
    async fn proposals(&self, scope: &Scope) -> Result<Option<ProposalRecord>, StoreError> {
        self.inner.proposals(scope).await
    }
}

#[async_trait]
impl<S: Store + JobRows> UseStore for Ledgered<S> {
    async fn note_uses(
        &self,
        tenant: &Tenant,
        uses: &[Use],
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        self.inner.note_uses(tenant, uses, now).await
    }

    async fn uses(&self, tenant: &Tenant, sessions: &[SessionId]) -> Result<Vec<Use>, StoreError> {
        self.inner.uses(tenant, sessions).await
    }
}

#[async_trait]
impl<S: Store + JobRows> IndexReader for Ledgered<S> {
    async fn term_stats(
        &self,
        tenant: &Tenant,
        tokens: &[String],
    ) -> Result<TermStats, StoreError> {
        self.inner.term_stats(tenant, tokens).await
    }

    async fn matches(
        &self,
        tenant: &Tenant,
        steps: &[CandidateQuery],
        filter: &SearchFilter,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        self.inner.matches(tenant, steps, filter).await
    }

    async fn outlines(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        model: Option<&str>,
    ) -> Result<Vec<DocumentOutline>, StoreError> {
        self.inner.outlines(tenant, docs, model).await
    }

    async fn surroundings(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        reach: usize,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        self.inner.surroundings(tenant, docs, reach).await
    }

    async fn documents(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
    ) -> Result<Vec<IndexedDocument>, StoreError> {
        self.inner.documents(tenant, docs).await
    }
}

#[async_trait]
impl<S: Store + JobRows> VectorStore for Ledgered<S> {
    async fn nearest(
        &self,
        tenant: &Tenant,
        signs: (&str, &[u64]),
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        self.inner.nearest(tenant, signs, filter, limit).await
    }

    async fn choose_model(&self, tenant: &Tenant, model: &str) -> Result<bool, StoreError> {
        self.inner.choose_model(tenant, model).await
    }

    async fn unembedded(
        &self,
        tenant: &Tenant,
        limit: usize,
    ) -> Result<Vec<EmbeddingInput>, StoreError> {
        self.inner.unembedded(tenant, limit).await
    }

    async fn put_vectors(
        &self,
        tenant: &Tenant,
        model: &str,
        embedded: &[DocumentVectors],
    ) -> Result<(), StoreError> {
        self.inner.put_vectors(tenant, model, embedded).await
    }
}

#[async_trait]
impl<S: Store + JobRows> IndexWriter for Ledgered<S> {
    async fn put_file(
        &self,
        scope: &Scope,
        file: &str,
        stamp: &str,
        entries: &[FileEntry],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.inner.put_file(scope, file, stamp, entries, now).await
    }

    async fn file_stamps(&self, scope: &Scope) -> Result<Vec<(String, String)>, StoreError> {
        self.inner.file_stamps(scope).await
    }

    async fn clear(&self, tenant: &Tenant) -> Result<(), StoreError> {
        self.inner.clear(tenant).await
    }

    async fn index_events(
        &self,
        session: &SessionId,
        events: &[(EventSeq, String)],
    ) -> Result<(), StoreError> {
        self.inner.index_events(session, events).await
    }

    async fn index_observations(&self, scope: &Scope) -> Result<(), StoreError> {
        self.inner.index_observations(scope).await
    }
}
