//! The actors of a job simulation, and the actions of each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use daybook_domain::eligibility::Switches;
use daybook_domain::seams::Store;
use daybook_domain::time::Clock;
use daybook_domain::trigger::{SweepLimits, TriggerRules};
use daybook_domain::{
    ClaimLimits, JobKey, Scope, SessionId, StoreError, Tenant, Timestamp, Trigger,
};
use daybook_engine::jobs::{WorkLimits, WorkerContext, work};
use daybook_engine::stop::Stop;
use daybook_engine::triggers::Triggers;
use daybook_testkit::simulation::{
    Activity, ActorSet, CheckResult, SeededRandom, SimulationEnv, StoreSnapshot,
};
use jiff::tz::TimeZone;
use strum::VariantArray;

use super::fact_extractor::{FactExtractor, SimulatedProvider};
use crate::silent_progress::SilentProgress;

use super::folders::{EditedFolders, scopes};
use super::sessions::{SESSIONS, SUCCESSORS, append_of, meta};

/// Two writers, a host, two workers, a person and an operator.
pub(super) const ACTORS: usize = 7;
const HOST: usize = 2;
const WORKERS: [usize; 2] = [3, 4];
const PERSON: usize = 5;

const LEASE: Duration = Duration::from_secs(60);
/// Sessions that memory is switched off and on for, and sessions that are redone; some are both.
const SWITCHED: [usize; 3] = [1, 3, 5];
const REDONE: [usize; 4] = [0, 2, 3, 5];
/// Engine version that revives the gaps of this engine.
const NEWER_ENGINE: &str = "newer/1";

/// The state of all actors.
pub(super) struct JobActors {
    env: SimulationEnv,
    root: PathBuf,
    provider: Arc<SimulatedProvider>,
    folders: EditedFolders,
    /// Number of events ever sent of each session.
    sent: BTreeMap<usize, u64>,
    /// Each active worker's name and stop signal.
    at_work: BTreeMap<usize, (String, Stop)>,
    /// Names of workers that have vanished.
    vanished: Vec<String>,
    /// Number of workers so far.
    workers: u32,
    is_calm: bool,
}

impl JobActors {
    pub(super) fn new(env: &SimulationEnv, root: &Path) -> Self {
        Self {
            env: env.clone(),
            root: root.to_owned(),
            provider: Arc::default(),
            folders: EditedFolders::new(root),
            sent: BTreeMap::new(),
            at_work: BTreeMap::new(),
            vanished: Vec::new(),
            workers: 0,
            is_calm: false,
        }
    }

    /// Sends the next events of a session, and often repeats some that were sent before.
    fn write(&mut self, actor: usize, random: &mut SeededRandom) -> (String, Activity) {
        let session = random.index(SESSIONS + SUCCESSORS);
        let sent = self.sent.entry(session).or_default();
        let from = (*sent + 1).saturating_sub(random.below(3)).max(1);
        let to = from + random.below(4);
        *sent = (*sent).max(to);
        let what = format!("{}: events {from}..={to}", meta(session).id);
        let append = append_of(session, (from, to), self.env.clock.now());
        let store = self.env.store(actor);
        (
            what,
            as_act(async move { store.append(&append).await.map(drop) }),
        )
    }

    fn send_trigger(&self, random: &mut SeededRandom) -> (String, Activity) {
        let session = meta(random.index(SESSIONS)).id;
        let what = *random.one(Trigger::VARIANTS);
        let successor = meta(SESSIONS + random.index(SUCCESSORS)).id;
        let succeeds = matches!(what, Trigger::Reset | Trigger::Compaction) && random.below(2) == 0;
        let triggers = self.triggers();
        let said = format!("{session}: {}", what.as_str());
        let act = async move {
            let triggered = match succeeds {
                true => triggers.start_successor(&session, successor, what).await,
                false => triggers.handle(&session, None, what).await,
            };
            match triggered {
                Ok(_) | Err(StoreError::NotFound(_)) => Ok(()),
                Err(error) => Err(error),
            }
        };
        (said, as_act(act))
    }

    fn triggers(&self) -> Triggers {
        Triggers {
            store: self.env.store(HOST),
            clock: self.env.clock.clone(),
            rules: TriggerRules::default(),
            sweep: Some(SweepLimits {
                surfaces: Vec::new(),
                max_age: Duration::from_secs(30 * 24 * 3600),
                min_idle: Duration::from_secs(60),
                scan: 20,
                claims: 4,
            }),
            switches: Switches::default(),
        }
    }

    fn work(&mut self, actor: usize) -> (String, Activity) {
        self.workers += 1;
        let holder = format!("worker-{}", self.workers);
        let stop = Stop::default();
        self.at_work.insert(actor, (holder.clone(), stop.clone()));
        let worker = self.worker_context(actor, holder.clone());
        let act = async move {
            let ended = work(&worker, &stop, &SilentProgress).await;
            ended
                .map(drop)
                .map_err(|error| format!("a worker gave up: {error}"))
        };
        (format!("{holder} works"), Box::pin(act))
    }

    fn worker_context(&self, actor: usize, holder: String) -> WorkerContext {
        WorkerContext {
            store: self.env.store(actor),
            trees: None,
            before_files: None,
            root: self.root.clone(),
            clock: self.env.clock.clone(),
            extractor: Arc::new(FactExtractor {
                gate: self.env.gate(actor),
                provider: Arc::clone(&self.provider),
            }),
            consolidation_model: None,
            holder,
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            redactor: daybook_text::redact::Redactor::standard(),
            limits: WorkLimits {
                claim: ClaimLimits::jobs(2),
                parallel: 2,
                lease: LEASE,
                // A wait for a folder would block all other actors.
                folder_wait: Duration::ZERO,
                ..WorkLimits::default()
            },
        }
    }

