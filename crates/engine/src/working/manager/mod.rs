//! Threads: kept apart, in order, loaded while they are used (seed 003, `MemoryManager`).
//!
//! The log is the queue. An event is stored before anything else happens, and its place in the log is its
//! place in line: events of one thread are applied in that order, each once, whoever dispatches them. A block
//! is a gate in front of the state, not of the log; what came while it was shut is applied, in order, before
//! anything that comes later. Blocks are kept by the store, so that all processes see them, and end by
//! themselves when the process that made one is gone.
//!
//! Not here: what events do (`reduce`), what compactions come to (`compact`).

mod applying;
mod batch;
mod blocking;
mod compacting;
mod config;
mod dispatch;
mod due;
mod error;
mod lifecycle;
mod live;
mod loading;
mod observer;
mod queue;
mod serving;
mod views;
mod waiting;

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use daybook_domain::model::Model;
use daybook_domain::time::Clock;
use daybook_domain::working::{Chunk, ChunkId, Compaction, State, Thread, ThreadStore};
use daybook_domain::{EventSeq, SessionId};

pub use config::MemoryManagerConfig;
pub use dispatch::Dispatched;
pub use error::WorkingError;
pub use lifecycle::{CreateThread, ThreadSnapshot};
pub use observer::{Observer, StateChange, Watching};

use super::compact::{Compactor, WorkingHistoryCompactor};
use super::reduce::ReducerRegistry;
use live::Live;
use observer::Observers;

use crate::asked::AskedAbout;

/// What a dispatched event came to (seed 003, `DispatchResult`).
///
/// ```
/// # use std::sync::Arc;
/// # use daybook_domain::Timestamp;
/// # use daybook_domain::working::{Content, EventType, ThreadEvent};
/// # use daybook_engine::working::manager::{CreateThread, MemoryManager, MemoryManagerConfig, WorkingError};
/// # use daybook_engine::working::reduce::ReducerRegistry;
/// # let clock = Arc::new(daybook_testkit::ManualClock::at(Timestamp(0)));
/// # let store = Arc::new(daybook_store::MemoryStore::new());
/// # let manager = MemoryManager::new(store.clone(), ReducerRegistry::default(), None, clock, MemoryManagerConfig::default());
/// # let said = |words: &str| ThreadEvent::new(EventType::user(words), Timestamp(0));
/// # daybook_testkit::run(async {
/// # let (thread, _) = manager.create_thread().await?;
/// let result = manager.dispatch(&thread.id, &said("Hello!")).await?;
/// assert_eq!((result.seq.0, result.state.len()), (1, 1));
/// assert!(result.removed_chunk_ids.is_empty());
/// # Ok::<(), WorkingError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct DispatchResult {
    /// The thread.
    pub thread: Arc<Thread>,
    /// The event's place in the log; of several, the last one's.
    pub seq: EventSeq,
    /// The state after it.
    pub state: State,
    /// What came.
    pub added_chunks: Vec<Arc<Chunk>>,
    /// What went.
    pub removed_chunk_ids: Vec<ChunkId>,
}

/// What a compaction came to.
///
/// ```
/// # use std::sync::Arc;
/// # use daybook_domain::Timestamp;
/// # use daybook_domain::working::{Content, EventType, ThreadEvent};
/// # use daybook_engine::working::manager::{CreateThread, MemoryManager, MemoryManagerConfig, WorkingError};
/// # use daybook_engine::working::reduce::ReducerRegistry;
/// # let clock = Arc::new(daybook_testkit::ManualClock::at(Timestamp(0)));
/// # let store = Arc::new(daybook_store::MemoryStore::new());
/// # let manager = MemoryManager::new(store.clone(), ReducerRegistry::default(), None, clock, MemoryManagerConfig::default());
/// # let said = |words: &str| ThreadEvent::new(EventType::user(words), Timestamp(0));
/// # daybook_testkit::run(async {
/// # let (thread, _) = manager.create_thread().await?;
/// # let long = "The deploy of the second host went wrong in the same way. ".repeat(8);
/// # for number in 1..=6 {
/// #     manager.dispatch(&thread.id, &said(&format!("{number}: {long}"))).await?;
/// # }
/// let compacted = manager.trigger_compaction(&thread.id, None).await?;
/// let by = compacted.compaction.map(|compaction| compaction.by);
/// assert_eq!(by.as_deref(), Some("extractive"));
/// # Ok::<(), WorkingError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Compacted {
    /// The thread.
    pub thread: Arc<Thread>,
    /// The state after it.
    pub state: State,
    /// What came.
    pub added_chunks: Vec<Arc<Chunk>>,
    /// What went.
    pub removed_chunk_ids: Vec<ChunkId>,
    /// The entry of the log; nothing where there was nothing to compact.
    pub compaction: Option<Compaction>,
}

