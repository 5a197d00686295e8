//! Who acts in a simulation, and what each of them may do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use daybook_domain::eligibility::Switches;
use daybook_domain::seams::Store;
use daybook_domain::time::Clock;
use daybook_domain::trigger::{Rules, Sweep};
use daybook_domain::{ClaimLimits, JobKey, Scope, SessionId, StoreError, Tenant, Trigger};
use daybook_engine::jobs::{Progress, WorkLimits, Workshop, work};
use daybook_engine::stop::Stop;
use daybook_engine::triggers::Triggers;
use daybook_testkit::simulation::{Act, Cast, Kept, Random, Seen, Stage};
use jiff::tz::TimeZone;

use super::folders::{Folders, scopes};
use super::scripted::{Provider, Scripted};
use super::sessions::{SESSIONS, SUCCESSORS, appended, meta};

/// Two writers, a host, two workers, a person and an operator.
pub(super) const ACTORS: usize = 7;
const HOST: usize = 2;
const WORKERS: [usize; 2] = [3, 4];
const PERSON: usize = 5;

const LEASE: Duration = Duration::from_secs(60);
/// Sessions that memory is switched off and on for, and sessions that are redone; some are both.
const SWITCHED: [usize; 3] = [1, 3, 5];
const REDONE: [usize; 4] = [0, 2, 3, 5];
/// Gaps that this engine gave up are revived by it.
const NEWER_ENGINE: &str = "newer/1";

/// Those who act.
pub(super) struct Players {
    stage: Stage,
    root: PathBuf,
    provider: Arc<Provider>,
    folders: Folders,
    /// How many events of each session were ever sent.
    sent: BTreeMap<usize, u64>,
    /// What each worker is called, and how it is asked to stop.
    at_work: BTreeMap<usize, (String, Stop)>,
    /// Names of workers that have vanished.
    vanished: Vec<String>,
    /// Workers so far.
    workers: u32,
    is_calm: bool,
}

impl Players {
    pub(super) fn new(stage: &Stage, root: &Path) -> Self {
        Self {
            stage: stage.clone(),
            root: root.to_owned(),
            provider: Arc::default(),
            folders: Folders::new(root),
            sent: BTreeMap::new(),
            at_work: BTreeMap::new(),
            vanished: Vec::new(),
            workers: 0,
            is_calm: false,
        }
    }

    /// Sends the next events of a session, and often some again that were sent before.
    fn write(&mut self, actor: usize, random: &mut Random) -> (String, Act) {
        let session = random.index(SESSIONS + SUCCESSORS);
        let sent = self.sent.entry(session).or_default();
        let from = (*sent + 1).saturating_sub(random.below(3)).max(1);
        let to = from + random.below(4);
        *sent = (*sent).max(to);
        let what = format!("{}: events {from}..={to}", meta(session).id);
        let append = appended(session, (from, to), self.stage.clock.now());
        let store = self.stage.store(actor);
        (
            what,
            quietly(async move { store.append(&append).await.map(drop) }),
        )
    }

    fn tell(&self, random: &mut Random) -> (String, Act) {
        let session = meta(random.index(SESSIONS)).id;
        let what = *random.one(&Trigger::ALL);
        let successor = meta(SESSIONS + random.index(SUCCESSORS)).id;
        let succeeds = matches!(what, Trigger::Reset | Trigger::Compaction) && random.below(2) == 0;
        let triggers = self.triggers();
        let said = format!("{session}: {}", what.word());
        let act = async move {
            let triggered = match succeeds {
                true => triggers.succeed(&session, successor, what).await,
                false => triggers.happened(&session, None, what).await,
            };
            match triggered {
                Ok(_) | Err(StoreError::NotFound(_)) => Ok(()),
                Err(error) => Err(error),
            }
        };
        (said, quietly(act))
    }

    fn triggers(&self) -> Triggers {
        Triggers {
            store: self.stage.store(HOST),
            clock: self.stage.clock.clone(),
            rules: Rules::default(),
            sweep: Some(Sweep {
                surfaces: Vec::new(),
                max_age: Duration::from_secs(30 * 24 * 3600),
                min_idle: Duration::from_secs(60),
                scan: 20,
                claims: 4,
            }),
            switches: Switches::default(),
        }
    }

    fn work(&mut self, actor: usize) -> (String, Act) {
        self.workers += 1;
        let holder = format!("worker-{}", self.workers);
        let stop = Stop::default();
        self.at_work.insert(actor, (holder.clone(), stop.clone()));
        let shop = self.workshop(actor, holder.clone());
        let act = async move {
            let ended = work(&shop, &stop, &Quiet).await;
            ended
                .map(drop)
                .map_err(|error| format!("a worker gave up: {error}"))
        };
        (format!("{holder} works"), Box::pin(act))
    }

    fn workshop(&self, actor: usize, holder: String) -> Workshop {
        Workshop {
            store: self.stage.store(actor),
            root: self.root.clone(),
            clock: self.stage.clock.clone(),
            extractor: Arc::new(Scripted {
                gate: self.stage.gate(actor),
                provider: Arc::clone(&self.provider),
            }),
            holder,
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            limits: WorkLimits {
                claim: ClaimLimits::jobs(2),
                parallel: 2,
                lease: LEASE,
                // Whoever waited for a folder here would stop everybody else.
                folder_wait: Duration::ZERO,
                ..WorkLimits::default()
            },
        }
    }

