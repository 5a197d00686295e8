//! Threads begin, fork, go back, and end.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use daybook_domain::working::{
    Chunk, ChunkId, Content, Entry, Forked, IdSource, NewThread, State, StateId, Thread, ids,
};
use daybook_domain::{EventId, EventSeq, SessionId, SessionMeta};
use serde_json::{Map, Value};
use tokio::sync::MutexGuard;

use super::applying::Outcome;
use super::live::{Inner, Live};
use super::{DispatchResult, MemoryManager, WorkingError};
use crate::working::clean::clean_chunk;
use crate::working::fold::Folded;
use crate::working::log;

/// A thread that is to be.
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
/// let new = CreateThread { host_id: Some("chat-17".to_owned()), ..CreateThread::default() };
/// let (thread, _) = manager.create_thread_with(new).await?;
/// assert_eq!(thread.id, manager.thread_id("chat-17"));
/// # Ok::<(), WorkingError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Default)]
pub struct CreateThread {
    /// Its name at its host; one is made where none is given. The thread of a session that exists
    /// already begins with what that session's log holds.
    pub host_id: Option<String>,
    /// Whose it is, where that is not this manager's agent.
    pub agent: Option<String>,
    /// What it begins with. Names are given anew where a chunk's is empty.
    pub initial_chunks: Vec<Chunk>,
    /// Whatever its host wants to remember of it.
    pub custom: Map<String, Value>,
}

/// A moment of a thread, to come back to (spec/working-memory.md 12).
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
/// let before = manager.snapshot(&thread.id).await?;
/// manager.dispatch(&thread.id, &said("Forget that.")).await?;
/// let restored = manager.restore(&before.thread, &before.state_id).await?;
/// assert!(restored.state.is_empty());
/// # Ok::<(), WorkingError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSnapshot {
    /// The thread.
    pub thread: SessionId,
    /// Its state.
    pub state_id: StateId,
    /// The last entry of its log that made it.
    pub seq: EventSeq,
}

impl MemoryManager {
    /// A new thread, without chunks (seed 003, `createThread`).
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
    /// let (thread, initial_state) = manager.create_thread().await?;
    /// assert!(initial_state.is_empty() && thread.id.host_id.starts_with("thread_"));
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn create_thread(&self) -> Result<(Arc<Thread>, State), WorkingError> {
        self.create_thread_with(CreateThread::default()).await
    }

    /// A new thread. One that exists already is given back as it is.
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
    /// use daybook_domain::working::{Chunk, ChunkType};
    /// let rule = Content::text("Always write the test first.");
    /// let new = CreateThread {
    ///     initial_chunks: vec![Chunk::new("".into(), ChunkType::Workflow, rule, Timestamp(0))],
    ///     ..CreateThread::default()
    /// };
    /// let (_, state) = manager.create_thread_with(new).await?;
    /// assert_eq!(state.len(), 1);
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn create_thread_with(
        &self,
        new: CreateThread,
    ) -> Result<(Arc<Thread>, State), WorkingError> {
        let host_id = new.host_id.unwrap_or_else(|| fresh_name("thread_"));
        let mut id = self.thread_id(&host_id);
        id.agent = new.agent.unwrap_or(id.agent);
        let meta = self.0.meta(&id);
        self.begin_thread(meta, new.custom, new.initial_chunks, None)
            .await
    }

    /// The identity of this manager's thread of that name.
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
    /// let id = manager.thread_id("chat-17");
    /// assert_eq!((id.agent.as_str(), id.host_id.as_str()), ("agent", "chat-17"));
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn thread_id(&self, host_id: &str) -> SessionId {
        SessionId {
            tenant: self.0.config.tenant.clone(),
            agent: self.0.config.agent.clone(),
            host_id: host_id.to_owned(),
        }
    }

    async fn begin_thread(
        &self,
        session: SessionMeta,
        custom: Map<String, Value>,
        chunks: Vec<Chunk>,
        forked_from: Option<Forked>,
    ) -> Result<(Arc<Thread>, State), WorkingError> {
        let id = session.id.clone();
        let new = NewThread {
            session,
            custom,
            now: self.0.clock.now(),
        };
        let thread = self.0.store.create_thread(&new).await?;
        let is_new = thread.last == EventSeq(0);
        if is_new && (!chunks.is_empty() || forked_from.is_some()) {
            let entry = Entry::Initial {
                chunks: self.named(&id, chunks)?,
                forked_from,
            };
            let text = "The thread began.".to_owned();
            // The same for whoever creates it at the same time.
            let event = EventId::of(&[b"initial"]);
            let live = self.0.live(&id).await?;
            let mut inner = live.gate.lock().await;
            let result = self.change(&live, &mut inner, entry, text, event).await?;
            return Ok((result.thread, result.state));
        }
        let result = self.current(&id).await?;
        Ok((result.thread, result.state))
    }

