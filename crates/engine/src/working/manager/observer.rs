//! Whoever watches (spec/working-memory.md 10).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use daybook_domain::SessionId;
use daybook_domain::working::{Chunk, ChunkId, Operation, State, ThreadEvent};

use super::{Compacted, WorkingError};

/// A state that became another one.
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
/// use daybook_engine::working::manager::StateChange;
/// let told = |change: &StateChange<'_>| {
///     format!("{}: {} came, {} went", change.thread, change.added_chunks.len(), change.removed_chunk_ids.len())
/// };
/// # let _ = told;
/// # Ok::<(), WorkingError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct StateChange<'a> {
    /// Which thread.
    pub thread: &'a SessionId,
    /// The new state; its metadata name the one before.
    pub state: &'a State,
    /// The event, where one made it.
    pub event: Option<&'a ThreadEvent>,
    /// What was done.
    pub operations: &'a [Operation],
    /// What came.
    pub added_chunks: &'a [Arc<Chunk>],
    /// What went.
    pub removed_chunk_ids: &'a [ChunkId],
}

/// Watches threads: what is applied while they are loaded, whichever process stored it. It is called while the
/// thread waits, so it should be quick; one that panics disturbs nobody.
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
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use daybook_engine::working::manager::{Observer, StateChange};
///
/// #[derive(Default)]
/// struct Grown(AtomicUsize);
///
/// impl Observer for Grown {
///     fn on_state_change(&self, change: &StateChange<'_>) {
///         self.0.fetch_add(change.added_chunks.len(), Ordering::Relaxed);
///     }
/// }
///
/// let grown = Arc::new(Grown::default());
/// let _watching = manager.add_observer(grown.clone());
/// manager.dispatch(&thread.id, &said("Hello!")).await?;
/// assert_eq!(grown.0.load(Ordering::Relaxed), 1);
/// # Ok::<(), WorkingError>(())
/// # }).unwrap();
/// ```
#[doc(alias = "IObserver")]
pub trait Observer: Send + Sync {
    /// An event is about to be reduced.
    fn on_event_dispatch(&self, _thread: &SessionId, _event: &ThreadEvent) {}
    /// An event was reduced and applied, in that time.
    fn on_reducer_execute(&self, _thread: &SessionId, _event: &ThreadEvent, _took: Duration) {}
    /// There is a new state.
    fn on_state_change(&self, _change: &StateChange<'_>) {}
    /// The agent called another one.
    fn on_sub_agent_spawn(&self, _thread: &SessionId, _event: &ThreadEvent) {}
    /// An agent that was called answered or failed.
    fn on_sub_agent_result(&self, _thread: &SessionId, _event: &ThreadEvent) {}
    /// Chunks are being compacted. [`Observer::on_compaction_end`] or
    /// [`Observer::on_compaction_failed`] follows.
    fn on_compaction_start(&self, _thread: &SessionId, _chunks: &[ChunkId]) {}
    /// Chunks were compacted.
    fn on_compaction_end(&self, _thread: &SessionId, _compacted: &Compacted) {}
    /// Nothing was compacted, and nothing changed.
    fn on_compaction_failed(&self, _thread: &SessionId, _why: &str) {}
    /// Something went wrong that nobody waits for.
    fn on_error(&self, _thread: &SessionId, _error: &WorkingError) {}
}

/// Who watches.
#[derive(Default)]
pub(super) struct Observers(Arc<Mutex<Vec<Arc<dyn Observer>>>>);

/// Ends the watching when it is dropped.
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
/// use daybook_engine::working::manager::{Observer, Watching};
/// struct Silent;
/// impl Observer for Silent {}
///
/// let watching: Watching = manager.add_observer(Arc::new(Silent));
/// drop(watching);
/// # Ok::<(), WorkingError>(())
/// # }).unwrap();
/// ```
#[must_use = "dropping it ends the watching"]
pub struct Watching {
    all: Weak<Mutex<Vec<Arc<dyn Observer>>>>,
    own: Arc<dyn Observer>,
}

impl Observers {
    pub(super) fn add(&self, observer: Arc<dyn Observer>) -> Watching {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.iter().any(|known| Arc::ptr_eq(known, &observer)) {
            all.push(Arc::clone(&observer));
        }
        Watching {
            all: Arc::downgrade(&self.0),
            own: observer,
        }
    }

    pub(super) fn tell(&self, tell: impl Fn(&dyn Observer)) {
        let all = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        for observer in all {
            if catch_unwind(AssertUnwindSafe(|| tell(&*observer))).is_err() {
                tracing::warn!(outcome = "observer_panicked");
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        if let Some(all) = self.all.upgrade() {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|known| !Arc::ptr_eq(known, &self.own));
        }
    }
}
