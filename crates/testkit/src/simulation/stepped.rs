//! A store each of whose calls is one step of a simulation.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::index::{
    Document, DocumentNo, Embedded, FileEntry, Filter, Outline, Step, TermStats, Unembedded,
};
use daybook_domain::seams::{
    Append, Appended, ExtractionStore, Index, JobStore, ScopeState, SessionStore, Store,
};
use daybook_domain::source::{Import, ImportNo, Source, Undone};
use daybook_domain::{
    Claim, Claimed, Digest, Event, EventId, EventSeq, Extraction, ExtractionRecord, FailOutcome,
    FailedTry, FinishOutcome, Gap, Job, JobKey, JobKind, LeaseToken, Mark, Observation,
    ObservationId, Place, Priority, Project, RootRecord, Scope, Session, SessionId, Staged,
    StoreError, Tally, Tenant, Timestamp,
};

use super::deed::{Call, Deed, Journal};
use super::gate::{Gate, whole};
use super::planted::Planted;

type Answer<T> = Result<T, StoreError>;

/// One actor's way to a store: before each call it waits at the actor's gate, after it the journal
/// knows what the call did.
pub(super) struct Stepped {
    pub(super) store: Arc<dyn Store>,
    pub(super) actor: usize,
    pub(super) gate: Gate,
    pub(super) journal: Journal,
    pub(super) planted: Option<Arc<Planted>>,
}

impl Stepped {
    async fn step<T>(
        &self,
        name: &'static str,
        call: impl Future<Output = Answer<T>> + Send,
        deed: impl FnOnce(&T) -> Deed + Send,
    ) -> Answer<T> {
        self.gate.pause().await;
        let answer = match self.planted {
            // Its mistake lies between two calls, where others act.
            Some(_) => call.await,
            None => whole(call).await,
        };
        let deed = match &answer {
            Ok(answer) => deed(answer),
            Err(error) => Deed::Refused(error.to_string()),
        };
        let actor = self.actor;
        self.journal.write(Call { actor, name, deed });
        self.gate.hear().await;
        answer
    }

    async fn look<T>(
        &self,
        name: &'static str,
        call: impl Future<Output = Answer<T>> + Send,
    ) -> Answer<T> {
        self.step(name, call, |_| Deed::Looked).await
    }

    async fn keep<T>(
        &self,
        name: &'static str,
        call: impl Future<Output = Answer<T>> + Send,
    ) -> Answer<T> {
        self.step(name, call, |_| Deed::Kept).await
    }

    async fn steer<T>(
        &self,
        name: &'static str,
        call: impl Future<Output = Answer<T>> + Send,
    ) -> Answer<T> {
        self.step(name, call, |_| Deed::Steered).await
    }

    fn seen(&self, job: Job) -> Job {
        match &self.planted {
            Some(planted) => planted.seen(job),
            None => job,
        }
    }
}

#[async_trait]
impl SessionStore for Stepped {
    async fn append(&self, append: &Append) -> Answer<Appended> {
        let call = async {
            match &self.planted {
                Some(planted) => planted.append(&*self.store, &self.gate, append).await,
                None => self.store.append(append).await,
            }
        };
        self.step("append", call, |&appended| Deed::Appended {
            append: Box::new(append.clone()),
            appended,
        })
        .await
    }

    async fn event_ids(&self, session: &SessionId) -> Answer<Vec<(EventSeq, EventId)>> {
        self.look("event_ids", self.store.event_ids(session)).await
    }

    async fn session(&self, id: &SessionId) -> Answer<Option<Session>> {
        self.look("session", self.store.session(id)).await
    }

    async fn sessions(&self, tenant: &Tenant, limit: usize) -> Answer<Vec<Session>> {
        let call = self.store.sessions(tenant, limit);
        self.look("sessions", call).await
    }

    async fn sessions_active(
        &self,
        tenant: &Tenant,
        between: (Timestamp, Timestamp),
        limit: usize,
    ) -> Answer<Vec<Session>> {
        let call = self.store.sessions_active(tenant, between, limit);
        self.look("sessions_active", call).await
    }

    async fn switch_memory(&self, session: &SessionId, on: bool) -> Answer<bool> {
        let call = self.store.switch_memory(session, on);
        let deed = |_: &bool| Deed::Switched {
            session: session.clone(),
            on,
        };
        self.step("switch_memory", call, deed).await
    }

