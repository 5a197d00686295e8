//! Random events, blocks, compactions that go wrong, faults of the store, crashes and second processes,
//! against the simplest model there is: what was acknowledged is there, once, in order.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::SessionId;
use daybook_domain::working::{ChunkId, ThreadEvent, ThreadStore, WorkingFlowSubType};
use daybook_engine::working::manager::{MemoryManager, MemoryManagerConfig};
use daybook_store::MemoryStore;
use daybook_testkit::ManualClock;
use proptest::prelude::*;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::faulty::{Fault, Faulty};
use super::fixture::{Deed, Gated, NOW, covered, event, wish};

#[derive(Debug, Clone)]
enum Step {
    Dispatch,
    Many(usize),
    Append,
    Compact,
    Pause,
    Resume,
    Crash,
    Swap,
    Forget(usize),
    MarkCritical(usize),
    Wait(u64),
    Fault(Fault),
}

fn steps() -> impl Strategy<Value = Step> {
    let faults = prop_oneof![
        (0..12u32).prop_map(Fault::Before),
        (0..12u32).prop_map(Fault::After),
    ];
    prop_oneof![
        12 => Just(Step::Dispatch),
        4 => (2..12usize).prop_map(Step::Many),
        3 => Just(Step::Append),
        2 => Just(Step::Compact),
        1 => Just(Step::Pause),
        2 => Just(Step::Resume),
        1 => Just(Step::Crash),
        2 => Just(Step::Swap),
        1 => (0..20usize).prop_map(Step::Forget),
        1 => (0..20usize).prop_map(Step::MarkCritical),
        2 => (1..90u64).prop_map(Step::Wait),
        2 => faults.prop_map(Step::Fault),
    ]
}

fn of_compactors() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => Just(Deed::Succeed),
        1 => Just(Deed::Fail),
        1 => Just(Deed::Panic),
        1 => Just(Deed::Stall),
        1 => Just(Deed::Empty),
    ]
}

/// One process: what it spawned is gone when it is.
struct Process {
    manager: MemoryManager,
    runtime: Runtime,
    waiting: Vec<JoinHandle<()>>,
}

impl Process {
    fn start(store: &Arc<Faulty>, clock: &Arc<ManualClock>, compactor: &Arc<Gated>) -> Self {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        let config = MemoryManagerConfig {
            auto_compact_threshold: 8,
            snapshot_every: 5,
            ..MemoryManagerConfig::default()
        };
        let store: Arc<dyn ThreadStore> = Arc::clone(store) as _;
        let clock = Arc::clone(clock) as _;
        let manager = MemoryManager::new(store, Default::default(), None, clock, config);
        manager.register_compactor(Arc::clone(compactor) as _);
        Self {
            manager,
            runtime: runtime.expect("a runtime"),
            waiting: Vec::new(),
        }
    }

    /// Lets a little time pass.
    fn run(&self, time: Duration) {
        self.runtime
            .block_on(async { tokio::time::sleep(time).await });
    }
}

struct World {
    store: Arc<Faulty>,
    clock: Arc<ManualClock>,
    compactor: Arc<Gated>,
    processes: [Process; 2],
    thread: SessionId,
    /// Wishes that were acknowledged, numbered from 1.
    said: usize,
    /// Those that may have been forgotten.
    forgotten: BTreeSet<usize>,
}

impl World {
    fn new(deeds: &[Deed]) -> Self {
        let store = Arc::new(Faulty::new(Arc::new(MemoryStore::new())));
        let clock = Arc::new(ManualClock::at(NOW));
        let compactor = Gated::open(deeds);
        let start = || Process::start(&store, &clock, &compactor);
        let processes = [start(), start()];
        let first = &processes[0];
        let created = first.runtime.block_on(first.manager.create_thread());
        let thread = created.expect("a thread").0.id.clone();
        Self {
            store,
            clock,
            compactor,
            processes,
            thread,
            said: 0,
            forgotten: BTreeSet::new(),
        }
    }