/// Keeps threads. A copy is the same manager.
///
/// It must be used within a tokio runtime with time, be it of one thread. It starts no threads, reads no
/// environment and catches no signals.
///
/// ```
/// use std::sync::Arc;
/// use daybook_domain::Timestamp;
/// use daybook_domain::working::{EventType, ThreadEvent};
/// use daybook_engine::working::manager::{MemoryManager, MemoryManagerConfig};
/// use daybook_engine::working::reduce::ReducerRegistry;
/// use daybook_store::MemoryStore;
/// # use daybook_testkit::ManualClock;
/// # daybook_testkit::run(async {
/// # let clock = ManualClock::at(Timestamp(0));
///
/// let manager = MemoryManager::new(
///     Arc::new(MemoryStore::new()),
///     ReducerRegistry::default(),
///     None, // or Some(model)
///     Arc::new(clock),
///     MemoryManagerConfig::default(),
/// );
/// let (thread, _) = manager.create_thread().await?;
/// let hello = ThreadEvent::new(EventType::user("Hello, agent!"), Timestamp(0));
/// assert_eq!(manager.dispatch(&thread.id, &hello).await?.state.len(), 1);
/// # Ok::<(), daybook_engine::working::manager::WorkingError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct MemoryManager(Arc<Shared>);

struct Shared {
    store: Arc<dyn ThreadStore>,
    /// Whom a model's calls about a session are charged to.
    asked_about: Option<Arc<AskedAbout>>,
    registry: Arc<ReducerRegistry>,
    clock: Arc<dyn Clock>,
    config: MemoryManagerConfig,
    compactors: RwLock<Compactors>,
    observers: Observers,
    threads: Mutex<HashMap<SessionId, Arc<Live>>>,
    uses: AtomicU64,
}

/// Who condenses, in the order in which they are asked.
struct Compactors {
    /// The newest first.
    custom: Vec<Arc<dyn Compactor>>,
    /// Asks a model.
    model: Option<WorkingHistoryCompactor>,
    /// Asks nobody.
    last: Arc<dyn Compactor>,
}

impl MemoryManager {
    /// A manager of the threads in `store`. Without a model chunks are condensed all the same.
    #[must_use]
    pub fn new(
        store: Arc<dyn ThreadStore>,
        registry: ReducerRegistry,
        model: Option<Arc<dyn Model>>,
        clock: Arc<dyn Clock>,
        config: MemoryManagerConfig,
    ) -> Self {
        use super::compact::ExtractiveCompactor;
        let llm = config.llm;
        let asking = |model| WorkingHistoryCompactor::new(model, llm);
        let last = ExtractiveCompactor {
            max_tokens: llm.compact_max_tokens,
        };
        Self(Arc::new(Shared {
            store,
            asked_about: None,
            registry: Arc::new(registry),
            clock,
            compactors: RwLock::new(Compactors {
                custom: Vec::new(),
                model: model.map(asking),
                last: Arc::new(last),
            }),
            config,
            observers: Observers::default(),
            threads: Mutex::default(),
            uses: AtomicU64::new(0),
        }))
    }

    /// Asks whom `asked_about` says about each session. Name, context and tokens stay the model's own.
    ///
    /// # Panics
    /// When the manager has been copied already.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use daybook_domain::model::Model;
    /// # use daybook_engine::working::manager::MemoryManager;
    /// /// Ada's conversations are told to her own model alone.
    /// fn discreet(manager: MemoryManager, hers: Arc<dyn Model>, any: Arc<dyn Model>) -> MemoryManager {
    ///     manager.asking(Arc::new(move |session| match session.user.as_deref() {
    ///         Some("ada") => Arc::clone(&hers),
    ///         _ => Arc::clone(&any),
    ///     }))
    /// }
    /// # let _ = discreet;
    /// ```
    #[must_use]
    pub fn asking(mut self, asked_about: Arc<AskedAbout>) -> Self {
        let shared = Arc::get_mut(&mut self.0).expect("the manager is not copied yet");
        shared.asked_about = Some(asked_about);
        self
    }

