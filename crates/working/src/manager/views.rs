//! Reads threads: their present and earlier states, and the originals of their chunks.

use std::collections::BTreeMap;
use std::sync::Arc;

use daybook_domain::working::selection::is_compactable;
use daybook_domain::working::{Chunk, ChunkId, StateId, StateMetadata, Thread, ThreadState};
use daybook_domain::{EventSeq, SessionId};

use super::{DispatchResult, MemoryManager, TokenUsage, WorkingError};
use crate::compact::weight;

impl MemoryManager {
    /// A thread, if there is one.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// let found = manager.thread(&thread.id).await?;
    /// assert_eq!(found.map(|found| found.label), Some(thread.label.clone()));
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn thread(&self, id: &SessionId) -> Result<Option<Thread>, WorkingError> {
        let found = self.worker.folder.store.thread(id).await?;
        Ok(found.map(|thread| self.without_expired_block(thread)))
    }

    /// Threads of this manager's tenant, newest activity first; at most `limit`.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// assert_eq!(manager.threads(10).await?.len(), 1);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn threads(&self, limit: usize) -> Result<Vec<Thread>, WorkingError> {
        let tenant = &self.worker.config.tenant;
        let threads = self
            .worker
            .folder
            .store
            .threads(tenant, limit)
            .await?
            .into_iter();
        Ok(threads
            .map(|thread| self.without_expired_block(thread))
            .collect())
    }

    /// The state of a thread, without events that wait.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// assert!(manager.current_state(&thread.id).await?.is_empty());
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn current_state(&self, thread: &SessionId) -> Result<ThreadState, WorkingError> {
        Ok(self.current(thread).await?.state)
    }

    /// The tokens of a thread's present state, and whether they are so many that a compaction is suggested or forced
    /// (Team9's `checkTokenUsage`). A host that compacts when it suits it asks this.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.dispatch(&thread.id, &message("Hello!")).await?;
    /// let usage = manager.token_usage(&thread.id).await?;
    /// assert!(usage.total > 0 && !usage.suggests_compaction && !usage.forces_compaction);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    #[doc(alias = "checkTokenUsage")]
    pub async fn token_usage(&self, thread: &SessionId) -> Result<TokenUsage, WorkingError> {
        let state = self.current(thread).await?.state;
        let config = &self.worker.config;
        let tokens = |chunk: &Arc<Chunk>| weight(chunk, &config.count);
        let total: u64 = state.chunks().map(tokens).sum();
        let compactable = state.chunks().filter(|chunk| is_compactable(chunk));
        let reaches = |from: Option<u64>| from.is_some_and(|from| total >= from);
        Ok(TokenUsage {
            total,
            compactable: compactable.map(tokens).sum(),
            suggests_compaction: reaches(config.suggested_from()),
            forces_compaction: reaches(config.forced_from()),
        })
    }

    /// The present state as a result.
    pub(super) async fn current(&self, thread: &SessionId) -> Result<DispatchResult, WorkingError> {
        let live = self.worker.folder.loader.open(thread).await?;
        let mut state = live.gate.lock().await;
        self.worker.folder.catch_up(&live, &mut state).await?;
        let seq = state
            .loaded
            .as_ref()
            .map_or(EventSeq(0), |loaded| loaded.upto);
        state.result(seq, &Default::default())
    }

    /// The state that a thread began with.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.dispatch(&thread.id, &message("Hello!")).await?;
    /// assert!(manager.initial_state(&thread.id).await?.is_empty());
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn initial_state(&self, thread: &SessionId) -> Result<ThreadState, WorkingError> {
        let first = self.worker.appender.history.find(thread, |_| true).await?;
        first.ok_or_else(|| WorkingError::ThreadNotFound(thread.clone()))
    }

    /// A state that a thread has or had, folded again from its log.
    ///
    /// # Errors
    /// [`WorkingError::StateNotFound`] for a state that the thread never had.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// let hello = manager.dispatch(&thread.id, &message("Hello!")).await?;
    /// manager.dispatch(&thread.id, &message("Are you there?")).await?;
    /// assert_eq!(manager.state(&thread.id, &hello.state.id).await?.len(), 1);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn state(
        &self,
        thread: &SessionId,
        id: &StateId,
    ) -> Result<ThreadState, WorkingError> {
        let state = self
            .worker
            .appender
            .history
            .find(thread, |state| state.id == *id)
            .await?;
        state.ok_or_else(|| WorkingError::StateNotFound(id.clone()))
    }

    /// The ids and metadata of all states of a thread, the first one first, folded again from the whole log.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.dispatch(&thread.id, &message("Hello!")).await?;
    /// let history = manager.state_history(&thread.id).await?;
    /// assert_eq!(history[1].1.previous_state_id.as_ref(), Some(&history[0].0));
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn state_history(
        &self,
        thread: &SessionId,
    ) -> Result<Vec<(StateId, StateMetadata)>, WorkingError> {
        let mut history: Vec<(StateId, StateMetadata)> = Vec::new();
        self.worker
            .appender
            .history
            .find(thread, |state| {
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
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// let hello = manager.dispatch(&thread.id, &message("Hello!")).await?;
    /// assert_eq!(manager.replayed(&thread.id).await?, hello.state);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn replayed(&self, thread: &SessionId) -> Result<ThreadState, WorkingError> {
        let mut last = None;
        self.worker
            .appender
            .history
            .find(thread, |state| {
                last = Some(state.clone());
                false
            })
            .await?;
        last.ok_or_else(|| WorkingError::ThreadNotFound(thread.clone()))
    }

    /// The original chunks that a chunk replaces: its parents, and theirs, down to those that events made.
    /// Oldest first.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// # let long = "The deploy of the second host went wrong in the same way. ".repeat(8);
    /// # for number in 1..=6 {
    /// #     manager.dispatch(&thread.id, &message(&format!("{number}: {long}"))).await?;
    /// # }
    /// let compacted = manager.trigger_compaction(&thread.id, None).await?;
    /// let summary = &compacted.added_chunks[0].id;
    /// let originals = manager.originals(&thread.id, summary).await?;
    /// assert_eq!(originals.len(), compacted.removed_chunk_ids.len());
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn originals(
        &self,
        thread: &SessionId,
        chunk: &ChunkId,
    ) -> Result<Vec<Arc<Chunk>>, WorkingError> {
        let mut all: BTreeMap<ChunkId, (usize, Arc<Chunk>)> = BTreeMap::new();
        self.worker
            .appender
            .history
            .find(thread, |state| {
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

    /// Hides an expired block from readers of the thread.
    fn without_expired_block(&self, mut thread: Thread) -> Thread {
        let now = self.worker.folder.clock.now();
        thread.block = thread.block.filter(|block| block.stands(now));
        thread
    }
}
