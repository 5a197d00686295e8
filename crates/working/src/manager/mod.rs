//! The public API of working memory: threads are created, fed with events, compacted, and read (Team9's `MemoryManager`).
//!
//! An event is stored before anything else happens, and events of one thread are applied in the order of its log,
//! each once, whichever process dispatches them. A block keeps events from the state, not from the log; they are
//! applied, in order, when it ends, before anything that comes later. Blocks are kept by the store, so that every
//! process sees them, and end by themselves when the process that holds one is gone.
//!
//! Not here: how a thread is served (`thread`), what events do (`reduce`), how chunks are condensed (`compact`).

mod blocking;
mod dispatch;
mod lifecycle;
mod views;

use std::sync::Arc;

use daybook_domain::model::{Model, ModelForSession};
use daybook_domain::time::Clock;
use daybook_domain::working::ThreadStore;

pub use crate::thread::config::{MemoryManagerConfig, RandomNumbers};
pub use crate::thread::error::WorkingError;
pub use crate::thread::observer::{ObserverGuard, ThreadObserver};
pub use crate::thread::results::{
    CompactionOutcome, DispatchReceipt, DispatchResult, StateChange, TokenUsage,
};
pub use lifecycle::{CreateThread, ThreadSnapshot};

use crate::compact::Compactor;
use crate::reduce::ReducerRegistry;
use crate::thread::appender::Appender;
use crate::thread::blocks::BlockControl;
use crate::thread::compaction::Compactions;
use crate::thread::folder::StateFolder;
use crate::thread::history::History;
use crate::thread::loader::Loader;
use crate::thread::observer::Observers;
use crate::thread::worker::ThreadWorker;

/// Manages threads. A copy is the same manager.
///
/// It must be used within a tokio runtime with time, be it of one thread. It starts no threads, reads no
/// environment and catches no signals.
///
/// ```
/// use std::sync::Arc;
/// use daybook_domain::Timestamp;
/// use daybook_domain::working::{EventType, ThreadEvent};
/// use daybook_working::manager::{MemoryManager, MemoryManagerConfig};
/// use daybook_working::reduce::ReducerRegistry;
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
/// # Ok::<(), daybook_working::manager::WorkingError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct MemoryManager {
    worker: ThreadWorker,
}

impl MemoryManager {
    /// A manager of the threads in `store`. Without a model, chunks are condensed by extraction.
    #[must_use]
    pub fn new(
        store: Arc<dyn ThreadStore>,
        registry: ReducerRegistry,
        model: Option<Arc<dyn Model>>,
        clock: Arc<dyn Clock>,
        config: MemoryManagerConfig,
    ) -> Self {
        let (config, registry) = (Arc::new(config), Arc::new(registry));
        let folder = Arc::new(StateFolder {
            loader: Loader::new(Arc::clone(&store), Arc::clone(&registry), &config),
            store: Arc::clone(&store),
            clock,
            observers: Observers::default(),
            count: Arc::clone(&config.count),
        });
        let appender = Arc::new(Appender {
            folder: Arc::clone(&folder),
            history: History { store, registry },
            config: Arc::clone(&config),
        });
        let compactions = Compactions::new(Arc::clone(&appender), Arc::clone(&config), model);
        let blocks = BlockControl {
            folder: Arc::clone(&folder),
        };
        Self {
            worker: ThreadWorker {
                folder,
                appender,
                blocks: Arc::new(blocks),
                compactions: Arc::new(compactions),
                config,
            },
        }
    }

    /// Lets `model_for` choose the model for each session. Name, context and tokens stay those of the model given to
    /// [`MemoryManager::new`].
    ///
    /// # Panics
    /// When the manager has been copied already.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use daybook_domain::model::Model;
    /// # use daybook_working::manager::MemoryManager;
    /// /// Only Ada's own model sees her conversations.
    /// fn discreet(manager: MemoryManager, hers: Arc<dyn Model>, any: Arc<dyn Model>) -> MemoryManager {
    ///     manager.with_model_for(Arc::new(move |session| match session.user.as_deref() {
    ///         Some("ada") => Arc::clone(&hers),
    ///         _ => Arc::clone(&any),
    ///     }))
    /// }
    /// # let _ = discreet;
    /// ```
    #[must_use]
    pub fn with_model_for(mut self, model_for: Arc<ModelForSession>) -> Self {
        let compactions = Arc::get_mut(&mut self.worker.compactions);
        compactions
            .expect("the manager is not copied yet")
            .model_for = Some(model_for);
        self
    }

    /// Registers a compactor that is tried before all others (Team9's `registerCompactor`).
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # use async_trait::async_trait;
    /// # use daybook_domain::BoxError;
    /// # use daybook_domain::working::{Chunk, ChunkType};
    /// # use daybook_working::compact::{CompactionContext, CompactionResult, Compactor};
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
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub fn register_compactor(&self, compactor: Arc<dyn Compactor>) {
        self.worker.compactions.register(compactor);
    }

    /// Registers an observer. It is removed when the returned guard is dropped.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// use daybook_working::manager::ThreadObserver;
    /// struct Silent;
    /// impl ThreadObserver for Silent {}
    ///
    /// let guard = manager.add_observer(Arc::new(Silent));
    /// drop(guard); // and it is notified no more
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub fn add_observer(&self, observer: Arc<dyn ThreadObserver>) -> ObserverGuard {
        self.worker.folder.observers.add(observer)
    }

    /// The settings that it was made with.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// assert_eq!(manager.config().auto_compact_threshold, 20);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn config(&self) -> &MemoryManagerConfig {
        &self.worker.config
    }
}