    async fn find_sessions(&self, tenant: &Tenant, name: &str) -> Answer<Vec<Session>> {
        let call = self.store.find_sessions(tenant, name);
        self.look("find_sessions", call).await
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
        self.look("events", call).await
    }

    async fn events_at(
        &self,
        session: &SessionId,
        lines: (u32, u32),
        limit: usize,
    ) -> Answer<Vec<Event>> {
        let call = self.store.events_at(session, lines, limit);
        self.look("events_at", call).await
    }

    async fn sources(&self, tenant: &Tenant) -> Answer<Vec<Source>> {
        self.look("sources", self.store.sources(tenant)).await
    }

    async fn put_source(
        &self,
        tenant: &Tenant,
        source: &Source,
        import: Option<ImportNo>,
    ) -> Answer<()> {
        let call = self.store.put_source(tenant, source, import);
        self.look("put_source", call).await
    }

    async fn places(&self, tenant: &Tenant) -> Answer<Vec<(Place, Option<String>)>> {
        self.look("places", self.store.places(tenant)).await
    }

    async fn projects(&self, tenant: &Tenant) -> Answer<Vec<Project>> {
        self.look("projects", self.store.projects(tenant)).await
    }

    async fn assign_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Answer<()> {
        let call = self.store.assign_root(tenant, root, project, now);
        self.keep("assign_root", call).await
    }

    async fn roots(&self, tenant: &Tenant) -> Answer<Vec<RootRecord>> {
        self.look("roots", self.store.roots(tenant)).await
    }

    async fn derive_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Answer<()> {
        let call = self.store.derive_root(tenant, root, project, now);
        self.keep("derive_root", call).await
    }

    async fn forget_identity(&self, tenant: &Tenant, identity: &str) -> Answer<bool> {
        let call = self.store.forget_identity(tenant, identity);
        self.keep("forget_identity", call).await
    }

    async fn begin_import(&self, tenant: &Tenant, what: &str, now: Timestamp) -> Answer<ImportNo> {
        let call = self.store.begin_import(tenant, what, now);
        self.keep("begin_import", call).await
    }

    async fn end_import(&self, tenant: &Tenant, import: ImportNo, now: Timestamp) -> Answer<()> {
        let call = self.store.end_import(tenant, import, now);
        self.keep("end_import", call).await
    }

    async fn imports(&self, tenant: &Tenant, limit: usize) -> Answer<Vec<Import>> {
        self.look("imports", self.store.imports(tenant, limit))
            .await
    }

    async fn undo_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Answer<Undone> {
        let call = self.store.undo_import(tenant, import, now);
        self.keep("undo_import", call).await
    }
}

#[async_trait]
impl JobStore for Stepped {
    async fn mark(&self, key: &JobKey, mark: Mark) -> Answer<()> {
        self.steer("mark", self.store.mark(key, mark)).await
    }

    async fn hasten(&self, key: &JobKey, now: Timestamp, priority: Priority) -> Answer<()> {
        let call = self.store.hasten(key, now, priority);
        self.steer("hasten", call).await
    }

    async fn reprioritize(
        &self,
        session: &SessionId,
        user: Option<&str>,
        most: usize,
    ) -> Answer<usize> {
        let call = self.store.reprioritize(session, user, most);
        self.steer("reprioritize", call).await
    }

    async fn claim(&self, claim: Claim<'_>) -> Answer<Vec<Claimed>> {
        let call = async {
            match &self.planted {
                Some(planted) => planted.claim(&*self.store, claim).await,
                None => self.store.claim(claim).await,
            }
        };
        let deed = |claimed: &Vec<Claimed>| Deed::Claimed {
            kind: claim.kind,
            now: claim.now,
            claimed: claimed.clone(),
        };
        self.step("claim", call, deed).await
    }

    async fn heartbeat(&self, token: &LeaseToken, now: Timestamp, lease: Duration) -> Answer<bool> {
        let deed = |&held: &bool| Deed::Beat {
            token: token.clone(),
            now,
            held,
        };
        let call = self.store.heartbeat(token, now, lease);
        self.step("heartbeat", call, deed).await
    }

    async fn release(&self, token: &LeaseToken, now: Timestamp) -> Answer<bool> {
        let deed = |&held: &bool| Deed::Released {
            token: token.clone(),
            now,
            held,
        };
        self.step("release", self.store.release(token, now), deed)
            .await
    }

    async fn set_aside(&self, token: &LeaseToken, now: Timestamp) -> Answer<bool> {
        let deed = |&held: &bool| Deed::Released {
            token: token.clone(),
            now,
            held,
        };
        self.step("set_aside", self.store.set_aside(token, now), deed)
            .await
    }