    /// Asks a compactor before all others (seed 003, `registerCompactor`).
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use daybook_domain::Timestamp;
    /// # use daybook_domain::working::{Content, EventType, ThreadEvent};
    /// # use daybook_engine::working::manager::{CreateThread, MemoryManager, MemoryManagerConfig, WorkingError};
    /// # use daybook_engine::working::reduce::ReducerRegistry;
    /// # let clock = Arc::new(daybook_testkit::ManualClock::at(Timestamp(0)));
    /// # let store = Arc::new(daybook_store::MemoryStore::new());
    /// # let manager = MemoryManager::new(store.clone(), ReducerRegistry::default(), None, clock, MemoryManagerConfig::default());
    /// # let said = |words: &str| ThreadEvent::new(EventType::user(words), Timestamp(0));
    /// # daybook_testkit::run(async {
    /// # use async_trait::async_trait;
    /// # use daybook_domain::BoxError;
    /// # use daybook_domain::working::{Chunk, ChunkType};
    /// # use daybook_engine::working::compact::{CompactionContext, CompactionResult, Compactor};
    /// # struct Reports;
    /// # #[async_trait]
    /// # impl Compactor for Reports {
    /// #     fn name(&self) -> &str { "reports" }
    /// #     fn can_compact(&self, _: &[Arc<Chunk>]) -> bool { false }
    /// #     async fn compact(&self, _: &[Arc<Chunk>], _: &CompactionContext<'_>) -> Result<CompactionResult, BoxError> {
    /// #         Err("it takes nothing".into())
    /// #     }
    /// # }
    /// manager.register_compactor(Arc::new(Reports));
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub fn register_compactor(&self, compactor: Arc<dyn Compactor>) {
        let compactors = self.0.compactors.write();
        let mut compactors = compactors.unwrap_or_else(PoisonError::into_inner);
        compactors.custom.insert(0, compactor);
    }

    /// Has somebody watch, until what is returned is dropped.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use daybook_domain::Timestamp;
    /// # use daybook_domain::working::{Content, EventType, ThreadEvent};
    /// # use daybook_engine::working::manager::{CreateThread, MemoryManager, MemoryManagerConfig, WorkingError};
    /// # use daybook_engine::working::reduce::ReducerRegistry;
    /// # let clock = Arc::new(daybook_testkit::ManualClock::at(Timestamp(0)));
    /// # let store = Arc::new(daybook_store::MemoryStore::new());
    /// # let manager = MemoryManager::new(store.clone(), ReducerRegistry::default(), None, clock, MemoryManagerConfig::default());
    /// # let said = |words: &str| ThreadEvent::new(EventType::user(words), Timestamp(0));
    /// # daybook_testkit::run(async {
    /// use daybook_engine::working::manager::Observer;
    /// struct Silent;
    /// impl Observer for Silent {}
    ///
    /// let watching = manager.add_observer(Arc::new(Silent));
    /// drop(watching); // and it hears no more
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub fn add_observer(&self, observer: Arc<dyn Observer>) -> Watching {
        self.0.observers.add(observer)
    }

    /// How it keeps its threads.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use daybook_domain::Timestamp;
    /// # use daybook_domain::working::{Content, EventType, ThreadEvent};
    /// # use daybook_engine::working::manager::{CreateThread, MemoryManager, MemoryManagerConfig, WorkingError};
    /// # use daybook_engine::working::reduce::ReducerRegistry;
    /// # let clock = Arc::new(daybook_testkit::ManualClock::at(Timestamp(0)));
    /// # let store = Arc::new(daybook_store::MemoryStore::new());
    /// # let manager = MemoryManager::new(store.clone(), ReducerRegistry::default(), None, clock, MemoryManagerConfig::default());
    /// # let said = |words: &str| ThreadEvent::new(EventType::user(words), Timestamp(0));
    /// # daybook_testkit::run(async {
    /// assert_eq!(manager.config().auto_compact_threshold, 20);
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn config(&self) -> &MemoryManagerConfig {
        &self.0.config
    }
}