    fn named(&self, id: &SessionId, chunks: Vec<Chunk>) -> Result<Vec<Arc<Chunk>>, WorkingError> {
        let mut ids = IdSource::new(id, EventSeq(0));
        let named = chunks.into_iter().map(|mut chunk| {
            if chunk.id.0.is_empty() {
                chunk.id = ids.chunk();
            }
            Ok(Arc::new(clean_chunk(&self.0.config.redactor, chunk)?))
        });
        named.collect()
    }

    /// A thread that goes on from a state of another one, which stays as it is. The two share their chunks,
    /// and nothing that comes later.
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
    /// manager.dispatch(&thread.id, &said("Hello!")).await?;
    /// let (fork, state) = manager.fork(&thread.id, None).await?;
    /// assert_eq!((fork.forked_from.as_ref(), state.len()), (Some(&thread.id.host_id), 1));
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn fork(
        &self,
        thread: &SessionId,
        state_id: Option<&StateId>,
    ) -> Result<(Arc<Thread>, State), WorkingError> {
        let state = match state_id {
            Some(id) => self.state(thread, id).await?,
            None => self.current_state(thread).await?,
        };
        let forked = Forked {
            thread_id: thread.clone(),
            seq: state.metadata.provenance.seq,
            state_id: state.id.clone(),
        };
        let id = SessionId {
            host_id: fresh_name("thread_"),
            ..thread.clone()
        };
        let meta = SessionMeta {
            forked_from: Some(thread.host_id.clone()),
            ..self.0.meta(&id)
        };
        let chunks = state.chunks().map(|chunk| Chunk::clone(chunk)).collect();
        self.begin_thread(meta, Map::new(), chunks, Some(forked))
            .await
    }

    /// This moment of a thread, to come back to.
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
    /// let now = manager.snapshot(&thread.id).await?;
    /// assert_eq!(now.state_id, manager.current_state(&thread.id).await?.id);
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn snapshot(&self, thread: &SessionId) -> Result<ThreadSnapshot, WorkingError> {
        let state = self.current_state(thread).await?;
        Ok(ThreadSnapshot {
            thread: thread.clone(),
            seq: state.metadata.provenance.seq,
            state_id: state.id,
        })
    }

    /// Puts an earlier state back: the thread keeps its name and its log, in which this is one more entry.
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
    /// let before = manager.snapshot(&thread.id).await?;
    /// manager.dispatch(&thread.id, &said("Hello!")).await?;
    /// let restored = manager.restore(&thread.id, &before.state_id).await?;
    /// assert!(restored.state.is_empty());
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn restore(
        &self,
        thread: &SessionId,
        state_id: &StateId,
    ) -> Result<DispatchResult, WorkingError> {
        let live = self.0.live(thread).await?;
        let mut inner = live.gate.lock().await;
        self.restore_locked(&live, &mut inner, state_id).await
    }

    pub(super) async fn restore_locked(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
        state_id: &StateId,
    ) -> Result<DispatchResult, WorkingError> {
        let state = self.past(&live.id, |state| state.id == *state_id).await?;
        let missing = || WorkingError::StateNotFound(state_id.clone());
        let state = state.ok_or_else(missing)?;
        let entry = Entry::Restored {
            state_id: state.id.clone(),
            seq: state.metadata.provenance.seq,
            chunks: state.chunks().map(Arc::clone).collect(),
        };
        let text = format!(
            "The state after event {} was put back.",
            state.metadata.provenance.seq.0
        );
        self.change(live, inner, entry, text, fresh_event()).await
    }

