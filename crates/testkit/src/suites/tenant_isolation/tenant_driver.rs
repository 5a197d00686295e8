//! Applies one tenant's operations to one store.

use std::time::Duration;

use daybook_domain::eligibility::Switches;
use daybook_domain::index::{CandidateQuery, FileEntry, SearchFilter};
use daybook_domain::seams::{Append, Store};
use daybook_domain::source::ImportNo;
use daybook_domain::{
    ClaimedJob, DueMark, EventSeq, FailedTry, JobKind, ObservationId, PageRequest, Priority,
    StoreError, Tenant, Timestamp,
};
use proptest::prelude::*;

use crate::fixtures::{
    LEASE, append, candidates, evidence, failed, observation, polluting, project, source, tokens,
};
use crate::model::operations::StoreOperation;
use crate::model::subjects;
use crate::model::values;

/// Calls that name something of another tenant's.
#[derive(Debug, Clone, Copy)]
pub(super) enum ForeignCall {
    /// Its import, which events should be part of.
    Append,
    /// Its import, which a file should be part of.
    PutSource,
    /// Its import, to end it.
    EndImport,
    /// Its import, to undo it.
    UndoImport,
    /// Its session, as that of a file.
    Session,
    /// Its session, as that of a file that an append moves on.
    Source,
    /// Its session, as evidence.
    Evidence,
    /// Its scope, as the one that an observation is in.
    Observe,
    /// Its scope, as one that an extraction concerns.
    Concern,
    /// Its scopes, to be searched.
    Search,
}

/// A random one of these calls.
pub(super) fn reach() -> impl Strategy<Value = ForeignCall> {
    prop::sample::select(vec![
        ForeignCall::Append,
        ForeignCall::PutSource,
        ForeignCall::EndImport,
        ForeignCall::UndoImport,
        ForeignCall::Session,
        ForeignCall::Source,
        ForeignCall::Evidence,
        ForeignCall::Observe,
        ForeignCall::Concern,
        ForeignCall::Search,
    ])
}

/// A tenant, and the store that it works in.
pub(super) struct TenantDriver<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) tenant: Tenant,
    pub(super) claims: Vec<ClaimedJob>,
    importing: Option<ImportNo>,
}

/// A store's answer, as text.
type Answer = Result<String, StoreError>;

fn answer_text<T: std::fmt::Debug>(answer: T) -> Answer {
    Ok(format!("{answer:?}"))
}

impl<'a> TenantDriver<'a> {
    pub(super) fn new(store: &'a dyn Store, tenant: &Tenant) -> Self {
        Self {
            store,
            tenant: tenant.clone(),
            claims: Vec::new(),
            importing: None,
        }
    }

    /// Applies an operation to the tenant's own data.
    pub(super) async fn act(&mut self, operation: &StoreOperation, now: Timestamp) -> Answer {
        match operation {
            StoreOperation::Append { .. } | StoreOperation::PutSource { .. } => {
                self.log(operation, now).await
            }
            StoreOperation::BeginImport
            | StoreOperation::EndImport
            | StoreOperation::UndoImport { .. } => self.import(operation, now).await,
            StoreOperation::Observe { .. }
            | StoreOperation::Retract { .. }
            | StoreOperation::Touch { .. }
            | StoreOperation::Assign { .. }
            | StoreOperation::PutFile { .. }
            | StoreOperation::Rebuild => self.change_observations(operation, now).await,
            StoreOperation::ChooseModel { .. } | StoreOperation::Embed { .. } => {
                self.embed(operation).await
            }
            StoreOperation::Heartbeat { claim }
            | StoreOperation::Release { claim }
            | StoreOperation::SetAside { claim }
            | StoreOperation::Finish { claim, .. }
            | StoreOperation::Extract { claim, .. }
            | StoreOperation::Fail { claim, .. } => match self.chosen_claim(*claim) {
                Some(claimed) => self.end(operation, &claimed, now).await,
                None => answer_text(()),
            },
            _ => self.change_jobs(operation, now).await,
        }
    }

