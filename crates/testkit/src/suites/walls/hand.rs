//! One tenant at work in one store.

use std::time::Duration;

use daybook_domain::index::{FileEntry, Filter, Step};
use daybook_domain::seams::{Append, Store};
use daybook_domain::source::ImportNo;
use daybook_domain::{
    Claimed, EventSeq, FailedTry, JobKind, Mark, ObservationId, Priority, StoreError, Tenant,
    Timestamp,
};
use proptest::prelude::*;

use crate::fixtures::{
    LEASE, append, candidates, evidence, failed, observation, project, source, tokens,
};
use crate::model::cast;
use crate::model::operations::Operation;
use crate::model::view;

/// Calls that name what is another tenant's.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reach {
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

/// Any of them.
pub(super) fn reach() -> impl Strategy<Value = Reach> {
    prop::sample::select(vec![
        Reach::Append,
        Reach::PutSource,
        Reach::EndImport,
        Reach::UndoImport,
        Reach::Session,
        Reach::Source,
        Reach::Evidence,
        Reach::Observe,
        Reach::Concern,
        Reach::Search,
    ])
}

/// A tenant, and the store that it works in.
pub(super) struct Hand<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) tenant: Tenant,
    pub(super) claims: Vec<Claimed>,
    importing: Option<ImportNo>,
}

/// What a store answered, as text.
type Answer = Result<String, StoreError>;

fn told<T: std::fmt::Debug>(answer: T) -> Answer {
    Ok(format!("{answer:?}"))
}

impl<'a> Hand<'a> {
    pub(super) fn new(store: &'a dyn Store, tenant: &Tenant) -> Self {
        Self {
            store,
            tenant: tenant.clone(),
            claims: Vec::new(),
            importing: None,
        }
    }

    /// Does something of the tenant's own.
    pub(super) async fn act(&mut self, operation: &Operation, now: Timestamp) -> Answer {
        match operation {
            Operation::Append { .. } | Operation::PutSource { .. } => {
                self.log(operation, now).await
            }
            Operation::BeginImport | Operation::EndImport | Operation::UndoImport { .. } => {
                self.import(operation, now).await
            }
            Operation::Observe { .. }
            | Operation::Retract { .. }
            | Operation::Touch { .. }
            | Operation::Assign { .. }
            | Operation::PutFile { .. }
            | Operation::Rebuild => self.believe(operation, now).await,
            Operation::ChooseModel { .. } | Operation::Embed { .. } => self.embed(operation).await,
            Operation::Heartbeat { claim }
            | Operation::Release { claim }
            | Operation::SetAside { claim }
            | Operation::Finish { claim, .. }
            | Operation::Extract { claim, .. }
            | Operation::Fail { claim, .. } => match self.chosen(*claim) {
                Some(claimed) => self.end(operation, &claimed, now).await,
                None => told(()),
            },
            _ => self.steer(operation, now).await,
        }
    }

    /// One of the newest claims.
    fn chosen(&self, number: u8) -> Option<Claimed> {
        let back = usize::from(number) % self.claims.len().clamp(1, 4);
        self.claims.iter().rev().nth(back).cloned()
    }

    async fn log(&self, operation: &Operation, now: Timestamp) -> Answer {
        match operation {
            Operation::Append {
                session,
                file,
                events,
                root,
                dated,
                urgent,
                off,
                importing,
            } => {
                let id = cast::session(&self.tenant, *session);
                let from_file = *file > 0;
                let at = dated.then_some(now);
                let made = events
                    .iter()
                    .map(|&n| cast::event_numbered(n, from_file, at, *root));
                let mut append = append(&id, made.collect());
                append.import = self.importing.filter(|_| *importing);
                append.now = now;
                append.urgent = urgent.then_some(Priority::High);
                append.session.memory_off = *off;
                let read = || source(&format!("/logs/{file}"), &id, events.len() as u64);
                append.source = from_file.then(read);
                told(self.store.append(&append).await?)
            }
            Operation::PutSource {
                file,
                session,
                importing,
            } => {
                let id = cast::session(&self.tenant, *session);
                let source = source(&format!("/logs/{file}"), &id, 99);
                let import = self.importing.filter(|_| *importing);
                told(self.store.put_source(&self.tenant, &source, import).await?)
            }
            other => unreachable!("{other:?} logs nothing"),
        }
    }