    /// Gives a chunk other content: a new chunk in its place, with it as its parent.
    ///
    /// # Errors
    /// [`WorkingError::ChunkNotFound`], and [`WorkingError::Immutable`] for one that may not be edited.
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
    /// let heard = manager.dispatch(&thread.id, &said("Deploys are on Mondays.")).await?;
    /// let old = &heard.added_chunks[0].id;
    /// let edited = manager.edit_chunk(&thread.id, old, Content::text("Deploys are on Tuesdays.")).await?;
    /// assert_eq!(edited.added_chunks[0].metadata.parent_ids, [old.clone()]);
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn edit_chunk(
        &self,
        thread: &SessionId,
        chunk: &ChunkId,
        content: Content,
    ) -> Result<DispatchResult, WorkingError> {
        let live = self.0.live(thread).await?;
        let mut inner = live.gate.lock().await;
        self.0.catch_up(&live, &mut inner).await?;
        let loaded = self.0.load(&live, &mut inner).await?;
        let missing = || WorkingError::ChunkNotFound(chunk.clone());
        let old = loaded.state.chunk(chunk).ok_or_else(missing)?;
        if !old.mutable {
            return Err(WorkingError::Immutable(chunk.clone()));
        }
        let now = self.0.clock.now();
        // Named by what it becomes: no place of the log makes such a name.
        let mut ids = IdSource::new(&live.id, EventSeq(u64::MAX >> 1));
        ids = ids.part(fresh() >> 33);
        let mut new = old.derive(&mut ids, now);
        new.content = content;
        let custom = &mut new.metadata.custom;
        custom.insert("editedFrom".to_owned(), old.id.0.to_string().into());
        custom.insert("editedAt".to_owned(), now.0.into());
        let new = clean_chunk(&self.0.config.redactor, new)?;
        let text = format!("A chunk was edited: {}", new.content.told());
        let entry = Entry::Edited {
            target: old.id.clone(),
            chunk: Arc::new(new),
        };
        self.change(&live, &mut inner, entry, text, fresh_event())
            .await
    }

    /// The session is over: what is ephemeral goes, and what was said is due to be learned.
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
    /// manager.dispatch(&thread.id, &said("Thanks, that was all.")).await?;
    /// let ended = manager.end_session(&thread.id).await?;
    /// assert_eq!(ended.state.len(), 1, "only what is ephemeral goes");
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn end_session(&self, thread: &SessionId) -> Result<DispatchResult, WorkingError> {
        let live = self.0.live(thread).await?;
        let mut inner = live.gate.lock().await;
        let text = "The session ended.".to_owned();
        self.change(&live, &mut inner, Entry::Ended, text, fresh_event())
            .await
    }

    /// Deletes a thread. Whoever waits for it is told; its log stays until it is purged. False when there
    /// is none.
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
    /// assert!(manager.delete_thread(&thread.id).await?);
    /// assert!(manager.thread(&thread.id).await?.is_none());
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn delete_thread(&self, thread: &SessionId) -> Result<bool, WorkingError> {
        let live = self.0.live(thread).await?;
        let mut inner = live.gate.lock().await;
        let deleted = self
            .0
            .store
            .delete_thread(thread, self.0.clock.now())
            .await?;
        inner.deleted(thread);
        live.set_block(None);
        self.0.forget(thread);
        Ok(deleted)
    }

    /// One more entry that is no event. It does not wait in line: a thread that stands still is not changed.
    async fn change(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
        entry: Entry,
        text: String,
        id: EventId,
    ) -> Result<DispatchResult, WorkingError> {
        if let Some(block) = self.0.catch_up(live, inner).await? {
            return Err(WorkingError::Blocked(block.reason));
        }
        let redactor = &self.0.config.redactor;
        let now = self.0.clock.now();
        let written = log::entry(redactor, entry, text, id, now)?;
        let batch = self.0.batch(&live.id, [written], None, now);
        let part = self.0.append_and_fold(live, inner, &batch).await?;
        match part.outcomes.into_iter().next() {
            Some(Outcome::Applied(result)) => result,
            // Somebody blocked it at this very moment, or it was there already.
            Some(Outcome::Waits { seq, .. } | Outcome::Known(seq)) => {
                inner.result(seq, &Folded::default())
            }
            None => Err(WorkingError::ThreadNotFound(live.id.clone())),
        }
    }
}

/// Bits that nobody can foresee.
fn fresh() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

/// An identity for an event that its host gives none.
pub(super) fn fresh_event() -> EventId {
    EventId(u128::from(fresh()) << 64 | u128::from(fresh()))
}

fn fresh_name(prefix: &str) -> String {
    ids::name(prefix, u128::from(fresh()) << 64 | u128::from(fresh()))
}
