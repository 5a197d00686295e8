//! Everything that is not a job: the inner store's, with its jobs lent and taken back where they
//! change in the same transaction.

use async_trait::async_trait;
use daybook_domain::index::{
    Document, DocumentNo, Embedded, FileEntry, Filter, Outline, Step, TermStats, Unembedded,
};
use daybook_domain::seams::{
    Append, Appended, ExtractionStore, Index, ScopeState, SessionStore, Store,
};
use daybook_domain::source::{Import, ImportNo, Source, Undone};
use daybook_domain::{
    Digest, Event, EventId, EventSeq, Extraction, ExtractionRecord, FinishOutcome, JobKey,
    LeaseToken, Observation, ObservationId, Place, Project, RootRecord, Scope, Session, SessionId,
    Staged, StoreError, Tenant, Timestamp,
};

use super::book::{Entry, seconds};
use super::{JobRows, Ledgered};

#[async_trait]
impl<S: Store + JobRows> SessionStore for Ledgered<S> {
    async fn append(&self, append: &Append) -> Result<Appended, StoreError> {
        let key = JobKey::Extract(append.session.id.clone());
        let seen = |entry: &mut Entry, _: &Appended| {
            entry.seen = entry.seen.max(seconds(append.now));
        };
        let deed = self.inner.append(append);
        self.through(&[key], deed, seen).await
    }

    async fn event_ids(&self, session: &SessionId) -> Result<Vec<(EventSeq, EventId)>, StoreError> {
        self.inner.event_ids(session).await
    }

    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        self.inner.session(id).await
    }

    async fn sessions(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Session>, StoreError> {
        self.inner.sessions(tenant, limit).await
    }

    async fn sessions_active(
        &self,
        tenant: &Tenant,
        between: (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        self.inner.sessions_active(tenant, between, limit).await
    }

    async fn switch_memory(&self, session: &SessionId, on: bool) -> Result<bool, StoreError> {
        let key = JobKey::Extract(session.clone());
        let deed = self.inner.switch_memory(session, on);
        self.through(&[key], deed, |_, _| ()).await
    }

    async fn find_sessions(&self, tenant: &Tenant, name: &str) -> Result<Vec<Session>, StoreError> {
        self.inner.find_sessions(tenant, name).await
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

    async fn sources(&self, tenant: &Tenant) -> Result<Vec<Source>, StoreError> {
        self.inner.sources(tenant).await
    }

    async fn put_source(
        &self,
        tenant: &Tenant,
        source: &Source,
        import: Option<ImportNo>,
    ) -> Result<(), StoreError> {
        self.inner.put_source(tenant, source, import).await
    }

    async fn places(&self, tenant: &Tenant) -> Result<Vec<(Place, Option<String>)>, StoreError> {
        self.inner.places(tenant).await
    }

    async fn projects(&self, tenant: &Tenant) -> Result<Vec<Project>, StoreError> {
        self.inner.projects(tenant).await
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

    async fn imports(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Import>, StoreError> {
        self.inner.imports(tenant, limit).await
    }

    async fn undo_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<Undone, StoreError> {
        self.through_all(self.inner.undo_import(tenant, import, now))
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
        let deed = self.inner.finish_extraction(lease, extraction, now);
        self.end(lease, deed, now).await
    }

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

    async fn touch_scope(&self, scope: &Scope, now: Timestamp) -> Result<u64, StoreError> {
        self.inner.touch_scope(scope, now).await
    }

    async fn scopes(&self, tenant: &Tenant) -> Result<Vec<ScopeState>, StoreError> {
        self.inner.scopes(tenant).await
    }

    async fn observations(&self, scope: &Scope) -> Result<Vec<Observation>, StoreError> {
        self.inner.observations(scope).await
    }

    async fn extractions(
        &self,
        tenant: &Tenant,
        project: Option<&str>,
    ) -> Result<Vec<ExtractionRecord>, StoreError> {
        self.inner.extractions(tenant, project).await
    }

    async fn extractors(&self, tenant: &Tenant) -> Result<Vec<(SessionId, String)>, StoreError> {
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

    async fn staged(&self, tenant: &Tenant) -> Result<Vec<Staged>, StoreError> {
        self.inner.staged(tenant).await
    }

    async fn unstage(&self, staged: &[Staged]) -> Result<(), StoreError> {
        self.inner.unstage(staged).await
    }
}

#[async_trait]
impl<S: Store + JobRows> Index for Ledgered<S> {
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
        steps: &[Step],
        filter: &Filter,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        self.inner.matches(tenant, steps, filter).await
    }

    async fn nearest(
        &self,
        tenant: &Tenant,
        signs: (&str, &[u64]),
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<DocumentNo>, StoreError> {
        self.inner.nearest(tenant, signs, filter, limit).await
    }

    async fn outlines(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        model: Option<&str>,
    ) -> Result<Vec<Outline>, StoreError> {
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
    ) -> Result<Vec<Document>, StoreError> {
        self.inner.documents(tenant, docs).await
    }

    async fn choose_model(&self, tenant: &Tenant, model: &str) -> Result<bool, StoreError> {
        self.inner.choose_model(tenant, model).await
    }

    async fn unembedded(
        &self,
        tenant: &Tenant,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError> {
        self.inner.unembedded(tenant, limit).await
    }

    async fn put_vectors(
        &self,
        tenant: &Tenant,
        model: &str,
        embedded: &[Embedded],
    ) -> Result<(), StoreError> {
        self.inner.put_vectors(tenant, model, embedded).await
    }

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
