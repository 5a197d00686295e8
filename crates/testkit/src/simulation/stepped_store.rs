//! A store whose every call is one step of a simulation.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::index::{
    CandidateQuery, DocumentNo, DocumentOutline, DocumentVectors, EmbeddingInput, FileEntry,
    IndexedDocument, SearchFilter, TermStats,
};
use daybook_domain::quarantine::{QuarantineDecision, QuarantinedObservation};
use daybook_domain::rescan::{EventRewrite, SessionRewrite, SessionTexts, StoredEvent};
use daybook_domain::seams::{
    Append, AppendOutcome, ConsolidationResults, ExtractionStore, GapKey, ImportStore, IndexReader,
    IndexWriter, JobControl, JobListing, JobQueue, JobWatch, ObservationStore, PlaceStore,
    ProjectKey, ProposalStore, QuarantineStore, RescanStore, RetractedText, ScopeState, ScopeStore,
    SelectionStore, SessionCatalog, SessionKey, SessionLog, SourceStore, StagedWrites, Store,
    SupersessionStore, UseStore, VectorStore,
};
use daybook_domain::source::{ImportNo, ImportRun, TranscriptSource, UndoneImport};
use daybook_domain::{
    Claim, ClaimedJob, Digest, DueMark, Event, EventId, EventSeq, Extraction, ExtractionRecord,
    FailOutcome, FailedTry, FinishOutcome, Gap, Job, JobKey, JobKind, KnownObservation, LeaseToken,
    Observation, ObservationId, ObservationKind, Page, PageRequest, Place, Priority, Project,
    ProposalRecord, Provenance, RootRecord, RulesRevision, Scope, ScopeKind, SelectionRecord,
    Session, SessionGroup, SessionId, StagedEntityWrite, StoreError, SupersededObservation,
    Supersession, Tally, Tenant, Timestamp, Use,
};

use super::effect::{Effect, Journal, RecordedCall};
use super::gate::{CallGate, whole};
use super::planted_bug::ActiveBug;

type Answer<T> = Result<T, StoreError>;

/// Wraps a store for one actor: each call first waits at the actor's gate, and then writes its effect into
/// the journal.
pub(super) struct SteppedStore {
    pub(super) store: Arc<dyn Store>,
    pub(super) actor: usize,
    pub(super) gate: CallGate,
    pub(super) journal: Journal,
    pub(super) planted: Option<Arc<ActiveBug>>,
}

impl SteppedStore {
    async fn step<T>(
        &self,
        name: &'static str,
        call: impl Future<Output = Answer<T>> + Send,
        effect: impl FnOnce(&T) -> Effect + Send,
    ) -> Answer<T> {
        self.gate.pause().await;
        let answer = match self.planted {
            // The planted bug acts between two calls of the store, while other actors run.
            Some(_) => call.await,
            None => whole(call).await,
        };
        let effect = match &answer {
            Ok(answer) => effect(answer),
            Err(error) => Effect::Refused(error.to_string()),
        };
        let actor = self.actor;
        self.journal.write(RecordedCall {
            actor,
            name,
            effect,
        });
        self.gate.await_answer().await;
        answer
    }

    async fn read<T>(
        &self,
        name: &'static str,
        call: impl Future<Output = Answer<T>> + Send,
    ) -> Answer<T> {
        self.step(name, call, |_| Effect::NoEffect).await
    }

    async fn change<T>(
        &self,
        name: &'static str,
        call: impl Future<Output = Answer<T>> + Send,
    ) -> Answer<T> {
        self.step(name, call, |_| Effect::Changed).await
    }

    async fn change_jobs<T>(
        &self,
        name: &'static str,
        call: impl Future<Output = Answer<T>> + Send,
    ) -> Answer<T> {
        self.step(name, call, |_| Effect::JobsChanged).await
    }

    fn visible_job(&self, job: Job) -> Job {
        match &self.planted {
            Some(planted) => planted.visible_job(job),
            None => job,
        }
    }
}

#[async_trait]
impl SessionLog for SteppedStore {
    async fn append(&self, append: &Append) -> Answer<AppendOutcome> {
        let call = async {
            match &self.planted {
                Some(planted) => planted.append(&*self.store, &self.gate, append).await,
                None => self.store.append(append).await,
            }
        };
        self.step("append", call, |&appended| Effect::Appended {
            append: Box::new(append.clone()),
            appended,
        })
        .await
    }

