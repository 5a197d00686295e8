//! Plays decisions: owns the actors, lets one of them make one call at a time, and checks after each.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use daybook_domain::Timestamp;
use daybook_domain::eligibility::Switches;
use daybook_domain::seams::Store;
use daybook_domain::time::Clock;

use super::decision::Decision;
use super::deed::{Call, Journal};
use super::gate::{Gate, whole};
use super::planted::{Bug, Planted};
use super::promises::{Kept, Promises};
use super::seen::Seen;
use super::stepped::Stepped;
use crate::clock::ManualClock;
use crate::fixtures::DAWN;

/// Passes of the last worker after which nothing may wait any more.
const LAST_PASSES: usize = 1000;
/// Calls within one of them.
const LAST_CALLS: usize = 20_000;
/// No work may wait for longer than this when nothing more happens.
const LONGEST_WAIT: Duration = Duration::from_secs(7 * 24 * 3600);

/// What an actor does until it is done. An error breaks a promise: an actor deals with what may happen.
pub type Act = Pin<Box<dyn Future<Output = Kept> + Send>>;

/// Those who act in a simulation: people, hosts and workers, driving what is simulated.
pub trait Cast {
    /// How many actors there are.
    fn actors(&self) -> usize;

    /// What an idle actor begins, and a word for it. `draw` decides what.
    fn begin(&mut self, actor: usize, draw: u32) -> (String, Act);

    /// An actor has vanished in the middle of what it did.
    fn vanished(&mut self, actor: usize);

    /// All outages end; nobody but one worker acts any more.
    fn calm(&mut self);

    /// One pass of the last worker over all that is due.
    fn last_pass(&mut self) -> Act;

    /// What the simulation knows beside the store, such as files, looked at after each change.
    ///
    /// # Errors
    /// Which promise is broken.
    fn look(&mut self) -> Kept;

    /// The same when all is quiet.
    ///
    /// # Errors
    /// Which promise is broken.
    fn settled(&mut self, seen: &Seen) -> Kept;
}

/// What the actors are given.
#[derive(Clone)]
pub struct Stage {
    /// The present time, moved by decisions.
    pub clock: Arc<ManualClock>,
    store: Arc<dyn Store>,
    journal: Journal,
    planted: Option<Arc<Planted>>,
    gates: Vec<Gate>,
}

impl Stage {
    /// The store as `actor` reaches it: each call is a step.
    #[must_use]
    pub fn store(&self, actor: usize) -> Arc<dyn Store> {
        Arc::new(Stepped {
            store: Arc::clone(&self.store),
            actor,
            gate: self.gate(actor),
            journal: self.journal.clone(),
            planted: self.planted.clone(),
        })
    }

    /// Where `actor` waits. Whatever takes time without calling the store pauses here, and is a step.
    #[must_use]
    pub fn gate(&self, actor: usize) -> Gate {
        self.gates[actor].clone()
    }
}

/// How a simulation ended.
#[derive(Debug, Clone, Default)]
pub struct Played {
    /// What happened, a line for each step; only the calls of actors when nobody asked for more.
    pub trace: Vec<String>,
    /// Calls that actors made.
    pub calls: usize,
    /// The promise that was broken.
    pub broken: Option<String>,
}

/// What is played: on which store, by which rules, with which mistake.
pub struct Play {
    /// An empty store, or one with what the cast expects.
    pub store: Arc<dyn Store>,
    /// Where memory is switched off, as the cast tells the store.
    pub switches: Switches,
    /// A mistake to make.
    pub bug: Option<Bug>,
}

