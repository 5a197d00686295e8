//! Managers, events and helpers that the tests share.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::working::{
    Chunk, ChunkId, EventType, ThreadEvent, ThreadState, ThreadStore, WorkingFlowSubType,
};
use daybook_domain::{BoxError, SessionId, Timestamp};
use daybook_store::{MemoryStore, SqliteOptions, SqliteStore};
use daybook_testkit::ManualClock;
use daybook_testkit::simulation::CallGate;
use daybook_working::compact::{CompactionContext, CompactionResult, Compactor};
use daybook_working::manager::{MemoryManager, MemoryManagerConfig};
use daybook_working::reduce::ReducerRegistry;
use tokio::sync::Semaphore;

pub(crate) const NOW: Timestamp = Timestamp(1_800_000_000_000);

/// Runs a future on one thread, with virtual time that passes when every task waits.
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

/// A manager that compacts only on request.
pub(crate) fn manager_without_auto_compaction() -> MemoryManager {
    manager_of(store(), no_auto_compaction())
}

pub(crate) fn no_auto_compaction() -> MemoryManagerConfig {
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

/// A thread that has just begun to compact twenty wishes, and the compactor that lets the compaction continue.
pub(crate) async fn compacting(
    store: Arc<dyn ThreadStore>,
) -> (MemoryManager, SessionId, Arc<GatedCompactor>) {
    let manager = manager_of(store, MemoryManagerConfig::default());
    let gated = GatedCompactor::new(&[]);
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

/// A person's message of some length, with this number.
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
pub(crate) async fn covered_wishes(
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
        .filter_map(|chunk| number_of(&chunk.content.to_text()));
    Some(numbers.collect())
}

pub(crate) fn event(json: serde_json::Value) -> ThreadEvent {
    serde_json::from_value(json).expect("an event")
}

/// The beginnings of the texts of a state's chunks.
pub(crate) fn chunk_texts(state: &ThreadState) -> Vec<String> {
    let chunks = state.chunks().map(|chunk| match chunk.sub_type {
        Some(WorkingFlowSubType::Compacted) => "(compacted)".to_owned(),
        _ => chunk
            .content
            .to_text()
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

/// Waits until the background work of a thread has ended.
pub(crate) async fn settle(manager: &MemoryManager, thread: &SessionId) {
    // Virtual time passes only when no task can run.
    tokio::time::sleep(Duration::from_millis(1)).await;
    manager
        .wait_until_unblocked(thread)
        .await
        .expect("it is unblocked");
}

/// The next behaviour of a compactor under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompactorBehaviour {
    Succeed,
    Fail,
    Panic,
    Stall,
    Empty,
}

/// A compactor that waits for permits, and behaves as the test demands.
pub(crate) struct GatedCompactor {
    pub(crate) let_go: Semaphore,
    /// The gate at which it waits in a simulation.
    gate: Option<CallGate>,
    behaviours: Mutex<Vec<CompactorBehaviour>>,
}

impl GatedCompactor {
    /// A compactor with these behaviours, one after another, which succeeds from then on. Each run waits for a permit.
    pub(crate) fn new(behaviours: &[CompactorBehaviour]) -> Arc<Self> {
        Arc::new(Self {
            let_go: Semaphore::new(0),
            gate: None,
            behaviours: Mutex::new(behaviours.iter().rev().copied().collect()),
        })
    }

    /// The same without waiting for permits.
    pub(crate) fn open(behaviours: &[CompactorBehaviour]) -> Arc<Self> {
        let gated = Self::new(behaviours);
        gated.let_go.add_permits(1_000_000);
        gated
    }

    /// A compactor that waits at a simulation's gate before each run.
    pub(crate) fn at_gate(gate: &CallGate, behaviours: Vec<CompactorBehaviour>) -> Arc<Self> {
        Arc::new(Self {
            let_go: Semaphore::new(1_000_000),
            gate: Some(gate.clone()),
            behaviours: Mutex::new(behaviours),
        })
    }
}

#[async_trait]
impl Compactor for GatedCompactor {
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
        let behaviour = self
            .behaviours
            .lock()
            .expect("a lock")
            .pop()
            .unwrap_or(CompactorBehaviour::Succeed);
        let text = match behaviour {
            CompactorBehaviour::Succeed => "so far so good",
            CompactorBehaviour::Fail => return Err("no luck".into()),
            CompactorBehaviour::Panic => panic!("a compactor that panics"),
            CompactorBehaviour::Stall => std::future::pending().await,
            CompactorBehaviour::Empty => "",
        };
        Ok(CompactionResult {
            compacted_chunk: context.compacted(chunks, text),
            original_chunk_ids: chunks.iter().map(|chunk| chunk.id.clone()).collect(),
            by: "gated".to_owned(),
            faults: Vec::new(),
        })
    }
}
