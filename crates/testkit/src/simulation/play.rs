//! Plays decisions: owns the actors, lets one of them make one call at a time, and checks the promises after it.

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
use super::effect::{Journal, RecordedCall};
use super::gate::{CallGate, whole};
use super::planted_bug::{ActiveBug, PlantedBug};
use super::promises::{CheckResult, JobPromises};
use super::stepped_store::SteppedStore;
use super::store_snapshot::StoreSnapshot;
use crate::clock::ManualClock;
use crate::fixtures::DAWN;

/// Most passes that the last worker may need until no work waits.
const LAST_PASSES: usize = 1000;
/// Most calls within one of its passes.
const LAST_CALLS: usize = 20_000;
/// No work may wait for longer than this when nothing more happens.
const LONGEST_WAIT: Duration = Duration::from_secs(7 * 24 * 3600);

/// One activity of an actor, until it ends. An error is a broken promise: an actor handles expected errors itself.
pub type Activity = Pin<Box<dyn Future<Output = CheckResult> + Send>>;

/// The actors of a simulation: people, hosts and workers, which drive the real machinery.
pub trait ActorSet {
    /// How many actors there are.
    fn actors(&self) -> usize;

    /// Begins an activity of an idle actor, which `draw` chooses. Returns its name for the trace, and the activity.
    fn begin(&mut self, actor: usize, draw: u32) -> (String, Activity);

    /// Called when an actor has vanished in the middle of its activity.
    fn actor_vanished(&mut self, actor: usize);

    /// Ends all outages; from now on only the last worker acts.
    fn calm(&mut self);

    /// One pass of the last worker over all that is due.
    fn last_pass(&mut self) -> Activity;

    /// Checks the state outside the store, such as files; called after each change.
    ///
    /// # Errors
    /// The promise that is broken.
    fn look(&mut self) -> CheckResult;

    /// The same check when no work is left.
    ///
    /// # Errors
    /// The promise that is broken.
    fn check_settled(&mut self, seen: &StoreSnapshot) -> CheckResult;
}

/// The clock, the gates and the store that the actors use.
#[derive(Clone)]
pub struct SimulationEnv {
    /// The present time, moved by decisions.
    pub clock: Arc<ManualClock>,
    store: Arc<dyn Store>,
    journal: Journal,
    planted: Option<Arc<ActiveBug>>,
    gates: Vec<CallGate>,
}

impl SimulationEnv {
    /// The store as `actor` reaches it: each call is a step.
    #[must_use]
    pub fn store(&self, actor: usize) -> Arc<dyn Store> {
        Arc::new(SteppedStore {
            store: Arc::clone(&self.store),
            actor,
            gate: self.gate(actor),
            journal: self.journal.clone(),
            planted: self.planted.clone(),
        })
    }

    /// The gate of `actor`. An activity that takes time without calling the store pauses here, which makes it a step.
    #[must_use]
    pub fn gate(&self, actor: usize) -> CallGate {
        self.gates[actor].clone()
    }
}

/// How a simulation ended.
#[derive(Debug, Clone, Default)]
pub struct SimulationResult {
    /// The trace, with a line for each step.
    pub trace: Vec<String>,
    /// Number of calls that actors made.
    pub calls: usize,
    /// The promise that was broken, if any.
    pub broken: Option<String>,
}

/// The setup of a simulation: its store, its switches and its planted bug.
pub struct SimulationSetup {
    /// An empty store, or one with what the actors expect.
    pub store: Arc<dyn Store>,
    /// Where memory is switched off; the actors pass the same switches to the store.
    pub switches: Switches,
    /// The bug to plant, if any.
    pub bug: Option<PlantedBug>,
}

