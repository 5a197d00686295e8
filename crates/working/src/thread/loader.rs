//! Loads threads when they are used, and unloads those that are not.
//!
//! A thread is loaded from its newest snapshot and the entries behind it. A snapshot is a cache: one that cannot be
//! read is passed over, for the log has everything.

use std::collections::BTreeSet;
use std::sync::Arc;

use daybook_domain::working::{Thread, ThreadState, ThreadStore};
use daybook_domain::{EventSeq, SessionId, StoreError};
use serde::{Deserialize, Serialize};

use super::config::MemoryManagerConfig;
use super::error::WorkingError;
use super::live::{ChunkTokens, FoldedState, LiveState, LiveThread};
use super::table::ThreadTable;
use crate::compact::Count;
use crate::fold::Fold;
use crate::reduce::ReducerRegistry;

/// Grows with every change of what folding gives; a snapshot of an older version is passed over.
const FOLD_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Snapshot<S> {
    version: u32,
    state: S,
}

/// Loads, keeps and unloads threads.
pub(crate) struct Loader {
    store: Arc<dyn ThreadStore>,
    registry: Arc<ReducerRegistry>,
    count: Count,
    snapshot_every: u64,
    max_loaded: usize,
    table: ThreadTable,
}

impl Loader {
    pub(crate) fn new(
        store: Arc<dyn ThreadStore>,
        registry: Arc<ReducerRegistry>,
        config: &MemoryManagerConfig,
    ) -> Self {
        Self {
            store,
            registry,
            count: Arc::clone(&config.count),
            snapshot_every: config.snapshot_every,
            max_loaded: config.max_loaded.max(1),
            table: ThreadTable::default(),
        }
    }

    /// The thread of this id, which counts as used now. Beyond [`MemoryManagerConfig::max_loaded`] threads, those
    /// used longest ago are unloaded.
    pub(crate) async fn open(&self, id: &SessionId) -> Result<Arc<LiveThread>, WorkingError> {
        let (live, count) = self.table.get_or_insert(id);
        if count > self.max_loaded {
            // An eighth at once, so that it is not needed at every use.
            self.unload(self.max_loaded - self.max_loaded / 8).await?;
        }
        Ok(live)
    }

    /// The thread of this id, if this process has met it.
    pub(crate) fn find_loaded(&self, id: &SessionId) -> Option<Arc<LiveThread>> {
        self.table.get(id)
    }

    /// How many threads are loaded.
    pub(crate) fn loaded(&self) -> usize {
        self.table.len()
    }

    /// Drops a thread that is deleted.
    pub(crate) fn remove(&self, id: &SessionId) {
        self.table.remove(id);
    }

    /// The thread's state, read from the store if it is not loaded.
    ///
    /// The caller holds the thread's gate.
    pub(crate) async fn load<'a>(
        &self,
        live: &LiveThread,
        state: &'a mut LiveState,
    ) -> Result<&'a mut FoldedState, WorkingError> {
        let missing = || WorkingError::ThreadNotFound(live.id.clone());
        if state.loaded.is_none() {
            let Some(thread) = self.store.thread(&live.id).await? else {
                self.remove(&live.id);
                return Err(missing());
            };
            state.loaded = Some(self.read(thread).await?);
        }
        state.loaded.as_mut().ok_or_else(missing)
    }

    async fn read(&self, thread: Thread) -> Result<FoldedState, WorkingError> {
        let fold = Fold::new(&thread.id, Arc::clone(&self.registry));
        let snapshot = self.store.snapshot(&thread.id).await?;
        let snapshot = snapshot.and_then(|(seq, body)| Some((seq, read_snapshot(&body)?)));
        let (upto, state) =
            snapshot.unwrap_or_else(|| (EventSeq(0), fold.beginning(thread.created_at)));
        let pending_after = thread.block.map_or(thread.last, |block| block.at);
        Ok(FoldedState {
            loaded_at: thread.last.min(pending_after),
            tokens: ChunkTokens::count(&state, &self.count),
            thread: Arc::new(thread),
            fold,
            state,
            upto,
            ahead: BTreeSet::new(),
            since_snapshot: 0,
        })
    }

    /// Unloads threads that are not in use, so that `keep` are left; returns how many.
    pub(crate) async fn unload(&self, keep: usize) -> Result<usize, WorkingError> {
        let mut unloaded = 0;
        for id in self.table.surplus(keep) {
            let Some(live) = self.table.get(&id) else {
                continue;
            };
            let Ok(mut state) = live.gate.try_lock() else {
                continue;
            };
            if !state.pending.is_empty() {
                continue;
            }
            if let Some(loaded) = state.loaded.as_mut() {
                self.put_snapshot(&live.id, loaded).await?;
            }
            if self.table.remove_unused(&live) {
                state.loaded = None;
                unloaded += 1;
            }
        }
        Ok(unloaded)
    }

    /// Stores a snapshot if enough entries were folded since the last one.
    pub(crate) async fn snapshot_if_due(
        &self,
        id: &SessionId,
        loaded: &mut FoldedState,
    ) -> Result<(), StoreError> {
        match loaded.since_snapshot >= self.snapshot_every {
            true => self.put_snapshot(id, loaded).await,
            false => Ok(()),
        }
    }

    async fn put_snapshot(
        &self,
        id: &SessionId,
        loaded: &mut FoldedState,
    ) -> Result<(), StoreError> {
        // A state with entries folded ahead of their place is the state of no place in the log.
        if loaded.since_snapshot == 0 || !loaded.ahead.is_empty() {
            return Ok(());
        }
        let snapshot = Snapshot {
            version: FOLD_VERSION,
            state: &loaded.state,
        };
        let body = serde_json::to_vec(&snapshot)
            .map_err(|error| StoreError::Refused(format!("a state cannot be written: {error}")))?;
        self.store.put_snapshot(id, loaded.upto, &body).await?;
        loaded.since_snapshot = 0;
        Ok(())
    }
}

/// The state of a snapshot; `None` if it cannot be read or is of another version.
fn read_snapshot(body: &[u8]) -> Option<ThreadState> {
    let snapshot: Snapshot<ThreadState> = serde_json::from_slice(body).ok()?;
    (snapshot.version == FOLD_VERSION).then_some(snapshot.state)
}
