//! What a thread is, was, and came from.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use daybook_domain::working::{Chunk, ChunkId, State, StateId, StateMetadata, Thread};
use daybook_domain::{EventSeq, SessionId};

use super::live::Live;
use super::{DispatchResult, MemoryManager, Shared, WorkingError};
use crate::working::fold::Fold;
use crate::working::reader::Reader;

impl MemoryManager {
    /// A thread, if there is one.
    ///
    /// # Errors
    /// [`WorkingError`].
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
    /// let found = manager.thread(&thread.id).await?;
    /// assert_eq!(found.map(|found| found.label), Some(thread.label.clone()));
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn thread(&self, id: &SessionId) -> Result<Option<Thread>, WorkingError> {
        let found = self.0.store.thread(id).await?;
        Ok(found.map(|thread| self.0.as_it_stands(thread)))
    }

    /// Threads of this manager's tenant, newest activity first; at most `limit`.
    ///
    /// # Errors
    /// [`WorkingError`].
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
    /// assert_eq!(manager.threads(10).await?.len(), 1);
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn threads(&self, limit: usize) -> Result<Vec<Thread>, WorkingError> {
        let tenant = &self.0.config.tenant;
        let threads = self.0.store.threads(tenant, limit).await?.into_iter();
        Ok(threads.map(|thread| self.0.as_it_stands(thread)).collect())
    }

    /// The state of a thread; what waits is not in it.
    ///
    /// # Errors
    /// [`WorkingError`].
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
    /// assert!(manager.current_state(&thread.id).await?.is_empty());
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn current_state(&self, thread: &SessionId) -> Result<State, WorkingError> {
        Ok(self.current(thread).await?.state)
    }

    /// The thread as it is.
    pub(super) async fn current(&self, thread: &SessionId) -> Result<DispatchResult, WorkingError> {
        let live = self.0.live(thread).await?;
        let mut inner = live.gate.lock().await;
        self.0.catch_up(&live, &mut inner).await?;
        let seq = inner
            .loaded
            .as_ref()
            .map_or(EventSeq(0), |loaded| loaded.folded);
        inner.result(seq, &Default::default())
    }

    /// The state that a thread began with.
    ///
    /// # Errors
    /// [`WorkingError`].
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
    /// manager.dispatch(&thread.id, &said("Hello!")).await?;
    /// assert!(manager.initial_state(&thread.id).await?.is_empty());
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn initial_state(&self, thread: &SessionId) -> Result<State, WorkingError> {
        let first = self.past(thread, |_| true).await?;
        first.ok_or_else(|| WorkingError::ThreadNotFound(thread.clone()))
    }

    /// A state that a thread has or had, folded again from its log.
    ///
    /// # Errors
    /// [`WorkingError::StateNotFound`] for a state that the thread never had.
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
    /// let hello = manager.dispatch(&thread.id, &said("Hello!")).await?;
    /// manager.dispatch(&thread.id, &said("Are you there?")).await?;
    /// assert_eq!(manager.state(&thread.id, &hello.state.id).await?.len(), 1);
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn state(&self, thread: &SessionId, id: &StateId) -> Result<State, WorkingError> {
        let state = self.past(thread, |state| state.id == *id).await?;
        state.ok_or_else(|| WorkingError::StateNotFound(id.clone()))
    }

    /// The descent of a thread's state, the first one first: folded again from the whole log.
    ///
    /// # Errors
    /// [`WorkingError`].
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
    /// manager.dispatch(&thread.id, &said("Hello!")).await?;
    /// let history = manager.state_history(&thread.id).await?;
    /// assert_eq!(history[1].1.previous_state_id.as_ref(), Some(&history[0].0));
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn state_history(
        &self,
        thread: &SessionId,
    ) -> Result<Vec<(StateId, StateMetadata)>, WorkingError> {
        let mut history: Vec<(StateId, StateMetadata)> = Vec::new();
        self.past(thread, |state| {
            let is_new = history.last().is_none_or(|(last, _)| *last != state.id);
            if is_new {
                history.push((state.id.clone(), state.metadata.clone()));
            }
            false
        })
        .await?;
        Ok(history)
    }