/// Plays `decisions` with the actors that `actor_set` makes, then lets one worker finish all waiting work.
pub fn play<C: ActorSet>(
    play: SimulationSetup,
    actors: usize,
    actor_set: impl FnOnce(&SimulationEnv) -> C,
    decisions: &[Decision],
) -> SimulationResult {
    let env = SimulationEnv {
        clock: Arc::new(ManualClock::at(DAWN)),
        store: play.store,
        journal: Journal::default(),
        planted: play.bug.map(|bug| Arc::new(ActiveBug::new(bug))),
        gates: (0..actors).map(|_| CallGate::default()).collect(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without drivers needs nothing from the system");
    let directing = async {
        let mut director = Director {
            actor_set: actor_set(&env),
            activities: (0..actors).map(|_| None).collect(),
            promises: JobPromises::new(play.switches),
            env,
            result: SimulationResult::default(),
        };
        let kept = director.all(decisions).await;
        director.result.broken = kept.err();
        director.result
    };
    runtime.block_on(tokio::task::coop::unconstrained(directing))
}

struct Director<C> {
    env: SimulationEnv,
    actor_set: C,
    activities: Vec<Option<Activity>>,
    promises: JobPromises,
    result: SimulationResult,
}

impl<C: ActorSet> Director<C> {
    async fn all(&mut self, decisions: &[Decision]) -> CheckResult {
        let seen = self.read_snapshot(None).await?;
        self.promises.begin(seen);
        for decision in decisions {
            self.carry_out(*decision).await?;
        }
        self.settle().await
    }

    async fn carry_out(&mut self, decision: Decision) -> CheckResult {
        match decision {
            Decision::Go { actor, draw } => {
                if self.activities[actor].is_none() {
                    let (what, act) = self.actor_set.begin(actor, draw);
                    self.say(format!("{actor} begins: {what}"));
                    self.activities[actor] = Some(act);
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
                self.env.gates[actor].set_loses_answers(true);
                self.go(actor, 0)?;
                self.env.gates[actor].set_loses_answers(false);
                self.crash(actor, ", and never hears of it");
                self.check().await
            }
            Decision::Wait(time) => {
                self.env.clock.advance(time);
                tokio::time::advance(time).await;
                self.say(format!("{} s pass", time.as_secs()));
                Ok(())
            }
            Decision::SetBack(time) => {
                let now = self.env.clock.now();
                let back = i64::try_from(time.as_millis()).unwrap_or(0);
                self.env.clock.set(Timestamp(now.0 - back));
                self.say(format!("the clock is set back by {} s", time.as_secs()));
                Ok(())
            }
        }
    }

    /// Lets one call of an actor through, and polls the actor.
    fn go(&mut self, actor: usize, draw: u32) -> CheckResult {
        self.env.gates[actor].open(draw);
        self.poll(actor)
    }

    fn poll(&mut self, actor: usize) -> CheckResult {
        let Some(act) = self.activities[actor].as_mut() else {
            return Ok(());
        };
        if let Some(kept) = poll_while_awake(act) {
            self.activities[actor] = None;
            self.say(format!("{actor} ends"));
            kept?;
        }
        Ok(())
    }

    fn crash(&mut self, actor: usize, how: &str) {
        if self.activities[actor].take().is_some() {
            self.actor_set.actor_vanished(actor);
            self.say(format!("{actor} vanishes{how}"));
        }
    }

    async fn check(&mut self) -> CheckResult {
        for call in self.env.journal.take() {
            self.check_call(&call).await?;
        }
        Ok(())
    }

    async fn check_call(&mut self, call: &RecordedCall) -> CheckResult {
        self.result.calls += 1;
        self.say(format!("{} {}", call.actor, call.line()));
        if call.is_write() {
            let seen = self.read_snapshot(Some(self.promises.before())).await?;
            self.promises.check(call, seen)?;
            self.actor_set.look()?;
        }
        Ok(())
    }

    async fn read_snapshot(&self, known: Option<&StoreSnapshot>) -> Result<StoreSnapshot, String> {
        let planted = self.env.planted.as_deref();
        let seen = whole(StoreSnapshot::of(&*self.env.store, planted, known)).await;
        seen.map_err(|error| format!("the store cannot be read: {error}"))
    }

    /// Lets one last worker run while time passes, until all work is done or given up.
    async fn settle(&mut self) -> CheckResult {
        for actor in 0..self.activities.len() {
            self.crash(actor, "");
        }
        self.actor_set.calm();
        self.say("one worker is left".to_owned());
        for _ in 0..LAST_PASSES {
            self.last_pass().await?;
            let Some(due) = self.promises.before().next_due() else {
                let seen = self.read_snapshot(None).await?;
                self.promises.check_settled(&seen)?;
                return self.actor_set.check_settled(&seen);
            };
            let now = self.env.clock.now();
            if due > now.plus(LONGEST_WAIT) {
                return Err(format!(
                    "work is stuck: {:?}",
                    waiting(self.promises.before())
                ));
            }
            self.env
                .clock
                .set(due.max(now.plus(Duration::from_secs(1))));
        }
        Err(format!(
            "work does not end: {:?}",
            waiting(self.promises.before())
        ))
    }

    async fn last_pass(&mut self) -> CheckResult {
        let mut act = self.actor_set.last_pass();
        for _ in 0..LAST_CALLS {
            for gate in &self.env.gates {
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
        let since = (self.env.clock.now().0 - DAWN.0) / 1000;
        self.result.trace.push(format!("{since:>6} s  {line}"));
    }
}

fn waiting(seen: &StoreSnapshot) -> Vec<String> {
    let ahead = seen.jobs.values().filter(|job| job.is_ahead());
    ahead
        .map(|job| format!("{} {}/{}", job.key, job.done, job.input))
        .collect()
}

/// Records that the future was woken and must be polled again.
struct Awake(AtomicBool);

impl Wake for Awake {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Polls until the future ends, or waits without having been woken.
fn poll_while_awake(act: &mut Activity) -> Option<CheckResult> {
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
