//! Observers of threads: notified of events, new states, compactions and errors (Team9's `IObserver`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use daybook_domain::SessionId;
use daybook_domain::working::{ChunkId, ThreadEvent};

use super::error::WorkingError;
use super::results::{CompactionOutcome, StateChange};

/// Observes what is applied to loaded threads, whichever process stored it.
///
/// It is called while the thread waits, so it should be quick. A panic of an observer is caught and logged.
///
/// ```
#[doc = include_str!("../../doctests/manager.txt")]
/// # let (thread, _) = manager.create_thread().await?;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use daybook_working::manager::{ThreadObserver, StateChange};
///
/// #[derive(Default)]
/// struct Grown(AtomicUsize);
///
/// impl ThreadObserver for Grown {
///     fn on_state_change(&self, change: &StateChange<'_>) {
///         self.0.fetch_add(change.added_chunks.len(), Ordering::Relaxed);
///     }
/// }
///
/// let grown = Arc::new(Grown::default());
/// let _guard = manager.add_observer(grown.clone());
/// manager.dispatch(&thread.id, &message("Hello!")).await?;
/// assert_eq!(grown.0.load(Ordering::Relaxed), 1);
/// # Ok::<(), WorkingError>(()) }).unwrap();
/// ```
#[doc(alias = "IObserver")]
pub trait ThreadObserver: Send + Sync {
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
    /// A compaction of these chunks begins. [`ThreadObserver::on_compaction_end`] or
    /// [`ThreadObserver::on_compaction_failed`] follows.
    fn on_compaction_start(&self, _thread: &SessionId, _chunks: &[ChunkId]) {}
    /// Chunks were compacted.
    fn on_compaction_end(&self, _thread: &SessionId, _outcome: &CompactionOutcome) {}
    /// A compaction changed nothing.
    fn on_compaction_failed(&self, _thread: &SessionId, _why: &str) {}
    /// Something failed that no caller waits for.
    fn on_error(&self, _thread: &SessionId, _error: &WorkingError) {}
}

/// The registered observers.
#[derive(Default)]
pub(crate) struct Observers(Arc<Mutex<Vec<Arc<dyn ThreadObserver>>>>);

/// Removes its observer when it is dropped.
///
/// ```
#[doc = include_str!("../../doctests/manager.txt")]
/// use daybook_working::manager::{ThreadObserver, ObserverGuard};
/// struct Silent;
/// impl ThreadObserver for Silent {}
///
/// let guard: ObserverGuard = manager.add_observer(Arc::new(Silent));
/// drop(guard);
/// # Ok::<(), WorkingError>(()) }).unwrap();
/// ```
#[must_use = "dropping it removes the observer"]
pub struct ObserverGuard {
    all: Weak<Mutex<Vec<Arc<dyn ThreadObserver>>>>,
    own: Arc<dyn ThreadObserver>,
}

impl Observers {
    pub(crate) fn add(&self, observer: Arc<dyn ThreadObserver>) -> ObserverGuard {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.iter().any(|known| Arc::ptr_eq(known, &observer)) {
            all.push(Arc::clone(&observer));
        }
        ObserverGuard {
            all: Arc::downgrade(&self.0),
            own: observer,
        }
    }

    /// Calls every observer. One that panics is logged and disturbs no other.
    pub(crate) fn notify(&self, call: impl Fn(&dyn ThreadObserver)) {
        let all = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        for observer in all {
            if catch_unwind(AssertUnwindSafe(|| call(&*observer))).is_err() {
                tracing::warn!(outcome = "observer_panicked");
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty()
    }
}

impl Drop for ObserverGuard {
    fn drop(&mut self) {
        if let Some(all) = self.all.upgrade() {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|known| !Arc::ptr_eq(known, &self.own));
        }
    }
}