    async fn abandon(&self, holder: &str) -> Answer<usize> {
        self.steer("abandon", self.store.abandon(holder)).await
    }

    async fn holders(&self) -> Answer<Vec<String>> {
        self.look("holders", self.store.holders()).await
    }

    async fn finish(&self, token: &LeaseToken, upto: u64, now: Timestamp) -> Answer<FinishOutcome> {
        let call = async {
            match &self.planted {
                Some(planted) => planted.finish(&*self.store, token, upto, now).await,
                None => self.store.finish(token, upto, now).await,
            }
        };
        let deed = |&outcome: &FinishOutcome| Deed::Finished {
            token: token.clone(),
            now,
            outcome,
        };
        self.step("finish", call, deed).await
    }

    async fn fail(
        &self,
        token: &LeaseToken,
        failed: &FailedTry,
        now: Timestamp,
    ) -> Answer<FailOutcome> {
        let deed = |outcome: &FailOutcome| Deed::Failed {
            token: token.clone(),
            failed: Box::new(failed.clone()),
            now,
            outcome: outcome.clone(),
        };
        let call = self.store.fail(token, failed, now);
        self.step("fail", call, deed).await
    }

    async fn cancel(&self, key: &JobKey, now: Timestamp, engine: &str) -> Answer<Option<Gap>> {
        let deed = |gap: &Option<Gap>| Deed::Cancelled {
            key: key.clone(),
            gap: gap.clone(),
        };
        let call = self.store.cancel(key, now, engine);
        self.step("cancel", call, deed).await
    }

    async fn retry(&self, key: &JobKey, now: Timestamp) -> Answer<bool> {
        self.steer("retry", self.store.retry(key, now)).await
    }

    async fn job(&self, key: &JobKey) -> Answer<Option<Job>> {
        let job = self.look("job", self.store.job(key)).await?;
        Ok(job.map(|job| self.seen(job)))
    }

    async fn jobs(&self, kind: JobKind) -> Answer<Vec<Job>> {
        let jobs = self.look("jobs", self.store.jobs(kind)).await?;
        Ok(jobs.into_iter().map(|job| self.seen(job)).collect())
    }

    async fn next_due(&self, kind: JobKind) -> Answer<Option<Timestamp>> {
        self.look("next_due", self.store.next_due(kind)).await
    }

    async fn redo(&self, key: &JobKey, now: Timestamp) -> Answer<()> {
        let deed = |&(): &()| Deed::Redone(Some(key.clone()));
        self.step("redo", self.store.redo(key, now), deed).await
    }

    async fn gaps(&self) -> Answer<Vec<Gap>> {
        self.look("gaps", self.store.gaps()).await
    }

    async fn revive_gaps(
        &self,
        job: Option<&JobKey>,
        engine: &str,
        now: Timestamp,
    ) -> Answer<usize> {
        let deed = |_: &usize| Deed::Redone(job.cloned());
        let call = self.store.revive_gaps(job, engine, now);
        self.step("revive_gaps", call, deed).await
    }

    async fn tallies(&self) -> Answer<Vec<Tally>> {
        self.look("tallies", self.store.tallies()).await
    }

    async fn version(&self) -> Answer<u64> {
        self.look("version", self.store.version()).await
    }

    async fn until_changed(&self, seen: u64, longest: Duration) -> Answer<()> {
        let call = self.store.until_changed(seen, longest);
        self.look("until_changed", call).await
    }
}