    /// The state that folding the whole log gives, whatever snapshots there are.
    ///
    /// # Errors
    /// [`WorkingError`].
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
    /// let hello = manager.dispatch(&thread.id, &said("Hello!")).await?;
    /// assert_eq!(manager.replayed(&thread.id).await?, hello.state);
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn replayed(&self, thread: &SessionId) -> Result<State, WorkingError> {
        let mut last = None;
        self.past(thread, |state| {
            last = Some(state.clone());
            false
        })
        .await?;
        last.ok_or_else(|| WorkingError::ThreadNotFound(thread.clone()))
    }

    /// The chunks that a chunk stands for, as they were: its parents, and theirs, down to what events made.
    /// Oldest first.
    ///
    /// # Errors
    /// [`WorkingError`].
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
    /// let summary = &compacted.added_chunks[0].id;
    /// let originals = manager.originals(&thread.id, summary).await?;
    /// assert_eq!(originals.len(), compacted.removed_chunk_ids.len());
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn originals(
        &self,
        thread: &SessionId,
        chunk: &ChunkId,
    ) -> Result<Vec<Arc<Chunk>>, WorkingError> {
        let mut all: BTreeMap<ChunkId, (usize, Arc<Chunk>)> = BTreeMap::new();
        self.past(thread, |state| {
            for chunk in state.chunks() {
                let number = all.len();
                all.entry(chunk.id.clone())
                    .or_insert_with(|| (number, Arc::clone(chunk)));
            }
            false
        })
        .await?;
        let missing = || WorkingError::ChunkNotFound(chunk.clone());
        let (_, start) = all.get(chunk).ok_or_else(missing)?;
        let mut found = BTreeMap::new();
        let mut open = start.metadata.parent_ids.clone();
        while let Some(id) = open.pop() {
            let Some((number, parent)) = all.get(&id) else {
                continue;
            };
            if parent.metadata.parent_ids.is_empty() {
                found.insert(*number, Arc::clone(parent));
            } else {
                open.extend(parent.metadata.parent_ids.iter().cloned());
            }
        }
        Ok(found.into_values().collect())
    }

    /// Folds the log from its beginning, and shows each state until one is wanted.
    pub(super) async fn past(
        &self,
        thread: &SessionId,
        mut wanted: impl FnMut(&State) -> bool,
    ) -> Result<Option<State>, WorkingError> {
        let record = self.0.store.thread(thread).await?;
        let record = record.ok_or_else(|| WorkingError::ThreadNotFound(thread.clone()))?;
        let fold = Fold::new(thread, Arc::clone(&self.0.registry));
        let mut state = fold.beginning(record.created_at);
        let mut reader = Reader::new(&*self.0.store, thread, EventSeq(0));
        let mut is_first = true;
        while let Some(placed) = reader.next().await? {
            if let Some(entry) = &placed.entry {
                // What a thread began with is its first state, not its second.
                let begins = matches!(entry, daybook_domain::working::Entry::Initial { .. });
                if is_first && !begins && wanted(&state) {
                    return Ok(Some(state));
                }
                is_first = false;
                let folded = fold.entry(&mut state, placed.seq, placed.at, entry);
                if folded.is_changed && wanted(&state) {
                    return Ok(Some(state));
                }
            }
        }
        Ok((is_first && wanted(&state)).then_some(state))
    }
}

impl Shared {
    /// A block whose time has come is none to those who ask.
    fn as_it_stands(&self, mut thread: Thread) -> Thread {
        let now = self.clock.now();
        thread.block = thread.block.filter(|block| block.stands(now));
        thread
    }

    /// A thread that this process has met, if it still knows it.
    pub(super) fn known(&self, id: &SessionId) -> Option<Arc<Live>> {
        let table = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        table.get(id).cloned()
    }
}
