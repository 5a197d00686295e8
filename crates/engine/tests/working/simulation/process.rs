//! One process: a manager, a runtime of its own, and the gate of all that it does. What it began is gone when
//! it is.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use daybook_domain::SessionId;
use daybook_domain::working::{EventType, ThreadEvent, ThreadStore};
use daybook_engine::working::manager::{MemoryManager, MemoryManagerConfig, Observer, Watching};
use daybook_testkit::ManualClock;
use daybook_testkit::simulation::{Kept, Random};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::faulty::{Faulty, Mistake, Steps};
use crate::fixture::{Deed, Gated, number_of};

/// How often a process may go on by itself, so that all ends that can.
const ROUNDS: usize = 64;
/// What a compactor does, as often as it stands here.
const DEEDS: [Deed; 8] = [
    Deed::Succeed,
    Deed::Succeed,
    Deed::Succeed,
    Deed::Succeed,
    Deed::Fail,
    Deed::Panic,
    Deed::Stall,
    Deed::Empty,
];

/// What somebody asks of a process.
pub(super) type Act = Pin<Box<dyn Future<Output = Kept> + Send>>;

pub(super) struct Process {
    pub(super) manager: MemoryManager,
    pub(super) steps: Steps,
    runtime: Runtime,
    applied: Arc<Applied>,
    _watching: Watching,
}

/// Numbers of the wishes that were applied since somebody looked.
#[derive(Default)]
struct Applied(Mutex<Vec<usize>>);

impl Observer for Applied {
    fn on_event_dispatch(&self, _: &SessionId, event: &ThreadEvent) {
        if let EventType::UserMessage { content, .. } = &event.kind {
            self.0.lock().expect("a lock").extend(number_of(content));
        }
    }
}

impl Process {
    /// The process with that number.
    pub(super) fn start(
        store: &Arc<dyn ThreadStore>,
        clock: &Arc<ManualClock>,
        mistake: Option<Mistake>,
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
        let store = Arc::new(Faulty::stepped(Arc::clone(store), &steps, mistake));
        let clock = Arc::clone(clock) as _;
        let manager = MemoryManager::new(store, Default::default(), None, clock, config);
        let mut random = Random::of(number);
        let deeds: Vec<_> = (0..32).map(|_| *random.one(&DEEDS)).collect();
        manager.register_compactor(Gated::at_gate(&steps.gate, deeds));
        let applied = Arc::new(Applied::default());
        let watching = manager.add_observer(Arc::clone(&applied) as _);
        Self {
            manager,
            steps,
            runtime: runtime.expect("a runtime"),
            applied,
            _watching: watching,
        }
    }

    pub(super) fn begin(&self, act: Act) -> JoinHandle<Kept> {
        let act = self.runtime.spawn(act);
        self.go_on();
        act
    }

    /// How an act ended, if it has.
    pub(super) fn end(&self, act: &mut Option<JoinHandle<Kept>>) -> Option<Kept> {
        let ended = act.take_if(|act| act.is_finished())?;
        let kept = self.runtime.block_on(ended);
        Some(kept.unwrap_or_else(|error| Err(format!("a caller ends badly: {error}"))))
    }

    /// Lets one call through. What follows it goes on until it stops before the next one.
    pub(super) fn step(&self, draw: u32) {
        self.steps.gate.open(draw);
        self.go_on();
    }

    /// Lets a call through that nobody hears the answer of.
    pub(super) fn step_unheard(&self) {
        self.steps.gate.set_deaf(true);
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

    /// The calls of the store that it made since somebody looked.
    pub(super) fn made(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.steps.made.lock().expect("a lock"))
    }

    /// The wishes that it applied since somebody looked, in that order.
    pub(super) fn applied(&self) -> Vec<usize> {
        std::mem::take(&mut *self.applied.0.lock().expect("a lock"))
    }

    /// Does something to its end, with every gate open.
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