    async fn event_ids(&self, session: &SessionId) -> Answer<Vec<(EventSeq, EventId)>> {
        self.read("event_ids", self.store.event_ids(session)).await
    }

    async fn events(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Answer<Vec<Event>> {
        let call = self.store.events(session, after, upto, limit, bytes);
        self.read("events", call).await
    }

    async fn events_at(
        &self,
        session: &SessionId,
        lines: (u32, u32),
        limit: usize,
    ) -> Answer<Vec<Event>> {
        let call = self.store.events_at(session, lines, limit);
        self.read("events_at", call).await
    }

    async fn retracted_seqs(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
    ) -> Answer<BTreeSet<EventSeq>> {
        let call = self.store.retracted_seqs(session, after, upto);
        self.read("retracted_seqs", call).await
    }
}

#[async_trait]
impl SessionCatalog for SteppedStore {
    async fn session(&self, id: &SessionId) -> Answer<Option<Session>> {
        self.read("session", self.store.session(id)).await
    }

    async fn sessions(
        &self,
        tenant: &Tenant,
        page: PageRequest<SessionKey>,
    ) -> Answer<Page<Session, SessionKey>> {
        let call = self.store.sessions(tenant, page);
        self.read("sessions", call).await
    }

    async fn sessions_active(
        &self,
        tenant: &Tenant,
        between: (Timestamp, Timestamp),
        limit: usize,
    ) -> Answer<Vec<Session>> {
        let call = self.store.sessions_active(tenant, between, limit);
        self.read("sessions_active", call).await
    }

    async fn switch_memory(
        &self,
        session: &SessionId,
        on: bool,
        switches: &Switches,
        now: Timestamp,
    ) -> Answer<bool> {
        let call = self.store.switch_memory(session, on, switches, now);
        let effect = |_: &bool| Effect::Switched {
            session: session.clone(),
            on,
        };
        self.step("switch_memory", call, effect).await
    }

