//! Applies each operation to a store and to the model, and compares answers and views.

use std::time::Duration;

use daybook_domain::eligibility::Switches;
use daybook_domain::index::FileEntry;
use daybook_domain::seams::{Append, Store};
use daybook_domain::source::{ImportNo, TranscriptSource};
use daybook_domain::{
    Claim, ClaimLimits, ClaimedJob, DueMark, EventSeq, FailOutcome, FailedTry, FailureClass,
    FinishOutcome, Job, JobKey, JobKind, ObservationId, PageRequest, Priority, StoreError,
    TallyKind, Tenant, Timestamp,
};
use proptest::test_runner::TestCaseError;
use strum::VariantArray;

use super::operations::StoreOperation;
use super::spec::Spec;
use super::values::{self, engine, entry, event_numbered, holder, observation_of, pass, root};
use super::view;
use crate::fixtures::{DAWN, LEASE, append, failed, observation, polluting, project, source};

/// Lines of a view that are shown before and after the first difference.
const LINES_BEFORE: usize = 12;
const LINES_AFTER: usize = 12;

/// Most failures that the driver causes before it stops waiting for a range to be given up.
const MOST_FAILURES: usize = 20;

struct ModelDriver<'a> {
    store: &'a dyn Store,
    spec: Spec,
    now: Timestamp,
    importing: Option<i64>,
    claims: Vec<ClaimedJob>,
}

