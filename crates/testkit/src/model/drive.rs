//! Does the same to a store and to the model, and compares.

use std::time::Duration;

use daybook_domain::index::FileEntry;
use daybook_domain::seams::{Append, Store};
use daybook_domain::source::{ImportNo, Source};
use daybook_domain::{
    Claim, ClaimLimits, Claimed, EventSeq, FailOutcome, FailedTry, FailureClass, FinishOutcome,
    Job, JobKey, JobKind, Mark, ObservationId, Priority, StoreError, Tallied, Tenant, Timestamp,
};
use proptest::test_runner::TestCaseError;

use super::cast::{self, engine, entry, event_numbered, holder, observed, pass, root};
use super::operations::Operation;
use super::spec::Spec;
use super::view;
use crate::fixtures::{DAWN, LEASE, append, failed, observation, project, source};

/// Lines of a view that are shown before and after the first difference.
const LINES_BEFORE: usize = 12;
const LINES_AFTER: usize = 12;

/// Failures after which giving up is given up.
const MOST_FAILURES: usize = 20;

struct Driver<'a> {
    store: &'a dyn Store,
    spec: Spec,
    now: Timestamp,
    importing: Option<i64>,
    claims: Vec<Claimed>,
}

/// Runs a sequence; fails where store and model differ.
pub(super) async fn drive(store: &dyn Store, sequence: &[Operation]) -> Result<(), TestCaseError> {
    let mut driver = Driver {
        store,
        spec: Spec::default(),
        now: DAWN,
        importing: None,
        claims: Vec::new(),
    };
    for (n, operation) in sequence.iter().enumerate() {
        let failed = |what: String| TestCaseError::fail(format!("{n}: {operation:?}: {what}"));
        let answered = driver.apply(operation).await;
        let (ours, theirs) = answered.map_err(|error| failed(format!("{error}: {error:?}")))?;
        driver.spec.settle_vectors();
        if ours != theirs {
            return Err(failed(format!("answered {theirs}, not {ours}")));
        }
        let theirs = view::of(store, &Tenant::local())
            .await
            .map_err(|error| failed(error.to_string()))?;
        let ours = driver.spec.view();
        if ours != theirs {
            return Err(failed(differences(&ours, &theirs)));
        }
    }
    Ok(())
}

/// Where two values part, line by line.
pub(crate) fn differences<T: std::fmt::Debug>(ours: &T, theirs: &T) -> String {
    let (ours, theirs) = (format!("{ours:#?}"), format!("{theirs:#?}"));
    let (ours, theirs): (Vec<&str>, Vec<&str>) = (ours.lines().collect(), theirs.lines().collect());
    let same = ours
        .iter()
        .zip(&theirs)
        .take_while(|(ours, theirs)| ours == theirs)
        .count();
    let around = |lines: &[&str]| {
        let from = same.saturating_sub(LINES_BEFORE);
        let to = (same + LINES_AFTER).min(lines.len());
        lines[from..to].join("\n")
    };
    format!("\nexpected\n{}\nfound\n{}", around(&ours), around(&theirs))
}

/// What the model answers and what the store answers.
type Answers = (String, String);

fn answers<T: std::fmt::Debug>(ours: T, theirs: T) -> Result<Answers, StoreError> {
    Ok((format!("{ours:?}"), format!("{theirs:?}")))
}

fn key(number: u8) -> JobKey {
    cast::key(&Tenant::local(), number)
}