    async fn import(&mut self, operation: &Operation, now: Timestamp) -> Answer {
        let (store, tenant) = (self.store, &self.tenant);
        match (operation, self.importing) {
            (Operation::BeginImport, _) => {
                self.importing = Some(store.begin_import(tenant, "all", now).await?);
                told(())
            }
            (Operation::EndImport, Some(no)) => told(store.end_import(tenant, no, now).await?),
            (Operation::UndoImport { import }, _) => {
                let known = store.imports(tenant, 100).await?;
                let Some(chosen) = known.get(usize::from(*import) % known.len().max(1)) else {
                    return told(());
                };
                self.importing = self.importing.filter(|&no| no != chosen.no);
                told(store.undo_import(tenant, chosen.no, now).await?)
            }
            _ => told(()),
        }
    }

    async fn believe(&self, operation: &Operation, now: Timestamp) -> Answer {
        let (store, tenant) = (self.store, &self.tenant);
        match operation {
            Operation::Observe { session, found } => {
                let id = cast::session(tenant, *session);
                let seen = cast::observed(&id, found, |n| u64::from(n) % 9 + 1);
                told(store.observe(&[seen], now).await?)
            }
            Operation::Retract { scope, said } => {
                let scope = &cast::scope(tenant, *scope);
                let kind = observation(scope, "", Vec::new()).kind;
                let id = ObservationId::of(scope, kind, &format!("said {said}"));
                told(store.retract(scope, id, now).await?)
            }
            Operation::Touch { scope } => {
                let scope = cast::scope(tenant, *scope);
                told(store.touch_scope(&scope, now).await?)
            }
            Operation::Assign {
                root,
                project: name,
            } => {
                let project = project(["left", "right"][usize::from(*name)]);
                let root = cast::root(*root);
                told(store.assign_root(tenant, &root, &project, now).await?)
            }
            Operation::PutFile {
                scope,
                file,
                entries,
            } => {
                let scope = cast::scope(tenant, *scope);
                let file = ["MEMORY.md", "INDEX.md"][usize::from(*file)];
                let entries: Vec<FileEntry> = entries.iter().enumerate().map(cast::entry).collect();
                told(store.put_file(&scope, file, "stamp", &entries, now).await?)
            }
            Operation::Rebuild => self.rebuild().await,
            other => unreachable!("{other:?} changes no belief"),
        }
    }

    /// Clears the index and feeds it again, memory files apart.
    async fn rebuild(&self) -> Answer {
        self.store.clear(&self.tenant).await?;
        for session in self.store.sessions(&self.tenant, 100).await? {
            let (all, bytes) = (session.events, usize::MAX);
            let log = self
                .store
                .events(&session.id, EventSeq(0), all, 1000, bytes);
            let log = log.await?.into_iter();
            let words: Vec<_> = log.map(|event| (event.seq, tokens(&event.text))).collect();
            self.store.index_events(&session.id, &words).await?;
        }
        for scope in view::scopes_of(&self.tenant) {
            self.store.index_observations(&scope).await?;
        }
        told(())
    }

    /// Chooses a model, or gives vectors of one to what waits for them.
    async fn embed(&self, operation: &Operation) -> Answer {
        let (store, tenant) = (self.store, &self.tenant);
        match operation {
            Operation::ChooseModel { model } => {
                told(store.choose_model(tenant, cast::model(*model)).await?)
            }
            Operation::Embed { model, turn } => {
                let waiting = store.unembedded(tenant, 1000).await?;
                let vectors = cast::vectors(waiting, *turn);
                let put = store.put_vectors(tenant, cast::model(*model), &vectors);
                told(put.await?)
            }
            other => unreachable!("{other:?} embeds nothing"),
        }
    }

    /// Changes jobs without holding one.
    async fn steer(&self, operation: &Operation, now: Timestamp) -> Answer {
        let (store, tenant) = (self.store, &self.tenant);
        let key = |number: &u8| cast::key(tenant, *number);
        match operation {
            Operation::Mark {
                key: number,
                input,
                idle,
                by,
                priority,
            } => {
                let mark = Mark {
                    input: u64::from(*input),
                    idle_due: now.plus(Duration::from_secs(u64::from(*idle))),
                    deadline: now.plus(Duration::from_secs(u64::from(*by))),
                    priority: Priority::from_rank(i64::from(*priority)).unwrap_or_default(),
                    turns: u32::from(*priority),
                    turn_limit: 5,
                    active: now,
                };
                told(store.mark(&key(number), mark).await?)
            }
            Operation::Hasten { key: number } => {
                told(store.hasten(&key(number), now, Priority::High).await?)
            }
            Operation::Cancel {
                key: number,
                engine,
            } => {
                let engine = cast::engine(*engine);
                told(store.cancel(&key(number), now, engine).await?)
            }
            Operation::Retry { key: number } => told(store.retry(&key(number), now).await?),
            Operation::Redo { key: number } => told(store.redo(&key(number), now).await?),
            Operation::Revive {
                key: Some(number),
                engine,
            } => {
                let engine = cast::engine(*engine);
                let key = key(number);
                told(store.revive_gaps(Some(&key), engine, now).await?)
            }
            Operation::Reprioritize { session, most } => {
                let id = cast::session(tenant, *session);
                told(store.reprioritize(&id, None, usize::from(*most)).await?)
            }
            Operation::Switch { session, on } => {
                let id = cast::session(tenant, *session);
                told(store.switch_memory(&id, *on).await?)
            }
            other => unreachable!("{other:?} steers no job of one tenant"),
        }
    }