    async fn find_sessions(&self, tenant: &Tenant, name: &str) -> Answer<Vec<Session>> {
        let call = self.store.find_sessions(tenant, name);
        self.read("find_sessions", call).await
    }
}

#[async_trait]
impl SourceStore for SteppedStore {
    async fn sources(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Answer<Page<TranscriptSource, String>> {
        self.read("sources", self.store.sources(tenant, page)).await
    }

    async fn failing_sources(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Answer<Page<TranscriptSource, String>> {
        let call = self.store.failing_sources(tenant, page);
        self.read("failing_sources", call).await
    }

    async fn sources_with_secrets(
        &self,
        tenant: &Tenant,
        page: PageRequest<String>,
    ) -> Answer<Page<TranscriptSource, String>> {
        let call = self.store.sources_with_secrets(tenant, page);
        self.read("sources_with_secrets", call).await
    }

    async fn sources_at(&self, tenant: &Tenant, paths: &[&str]) -> Answer<Vec<TranscriptSource>> {
        let call = self.store.sources_at(tenant, paths);
        self.read("sources_at", call).await
    }

    async fn sources_of(&self, session: &SessionId) -> Answer<Vec<TranscriptSource>> {
        let call = self.store.sources_of(session);
        self.read("sources_of", call).await
    }

    async fn put_source(
        &self,
        tenant: &Tenant,
        source: &TranscriptSource,
        import: Option<ImportNo>,
    ) -> Answer<()> {
        let call = self.store.put_source(tenant, source, import);
        self.read("put_source", call).await
    }
}

#[async_trait]
impl PlaceStore for SteppedStore {
    async fn places(&self, tenant: &Tenant) -> Answer<Vec<(Place, Option<String>)>> {
        self.read("places", self.store.places(tenant)).await
    }

    async fn project_of_root(&self, tenant: &Tenant, root: &str) -> Answer<Option<String>> {
        let call = self.store.project_of_root(tenant, root);
        self.read("project_of_root", call).await
    }

    async fn projects(
        &self,
        tenant: &Tenant,
        page: PageRequest<ProjectKey>,
    ) -> Answer<Page<Project, ProjectKey>> {
        self.read("projects", self.store.projects(tenant, page))
            .await
    }

    async fn assign_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Answer<()> {
        let call = self.store.assign_root(tenant, root, project, now);
        self.change("assign_root", call).await
    }

    async fn roots(&self, tenant: &Tenant) -> Answer<Vec<RootRecord>> {
        self.read("roots", self.store.roots(tenant)).await
    }

    async fn derive_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Answer<()> {
        let call = self.store.derive_root(tenant, root, project, now);
        self.change("derive_root", call).await
    }

    async fn forget_identity(&self, tenant: &Tenant, identity: &str) -> Answer<bool> {
        let call = self.store.forget_identity(tenant, identity);
        self.change("forget_identity", call).await
    }
}

#[async_trait]
impl ImportStore for SteppedStore {
    async fn begin_import(&self, tenant: &Tenant, what: &str, now: Timestamp) -> Answer<ImportNo> {
        let call = self.store.begin_import(tenant, what, now);
        self.change("begin_import", call).await
    }

    async fn end_import(&self, tenant: &Tenant, import: ImportNo, now: Timestamp) -> Answer<()> {
        let call = self.store.end_import(tenant, import, now);
        self.change("end_import", call).await
    }

    async fn imports(
        &self,
        tenant: &Tenant,
        page: PageRequest<ImportNo>,
    ) -> Answer<Page<ImportRun, ImportNo>> {
        self.read("imports", self.store.imports(tenant, page)).await
    }

    async fn undo_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Answer<UndoneImport> {
        let call = self.store.undo_import(tenant, import, now);
        self.change("undo_import", call).await
    }
}

#[async_trait]
impl JobQueue for SteppedStore {
    async fn claim(&self, claim: Claim<'_>) -> Answer<Vec<ClaimedJob>> {
        let call = async {
            match &self.planted {
                Some(planted) => planted.claim(&*self.store, claim).await,
                None => self.store.claim(claim).await,
            }
        };
        let effect = |claimed: &Vec<ClaimedJob>| Effect::Claimed {
            kind: claim.kind,
            now: claim.now,
            claimed: claimed.clone(),
        };
        self.step("claim", call, effect).await
    }

    async fn heartbeat(&self, token: &LeaseToken, now: Timestamp, lease: Duration) -> Answer<bool> {
        let effect = |&held: &bool| Effect::Heartbeat {
            token: token.clone(),
            now,
            held,
        };
        let call = self.store.heartbeat(token, now, lease);
        self.step("heartbeat", call, effect).await
    }

    async fn release(&self, token: &LeaseToken, now: Timestamp) -> Answer<bool> {
        let effect = |&held: &bool| Effect::Released {
            token: token.clone(),
            now,
            held,
        };
        self.step("release", self.store.release(token, now), effect)
            .await
    }

    async fn set_aside(
        &self,
        token: &LeaseToken,
        until: Timestamp,
        now: Timestamp,
    ) -> Answer<bool> {
        let effect = |&held: &bool| Effect::Released {
            token: token.clone(),
            now,
            held,
        };
        let call = self.store.set_aside(token, until, now);
        self.step("set_aside", call, effect).await
    }

    async fn abandon(&self, holder: &str) -> Answer<usize> {
        self.change_jobs("abandon", self.store.abandon(holder))
            .await
    }

    async fn holders(&self) -> Answer<Vec<String>> {
        self.read("holders", self.store.holders()).await
    }

    async fn finish(&self, token: &LeaseToken, upto: u64, now: Timestamp) -> Answer<FinishOutcome> {
        let call = async {
            match &self.planted {
                Some(planted) => planted.finish(&*self.store, token, upto, now).await,
                None => self.store.finish(token, upto, now).await,
            }
        };
        let effect = |&outcome: &FinishOutcome| Effect::Finished {
            token: token.clone(),
            now,
            outcome,
        };
        self.step("finish", call, effect).await
    }

    async fn fail(
        &self,
        token: &LeaseToken,
        failed: &FailedTry,
        now: Timestamp,
    ) -> Answer<FailOutcome> {
        let effect = |outcome: &FailOutcome| Effect::Failed {
            token: token.clone(),
            failed: Box::new(failed.clone()),
            now,
            outcome: outcome.clone(),
        };
        let call = self.store.fail(token, failed, now);
        self.step("fail", call, effect).await
    }
}

#[async_trait]
impl JobWatch for SteppedStore {
    async fn jobs_of_all_tenants(&self, kind: JobKind) -> Answer<Vec<Job>> {
        let jobs = self
            .read("jobs_of_all_tenants", self.store.jobs_of_all_tenants(kind))
            .await?;
        Ok(jobs.into_iter().map(|job| self.visible_job(job)).collect())
    }

    async fn gaps_of_all_tenants(&self) -> Answer<Vec<Gap>> {
        self.read("gaps_of_all_tenants", self.store.gaps_of_all_tenants())
            .await
    }

    async fn tallies(&self) -> Answer<Vec<Tally>> {
        self.read("tallies", self.store.tallies()).await
    }

    async fn next_due(&self, kind: JobKind) -> Answer<Option<Timestamp>> {
        self.read("next_due", self.store.next_due(kind)).await
    }

    async fn version(&self) -> Answer<u64> {
        self.read("version", self.store.version()).await
    }

    async fn until_changed(&self, seen: u64, longest: Duration) -> Answer<()> {
        let call = self.store.until_changed(seen, longest);
        self.read("until_changed", call).await
    }
}

#[async_trait]
impl JobControl for SteppedStore {
    async fn mark(&self, key: &JobKey, mark: DueMark) -> Answer<()> {
        self.change_jobs("mark", self.store.mark(key, mark)).await
    }

    async fn hasten(&self, key: &JobKey, now: Timestamp, priority: Priority) -> Answer<()> {
        let call = self.store.hasten(key, now, priority);
        self.change_jobs("hasten", call).await
    }

    async fn reprioritize(
        &self,
        session: &SessionId,
        user: Option<&str>,
        most: usize,
    ) -> Answer<usize> {
        let call = self.store.reprioritize(session, user, most);
        self.change_jobs("reprioritize", call).await
    }

    async fn cancel(&self, key: &JobKey, now: Timestamp, engine: &str) -> Answer<Option<Gap>> {
        let effect = |gap: &Option<Gap>| Effect::Cancelled {
            key: key.clone(),
            gap: gap.clone(),
        };
        let call = self.store.cancel(key, now, engine);
        self.step("cancel", call, effect).await
    }

    async fn retry(&self, key: &JobKey, now: Timestamp) -> Answer<bool> {
        self.change_jobs("retry", self.store.retry(key, now)).await
    }

    async fn redo(&self, key: &JobKey, now: Timestamp) -> Answer<()> {
        let effect = |&(): &()| Effect::Redone(Some(key.clone()));
        self.step("redo", self.store.redo(key, now), effect).await
    }

    async fn revive_gaps(
        &self,
        job: Option<&JobKey>,
        engine: &str,
        now: Timestamp,
    ) -> Answer<usize> {
        let effect = |_: &usize| Effect::Redone(job.cloned());
        let call = self.store.revive_gaps(job, engine, now);
        self.step("revive_gaps", call, effect).await
    }
}

#[async_trait]
impl JobListing for SteppedStore {
    async fn job(&self, key: &JobKey) -> Answer<Option<Job>> {
        let job = self.read("job", self.store.job(key)).await?;
        Ok(job.map(|job| self.visible_job(job)))
    }

    async fn jobs(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<JobKey>,
    ) -> Answer<Page<Job, JobKey>> {
        let page = self
            .read("jobs", self.store.jobs(tenant, kind, page))
            .await?;
        Ok(page.map(|job| self.visible_job(job)))
    }

    async fn open_jobs(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<JobKey>,
    ) -> Answer<Page<Job, JobKey>> {
        let call = self.store.open_jobs(tenant, kind, page);
        let page = self.read("open_jobs", call).await?;
        Ok(page.map(|job| self.visible_job(job)))
    }

    async fn session_groups(
        &self,
        tenant: &Tenant,
        rested_before: Timestamp,
    ) -> Answer<Vec<SessionGroup>> {
        let call = self.store.session_groups(tenant, rested_before);
        self.read("session_groups", call).await
    }

    async fn gaps(
        &self,
        tenant: &Tenant,
        kind: JobKind,
        page: PageRequest<GapKey>,
    ) -> Answer<Page<Gap, GapKey>> {
        self.read("gaps", self.store.gaps(tenant, kind, page)).await
    }

    async fn gaps_of(&self, job: &JobKey) -> Answer<Vec<Gap>> {
        self.read("gaps_of", self.store.gaps_of(job)).await
    }
}

#[async_trait]
impl SelectionStore for SteppedStore {
    async fn selection(&self, scope: &Scope) -> Answer<Option<SelectionRecord>> {
        self.read("selection", self.store.selection(scope)).await
    }

    async fn finish_consolidation(
        &self,
        token: &LeaseToken,
        upto: u64,
        results: ConsolidationResults<'_>,
        now: Timestamp,
    ) -> Answer<FinishOutcome> {
        let call = self.store.finish_consolidation(token, upto, results, now);
        let effect = |&outcome: &FinishOutcome| Effect::Finished {
            token: token.clone(),
            now,
            outcome,
        };
        self.step("finish_consolidation", call, effect).await
    }
}

#[async_trait]
impl ProposalStore for SteppedStore {
    async fn proposals(&self, scope: &Scope) -> Answer<Option<ProposalRecord>> {
        self.read("proposals", self.store.proposals(scope)).await
    }
}

#[async_trait]
impl UseStore for SteppedStore {
    async fn note_uses(&self, tenant: &Tenant, uses: &[Use], now: Timestamp) -> Answer<u64> {
        let call = self.store.note_uses(tenant, uses, now);
        self.change("note_uses", call).await
    }

    async fn uses(&self, tenant: &Tenant, sessions: &[SessionId]) -> Answer<Vec<Use>> {
        self.read("uses", self.store.uses(tenant, sessions)).await
    }
}

#[async_trait]
impl ExtractionStore for SteppedStore {
    async fn finish_extraction(
        &self,
        token: &LeaseToken,
        extraction: &Extraction,
        now: Timestamp,
    ) -> Answer<FinishOutcome> {
        let call = async {
            let store = &*self.store;
            match &self.planted {
                Some(planted) => {
                    planted
                        .finish_extraction(store, token, extraction, now)
                        .await
                }
                None => store.finish_extraction(token, extraction, now).await,
            }
        };
        let effect = |&outcome: &FinishOutcome| Effect::Extracted {
            token: token.clone(),
            extraction: Box::new(extraction.clone()),
            now,
            outcome,
        };
        self.step("finish_extraction", call, effect).await
    }

    async fn extractions_in_project(
        &self,
        tenant: &Tenant,
        project: &str,
    ) -> Answer<Vec<ExtractionRecord>> {
        let call = self.store.extractions_in_project(tenant, project);
        self.read("extractions_in_project", call).await
    }

    async fn extractions_without_root(&self, tenant: &Tenant) -> Answer<Vec<ExtractionRecord>> {
        let call = self.store.extractions_without_root(tenant);
        self.read("extractions_without_root", call).await
    }

    async fn extractions_of(&self, session: &SessionId) -> Answer<Vec<ExtractionRecord>> {
        let call = self.store.extractions_of(session);
        self.read("extractions_of", call).await
    }

    async fn extractors(&self, tenant: &Tenant) -> Answer<Vec<(SessionId, Provenance)>> {
        let call = self.store.extractors(tenant);
        self.read("extractors", call).await
    }

    async fn digest_before(
        &self,
        session: &SessionId,
        redo: u32,
        before: EventSeq,
    ) -> Answer<Option<Digest>> {
        let call = self.store.digest_before(session, redo, before);
        self.read("digest_before", call).await
    }
}

#[async_trait]
impl ObservationStore for SteppedStore {
    async fn observe(&self, observations: &[Observation], now: Timestamp) -> Answer<()> {
        let call = self.store.observe(observations, now);
        self.change("observe", call).await
    }

    async fn retract(&self, scope: &Scope, id: ObservationId, now: Timestamp) -> Answer<bool> {
        let effect = |&held: &bool| Effect::Retracted {
            scope: scope.clone(),
            id,
            held,
        };
        let call = self.store.retract(scope, id, now);
        self.step("retract", call, effect).await
    }

    async fn retracted_texts(
        &self,
        tenant: &Tenant,
        sessions: &[SessionId],
    ) -> Answer<Vec<RetractedText>> {
        let call = self.store.retracted_texts(tenant, sessions);
        self.read("retracted_texts", call).await
    }

    async fn reinstate(&self, observation: &Observation, now: Timestamp) -> Answer<()> {
        let call = self.store.reinstate(observation, now);
        self.change("reinstate", call).await
    }

    async fn observations(&self, scope: &Scope) -> Answer<Vec<Observation>> {
        let call = self.store.observations(scope);
        self.read("observations", call).await
    }

    async fn observations_of_kinds(
        &self,
        tenant: &Tenant,
        scopes: ScopeKind,
        kinds: &[ObservationKind],
    ) -> Answer<Vec<Observation>> {
        let call = self.store.observations_of_kinds(tenant, scopes, kinds);
        self.read("observations_of_kinds", call).await
    }

    async fn learned_by_span(
        &self,
        tenant: &Tenant,
        from: Timestamp,
        span: Duration,
    ) -> Answer<Vec<(Timestamp, u64)>> {
        let call = self.store.learned_by_span(tenant, from, span);
        self.read("learned_by_span", call).await
    }
}

#[async_trait]
impl SupersessionStore for SteppedStore {
    async fn set_supersessions(&self, scope: &Scope, found: &[Supersession]) -> Answer<()> {
        let call = self.store.set_supersessions(scope, found);
        self.change("set_supersessions", call).await
    }

    async fn superseded_by_event(
        &self,
        tenant: &Tenant,
        events: &[(SessionId, EventSeq)],
    ) -> Answer<Vec<SupersededObservation>> {
        let call = self.store.superseded_by_event(tenant, events);
        self.read("superseded_by_event", call).await
    }

    async fn known_observations(
        &self,
        tenant: &Tenant,
        wanted: &[(Scope, ObservationId)],
    ) -> Answer<Vec<Option<KnownObservation>>> {
        let call = self.store.known_observations(tenant, wanted);
        self.read("known_observations", call).await
    }
}

#[async_trait]
impl ScopeStore for SteppedStore {
    async fn touch_scope(&self, scope: &Scope, now: Timestamp) -> Answer<u64> {
        let call = self.store.touch_scope(scope, now);
        self.change("touch_scope", call).await
    }

    async fn scopes(
        &self,
        tenant: &Tenant,
        page: PageRequest<Scope>,
    ) -> Answer<Page<ScopeState, Scope>> {
        self.read("scopes", self.store.scopes(tenant, page)).await
    }
}

#[async_trait]
impl QuarantineStore for SteppedStore {
    async fn quarantined(&self, tenant: &Tenant) -> Answer<Vec<QuarantinedObservation>> {
        self.read("quarantined", self.store.quarantined(tenant))
            .await
    }

    async fn decide(
        &self,
        scope: &Scope,
        id: ObservationId,
        decision: QuarantineDecision,
    ) -> Answer<bool> {
        self.change("decide", self.store.decide(scope, id, decision))
            .await
    }
}

#[async_trait]
impl RescanStore for SteppedStore {
    async fn raise_rescans(&self, rules: RulesRevision, now: Timestamp) -> Answer<usize> {
        let call = self.store.raise_rescans(rules, now);
        self.change_jobs("raise_rescans", call).await
    }

    async fn raise_rescan(
        &self,
        session: &SessionId,
        rules: RulesRevision,
        now: Timestamp,
    ) -> Answer<bool> {
        let call = self.store.raise_rescan(session, rules, now);
        self.change_jobs("raise_rescan", call).await
    }

    async fn log_entries(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Answer<Vec<StoredEvent>> {
        let call = self.store.log_entries(session, after, upto, limit, bytes);
        self.read("log_entries", call).await
    }

    async fn rewrite_events(
        &self,
        lease: &LeaseToken,
        upto: EventSeq,
        rewrites: &[EventRewrite],
        now: Timestamp,
    ) -> Answer<FinishOutcome> {
        let call = self.store.rewrite_events(lease, upto, rewrites, now);
        let effect = |&outcome: &FinishOutcome| Effect::Finished {
            token: lease.clone(),
            now,
            outcome,
        };
        self.step("rewrite_events", call, effect).await
    }

    async fn session_texts(&self, session: &SessionId) -> Answer<SessionTexts> {
        let call = self.store.session_texts(session);
        self.read("session_texts", call).await
    }

    async fn rewrite_session(
        &self,
        lease: &LeaseToken,
        rewrite: &SessionRewrite,
        now: Timestamp,
    ) -> Answer<FinishOutcome> {
        let call = self.store.rewrite_session(lease, rewrite, now);
        let effect = |&outcome: &FinishOutcome| Effect::Finished {
            token: lease.clone(),
            now,
            outcome,
        };
        self.step("rewrite_session", call, effect).await
    }

    async fn erase_replaced(&self) -> Answer<bool> {
        self.read("erase_replaced", self.store.erase_replaced())
            .await
    }
}

#[async_trait]
impl StagedWrites for SteppedStore {
    async fn staged(&self, tenant: &Tenant) -> Answer<Vec<StagedEntityWrite>> {
        self.read("staged", self.store.staged(tenant)).await
    }

    async fn unstage(&self, staged: &[StagedEntityWrite]) -> Answer<()> {
        self.change("unstage", self.store.unstage(staged)).await
    }
}

#[async_trait]
impl IndexReader for SteppedStore {
    async fn term_stats(&self, tenant: &Tenant, tokens: &[String]) -> Answer<TermStats> {
        let call = self.store.term_stats(tenant, tokens);
        self.read("term_stats", call).await
    }

    async fn matches(
        &self,
        tenant: &Tenant,
        steps: &[CandidateQuery],
        filter: &SearchFilter,
    ) -> Answer<Vec<DocumentNo>> {
        let call = self.store.matches(tenant, steps, filter);
        self.read("matches", call).await
    }

    async fn outlines(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        model: Option<&str>,
    ) -> Answer<Vec<DocumentOutline>> {
        let call = self.store.outlines(tenant, docs, model);
        self.read("outlines", call).await
    }

    async fn surroundings(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        reach: usize,
    ) -> Answer<Vec<DocumentNo>> {
        let call = self.store.surroundings(tenant, docs, reach);
        self.read("surroundings", call).await
    }

    async fn documents(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
    ) -> Answer<Vec<IndexedDocument>> {
        let call = self.store.documents(tenant, docs);
        self.read("documents", call).await
    }
}

#[async_trait]
impl VectorStore for SteppedStore {
    async fn nearest(
        &self,
        tenant: &Tenant,
        signs: (&str, &[u64]),
        filter: &SearchFilter,
        limit: usize,
    ) -> Answer<Vec<DocumentNo>> {
        let call = self.store.nearest(tenant, signs, filter, limit);
        self.read("nearest", call).await
    }

    async fn choose_model(&self, tenant: &Tenant, model: &str) -> Answer<bool> {
        let call = self.store.choose_model(tenant, model);
        self.change("choose_model", call).await
    }

    async fn unembedded(&self, tenant: &Tenant, limit: usize) -> Answer<Vec<EmbeddingInput>> {
        let call = self.store.unembedded(tenant, limit);
        self.read("unembedded", call).await
    }

    async fn put_vectors(
        &self,
        tenant: &Tenant,
        model: &str,
        embedded: &[DocumentVectors],
    ) -> Answer<()> {
        let call = self.store.put_vectors(tenant, model, embedded);
        self.change("put_vectors", call).await
    }
}

#[async_trait]
impl IndexWriter for SteppedStore {
    async fn put_file(
        &self,
        scope: &Scope,
        file: &str,
        stamp: &str,
        entries: &[FileEntry],
        now: Timestamp,
    ) -> Answer<()> {
        let call = self.store.put_file(scope, file, stamp, entries, now);
        self.read("put_file", call).await
    }

    async fn file_stamps(&self, scope: &Scope) -> Answer<Vec<(String, String)>> {
        self.read("file_stamps", self.store.file_stamps(scope))
            .await
    }

    async fn clear(&self, tenant: &Tenant) -> Answer<()> {
        self.read("clear", self.store.clear(tenant)).await
    }

    async fn index_events(&self, session: &SessionId, events: &[(EventSeq, String)]) -> Answer<()> {
        let call = self.store.index_events(session, events);
        self.read("index_events", call).await
    }

    async fn index_observations(&self, scope: &Scope) -> Answer<()> {
        let call = self.store.index_observations(scope);
        self.read("index_observations", call).await
    }
}