    /// A person edits files, switches memory off and on, gives work up and asks for it.
    fn steer(&mut self, random: &mut Random) -> (String, Act) {
        let store = self.stage.store(PERSON);
        let now = self.stage.clock.now();
        let session = meta(*random.one(&SWITCHED)).id;
        let key = JobKey::Extract(meta(random.index(SESSIONS)).id);
        match random.below(10) {
            0 => {
                let act = async move { store.switch_memory(&session, false).await.map(drop) };
                ("switches memory off".to_owned(), quietly(act))
            }
            1 | 2 => {
                let act = async move { store.switch_memory(&session, true).await.map(drop) };
                ("switches memory on".to_owned(), quietly(act))
            }
            3 => {
                let engine = "daybook/test";
                let act = async move { store.cancel(&key, now, engine).await.map(drop) };
                ("gives work up".to_owned(), quietly(act))
            }
            4 => {
                let act = async move { store.retry(&key, now).await.map(drop) };
                ("asks for another try".to_owned(), quietly(act))
            }
            _ => {
                let (scope, what) = self.folders.edit(random);
                let what = format!("{scope}: {what}");
                let act = async move { store.touch_scope(&scope, now).await.map(drop) };
                (what, quietly(act))
            }
        }
    }

    fn operate(&mut self, actor: usize, random: &mut Random) -> (String, Act) {
        let store = self.stage.store(actor);
        let now = self.stage.clock.now();
        let key = JobKey::Extract(meta(*random.one(&REDONE)).id);
        let scope: Scope = random.one(&scopes()).clone();
        match random.below(12) {
            0 => {
                let act = async move { store.redo(&key, now).await };
                ("begins a session anew".to_owned(), quietly(act))
            }
            1 => {
                let key = JobKey::Consolidate(scope);
                let act = async move { store.redo(&key, now).await };
                ("has files written anew".to_owned(), quietly(act))
            }
            2 | 3 => {
                let act = async move {
                    let own = store.revive_gaps(Some(&key), NEWER_ENGINE, now);
                    own.await.map(drop)
                };
                ("revives gaps".to_owned(), quietly(act))
            }
            4 => self.ends(true),
            5 | 6 => self.ends(false),
            7 => {
                let worker = *random.one(&WORKERS);
                if let Some((_, stop)) = self.at_work.get(&worker) {
                    stop.ask();
                }
                (format!("asks {worker} to stop"), quietly(async { Ok(()) }))
            }
            _ => self.free_vanished(store),
        }
    }

    fn ends(&self, is_out: bool) -> (String, Act) {
        self.provider.is_out.store(is_out, Ordering::SeqCst);
        let what = if is_out { "goes out" } else { "is there" };
        (format!("the provider {what}"), quietly(async { Ok(()) }))
    }

    fn free_vanished(&mut self, store: Arc<dyn Store>) -> (String, Act) {
        match self.vanished.pop() {
            Some(holder) => {
                let what = format!("frees the jobs of {holder}");
                (
                    what,
                    quietly(async move { store.abandon(&holder).await.map(drop) }),
                )
            }
            None => (
                "finds everybody there".to_owned(),
                quietly(async { Ok(()) }),
            ),
        }
    }
}

impl Cast for Players {
    fn actors(&self) -> usize {
        ACTORS
    }

    fn begin(&mut self, actor: usize, draw: u32) -> (String, Act) {
        let mut random = Random::of(u64::from(draw));
        match actor {
            0 | 1 => self.write(actor, &mut random),
            HOST => self.tell(&mut random),
            3 | 4 => self.work(actor),
            PERSON => self.steer(&mut random),
            _ => self.operate(actor, &mut random),
        }
    }

    fn vanished(&mut self, actor: usize) {
        if let Some((holder, _)) = self.at_work.remove(&actor) {
            self.vanished.push(holder);
        }
    }

    fn calm(&mut self) {
        self.provider.is_out.store(false, Ordering::SeqCst);
    }

    fn last_pass(&mut self) -> Act {
        let store = self.stage.store(WORKERS[0]);
        let now = self.stage.clock.now();
        let first = !std::mem::replace(&mut self.is_calm, true);
        let (_, work) = self.work(WORKERS[0]);
        Box::pin(async move {
            // A person may have changed files and told nobody.
            for scope in scopes().iter().filter(|_| first) {
                let touched = store.touch_scope(scope, now).await;
                touched.map_err(|error| error.to_string())?;
            }
            work.await
        })
    }

    fn look(&mut self) -> Kept {
        self.folders.check_edits()
    }

    fn settled(&mut self, seen: &Seen) -> Kept {
        self.folders.check_shown(seen)
    }
}

/// Does what an error of the store would break a promise in.
fn quietly(act: impl Future<Output = Result<(), StoreError>> + Send + 'static) -> Act {
    Box::pin(async move { act.await.map_err(|error| error.to_string()) })
}

struct Quiet;

impl Progress for Quiet {
    fn session_read(&self, _: &SessionId) {}
    fn scope_written(&self, _: &Scope) {}
}
