//! Random events, blocks, failing compactions, faults of the store, crashes and second processes, against the
//! simplest model: acknowledged events are in the state, once, in order.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::SessionId;
use daybook_domain::working::{ChunkId, ThreadEvent, ThreadStore, WorkingFlowSubType};
use daybook_store::MemoryStore;
use daybook_testkit::ManualClock;
use daybook_working::manager::{MemoryManager, MemoryManagerConfig};
use proptest::prelude::*;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::faulty_store::{FaultyStore, PlannedFault};
use super::working_test_support::{
    CompactorBehaviour, GatedCompactor, NOW, covered_wishes, event, wish,
};

#[derive(Debug, Clone)]
enum RandomStep {
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
    PlannedFault(PlannedFault),
}

fn steps() -> impl Strategy<Value = RandomStep> {
    let faults = prop_oneof![
        (0..12u32).prop_map(PlannedFault::Before),
        (0..12u32).prop_map(PlannedFault::After),
    ];
    prop_oneof![
        12 => Just(RandomStep::Dispatch),
        4 => (2..12usize).prop_map(RandomStep::Many),
        3 => Just(RandomStep::Append),
        2 => Just(RandomStep::Compact),
        1 => Just(RandomStep::Pause),
        2 => Just(RandomStep::Resume),
        1 => Just(RandomStep::Crash),
        2 => Just(RandomStep::Swap),
        1 => (0..20usize).prop_map(RandomStep::Forget),
        1 => (0..20usize).prop_map(RandomStep::MarkCritical),
        2 => (1..90u64).prop_map(RandomStep::Wait),
        2 => faults.prop_map(RandomStep::PlannedFault),
    ]
}

fn of_compactors() -> impl Strategy<Value = CompactorBehaviour> {
    prop_oneof![
        4 => Just(CompactorBehaviour::Succeed),
        1 => Just(CompactorBehaviour::Fail),
        1 => Just(CompactorBehaviour::Panic),
        1 => Just(CompactorBehaviour::Stall),
        1 => Just(CompactorBehaviour::Empty),
    ]
}

/// One process: its tasks end when it is dropped.
struct ModelledProcess {
    manager: MemoryManager,
    runtime: Runtime,
    waiting: Vec<JoinHandle<()>>,
}

impl ModelledProcess {
    fn start(
        store: &Arc<FaultyStore>,
        clock: &Arc<ManualClock>,
        compactor: &Arc<GatedCompactor>,
    ) -> Self {
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

struct ModelWorld {
    store: Arc<FaultyStore>,
    clock: Arc<ManualClock>,
    compactor: Arc<GatedCompactor>,
    processes: [ModelledProcess; 2],
    thread: SessionId,
    /// Number of messages ("wishes") that were acknowledged; they are numbered from 1.
    wish_count: usize,
    /// Wishes that may have been forgotten.
    forgotten: BTreeSet<usize>,
}

impl ModelWorld {
    fn new(behaviours: &[CompactorBehaviour]) -> Self {
        let store = Arc::new(FaultyStore::new(Arc::new(MemoryStore::new())));
        let clock = Arc::new(ManualClock::at(NOW));
        let compactor = GatedCompactor::open(behaviours);
        let start = || ModelledProcess::start(&store, &clock, &compactor);
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
            wish_count: 0,
            forgotten: BTreeSet::new(),
        }
    }

    /// Dispatches an event by the first process, again after each fault, as any caller would. Returns when the event
    /// is stored: only then may the next one come, so that their order is known.
    fn dispatch(&mut self, event: ThreadEvent, stores_only: bool) {
        let process = &mut self.processes[0];
        let (manager, thread) = (process.manager.clone(), self.thread.clone());
        let before = process.runtime.block_on(self.store.stored_events());
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
            if process.runtime.block_on(self.store.stored_events()) > before {
                return;
            }
        }
        panic!("it is never stored");
    }

    fn wish(&mut self, stores_only: bool) {
        self.wish_count += 1;
        let event = wish(self.wish_count).with_id(format!("wish-{}", self.wish_count));
        self.dispatch(event, stores_only);
    }

    fn order(&mut self, json: serde_json::Value) {
        let number = self.processes[0]
            .runtime
            .block_on(self.store.stored_events());
        self.dispatch(event(json).with_id(format!("order-{number}")), false);
    }

    /// A chunk of the present state, and the wishes that it stands for.
    fn chunk(&self, number: usize) -> Option<(ChunkId, BTreeSet<usize>)> {
        let ModelledProcess {
            manager, runtime, ..
        } = &self.processes[0];
        runtime.block_on(async {
            let state = manager.current_state(&self.thread).await.ok()?;
            let id = state.chunk_ids().get(number % state.len().max(1))?.clone();
            let covered = covered_wishes(manager, &self.thread, &id).await?;
            Some((id, covered))
        })
    }

    fn take(&mut self, step: RandomStep) {
        let (thread, process) = (self.thread.clone(), &self.processes[0]);
        match step {
            RandomStep::Dispatch => self.wish(false),
            RandomStep::Many(many) => (0..many).for_each(|_| self.wish(false)),
            RandomStep::Append => self.wish(true),
            RandomStep::Compact => {
                let manager = process.manager.clone();
                drop(process.runtime.spawn(async move {
                    let _ = manager.trigger_compaction(&thread, None).await;
                }));
                process.run(Duration::from_millis(2));
            }
            RandomStep::Pause => {
                let _ = process.runtime.block_on(process.manager.pause(&thread));
            }
            RandomStep::Resume => {
                let _ = process.runtime.block_on(process.manager.resume(&thread));
            }
            RandomStep::Crash => {
                let new = ModelledProcess::start(&self.store, &self.clock, &self.compactor);
                drop(std::mem::replace(&mut self.processes[0], new));
            }
            RandomStep::Swap => self.processes.swap(0, 1),
            RandomStep::Forget(number) => {
                if let Some((id, covered)) = self.chunk(number) {
                    self.forgotten.extend(covered);
                    self.order(json!({"type": "MEMORY_FORGET", "timestamp": 1, "chunkIds": [id]}));
                }
            }
            RandomStep::MarkCritical(number) => {
                if let Some((id, _)) = self.chunk(number) {
                    let order =
                        json!({"type": "MEMORY_MARK_CRITICAL", "timestamp": 1, "chunkIds": [id]});
                    self.order(order);
                }
            }
            RandomStep::Wait(seconds) => self.wait(Duration::from_secs(seconds)),
            RandomStep::PlannedFault(fault) => self.store.schedule(fault),
        }
    }

    fn wait(&mut self, time: Duration) {
        self.clock.advance(time);
        for process in &self.processes {
            process.run(time);
        }
    }

    /// Lets all tasks end, and compares state and model.
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
        let fresh = ModelledProcess::start(&self.store, &self.clock, &self.compactor);
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
            let covered =
                fresh
                    .runtime
                    .block_on(covered_wishes(&fresh.manager, &self.thread, &chunk.id));
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
        let lost: Vec<_> = (1..=self.wish_count).filter(is_lost).collect();
        assert!(lost.is_empty(), "lost: {lost:?} of {}", self.wish_count);
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
        let mut world = ModelWorld::new(&compactors);
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