/// Runs a sequence of operations. Returns an error where store and model differ.
pub(super) async fn drive(
    store: &dyn Store,
    sequence: &[StoreOperation],
) -> Result<(), TestCaseError> {
    let mut driver = ModelDriver {
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

/// Renders both values around the first line in which they differ.
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

/// The model's answer and the store's answer, as text.
type Answers = (String, String);

fn answers<T: std::fmt::Debug>(ours: T, theirs: T) -> Result<Answers, StoreError> {
    Ok((format!("{ours:?}"), format!("{theirs:?}")))
}

fn key(number: u8) -> JobKey {
    values::key(&Tenant::local(), number)
}

impl ModelDriver<'_> {
    async fn apply(&mut self, operation: &StoreOperation) -> Result<Answers, StoreError> {
        match operation {
            StoreOperation::Append { .. } | StoreOperation::PutSource { .. } => {
                self.log(operation).await
            }
            StoreOperation::Mark { .. }
            | StoreOperation::Hasten { .. }
            | StoreOperation::Cancel { .. }
            | StoreOperation::Retry { .. }
            | StoreOperation::Reprioritize { .. }
            | StoreOperation::Switch { .. }
            | StoreOperation::Abandon { .. }
            | StoreOperation::Redo { .. }
            | StoreOperation::Revive { .. } => self.change_jobs(operation).await,
            StoreOperation::Claim { .. } | StoreOperation::GiveUp { .. } => {
                self.begin(operation).await
            }
            StoreOperation::Heartbeat { .. }
            | StoreOperation::Release { .. }
            | StoreOperation::SetAside { .. }
            | StoreOperation::Finish { .. }
            | StoreOperation::Extract { .. }
            | StoreOperation::Fail { .. } => self.end(operation).await,
            StoreOperation::Advance { seconds } => {
                self.now = Timestamp(self.now.0 + i64::from(*seconds) * 1000);
                answers((), ())
            }
            StoreOperation::Observe { .. }
            | StoreOperation::Retract { .. }
            | StoreOperation::Touch { .. }
            | StoreOperation::Assign { .. } => self.change_observations(operation).await,
            StoreOperation::BeginImport
            | StoreOperation::EndImport
            | StoreOperation::UndoImport { .. } => self.import(operation).await,
            StoreOperation::PutFile {
                scope,
                file,
                entries,
            } => self.put_file(*scope, *file, entries).await,
            StoreOperation::Rebuild => self.rebuild().await,
            StoreOperation::ChooseModel { .. } | StoreOperation::Embed { .. } => {
                self.embed(operation).await
            }
        }
    }

    /// Changes jobs without holding one.
    async fn change_jobs(&mut self, operation: &StoreOperation) -> Result<Answers, StoreError> {
        let (store, now) = (self.store, self.now);
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
                self.spec.mark(&key(*number), mark);
                answers((), store.mark(&key(*number), mark).await?)
            }
            StoreOperation::Hasten { key: number } => {
                let key = key(*number);
                self.spec
                    .job_mut(&key, |job| job.hasten(now, Priority::High));
                answers((), store.hasten(&key, now, Priority::High).await?)
            }
            StoreOperation::Cancel {
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
                    self.spec.tally(key.kind(), TallyKind::Cancelled);
                }
                self.spec.settle(&key, now);
                answers(ours, store.cancel(&key, now, engine(*name)).await?)
            }
            StoreOperation::Retry { key: number } => {
                let key = key(*number);
                let waits = self.spec.job(&key).is_some_and(Job::is_ahead);
                if waits {
                    self.spec.job_mut(&key, |job| job.retry(now));
                }
                answers(waits, store.retry(&key, now).await?)
            }
            StoreOperation::Reprioritize { session, most } => {
                let id = &view::sessions()[usize::from(*session)];
                let most = usize::from(*most);
                let ours = self.spec.reprioritize(id, most);
                answers(ours, store.reprioritize(id, None, most).await?)
            }
            StoreOperation::Switch { session, on } => {
                let id = &view::sessions()[usize::from(*session)];
                let switches = Switches::default();
                let ours = self.spec.switch(id, *on, (&switches, now));
                let theirs = store.switch_memory(id, *on, &switches, now).await?;
                answers(ours, theirs)
            }
            StoreOperation::Abandon { holder: number } => {
                let ours = self.spec.abandon(holder(*number));
                answers(ours, store.abandon(holder(*number)).await?)
            }
            StoreOperation::Redo { key: number } => {
                self.spec.redo(&key(*number), now);
                answers((), store.redo(&key(*number), now).await?)
            }
            StoreOperation::Revive {
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

    /// Claims jobs, or lets one fail until its range is given up.
    async fn begin(&mut self, operation: &StoreOperation) -> Result<Answers, StoreError> {
        match operation {
            StoreOperation::Claim {
                consolidate,
                holder: number,
                limit,
                caps: [per_agent, running, running_per_agent],
                waiting,
            } => {
                let kind = JobKind::VARIANTS[usize::from(*consolidate)];
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
            StoreOperation::GiveUp {
                consolidate,
                engine: name,
            } => {
                let kind = JobKind::VARIANTS[usize::from(*consolidate)];
                self.give_up(kind, engine(*name)).await
            }
            other => unreachable!("{other:?} begins no claim"),
        }
    }

    async fn log(&mut self, operation: &StoreOperation) -> Result<Answers, StoreError> {
        let importing = |wanted: &bool| self.importing.filter(|_| *wanted).map(ImportNo);
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
                if *pollutes {
                    append = polluting(append);
                }
                if from_file {
                    append.source = Some(source(&format!("/logs/{file}"), id, events.len() as u64));
                }
                let (added, polluted) = self.spec.append(&append);
                let theirs = self.store.append(&append).await?;
                let known = events.len() as u64 - added;
                let ours = (added, known, self.spec.last_of(id), polluted);
                let theirs = (theirs.added, theirs.known, theirs.last.0, theirs.polluted);
                answers(ours, theirs)
            }
            StoreOperation::PutSource {
                file,
                session,
                importing: wanted,
            } => {
                let id = &view::sessions()[usize::from(*session)];
                let source = TranscriptSource {
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

    /// Advances the time to when a job of a kind is due.
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
        claimed: &ClaimedJob,
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
        for tallied in TallyKind::failure(class, &ours) {
            if known {
                self.spec.tally(token.job().kind(), tallied);
            }
        }
        self.spec.settle(token.job(), now);
        answers(ours, self.store.fail(token, &failed, now).await?)
    }

    /// The claim that a number chooses: mostly one that is still held, else a recent one.
    fn chosen_claim(&self, number: u8) -> Option<ClaimedJob> {
        let number = usize::from(number);
        let holds = |claimed: &&ClaimedJob| {
            let job = self.spec.job(claimed.token.job());
            job.is_some_and(|job| job.is_held_by(&claimed.token, self.now))
        };
        let held: Vec<&ClaimedJob> = self.claims.iter().filter(holds).collect();
        if held.is_empty() || number.is_multiple_of(5) {
            let back = number % self.claims.len().clamp(1, 4);
            return self.claims.iter().rev().nth(back).cloned();
        }
        Some(held[number % held.len()].clone())
    }

    async fn end(&mut self, operation: &StoreOperation) -> Result<Answers, StoreError> {
        let (StoreOperation::Heartbeat { claim }
        | StoreOperation::Release { claim }
        | StoreOperation::SetAside { claim }
        | StoreOperation::Finish { claim, .. }
        | StoreOperation::Extract { claim, .. }
        | StoreOperation::Fail { claim, .. }) = operation
        else {
            unreachable!("{operation:?} ends no claim");
        };
        let Some(claimed) = self.chosen_claim(*claim) else {
            return answers((), ());
        };
        let (store, now, token) = (self.store, self.now, &claimed.token);
        let key = token.job();
        match operation {
            StoreOperation::Heartbeat { .. } => {
                let ours = self
                    .spec
                    .job_mut(key, |job| job.heartbeat(token, now, LEASE));
                answers(
                    ours.unwrap_or(false),
                    store.heartbeat(token, now, LEASE).await?,
                )
            }
            StoreOperation::Release { .. } => {
                let ours = self.spec.job_mut(key, |job| job.release(token, now));
                answers(ours.unwrap_or(false), store.release(token, now).await?)
            }
            StoreOperation::SetAside { .. } => {
                let until = Timestamp::MAX;
                let ours = self
                    .spec
                    .job_mut(key, |job| job.set_aside(token, until, now));
                answers(
                    ours.unwrap_or(false),
                    store.set_aside(token, until, now).await?,
                )
            }
            StoreOperation::Extract {
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
            StoreOperation::Finish { short_by, .. } | StoreOperation::Extract { short_by, .. } => {
                let upto = claimed.upto.saturating_sub(u64::from(*short_by));
                let finish = |job: &mut Job| job.finish(token, upto, now);
                let mut finished = None;
                let ours = self
                    .spec
                    .job_mut(key, finish)
                    .inspect(|&ended| finished = Some(TallyKind::finish(ended)))
                    .unwrap_or(FinishOutcome::LeaseLost);
                if let Some(finished) = finished {
                    self.spec.tally(key.kind(), finished);
                }
                self.spec.settle(key, now);
                answers(ours, store.finish(token, upto, now).await?)
            }
            StoreOperation::Fail {
                class,
                engine: name,
                ..
            } => self.fail(&claimed, *class, engine(*name)).await,
            other => unreachable!("{other:?} ends no claim"),
        }
    }

    async fn change_observations(
        &mut self,
        operation: &StoreOperation,
    ) -> Result<Answers, StoreError> {
        let (store, now) = (self.store, self.now);
        match operation {
            StoreOperation::Observe { session, found } => {
                let id = &view::sessions()[usize::from(*session)];
                let seen = [observation_of(id, found, |n| u64::from(n) % 9 + 1)];
                self.spec.observe(&seen, now);
                answers((), store.observe(&seen, now).await?)
            }
            StoreOperation::Retract { scope, text_number } => {
                let scope = &view::scopes()[usize::from(*scope)];
                let kind = observation(scope, "", Vec::new()).kind;
                let id = ObservationId::of(scope, kind, &format!("said {text_number}"));
                let ours = self.spec.retract(scope, id, now);
                answers(ours, store.retract(scope, id, now).await?)
            }
            StoreOperation::Touch { scope } => {
                let scope = &view::scopes()[usize::from(*scope)];
                self.spec.touch(scope, now);
                store.touch_scope(scope, now).await?;
                answers((), ())
            }
            StoreOperation::Assign {
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

    async fn import(&mut self, operation: &StoreOperation) -> Result<Answers, StoreError> {
        let (store, now) = (self.store, self.now);
        match (operation, self.importing) {
            (StoreOperation::BeginImport, _) => {
                let ours = self.spec.begin_import(now);
                self.importing = Some(ours);
                answers(
                    ours,
                    store.begin_import(&Tenant::local(), "all", now).await?.0,
                )
            }
            (StoreOperation::EndImport, Some(no)) => {
                self.spec.end_import(no, now);
                answers(
                    (),
                    store
                        .end_import(&Tenant::local(), ImportNo(no), now)
                        .await?,
                )
            }
            (StoreOperation::UndoImport { import }, _) => {
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
            (StoreOperation::EndImport, None) => answers((), ()),
            (other, _) => unreachable!("{other:?} is not of imports"),
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

    /// Clears the index and indexes everything again.
    async fn rebuild(&mut self) -> Result<Answers, StoreError> {
        self.store.clear(&Tenant::local()).await?;
        let known = self
            .store
            .sessions(&Tenant::local(), PageRequest::first(100))
            .await?
            .items;
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

    /// Chooses an embedding model, or stores its vectors for documents that wait for them.
    async fn embed(&mut self, operation: &StoreOperation) -> Result<Answers, StoreError> {
        let (store, tenant) = (self.store, Tenant::local());
        match operation {
            StoreOperation::ChooseModel { model } => {
                let ours = self.spec.choose_model(values::model(*model));
                let theirs = store.choose_model(&tenant, values::model(*model)).await?;
                answers(ours, theirs)
            }
            StoreOperation::Embed { model, turn } => {
                let chosen = |text: &str| values::is_embedded(text, *turn);
                self.spec.embed(values::model(*model), chosen);
                let waiting = store.unembedded(&tenant, 1000).await?;
                let vectors = values::vectors(waiting, *turn);
                let put = store.put_vectors(&tenant, values::model(*model), &vectors);
                answers((), put.await?)
            }
            other => unreachable!("{other:?} embeds nothing"),
        }
    }
}