    /// One of the newest claims.
    fn chosen_claim(&self, number: u8) -> Option<ClaimedJob> {
        let back = usize::from(number) % self.claims.len().clamp(1, 4);
        self.claims.iter().rev().nth(back).cloned()
    }

    async fn log(&self, operation: &StoreOperation, now: Timestamp) -> Answer {
        match operation {
            StoreOperation::Append {
                session,
                file,
                events,
                root,
                dated,
                urgent,
                off,
                pollutes,
                importing,
            } => {
                let id = values::session(&self.tenant, *session);
                let from_file = *file > 0;
                let at = dated.then_some(now);
                let made = events
                    .iter()
                    .map(|&n| values::event_numbered(n, from_file, at, *root));
                let mut append = append(&id, made.collect());
                append.import = self.importing.filter(|_| *importing);
                append.now = now;
                append.urgent = urgent.then_some(Priority::High);
                append.session.memory_off = *off;
                if *pollutes {
                    append = polluting(append);
                }
                let read = || source(&format!("/logs/{file}"), &id, events.len() as u64);
                append.source = from_file.then(read);
                answer_text(self.store.append(&append).await?)
            }
            StoreOperation::PutSource {
                file,
                session,
                importing,
            } => {
                let id = values::session(&self.tenant, *session);
                let source = source(&format!("/logs/{file}"), &id, 99);
                let import = self.importing.filter(|_| *importing);
                answer_text(self.store.put_source(&self.tenant, &source, import).await?)
            }
            other => unreachable!("{other:?} logs nothing"),
        }
    }

    async fn import(&mut self, operation: &StoreOperation, now: Timestamp) -> Answer {
        let (store, tenant) = (self.store, &self.tenant);
        match (operation, self.importing) {
            (StoreOperation::BeginImport, _) => {
                self.importing = Some(store.begin_import(tenant, "all", now).await?);
                answer_text(())
            }
            (StoreOperation::EndImport, Some(no)) => {
                answer_text(store.end_import(tenant, no, now).await?)
            }
            (StoreOperation::UndoImport { import }, _) => {
                let known = store.imports(tenant, PageRequest::first(100)).await?.items;
                let Some(chosen) = known.get(usize::from(*import) % known.len().max(1)) else {
                    return answer_text(());
                };
                self.importing = self.importing.filter(|&no| no != chosen.no);
                answer_text(store.undo_import(tenant, chosen.no, now).await?)
            }
            _ => answer_text(()),
        }
    }

    async fn change_observations(&self, operation: &StoreOperation, now: Timestamp) -> Answer {
        let (store, tenant) = (self.store, &self.tenant);
        match operation {
            StoreOperation::Observe { session, found } => {
                let id = values::session(tenant, *session);
                let seen = values::observation_of(&id, found, |n| u64::from(n) % 9 + 1);
                answer_text(store.observe(&[seen], now).await?)
            }
            StoreOperation::Retract { scope, text_number } => {
                let scope = &values::scope(tenant, *scope);
                let kind = observation(scope, "", Vec::new()).kind;
                let id = ObservationId::of(scope, kind, &format!("said {text_number}"));
                answer_text(store.retract(scope, id, now).await?)
            }
            StoreOperation::Touch { scope } => {
                let scope = values::scope(tenant, *scope);
                answer_text(store.touch_scope(&scope, now).await?)
            }
            StoreOperation::Assign {
                root,
                project: name,
            } => {
                let project = project(["left", "right"][usize::from(*name)]);
                let root = values::root(*root);
                answer_text(store.assign_root(tenant, &root, &project, now).await?)
            }
            StoreOperation::PutFile {
                scope,
                file,
                entries,
            } => {
                let scope = values::scope(tenant, *scope);
                let file = ["MEMORY.md", "INDEX.md"][usize::from(*file)];
                let entries: Vec<FileEntry> =
                    entries.iter().enumerate().map(values::entry).collect();
                answer_text(store.put_file(&scope, file, "stamp", &entries, now).await?)
            }
            StoreOperation::Rebuild => self.rebuild().await,
            other => unreachable!("{other:?} changes no belief"),
        }
    }