    async fn end(&self, operation: &Operation, claimed: &Claimed, now: Timestamp) -> Answer {
        let (store, token) = (self.store, &claimed.token);
        match operation {
            Operation::Heartbeat { .. } => told(store.heartbeat(token, now, LEASE).await?),
            Operation::Release { .. } => told(store.release(token, now).await?),
            Operation::SetAside { .. } => told(store.set_aside(token, now).await?),
            Operation::Extract {
                short_by,
                found,
                retracted,
                root,
                concern,
                ..
            } if token.job().kind() == JobKind::Extract
                && claimed.upto > claimed.after + u64::from(*short_by) =>
            {
                let mut pass = cast::pass(claimed, *short_by, found, *root);
                let window = pass.to.0;
                pass.retracted
                    .extend(retracted.map(|n| EventSeq(u64::from(n) % window.max(1) + 1)));
                pass.concerns
                    .extend(concern.map(|n| cast::scope(&self.tenant, n)));
                told(store.finish_extraction(token, &pass, now).await?)
            }
            Operation::Finish { short_by, .. } | Operation::Extract { short_by, .. } => {
                let upto = claimed.upto.saturating_sub(u64::from(*short_by));
                told(store.finish(token, upto, now).await?)
            }
            Operation::Fail { class, engine, .. } => {
                let failed = FailedTry {
                    engine: cast::engine(*engine).to_owned(),
                    ..failed(*class)
                };
                told(store.fail(token, &failed, now).await?)
            }
            other => unreachable!("{other:?} ends no claim"),
        }
    }

    /// Names what is the other tenant's.
    pub(super) async fn reach(
        &self,
        reach: &Reach,
        other: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Answer {
        let (store, tenant) = (self.store, &self.tenant);
        let (own, theirs) = (cast::session(tenant, 0), cast::session(other, 0));
        let (own_file, their_file) = (source("/logs/1", &own, 9), source("/logs/1", &theirs, 9));
        let event = vec![cast::event_numbered(1, false, Some(now), Some(0))];
        match reach {
            Reach::Append => {
                let import = Some(import);
                let append = Append {
                    import,
                    ..append(&own, event)
                };
                told(store.append(&append).await?)
            }
            Reach::PutSource => {
                let put = store.put_source(tenant, &own_file, Some(import));
                told(put.await?)
            }
            Reach::EndImport => told(store.end_import(tenant, import, now).await?),
            Reach::UndoImport => told(store.undo_import(tenant, import, now).await?),
            Reach::Session => told(store.put_source(tenant, &their_file, None).await?),
            Reach::Source => {
                let source = Some(their_file);
                let append = Append {
                    source,
                    ..append(&own, event)
                };
                told(store.append(&append).await?)
            }
            Reach::Evidence | Reach::Observe => {
                let (scope, session) = match reach {
                    Reach::Evidence => (cast::scope(tenant, 0), &theirs),
                    _ => (cast::scope(other, 0), &own),
                };
                let seen = observation(&scope, "said 1", vec![evidence(session, &[1])]);
                told(store.observe(&[seen], now).await?)
            }
            Reach::Concern => {
                let of_session = |c: &&Claimed| c.token.job().kind() == JobKind::Extract;
                let Some(claimed) = self.claims.iter().rev().find(of_session) else {
                    return told(());
                };
                let mut pass = cast::pass(claimed, 0, &[], None);
                pass.concerns.push(cast::scope(other, 0));
                told(store.finish_extraction(&claimed.token, &pass, now).await?)
            }
            Reach::Search => {
                let filter = Filter {
                    scopes: Some(view::scopes_of(other).to_vec()),
                    ..Filter::default()
                };
                let steps = ["t0", "said"].map(|word| Step {
                    all_of: vec![word.to_owned()],
                    limit: 10,
                });
                told(candidates(store, tenant, &steps, &filter).await?)
            }
        }
    }
}