#[async_trait]
impl ExtractionStore for Stepped {
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
        let deed = |&outcome: &FinishOutcome| Deed::Extracted {
            token: token.clone(),
            extraction: Box::new(extraction.clone()),
            now,
            outcome,
        };
        self.step("finish_extraction", call, deed).await
    }

    async fn observe(&self, observations: &[Observation], now: Timestamp) -> Answer<()> {
        let call = self.store.observe(observations, now);
        self.keep("observe", call).await
    }

    async fn retract(&self, scope: &Scope, id: ObservationId, now: Timestamp) -> Answer<bool> {
        let deed = |&held: &bool| Deed::Retracted {
            scope: scope.clone(),
            id,
            held,
        };
        let call = self.store.retract(scope, id, now);
        self.step("retract", call, deed).await
    }

    async fn touch_scope(&self, scope: &Scope, now: Timestamp) -> Answer<u64> {
        let call = self.store.touch_scope(scope, now);
        self.keep("touch_scope", call).await
    }

    async fn scopes(&self, tenant: &Tenant) -> Answer<Vec<ScopeState>> {
        self.look("scopes", self.store.scopes(tenant)).await
    }

    async fn observations(&self, scope: &Scope) -> Answer<Vec<Observation>> {
        let call = self.store.observations(scope);
        self.look("observations", call).await
    }

    async fn extractions(
        &self,
        tenant: &Tenant,
        project: Option<&str>,
    ) -> Answer<Vec<ExtractionRecord>> {
        let call = self.store.extractions(tenant, project);
        self.look("extractions", call).await
    }

    async fn extractors(&self, tenant: &Tenant) -> Answer<Vec<(SessionId, String)>> {
        let call = self.store.extractors(tenant);
        self.look("extractors", call).await
    }

    async fn digest_before(
        &self,
        session: &SessionId,
        redo: u32,
        before: EventSeq,
    ) -> Answer<Option<Digest>> {
        let call = self.store.digest_before(session, redo, before);
        self.look("digest_before", call).await
    }

    async fn staged(&self, tenant: &Tenant) -> Answer<Vec<Staged>> {
        self.look("staged", self.store.staged(tenant)).await
    }

    async fn unstage(&self, staged: &[Staged]) -> Answer<()> {
        self.keep("unstage", self.store.unstage(staged)).await
    }
}

#[async_trait]
impl Index for Stepped {
    async fn term_stats(&self, tenant: &Tenant, tokens: &[String]) -> Answer<TermStats> {
        let call = self.store.term_stats(tenant, tokens);
        self.look("term_stats", call).await
    }

    async fn matches(
        &self,
        tenant: &Tenant,
        steps: &[Step],
        filter: &Filter,
    ) -> Answer<Vec<DocumentNo>> {
        let call = self.store.matches(tenant, steps, filter);
        self.look("matches", call).await
    }

    async fn nearest(
        &self,
        tenant: &Tenant,
        signs: (&str, &[u64]),
        filter: &Filter,
        limit: usize,
    ) -> Answer<Vec<DocumentNo>> {
        let call = self.store.nearest(tenant, signs, filter, limit);
        self.look("nearest", call).await
    }

    async fn outlines(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        model: Option<&str>,
    ) -> Answer<Vec<Outline>> {
        let call = self.store.outlines(tenant, docs, model);
        self.look("outlines", call).await
    }

    async fn surroundings(
        &self,
        tenant: &Tenant,
        docs: &[DocumentNo],
        reach: usize,
    ) -> Answer<Vec<DocumentNo>> {
        let call = self.store.surroundings(tenant, docs, reach);
        self.look("surroundings", call).await
    }

    async fn documents(&self, tenant: &Tenant, docs: &[DocumentNo]) -> Answer<Vec<Document>> {
        let call = self.store.documents(tenant, docs);
        self.look("documents", call).await
    }

    async fn choose_model(&self, tenant: &Tenant, model: &str) -> Answer<bool> {
        let call = self.store.choose_model(tenant, model);
        self.keep("choose_model", call).await
    }

    async fn unembedded(&self, tenant: &Tenant, limit: usize) -> Answer<Vec<Unembedded>> {
        let call = self.store.unembedded(tenant, limit);
        self.look("unembedded", call).await
    }

    async fn put_vectors(&self, tenant: &Tenant, model: &str, embedded: &[Embedded]) -> Answer<()> {
        let call = self.store.put_vectors(tenant, model, embedded);
        self.keep("put_vectors", call).await
    }

    async fn put_file(
        &self,
        scope: &Scope,
        file: &str,
        stamp: &str,
        entries: &[FileEntry],
        now: Timestamp,
    ) -> Answer<()> {
        let call = self.store.put_file(scope, file, stamp, entries, now);
        self.look("put_file", call).await
    }

    async fn file_stamps(&self, scope: &Scope) -> Answer<Vec<(String, String)>> {
        self.look("file_stamps", self.store.file_stamps(scope))
            .await
    }

    async fn clear(&self, tenant: &Tenant) -> Answer<()> {
        self.look("clear", self.store.clear(tenant)).await
    }

    async fn index_events(&self, session: &SessionId, events: &[(EventSeq, String)]) -> Answer<()> {
        let call = self.store.index_events(session, events);
        self.look("index_events", call).await
    }

    async fn index_observations(&self, scope: &Scope) -> Answer<()> {
        let call = self.store.index_observations(scope);
        self.look("index_observations", call).await
    }
}