    /// Has the first process dispatch, again after each fault, as any caller would. Goes on when the event
    /// is stored: only then may the next one come, for their order to be known.
    fn dispatch(&mut self, event: ThreadEvent, stores_only: bool) {
        let process = &mut self.processes[0];
        let (manager, thread) = (process.manager.clone(), self.thread.clone());
        let before = process.runtime.block_on(self.store.stored());
        process.waiting.push(process.runtime.spawn(async move {
            loop {
                let done = match stores_only {
                    true => manager.append(&thread, &event).await.map(drop),
                    false => manager.dispatch(&thread, &event).await.map(drop),
                };
                match done {
                    Ok(()) => return,
                    Err(error) if error.to_string().contains("a fault") => {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }));
        for _ in 0..100 {
            process.run(Duration::from_millis(2));
            if process.runtime.block_on(self.store.stored()) > before {
                return;
            }
        }
        panic!("it is never stored");
    }

    fn wish(&mut self, stores_only: bool) {
        self.said += 1;
        let said = wish(self.said).with_id(format!("wish-{}", self.said));
        self.dispatch(said, stores_only);
    }

    fn order(&mut self, json: serde_json::Value) {
        let number = self.processes[0].runtime.block_on(self.store.stored());
        self.dispatch(event(json).with_id(format!("order-{number}")), false);
    }

    /// A standing chunk, and the wishes that it stands for.
    fn chunk(&self, number: usize) -> Option<(ChunkId, BTreeSet<usize>)> {
        let Process {
            manager, runtime, ..
        } = &self.processes[0];
        runtime.block_on(async {
            let state = manager.current_state(&self.thread).await.ok()?;
            let id = state.chunk_ids().get(number % state.len().max(1))?.clone();
            let covered = covered(manager, &self.thread, &id).await?;
            Some((id, covered))
        })
    }

    fn take(&mut self, step: Step) {
        let (thread, process) = (self.thread.clone(), &self.processes[0]);
        match step {
            Step::Dispatch => self.wish(false),
            Step::Many(many) => (0..many).for_each(|_| self.wish(false)),
            Step::Append => self.wish(true),
            Step::Compact => {
                let manager = process.manager.clone();
                drop(process.runtime.spawn(async move {
                    let _ = manager.trigger_compaction(&thread, None).await;
                }));
                process.run(Duration::from_millis(2));
            }
            Step::Pause => {
                let _ = process.runtime.block_on(process.manager.pause(&thread));
            }
            Step::Resume => {
                let _ = process.runtime.block_on(process.manager.resume(&thread));
            }
            Step::Crash => {
                let new = Process::start(&self.store, &self.clock, &self.compactor);
                drop(std::mem::replace(&mut self.processes[0], new));
            }
            Step::Swap => self.processes.swap(0, 1),
            Step::Forget(number) => {
                if let Some((id, covered)) = self.chunk(number) {
                    self.forgotten.extend(covered);
                    self.order(json!({"type": "MEMORY_FORGET", "timestamp": 1, "chunkIds": [id]}));
                }
            }
            Step::MarkCritical(number) => {
                if let Some((id, _)) = self.chunk(number) {
                    let order =
                        json!({"type": "MEMORY_MARK_CRITICAL", "timestamp": 1, "chunkIds": [id]});
                    self.order(order);
                }
            }
            Step::Wait(seconds) => self.wait(Duration::from_secs(seconds)),
            Step::Fault(fault) => self.store.schedule(fault),
        }
    }

    fn wait(&mut self, time: Duration) {
        self.clock.advance(time);
        for process in &self.processes {
            process.run(time);
        }
    }

    /// Lets everything end, and compares.
    fn end(mut self) {
        self.store.no_more_faults();
        for _ in 0..3 {
            for process in &self.processes {
                let _ = process
                    .runtime
                    .block_on(process.manager.resume(&self.thread));
            }
            self.wait(Duration::from_secs(100));
        }
        for process in &mut self.processes {
            for waiting in std::mem::take(&mut process.waiting) {
                assert!(waiting.is_finished(), "somebody waits for ever");
                process.runtime.block_on(waiting).expect("it ends well");
            }
        }
        let fresh = Process::start(&self.store, &self.clock, &self.compactor);
        let mut states = Vec::new();
        for process in self.processes.iter().chain([&fresh]) {
            let state = process
                .runtime
                .block_on(process.manager.current_state(&self.thread));
            states.push(state.expect("a state"));
        }
        assert_eq!(states[0], states[1], "two processes");
        assert_eq!(states[0], states[2], "after a restart");
        let replayed = fresh.runtime.block_on(fresh.manager.replayed(&self.thread));
        assert_eq!(replayed.expect("a state"), states[0], "folded again");
        let (mut found, mut standing) = (BTreeSet::new(), Vec::new());
        for chunk in states[0].chunks() {
            let covered = fresh
                .runtime
                .block_on(covered(&fresh.manager, &self.thread, &chunk.id));
            let covered = covered.expect("its origin");
            if !chunk.is(WorkingFlowSubType::Compacted) {
                standing.extend(covered.iter().copied());
            }
            for number in covered {
                assert!(found.insert(number), "{number} is there twice");
            }
        }
        assert!(standing.is_sorted(), "{standing:?}");
        let is_lost = |number: &usize| !found.contains(number) && !self.forgotten.contains(number);
        let lost: Vec<_> = (1..=self.said).filter(is_lost).collect();
        assert!(lost.is_empty(), "lost: {lost:?} of {}", self.said);
    }
}

proptest! {
    // More with PROPTEST_CASES.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn what_was_acknowledged_is_there_once_and_in_order(
        compactors in prop::collection::vec(of_compactors(), 0..8),
        steps in prop::collection::vec(steps(), 1..40),
    ) {
        let mut world = World::new(&compactors);
        for step in steps {
            world.take(step);
        }
        world.end();
    }
}

fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|it| it.parse().ok()).unwrap_or(64)
}