    /// The person edits files, switches memory off and on, cancels work and requests it.
    fn act_as_person(&mut self, random: &mut SeededRandom) -> (String, Activity) {
        let store = self.env.store(PERSON);
        let now = self.env.clock.now();
        let session = meta(*random.one(&SWITCHED)).id;
        let key = JobKey::Extract(meta(random.index(SESSIONS)).id);
        match random.below(10) {
            0 => {
                let act = switch(store, session, false, now);
                ("switches memory off".to_owned(), act)
            }
            1 | 2 => {
                let act = switch(store, session, true, now);
                ("switches memory on".to_owned(), act)
            }
            3 => {
                let engine = "daybook/test";
                let act = async move { store.cancel(&key, now, engine).await.map(drop) };
                ("gives work up".to_owned(), as_act(act))
            }
            4 => {
                let act = async move { store.retry(&key, now).await.map(drop) };
                ("asks for another try".to_owned(), as_act(act))
            }
            _ => {
                let (scope, what) = self.folders.edit(random);
                let what = format!("{scope}: {what}");
                let act = async move { store.touch_scope(&scope, now).await.map(drop) };
                (what, as_act(act))
            }
        }
    }

    fn act_as_operator(&mut self, actor: usize, random: &mut SeededRandom) -> (String, Activity) {
        let store = self.env.store(actor);
        let now = self.env.clock.now();
        let key = JobKey::Extract(meta(*random.one(&REDONE)).id);
        let scope: Scope = random.one(&scopes()).clone();
        match random.below(12) {
            0 => {
                let act = async move { store.redo(&key, now).await };
                ("begins a session anew".to_owned(), as_act(act))
            }
            1 => {
                let key = JobKey::Consolidate(scope);
                let act = async move { store.redo(&key, now).await };
                ("has files written anew".to_owned(), as_act(act))
            }
            2 | 3 => {
                let act = async move {
                    let own = store.revive_gaps(Some(&key), NEWER_ENGINE, now);
                    own.await.map(drop)
                };
                ("revives gaps".to_owned(), as_act(act))
            }
            4 => self.ends(true),
            5 | 6 => self.ends(false),
            7 => {
                let worker = *random.one(&WORKERS);
                if let Some((_, stop)) = self.at_work.get(&worker) {
                    stop.request_end();
                }
                (format!("asks {worker} to stop"), as_act(async { Ok(()) }))
            }
            _ => self.free_vanished(store),
        }
    }

    fn ends(&self, is_out: bool) -> (String, Activity) {
        self.provider.is_out.store(is_out, Ordering::SeqCst);
        let what = if is_out { "goes out" } else { "is there" };
        (format!("the provider {what}"), as_act(async { Ok(()) }))
    }

    fn free_vanished(&mut self, store: Arc<dyn Store>) -> (String, Activity) {
        match self.vanished.pop() {
            Some(holder) => {
                let what = format!("frees the jobs of {holder}");
                (
                    what,
                    as_act(async move { store.abandon(&holder).await.map(drop) }),
                )
            }
            None => ("finds everybody there".to_owned(), as_act(async { Ok(()) })),
        }
    }
}

impl ActorSet for JobActors {
    fn actors(&self) -> usize {
        ACTORS
    }

    fn begin(&mut self, actor: usize, draw: u32) -> (String, Activity) {
        let mut random = SeededRandom::of(u64::from(draw));
        match actor {
            0 | 1 => self.write(actor, &mut random),
            HOST => self.send_trigger(&mut random),
            3 | 4 => self.work(actor),
            PERSON => self.act_as_person(&mut random),
            _ => self.act_as_operator(actor, &mut random),
        }
    }

    fn actor_vanished(&mut self, actor: usize) {
        if let Some((holder, _)) = self.at_work.remove(&actor) {
            self.vanished.push(holder);
        }
    }

    fn calm(&mut self) {
        self.provider.is_out.store(false, Ordering::SeqCst);
    }

    fn last_pass(&mut self) -> Activity {
        let store = self.env.store(WORKERS[0]);
        let now = self.env.clock.now();
        let first = !std::mem::replace(&mut self.is_calm, true);
        let (_, work) = self.work(WORKERS[0]);
        Box::pin(async move {
            // The person may have changed files without a trigger.
            for scope in scopes().iter().filter(|_| first) {
                let touched = store.touch_scope(scope, now).await;
                touched.map_err(|error| error.to_string())?;
            }
            work.await
        })
    }

    fn look(&mut self) -> CheckResult {
        self.folders.check_edits()
    }

    fn check_settled(&mut self, seen: &StoreSnapshot) -> CheckResult {
        self.folders.check_shown(seen)
    }
}

/// Switches memory of a session off or on.
fn switch(store: Arc<dyn Store>, session: SessionId, on: bool, now: Timestamp) -> Activity {
    as_act(async move {
        let switches = Switches::default();
        let switched = store.switch_memory(&session, on, &switches, now).await;
        switched.map(drop)
    })
}

/// Turns a call into an act that fails the simulation on a store error.
fn as_act(act: impl Future<Output = Result<(), StoreError>> + Send + 'static) -> Activity {
    Box::pin(async move { act.await.map_err(|error| error.to_string()) })
}