    /// Clears the index and indexes everything again, except memory files.
    async fn rebuild(&self) -> Answer {
        self.store.clear(&self.tenant).await?;
        for session in self
            .store
            .sessions(&self.tenant, PageRequest::first(100))
            .await?
            .items
        {
            let (all, bytes) = (session.events, usize::MAX);
            let log = self
                .store
                .events(&session.id, EventSeq(0), all, 1000, bytes);
            let log = log.await?.into_iter();
            let words: Vec<_> = log.map(|event| (event.seq, tokens(&event.text))).collect();
            self.store.index_events(&session.id, &words).await?;
        }
        for scope in subjects::scopes_of(&self.tenant) {
            self.store.index_observations(&scope).await?;
        }
        answer_text(())
    }

    /// Chooses an embedding model, or stores its vectors for documents that wait for them.
    async fn embed(&self, operation: &StoreOperation) -> Answer {
        let (store, tenant) = (self.store, &self.tenant);
        match operation {
            StoreOperation::ChooseModel { model } => {
                answer_text(store.choose_model(tenant, values::model(*model)).await?)
            }
            StoreOperation::Embed { model, turn } => {
                let waiting = store.unembedded(tenant, 1000).await?;
                let vectors = values::vectors(waiting, *turn);
                let put = store.put_vectors(tenant, values::model(*model), &vectors);
                answer_text(put.await?)
            }
            other => unreachable!("{other:?} embeds nothing"),
        }
    }

    /// Changes jobs without holding one.
    async fn change_jobs(&self, operation: &StoreOperation, now: Timestamp) -> Answer {
        let (store, tenant) = (self.store, &self.tenant);
        let key = |number: &u8| values::key(tenant, *number);
        match operation {
            StoreOperation::Mark {
                key: number,
                input,
                idle,
                by,
                priority,
            } => {
                let mark = DueMark {
                    input: u64::from(*input),
                    idle_due: now.plus(Duration::from_secs(u64::from(*idle))),
                    deadline: now.plus(Duration::from_secs(u64::from(*by))),
                    priority: Priority::from_rank(i64::from(*priority)).unwrap_or_default(),
                    turns: u32::from(*priority),
                    turn_limit: 5,
                    active: now,
                };
                answer_text(store.mark(&key(number), mark).await?)
            }
            StoreOperation::Hasten { key: number } => {
                answer_text(store.hasten(&key(number), now, Priority::High).await?)
            }
            StoreOperation::Cancel {
                key: number,
                engine,
            } => {
                let engine = values::engine(*engine);
                answer_text(store.cancel(&key(number), now, engine).await?)
            }
            StoreOperation::Retry { key: number } => {
                answer_text(store.retry(&key(number), now).await?)
            }
            StoreOperation::Redo { key: number } => {
                answer_text(store.redo(&key(number), now).await?)
            }
            StoreOperation::Revive {
                key: Some(number),
                engine,
            } => {
                let engine = values::engine(*engine);
                let key = key(number);
                answer_text(store.revive_gaps(Some(&key), engine, now).await?)
            }
            StoreOperation::Reprioritize { session, most } => {
                let id = values::session(tenant, *session);
                answer_text(store.reprioritize(&id, None, usize::from(*most)).await?)
            }
            StoreOperation::Switch { session, on } => {
                let id = values::session(tenant, *session);
                answer_text(
                    store
                        .switch_memory(&id, *on, &Switches::default(), now)
                        .await?,
                )
            }
            other => unreachable!("{other:?} steers no job of one tenant"),
        }
    }

