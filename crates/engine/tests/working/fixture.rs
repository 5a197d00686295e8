//! Managers, events, and what the tests ask of them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::working::{
    Chunk, ChunkId, EventType, State, ThreadEvent, ThreadStore, WorkingFlowSubType,
};
use daybook_domain::{BoxError, SessionId, Timestamp};
use daybook_engine::working::compact::{CompactionContext, CompactionResult, Compactor};
use daybook_engine::working::manager::{MemoryManager, MemoryManagerConfig};
use daybook_engine::working::reduce::ReducerRegistry;
use daybook_store::{MemoryStore, SqliteOptions, SqliteStore};
use daybook_testkit::ManualClock;
use daybook_testkit::simulation::Gate;
use tokio::sync::Semaphore;

pub(crate) const NOW: Timestamp = Timestamp(1_800_000_000_000);

/// Runs on one thread, with time that passes when nobody has anything to do.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime")
        .block_on(work)
}

pub(crate) fn store() -> Arc<dyn ThreadStore> {
    Arc::new(MemoryStore::new())
}

pub(crate) fn sqlite(folder: &tempfile::TempDir) -> Arc<dyn ThreadStore> {
    let path = folder.path().join("daybook.db");
    Arc::new(SqliteStore::open(&path, SqliteOptions::default()).expect("a store"))
}

pub(crate) fn manager() -> MemoryManager {
    manager_of(store(), MemoryManagerConfig::default())
}

/// One that compacts nothing without being asked.
pub(crate) fn quiet() -> MemoryManager {
    manager_of(store(), unasked())
}

pub(crate) fn unasked() -> MemoryManagerConfig {
    MemoryManagerConfig {
        auto_compact_enabled: false,
        ..MemoryManagerConfig::default()
    }
}

pub(crate) fn manager_of(
    store: Arc<dyn ThreadStore>,
    config: MemoryManagerConfig,
) -> MemoryManager {
    let clock = Arc::new(ManualClock::at(NOW));
    MemoryManager::new(store, ReducerRegistry::default(), None, clock, config)
}

/// A thread that has just begun to compact twenty wishes, and what lets that go on.
pub(crate) async fn compacting(
    store: Arc<dyn ThreadStore>,
) -> (MemoryManager, SessionId, Arc<Gated>) {
    let manager = manager_of(store, MemoryManagerConfig::default());
    let gated = Gated::new(&[]);
    manager.register_compactor(Arc::clone(&gated) as _);
    let thread = thread(&manager).await;
    let wishes: Vec<_> = (1..=20).map(wish).collect();
    let begun = manager.dispatch_all(&thread, &wishes).await;
    begun.expect("a result");
    (manager, thread, gated)
}

pub(crate) fn user(text: &str) -> ThreadEvent {
    let kind = EventType::UserMessage {
        content: text.to_owned(),
        attachments: Vec::new(),
    };
    ThreadEvent::new(kind, Timestamp(NOW.0 - 1_000))
}

/// A person's words of some length.
pub(crate) fn wish(number: usize) -> ThreadEvent {
    user(&format!(
        "Wish number {number}: {}",
        "please see to it carefully. ".repeat(8)
    ))
}

/// The number of a wish.
pub(crate) fn number_of(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("Wish number ")?;
    rest.split(':').next()?.parse().ok()
}

/// The wishes that a chunk stands for.
pub(crate) async fn covered(
    manager: &MemoryManager,
    thread: &SessionId,
    chunk: &ChunkId,
) -> Option<BTreeSet<usize>> {
    let state = manager.replayed(thread).await.ok()?;
    let standing = state.chunk(chunk)?;
    let mut all = manager.originals(thread, chunk).await.ok()?;
    if all.is_empty() {
        all.push(Arc::clone(standing));
    }
    let numbers = all
        .iter()
        .filter_map(|chunk| number_of(&chunk.content.told()));
    Some(numbers.collect())
}

pub(crate) fn event(json: serde_json::Value) -> ThreadEvent {
    serde_json::from_value(json).expect("an event")
}

/// The beginnings of what the chunks of a state say.
pub(crate) fn told(state: &State) -> Vec<String> {
    let chunks = state.chunks().map(|chunk| match chunk.sub_type {
        Some(WorkingFlowSubType::Compacted) => "(compacted)".to_owned(),
        _ => chunk
            .content
            .told()
            .split(':')
            .next()
            .unwrap_or_default()
            .to_owned(),
    });
    chunks.collect()
}

pub(crate) async fn thread(manager: &MemoryManager) -> SessionId {
    manager
        .create_thread()
        .await
        .expect("a thread")
        .0
        .id
        .clone()
}

/// Lets everything happen that nobody waits for.
pub(crate) async fn settle(manager: &MemoryManager, thread: &SessionId) {
    // Virtual time: nothing is waited for that could be done.
    tokio::time::sleep(Duration::from_millis(1)).await;
    manager
        .wait_until_unblocked(thread)
        .await
        .expect("it is unblocked");
}

/// What a compactor under test does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Succeed,
    Fail,
    Panic,
    Stall,
    Empty,
}

/// Condenses when it is let, and does as it is told.
pub(crate) struct Gated {
    pub(crate) let_go: Semaphore,
    /// Where it waits in a simulation.
    gate: Option<Gate>,
    deeds: Mutex<Vec<Deed>>,
}

impl Gated {
    /// Does these, one after another, and succeeds from then on. Each waits for a permit.
    pub(crate) fn new(deeds: &[Deed]) -> Arc<Self> {
        Arc::new(Self {
            let_go: Semaphore::new(0),
            gate: None,
            deeds: Mutex::new(deeds.iter().rev().copied().collect()),
        })
    }

    /// Waits for nobody.
    pub(crate) fn open(deeds: &[Deed]) -> Arc<Self> {
        let gated = Self::new(deeds);
        gated.let_go.add_permits(1_000_000);
        gated
    }

    /// Waits before each deed until a simulation lets it.
    pub(crate) fn at_gate(gate: &Gate, deeds: Vec<Deed>) -> Arc<Self> {
        Arc::new(Self {
            let_go: Semaphore::new(1_000_000),
            gate: Some(gate.clone()),
            deeds: Mutex::new(deeds),
        })
    }
}

#[async_trait]
impl Compactor for Gated {
    fn name(&self) -> &str {
        "gated"
    }

    fn can_compact(&self, chunks: &[Arc<Chunk>]) -> bool {
        !chunks.is_empty()
    }

    async fn compact(
        &self,
        chunks: &[Arc<Chunk>],
        context: &CompactionContext<'_>,
    ) -> Result<CompactionResult, BoxError> {
        self.let_go.acquire().await?.forget();
        if let Some(gate) = &self.gate {
            gate.pause().await;
        }
        let deed = self
            .deeds
            .lock()
            .expect("a lock")
            .pop()
            .unwrap_or(Deed::Succeed);
        let text = match deed {
            Deed::Succeed => "so far so good",
            Deed::Fail => return Err("no luck".into()),
            Deed::Panic => panic!("a compactor that panics"),
            Deed::Stall => std::future::pending().await,
            Deed::Empty => "",
        };
        Ok(CompactionResult {
            compacted_chunk: context.compacted(chunks, text),
            original_chunk_ids: chunks.iter().map(|chunk| chunk.id.clone()).collect(),
            by: "gated".to_owned(),
            faults: Vec::new(),
        })
    }
}