/// Plays `decisions` with the cast that `cast` makes, then lets all that waits be worked off.
pub fn play<C: Cast>(
    play: Play,
    actors: usize,
    cast: impl FnOnce(&Stage) -> C,
    decisions: &[Decision],
) -> Played {
    let stage = Stage {
        clock: Arc::new(ManualClock::at(DAWN)),
        store: play.store,
        journal: Journal::default(),
        planted: play.bug.map(|bug| Arc::new(Planted::new(bug))),
        gates: (0..actors).map(|_| Gate::default()).collect(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without drivers needs nothing from the system");
    let directing = async {
        let mut director = Director {
            cast: cast(&stage),
            acts: (0..actors).map(|_| None).collect(),
            promises: Promises::new(play.switches),
            stage,
            played: Played::default(),
        };
        let kept = director.all(decisions).await;
        director.played.broken = kept.err();
        director.played
    };
    runtime.block_on(tokio::task::coop::unconstrained(directing))
}

struct Director<C> {
    stage: Stage,
    cast: C,
    acts: Vec<Option<Act>>,
    promises: Promises,
    played: Played,
}

impl<C: Cast> Director<C> {
    async fn all(&mut self, decisions: &[Decision]) -> Kept {
        let seen = self.seen(None).await?;
        self.promises.begin(seen);
        for decision in decisions {
            self.carry_out(*decision).await?;
        }
        self.settle().await
    }

    async fn carry_out(&mut self, decision: Decision) -> Kept {
        match decision {
            Decision::Go { actor, draw } => {
                if self.acts[actor].is_none() {
                    let (what, act) = self.cast.begin(actor, draw);
                    self.say(format!("{actor} begins: {what}"));
                    self.acts[actor] = Some(act);
                    self.poll(actor)?;
                }
                self.go(actor, draw)?;
                self.check().await
            }
            Decision::Crash { actor } => {
                self.crash(actor, "");
                Ok(())
            }
            Decision::CrashUnheard { actor } => {
                self.stage.gates[actor].set_deaf(true);
                self.go(actor, 0)?;
                self.stage.gates[actor].set_deaf(false);
                self.crash(actor, ", and never hears of it");
                self.check().await
            }
            Decision::Wait(time) => {
                self.stage.clock.advance(time);
                tokio::time::advance(time).await;
                self.say(format!("{} s pass", time.as_secs()));
                Ok(())
            }
            Decision::SetBack(time) => {
                let now = self.stage.clock.now();
                let back = i64::try_from(time.as_millis()).unwrap_or(0);
                self.stage.clock.set(Timestamp(now.0 - back));
                self.say(format!("the clock is set back by {} s", time.as_secs()));
                Ok(())
            }
        }
    }

    /// Lets one call through, or the time pass that an actor waits for.
    fn go(&mut self, actor: usize, draw: u32) -> Kept {
        self.stage.gates[actor].open(draw);
        self.poll(actor)
    }

    fn poll(&mut self, actor: usize) -> Kept {
        let Some(act) = self.acts[actor].as_mut() else {
            return Ok(());
        };
        if let Some(kept) = poll_while_awake(act) {
            self.acts[actor] = None;
            self.say(format!("{actor} ends"));
            kept?;
        }
        Ok(())
    }

    fn crash(&mut self, actor: usize, how: &str) {
        if self.acts[actor].take().is_some() {
            self.cast.vanished(actor);
            self.say(format!("{actor} vanishes{how}"));
        }
    }

    async fn check(&mut self) -> Kept {
        for call in self.stage.journal.take() {
            self.checked(&call).await?;
        }
        Ok(())
    }

    async fn checked(&mut self, call: &Call) -> Kept {
        self.played.calls += 1;
        self.say(format!("{} {}", call.actor, call.line()));
        if call.is_write() {
            let seen = self.seen(Some(self.promises.before())).await?;
            self.promises.check(call, seen)?;
            self.cast.look()?;
        }
        Ok(())
    }

    async fn seen(&self, known: Option<&Seen>) -> Result<Seen, String> {
        let planted = self.stage.planted.as_deref();
        let seen = whole(Seen::of(&*self.stage.store, planted, known)).await;
        seen.map_err(|error| format!("the store cannot be read: {error}"))
    }

    /// Nobody but one worker acts any more, and time goes on: everything is done or given up.
    async fn settle(&mut self) -> Kept {
        for actor in 0..self.acts.len() {
            self.crash(actor, "");
        }
        self.cast.calm();
        self.say("one worker is left".to_owned());
        for _ in 0..LAST_PASSES {
            self.last_pass().await?;
            let Some(due) = self.promises.before().next_due() else {
                let seen = self.seen(None).await?;
                self.promises.settled(&seen)?;
                return self.cast.settled(&seen);
            };
            let now = self.stage.clock.now();
            if due > now.plus(LONGEST_WAIT) {
                return Err(format!(
                    "work is stuck: {:?}",
                    waiting(self.promises.before())
                ));
            }
            self.stage
                .clock
                .set(due.max(now.plus(Duration::from_secs(1))));
        }
        Err(format!(
            "work does not end: {:?}",
            waiting(self.promises.before())
        ))
    }

    async fn last_pass(&mut self) -> Kept {
        let mut act = self.cast.last_pass();
        for _ in 0..LAST_CALLS {
            for gate in &self.stage.gates {
                gate.open(0);
            }
            let ended = poll_while_awake(&mut act);
            self.check().await?;
            if let Some(kept) = ended {
                return kept;
            }
        }
        Err("a pass over what is due does not end".to_owned())
    }

    fn say(&mut self, line: String) {
        let since = (self.stage.clock.now().0 - DAWN.0) / 1000;
        self.played.trace.push(format!("{since:>6} s  {line}"));
    }
}

fn waiting(seen: &Seen) -> Vec<String> {
    let ahead = seen.jobs.values().filter(|job| job.is_ahead());
    ahead
        .map(|job| format!("{} {}/{}", job.key, job.done, job.input))
        .collect()
}

/// Remembers that somebody has to look again.
struct Awake(AtomicBool);

impl Wake for Awake {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Polls until nothing more can happen by itself.
fn poll_while_awake(act: &mut Act) -> Option<Kept> {
    let awake = Arc::new(Awake(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&awake));
    let mut context = Context::from_waker(&waker);
    while awake.0.swap(false, Ordering::SeqCst) {
        if let Poll::Ready(kept) = act.as_mut().poll(&mut context) {
            return Some(kept);
        }
    }
    None
}
