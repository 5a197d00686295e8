//! Threads come in when they are used, and go when they rest.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use daybook_domain::working::{State, Thread};
use daybook_domain::{EventSeq, SessionId, StoreError};
use serde::{Deserialize, Serialize};

use super::live::{Inner, Live, Loaded, Weights};
use super::{MemoryManager, Shared, WorkingError};
use crate::working::fold::Fold;

/// Grows with every change of what folding gives: an older snapshot is not looked at.
const FOLD_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Snapshot<S> {
    version: u32,
    state: S,
}

impl MemoryManager {
    /// How many threads are loaded.
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
    /// assert_eq!(manager.loaded(), 1);
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn loaded(&self) -> usize {
        self.0.table().len()
    }

    /// Unloads the threads that nobody uses, all but the `keep` newest. What they held stays in the store.
    ///
    /// # Errors
    /// The store's; the threads that are left stay loaded.
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
    /// # drop(thread);
    /// assert_eq!(manager.unload_idle(0).await?, 1);
    /// assert_eq!(manager.loaded(), 0);
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn unload_idle(&self, keep: usize) -> Result<usize, WorkingError> {
        self.0.unload(keep).await
    }
}

impl Shared {
    fn table(&self) -> std::sync::MutexGuard<'_, std::collections::HashMap<SessionId, Arc<Live>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread of this process; when there are too many, those that rested longest go.
    pub(super) async fn live(&self, id: &SessionId) -> Result<Arc<Live>, WorkingError> {
        let (live, many) = {
            let mut table = self.table();
            let live = match table.get(id) {
                Some(live) => Arc::clone(live),
                None => {
                    let live = Arc::new(Live::new(id.clone()));
                    table.insert(id.clone(), Arc::clone(&live));
                    live
                }
            };
            (live, table.len())
        };
        live.use_at(self.uses.fetch_add(1, Ordering::Relaxed));
        let most = self.config.max_loaded.max(1);
        if many > most {
            // An eighth at once, so that it need not be done at every use.
            self.unload(most - most / 8).await?;
        }
        Ok(live)
    }

    /// Forgets a thread.
    pub(super) fn forget(&self, id: &SessionId) {
        self.table().remove(id);
    }

    async fn unload(&self, keep: usize) -> Result<usize, WorkingError> {
        let mut idle: Vec<_> = {
            let table = self.table();
            let unused = table.values().filter(|live| Arc::strong_count(live) == 1);
            let unused = unused.map(|live| (live.used_at(), live.id.clone()));
            let mut all: Vec<_> = unused.collect();
            all.sort_unstable();
            let surplus = table.len().saturating_sub(keep);
            all.truncate(surplus);
            all
        };
        let mut gone = 0;
        for (_, id) in idle.drain(..) {
            let live = self.table().get(&id).cloned();
            let Some(live) = live else { continue };
            let Ok(mut inner) = live.gate.try_lock() else {
                continue;
            };
            if !inner.waiting.is_empty() {
                continue;
            }
            if let Some(loaded) = inner.loaded.as_mut() {
                self.keep_snapshot(&live.id, loaded).await?;
            }
            let mut table = self.table();
            // The table and this are all who know it: nobody has come in between.
            if Arc::strong_count(&live) == 2 {
                inner.loaded = None;
                table.remove(&id);
                gone += 1;
            }
        }
        Ok(gone)
    }

    /// The thread's state, loaded if it was not.
    pub(super) async fn load<'a>(
        &self,
        live: &Live,
        inner: &'a mut Inner,
    ) -> Result<&'a mut Loaded, WorkingError> {
        if inner.loaded.is_none() {
            let thread = self.store.thread(&live.id).await?;
            let Some(thread) = thread else {
                self.forget(&live.id);
                return Err(WorkingError::ThreadNotFound(live.id.clone()));
            };
            inner.loaded = Some(self.open(thread).await?);
        }
        match inner.loaded.as_mut() {
            Some(loaded) => Ok(loaded),
            None => Err(WorkingError::ThreadNotFound(live.id.clone())),
        }
    }

    async fn open(&self, thread: Thread) -> Result<Loaded, WorkingError> {
        let fold = Fold::new(&thread.id, Arc::clone(&self.registry));
        let kept = self.store.snapshot(&thread.id).await?;
        let kept = kept.and_then(|(seq, body)| Some((seq, read_snapshot(&body)?)));
        let (folded, state) =
            kept.unwrap_or_else(|| (EventSeq(0), fold.beginning(thread.created_at)));
        let waits_behind = thread.block.map_or(thread.last, |block| block.at);
        Ok(Loaded {
            old: thread.last.min(waits_behind),
            weights: Weights::of(&state, &self.config.count),
            thread: Arc::new(thread),
            fold,
            state,
            folded,
            ahead: BTreeSet::new(),
            since_snapshot: 0,
        })
    }

    /// Keeps a snapshot if enough has happened since the last one.
    pub(super) async fn snapshot_if_due(
        &self,
        id: &SessionId,
        loaded: &mut Loaded,
    ) -> Result<(), StoreError> {
        match loaded.since_snapshot >= self.config.snapshot_every {
            true => self.keep_snapshot(id, loaded).await,
            false => Ok(()),
        }
    }

    async fn keep_snapshot(&self, id: &SessionId, loaded: &mut Loaded) -> Result<(), StoreError> {
        // What is folded ahead of its place belongs to no place that a snapshot could name.
        if loaded.since_snapshot == 0 || !loaded.ahead.is_empty() {
            return Ok(());
        }
        let snapshot = Snapshot {
            version: FOLD_VERSION,
            state: &loaded.state,
        };
        let body = serde_json::to_vec(&snapshot)
            .map_err(|error| StoreError::Refused(format!("a state cannot be written: {error}")))?;
        self.store.put_snapshot(id, loaded.folded, &body).await?;
        loaded.since_snapshot = 0;
        Ok(())
    }
}

/// A state as it was kept; nothing if it cannot be read, for the log has all of it.
fn read_snapshot(body: &[u8]) -> Option<State> {
    let snapshot: Snapshot<State> = serde_json::from_slice(body).ok()?;
    (snapshot.version == FOLD_VERSION).then_some(snapshot.state)
}