impl Driver<'_> {
    async fn apply(&mut self, operation: &Operation) -> Result<Answers, StoreError> {
        match operation {
            Operation::Append { .. } | Operation::PutSource { .. } => self.log(operation).await,
            Operation::Mark { .. }
            | Operation::Hasten { .. }
            | Operation::Cancel { .. }
            | Operation::Retry { .. }
            | Operation::Reprioritize { .. }
            | Operation::Switch { .. }
            | Operation::Abandon { .. }
            | Operation::Redo { .. }
            | Operation::Revive { .. } => self.steer(operation).await,
            Operation::Claim { .. } | Operation::GiveUp { .. } => self.begin(operation).await,
            Operation::Heartbeat { .. }
            | Operation::Release { .. }
            | Operation::SetAside { .. }
            | Operation::Finish { .. }
            | Operation::Extract { .. }
            | Operation::Fail { .. } => self.end(operation).await,
            Operation::Advance { seconds } => {
                self.now = Timestamp(self.now.0 + i64::from(*seconds) * 1000);
                answers((), ())
            }
            Operation::Observe { .. }
            | Operation::Retract { .. }
            | Operation::Touch { .. }
            | Operation::Assign { .. } => self.believe(operation).await,
            Operation::BeginImport | Operation::EndImport | Operation::UndoImport { .. } => {
                self.import(operation).await
            }
            Operation::PutFile {
                scope,
                file,
                entries,
            } => self.put_file(*scope, *file, entries).await,
            Operation::Rebuild => self.rebuild().await,
            Operation::ChooseModel { .. } | Operation::Embed { .. } => self.embed(operation).await,
        }
    }

    /// Changes jobs without holding one.
    async fn steer(&mut self, operation: &Operation) -> Result<Answers, StoreError> {
        let (store, now) = (self.store, self.now);
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
                self.spec.mark(&key(*number), mark);
                answers((), store.mark(&key(*number), mark).await?)
            }
            Operation::Hasten { key: number } => {
                let key = key(*number);
                self.spec
                    .job_mut(&key, |job| job.hasten(now, Priority::High));
                answers((), store.hasten(&key, now, Priority::High).await?)
            }
            Operation::Cancel {
                key: number,
                engine: name,
            } => {
                let key = key(*number);
                let ours = self
                    .spec
                    .job_mut(&key, |job| job.cancel(now, engine(*name)))
                    .flatten();
                if let Some(gap) = &ours {
                    self.spec.keep_gap(gap.clone());
                    self.spec.tally(key.kind(), Tallied::Cancelled);
                }
                self.spec.settle(&key, now);
                answers(ours, store.cancel(&key, now, engine(*name)).await?)
            }
            Operation::Retry { key: number } => {
                let key = key(*number);
                let waits = self.spec.job(&key).is_some_and(Job::is_ahead);
                if waits {
                    self.spec.job_mut(&key, |job| job.retry(now));
                }
                answers(waits, store.retry(&key, now).await?)
            }
            Operation::Reprioritize { session, most } => {
                let id = &view::sessions()[usize::from(*session)];
                let most = usize::from(*most);
                let ours = self.spec.reprioritize(id, most);
                answers(ours, store.reprioritize(id, None, most).await?)
            }
            Operation::Switch { session, on } => {
                let id = &view::sessions()[usize::from(*session)];
                let ours = self.spec.switch(id, *on);
                answers(ours, store.switch_memory(id, *on).await?)
            }
            Operation::Abandon { holder: number } => {
                let ours = self.spec.abandon(holder(*number));
                answers(ours, store.abandon(holder(*number)).await?)
            }
            Operation::Redo { key: number } => {
                self.spec.redo(&key(*number), now);
                answers((), store.redo(&key(*number), now).await?)
            }
            Operation::Revive {
                key: number,
                engine: name,
            } => {
                let key = number.map(key);
                let ours = self.spec.revive(key.as_ref(), engine(*name), now);
                answers(
                    ours,
                    store.revive_gaps(key.as_ref(), engine(*name), now).await?,
                )
            }
            other => unreachable!("{other:?} steers no job"),
        }
    }

    /// Claims jobs, and perhaps lets one fail to the end.
    async fn begin(&mut self, operation: &Operation) -> Result<Answers, StoreError> {
        match operation {
            Operation::Claim {
                consolidate,
                holder: number,
                limit,
                caps: [per_agent, running, running_per_agent],
                waiting,
            } => {
                let kind = JobKind::ALL[usize::from(*consolidate)];
                if *waiting {
                    self.wait_for(kind);
                }
                let cap = |cap: &Option<u8>| cap.map_or(usize::MAX, usize::from);
                let limits = ClaimLimits {
                    jobs: usize::from(*limit),
                    per_agent: cap(per_agent),
                    running: cap(running),
                    running_per_agent: cap(running_per_agent),
                };
                self.claim(kind, holder(*number), limits).await
            }
            Operation::GiveUp {
                consolidate,
                engine: name,
            } => {
                let kind = JobKind::ALL[usize::from(*consolidate)];
                self.give_up(kind, engine(*name)).await
            }
            other => unreachable!("{other:?} begins no claim"),
        }
    }

    async fn log(&mut self, operation: &Operation) -> Result<Answers, StoreError> {
        let importing = |wanted: &bool| self.importing.filter(|_| *wanted).map(ImportNo);
        match operation {
            Operation::Append {
                session,
                file,
                events,
                root,
                dated,
                urgent,
                off,
                importing: wanted,
            } => {
                let id = &view::sessions()[usize::from(*session)];
                let from_file = *file > 0;
                let at = dated.then_some(self.now);
                let made = events
                    .iter()
                    .map(|&n| event_numbered(n, from_file, at, *root));
                let mut append: Append = append(id, made.collect());
                append.import = importing(wanted);
                append.now = self.now;
                append.urgent = urgent.then_some(Priority::High);
                append.session.memory_off = *off;
                if from_file {
                    append.source = Some(source(&format!("/logs/{file}"), id, events.len() as u64));
                }
                let added = self.spec.append(&append);
                let theirs = self.store.append(&append).await?;
                let ours = (added, events.len() as u64 - added, self.spec.last_of(id));
                answers(ours, (theirs.added, theirs.known, theirs.last.0))
            }
            Operation::PutSource {
                file,
                session,
                importing: wanted,
            } => {
                let id = &view::sessions()[usize::from(*session)];
                let source = Source {
                    failure: Some("refused: too long".to_owned()),
                    ..source(&format!("/logs/{file}"), id, 99)
                };
                let import = importing(wanted);
                self.spec.put_source(&source, import.map(|import| import.0));
                answers(
                    (),
                    self.store
                        .put_source(&Tenant::local(), &source, import)
                        .await?,
                )
            }
            other => unreachable!("{other:?} logs nothing"),
        }
    }

    async fn claim(
        &mut self,
        kind: JobKind,
        holder: &str,
        limits: ClaimLimits,
    ) -> Result<Answers, StoreError> {
        let claim = Claim {
            kind,
            holder,
            now: self.now,
            lease: LEASE,
            limits,
        };
        let ours = self.spec.grant(&claim);
        let theirs = self.store.claim(claim).await?;
        self.claims.extend(theirs.iter().cloned());
        answers(ours, theirs)
    }

    /// Moves the time on to when a job of a kind is due.
    fn wait_for(&mut self, kind: JobKind) {
        self.now = self
            .spec
            .next_due(kind)
            .map_or(self.now, |due| self.now.max(due));
    }

    async fn give_up(&mut self, kind: JobKind, engine: &str) -> Result<Answers, StoreError> {
        for _ in 0..MOST_FAILURES {
            self.wait_for(kind);
            let granted = self.claim(kind, holder(0), ClaimLimits::jobs(1)).await?;
            let Some(claimed) = self.claims.last().cloned().filter(|_| granted.0 != "[]") else {
                return Ok(granted);
            };
            let failed = self.fail(&claimed, FailureClass::Content, engine).await?;
            if failed.0 != failed.1 || failed.0.starts_with("GaveUp") {
                return Ok(failed);
            }
        }
        answers((), ())
    }

    async fn fail(
        &mut self,
        claimed: &Claimed,
        class: FailureClass,
        engine: &str,
    ) -> Result<Answers, StoreError> {
        let (now, token) = (self.now, &claimed.token);
        let failed = FailedTry {
            engine: engine.to_owned(),
            ..failed(class)
        };
        let fail = |job: &mut Job| job.fail(token, &failed, now);
        let known = self.spec.job(token.job()).is_some();
        let ours = self
            .spec
            .job_mut(token.job(), fail)
            .unwrap_or(FailOutcome::LeaseLost);
        if let FailOutcome::GaveUp(gap) = &ours {
            self.spec.keep_gap(gap.clone());
        }
        for tallied in Tallied::failure(class, &ours) {
            if known {
                self.spec.tally(token.job().kind(), tallied);
            }
        }
        self.spec.settle(token.job(), now);
        answers(ours, self.store.fail(token, &failed, now).await?)
    }

    /// The claim that a number chooses: mostly one that is still held, else a recent one.
    fn chosen(&self, number: u8) -> Option<Claimed> {
        let number = usize::from(number);
        let holds = |claimed: &&Claimed| {
            let job = self.spec.job(claimed.token.job());
            job.is_some_and(|job| job.is_held_by(&claimed.token, self.now))
        };
        let held: Vec<&Claimed> = self.claims.iter().filter(holds).collect();
        if held.is_empty() || number.is_multiple_of(5) {
            let back = number % self.claims.len().clamp(1, 4);
            return self.claims.iter().rev().nth(back).cloned();
        }
        Some(held[number % held.len()].clone())
    }

    async fn end(&mut self, operation: &Operation) -> Result<Answers, StoreError> {
        let (Operation::Heartbeat { claim }
        | Operation::Release { claim }
        | Operation::SetAside { claim }
        | Operation::Finish { claim, .. }
        | Operation::Extract { claim, .. }
        | Operation::Fail { claim, .. }) = operation
        else {
            unreachable!("{operation:?} ends no claim");
        };
        let Some(claimed) = self.chosen(*claim) else {
            return answers((), ());
        };
        let (store, now, token) = (self.store, self.now, &claimed.token);
        let key = token.job();
        match operation {
            Operation::Heartbeat { .. } => {
                let ours = self
                    .spec
                    .job_mut(key, |job| job.heartbeat(token, now, LEASE));
                answers(
                    ours.unwrap_or(false),
                    store.heartbeat(token, now, LEASE).await?,
                )
            }
            Operation::Release { .. } => {
                let ours = self.spec.job_mut(key, |job| job.release(token, now));
                answers(ours.unwrap_or(false), store.release(token, now).await?)
            }
            Operation::SetAside { .. } => {
                let ours = self.spec.job_mut(key, |job| job.set_aside(token, now));
                answers(ours.unwrap_or(false), store.set_aside(token, now).await?)
            }
            Operation::Extract {
                short_by,
                found,
                retracted,
                root: at_root,
                concern,
                ..
            } if key.kind() == JobKind::Extract
                && claimed.upto > claimed.after + u64::from(*short_by) =>
            {
                let mut pass = pass(&claimed, *short_by, found, *at_root);
                let window = pass.to.0;
                pass.retracted
                    .extend(retracted.map(|n| EventSeq(u64::from(n) % window.max(1) + 1)));
                pass.concerns
                    .extend(concern.map(|n| view::scopes()[usize::from(n)].clone()));
                let ours = self.spec.finish_extraction(token, &pass, now);
                answers(ours, store.finish_extraction(token, &pass, now).await?)
            }
            Operation::Finish { short_by, .. } | Operation::Extract { short_by, .. } => {
                let upto = claimed.upto.saturating_sub(u64::from(*short_by));
                let finish = |job: &mut Job| job.finish(token, upto, now);
                let mut finished = None;
                let ours = self
                    .spec
                    .job_mut(key, finish)
                    .inspect(|&ended| finished = Some(Tallied::finish(ended)))
                    .unwrap_or(FinishOutcome::LeaseLost);
                if let Some(finished) = finished {
                    self.spec.tally(key.kind(), finished);
                }
                self.spec.settle(key, now);
                answers(ours, store.finish(token, upto, now).await?)
            }
            Operation::Fail {
                class,
                engine: name,
                ..
            } => self.fail(&claimed, *class, engine(*name)).await,
            other => unreachable!("{other:?} ends no claim"),
        }
    }

    async fn believe(&mut self, operation: &Operation) -> Result<Answers, StoreError> {
        let (store, now) = (self.store, self.now);
        match operation {
            Operation::Observe { session, found } => {
                let id = &view::sessions()[usize::from(*session)];
                let seen = [observed(id, found, |n| u64::from(n) % 9 + 1)];
                self.spec.observe(&seen, now);
                answers((), store.observe(&seen, now).await?)
            }
            Operation::Retract { scope, said } => {
                let scope = &view::scopes()[usize::from(*scope)];
                let kind = observation(scope, "", Vec::new()).kind;
                let id = ObservationId::of(scope, kind, &format!("said {said}"));
                let ours = self.spec.retract(scope, id, now);
                answers(ours, store.retract(scope, id, now).await?)
            }
            Operation::Touch { scope } => {
                let scope = &view::scopes()[usize::from(*scope)];
                self.spec.touch(scope, now);
                store.touch_scope(scope, now).await?;
                answers((), ())
            }
            Operation::Assign {
                root: at_root,
                project: name,
            } => {
                let project = project(["left", "right"][usize::from(*name)]);
                self.spec.assign(&root(*at_root), &project, now);
                answers(
                    (),
                    store
                        .assign_root(&Tenant::local(), &root(*at_root), &project, now)
                        .await?,
                )
            }
            other => unreachable!("{other:?} changes no belief"),
        }
    }

    async fn import(&mut self, operation: &Operation) -> Result<Answers, StoreError> {
        let (store, now) = (self.store, self.now);
        match (operation, self.importing) {
            (Operation::BeginImport, _) => {
                let ours = self.spec.begin_import(now);
                self.importing = Some(ours);
                answers(
                    ours,
                    store.begin_import(&Tenant::local(), "all", now).await?.0,
                )
            }
            (Operation::EndImport, Some(no)) => {
                self.spec.end_import(no, now);
                answers(
                    (),
                    store
                        .end_import(&Tenant::local(), ImportNo(no), now)
                        .await?,
                )
            }
            (Operation::UndoImport { import }, _) => {
                let known = self.spec.imports();
                let Some(&no) = known.get(usize::from(*import) % known.len().max(1)) else {
                    return answers((), ());
                };
                self.spec.undo_import(no, now);
                self.importing = self.importing.filter(|&current| current != no);
                store
                    .undo_import(&Tenant::local(), ImportNo(no), now)
                    .await?;
                answers((), ())
            }
            _ => answers((), ()),
        }
    }

    async fn put_file(
        &mut self,
        scope: u8,
        file: u8,
        numbers: &[u8],
    ) -> Result<Answers, StoreError> {
        let scope = &view::scopes()[usize::from(scope)];
        let file = ["MEMORY.md", "INDEX.md"][usize::from(file)];
        let entries: Vec<FileEntry> = numbers.iter().enumerate().map(entry).collect();
        self.spec.put_file(scope, file, &entries, self.now);
        let put = self
            .store
            .put_file(scope, file, "stamp", &entries, self.now);
        answers((), put.await?)
    }

    /// Clears the index and feeds it all again.
    async fn rebuild(&mut self) -> Result<Answers, StoreError> {
        self.store.clear(&Tenant::local()).await?;
        let known = self.store.sessions(&Tenant::local(), 100).await?;
        for session in known {
            let tokens = self.spec.tokens(&session.id);
            self.store.index_events(&session.id, &tokens).await?;
        }
        for scope in view::scopes() {
            self.store.index_observations(&scope).await?;
        }
        for (scope, file, at, entries) in self.spec.memory_files() {
            self.store
                .put_file(&scope, &file, "stamp", &entries, at)
                .await?;
        }
        self.spec.forget_vectors();
        answers((), ())
    }

    /// Chooses a model, or gives vectors of one to what waits for them.
    async fn embed(&mut self, operation: &Operation) -> Result<Answers, StoreError> {
        let (store, tenant) = (self.store, Tenant::local());
        match operation {
            Operation::ChooseModel { model } => {
                let ours = self.spec.choose_model(cast::model(*model));
                let theirs = store.choose_model(&tenant, cast::model(*model)).await?;
                answers(ours, theirs)
            }
            Operation::Embed { model, turn } => {
                let chosen = |text: &str| cast::is_embedded(text, *turn);
                self.spec.embed(cast::model(*model), chosen);
                let waiting = store.unembedded(&tenant, 1000).await?;
                let vectors = cast::vectors(waiting, *turn);
                let put = store.put_vectors(&tenant, cast::model(*model), &vectors);
                answers((), put.await?)
            }
            other => unreachable!("{other:?} embeds nothing"),
        }
    }
}
