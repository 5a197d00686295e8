//! One process: a manager, a runtime of its own, and the gate of all its calls. Its tasks end when it is
//! dropped.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use daybook_domain::SessionId;
use daybook_domain::working::{EventType, ThreadEvent, ThreadStore};
use daybook_testkit::ManualClock;
use daybook_testkit::simulation::{CheckResult, SeededRandom};
use daybook_working::manager::{MemoryManager, MemoryManagerConfig, ObserverGuard, ThreadObserver};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::faulty_store::{FaultyStore, Steps, StoreMistake};
use crate::working_test_support::{CompactorBehaviour, GatedCompactor, number_of};

/// How often a process yields to its tasks, so that all of them run until they wait.
const ROUNDS: usize = 64;
/// The behaviours of a compactor; each is as likely as it is frequent here.
const BEHAVIOURS: [CompactorBehaviour; 8] = [
    CompactorBehaviour::Succeed,
    CompactorBehaviour::Succeed,
    CompactorBehaviour::Succeed,
    CompactorBehaviour::Succeed,
    CompactorBehaviour::Fail,
    CompactorBehaviour::Panic,
    CompactorBehaviour::Stall,
    CompactorBehaviour::Empty,
];

/// A call of a process's manager.
pub(super) type ManagerCall = Pin<Box<dyn Future<Output = CheckResult> + Send>>;

pub(super) struct SimulatedProcess {
    pub(super) manager: MemoryManager,
    pub(super) steps: Steps,
    runtime: Runtime,
    applied: Arc<AppliedWishes>,
    _watching: ObserverGuard,
}

/// Numbers of the wishes that were applied since the last check.
#[derive(Default)]
struct AppliedWishes(Mutex<Vec<usize>>);

impl ThreadObserver for AppliedWishes {
    fn on_event_dispatch(&self, _: &SessionId, event: &ThreadEvent) {
        if let EventType::UserMessage { content, .. } = &event.kind {
            self.0.lock().expect("a lock").extend(number_of(content));
        }
    }
}

impl SimulatedProcess {
    /// Starts the process with that number.
    pub(super) fn start(
        store: &Arc<dyn ThreadStore>,
        clock: &Arc<ManualClock>,
        mistake: Option<StoreMistake>,
        number: u64,
    ) -> Self {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        let config = MemoryManagerConfig {
            auto_compact_threshold: 6,
            snapshot_every: 5,
            ..MemoryManagerConfig::default()
        };
        let steps = Steps::default();
        let store = Arc::new(FaultyStore::stepped(Arc::clone(store), &steps, mistake));
        let clock = Arc::clone(clock) as _;
        let manager = MemoryManager::new(store, Default::default(), None, clock, config);
        let mut random = SeededRandom::of(number);
        let behaviours: Vec<_> = (0..32).map(|_| *random.one(&BEHAVIOURS)).collect();
        manager.register_compactor(GatedCompactor::at_gate(&steps.gate, behaviours));
        let applied = Arc::new(AppliedWishes::default());
        let watching = manager.add_observer(Arc::clone(&applied) as _);
        Self {
            manager,
            steps,
            runtime: runtime.expect("a runtime"),
            applied,
            _watching: watching,
        }
    }

    pub(super) fn begin(&self, act: ManagerCall) -> JoinHandle<CheckResult> {
        let act = self.runtime.spawn(act);
        self.go_on();
        act
    }

    /// The result of an act, if it has ended.
    pub(super) fn end(&self, act: &mut Option<JoinHandle<CheckResult>>) -> Option<CheckResult> {
        let ended = act.take_if(|act| act.is_finished())?;
        let kept = self.runtime.block_on(ended);
        Some(kept.unwrap_or_else(|error| Err(format!("a caller ends badly: {error}"))))
    }

    /// Lets one call through, and runs the tasks until they wait before the next one.
    pub(super) fn step(&self, draw: u32) {
        self.steps.gate.open(draw);
        self.go_on();
    }

    /// Lets one call through whose answer never reaches the process.
    pub(super) fn step_unheard(&self) {
        self.steps.gate.set_loses_answers(true);
        self.step(0);
    }

    fn go_on(&self) {
        self.runtime.block_on(async {
            for _ in 0..ROUNDS {
                tokio::task::yield_now().await;
            }
        });
    }

    pub(super) fn wait(&self, time: Duration) {
        self.runtime.block_on(tokio::time::advance(time));
        self.go_on();
    }

    /// The calls of the store that it made since the last check.
    pub(super) fn take_calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.steps.made.lock().expect("a lock"))
    }

    /// The wishes that it applied since the last check, in order.
    pub(super) fn take_applied(&self) -> Vec<usize> {
        std::mem::take(&mut *self.applied.0.lock().expect("a lock"))
    }

    /// Runs a future to its end, with the gate open.
    pub(super) fn whole<T: Send + 'static>(
        &self,
        act: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let act = self.runtime.spawn(act);
        while !act.is_finished() {
            self.step(0);
        }
        self.runtime.block_on(act).expect("it ends well")
    }
}
