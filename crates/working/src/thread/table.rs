//! The threads that this process has loaded.
//!
//! Not here: reading them from the store, and when they are unloaded (`loader`).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use daybook_domain::SessionId;

use super::live::LiveThread;

/// Loaded threads by id, with a count of uses that orders them by their last one.
#[derive(Default)]
pub(super) struct ThreadTable {
    threads: Mutex<HashMap<SessionId, Arc<LiveThread>>>,
    uses: AtomicU64,
}

impl ThreadTable {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<LiveThread>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread of that id, added if it is new, and how many there are.
    pub(super) fn get_or_insert(&self, id: &SessionId) -> (Arc<LiveThread>, usize) {
        let (live, count) = {
            let mut table = self.lock();
            let live = match table.get(id) {
                Some(live) => Arc::clone(live),
                None => {
                    let live = Arc::new(LiveThread::new(id.clone()));
                    table.insert(id.clone(), Arc::clone(&live));
                    live
                }
            };
            (live, table.len())
        };
        live.set_used(self.uses.fetch_add(1, Ordering::Relaxed));
        (live, count)
    }

    pub(super) fn get(&self, id: &SessionId) -> Option<Arc<LiveThread>> {
        self.lock().get(id).cloned()
    }

    pub(super) fn remove(&self, id: &SessionId) {
        self.lock().remove(id);
    }

    /// Removes a thread if the table and the caller hold the only references to it.
    #[must_use]
    pub(super) fn remove_unused(&self, live: &Arc<LiveThread>) -> bool {
        let mut table = self.lock();
        let is_unused = Arc::strong_count(live) == 2;
        if is_unused {
            table.remove(&live.id);
        }
        is_unused
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Threads to unload so that `keep` are left: those that are not in use, the one used longest ago first.
    pub(super) fn surplus(&self, keep: usize) -> Vec<SessionId> {
        let table = self.lock();
        let unused = table
            .values()
            .filter(|live| Arc::strong_count(live) == 1)
            .map(|live| (live.used(), live.id.clone()));
        let mut unused: Vec<_> = unused.collect();
        unused.sort_unstable();
        unused.truncate(table.len().saturating_sub(keep));
        unused.into_iter().map(|(_, id)| id).collect()
    }
}