    async fn end(
        &self,
        operation: &StoreOperation,
        claimed: &ClaimedJob,
        now: Timestamp,
    ) -> Answer {
        let (store, token) = (self.store, &claimed.token);
        match operation {
            StoreOperation::Heartbeat { .. } => {
                answer_text(store.heartbeat(token, now, LEASE).await?)
            }
            StoreOperation::Release { .. } => answer_text(store.release(token, now).await?),
            StoreOperation::SetAside { .. } => {
                answer_text(store.set_aside(token, Timestamp::MAX, now).await?)
            }
            StoreOperation::Extract {
                short_by,
                found,
                retracted,
                root,
                concern,
                ..
            } if token.job().kind() == JobKind::Extract
                && claimed.upto > claimed.after + u64::from(*short_by) =>
            {
                let mut pass = values::pass(claimed, *short_by, found, *root);
                let window = pass.to.0;
                pass.retracted
                    .extend(retracted.map(|n| EventSeq(u64::from(n) % window.max(1) + 1)));
                pass.concerns
                    .extend(concern.map(|n| values::scope(&self.tenant, n)));
                answer_text(store.finish_extraction(token, &pass, now).await?)
            }
            StoreOperation::Finish { short_by, .. } | StoreOperation::Extract { short_by, .. } => {
                let upto = claimed.upto.saturating_sub(u64::from(*short_by));
                answer_text(store.finish(token, upto, now).await?)
            }
            StoreOperation::Fail { class, engine, .. } => {
                let failed = FailedTry {
                    engine: values::engine(*engine).to_owned(),
                    ..failed(*class)
                };
                answer_text(store.fail(token, &failed, now).await?)
            }
            other => unreachable!("{other:?} ends no claim"),
        }
    }

    /// Makes a call that names something of the other tenant's.
    pub(super) async fn reach(
        &self,
        reach: &ForeignCall,
        other: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Answer {
        let (store, tenant) = (self.store, &self.tenant);
        let (own, theirs) = (values::session(tenant, 0), values::session(other, 0));
        let (own_file, their_file) = (source("/logs/1", &own, 9), source("/logs/1", &theirs, 9));
        let event = vec![values::event_numbered(1, false, Some(now), Some(0))];
        match reach {
            ForeignCall::Append => {
                let import = Some(import);
                let append = Append {
                    import,
                    ..append(&own, event)
                };
                answer_text(store.append(&append).await?)
            }
            ForeignCall::PutSource => {
                let put = store.put_source(tenant, &own_file, Some(import));
                answer_text(put.await?)
            }
            ForeignCall::EndImport => answer_text(store.end_import(tenant, import, now).await?),
            ForeignCall::UndoImport => answer_text(store.undo_import(tenant, import, now).await?),
            ForeignCall::Session => answer_text(store.put_source(tenant, &their_file, None).await?),
            ForeignCall::Source => {
                let source = Some(their_file);
                let append = Append {
                    source,
                    ..append(&own, event)
                };
                answer_text(store.append(&append).await?)
            }
            ForeignCall::Evidence | ForeignCall::Observe => {
                let (scope, session) = match reach {
                    ForeignCall::Evidence => (values::scope(tenant, 0), &theirs),
                    _ => (values::scope(other, 0), &own),
                };
                let seen = observation(&scope, "said 1", vec![evidence(session, &[1])]);
                answer_text(store.observe(&[seen], now).await?)
            }
            ForeignCall::Concern => {
                let of_session = |c: &&ClaimedJob| c.token.job().kind() == JobKind::Extract;
                let Some(claimed) = self.claims.iter().rev().find(of_session) else {
                    return answer_text(());
                };
                let mut pass = values::pass(claimed, 0, &[], None);
                pass.concerns.push(values::scope(other, 0));
                answer_text(store.finish_extraction(&claimed.token, &pass, now).await?)
            }
            ForeignCall::Search => {
                let filter = SearchFilter {
                    scopes: Some(subjects::scopes_of(other).to_vec()),
                    ..SearchFilter::default()
                };
                let steps = ["t0", "said"].map(|word| CandidateQuery {
                    all_of: vec![word.to_owned()],
                    limit: 10,
                });
                answer_text(candidates(store, tenant, &steps, &filter).await?)
            }
        }
    }
}
