//! Creates, forks, restores, ends and deletes threads.

use std::sync::Arc;

use daybook_domain::working::{
    Chunk, ChunkContent, ChunkId, ForkOrigin, IdSource, NewThread, StateId, Thread, ThreadEntry,
    ThreadState, ids,
};
use daybook_domain::{EventId, EventSeq, SessionId, SessionMeta, Venue};
use daybook_text::names::{redact_id, redact_session};
use serde_json::{Map, Value};

use super::{CompactionOutcome, DispatchResult, MemoryManager, WorkingError};
use crate::sanitize::{clean_chunk, clean_custom};
use crate::thread::batch::session_meta;

/// The properties of a thread to be created.
///
/// ```
#[doc = include_str!("../../doctests/manager.txt")]
/// let new = CreateThread { host_id: Some("chat-17".to_owned()), ..CreateThread::default() };
/// let (thread, _) = manager.create_thread_with(new).await?;
/// assert_eq!(thread.id, manager.thread_id("chat-17"));
/// # Ok::<(), WorkingError>(()) }).unwrap();
/// ```
#[derive(Debug, Clone, Default)]
pub struct CreateThread {
    /// Its id at its host; `None` to generate one. The thread of an existing session begins with the events of
    /// that session's log.
    pub host_id: Option<String>,
    /// Its agent, where that is not this manager's.
    pub agent: Option<String>,
    /// Whose words its human events are, where that is not the manager's user.
    pub user: Option<String>,
    /// The room, the thread of the room and the team that it is held in: what is learned from it is theirs. Those of an
    /// existing session stay; others are refused.
    pub venue: Venue,
    /// Its first chunks. A chunk with an empty id gets a new one.
    pub initial_chunks: Vec<Chunk>,
    /// Data that its host keeps with it.
    pub custom: Map<String, Value>,
}

/// A point in a thread's history, which can be restored.
///
/// ```
#[doc = include_str!("../../doctests/manager.txt")]
/// # let (thread, _) = manager.create_thread().await?;
/// let before = manager.snapshot(&thread.id).await?;
/// manager.dispatch(&thread.id, &message("Forget that.")).await?;
/// let restored = manager.restore(&before.thread, &before.state_id).await?;
/// assert!(restored.state.is_empty());
/// # Ok::<(), WorkingError>(()) }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSnapshot {
    /// The thread's id.
    pub thread: SessionId,
    /// The id of its state.
    pub state_id: StateId,
    /// The last entry of the log that is folded into the state.
    pub seq: EventSeq,
}

impl MemoryManager {
    /// Creates a thread without chunks (Team9's `createThread`).
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// let (thread, initial_state) = manager.create_thread().await?;
    /// assert!(initial_state.is_empty() && thread.id.host_id.starts_with("thread_"));
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn create_thread(&self) -> Result<(Arc<Thread>, ThreadState), WorkingError> {
        self.create_thread_with(CreateThread::default()).await
    }

    /// Creates a thread. One that exists already is returned as it is.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// use daybook_domain::working::{Chunk, ChunkType};
    /// let rule = ChunkContent::text("Always write the test first.");
    /// let new = CreateThread {
    ///     initial_chunks: vec![Chunk::new("".into(), ChunkType::Workflow, rule, Timestamp(0))],
    ///     ..CreateThread::default()
    /// };
    /// let (_, state) = manager.create_thread_with(new).await?;
    /// assert_eq!(state.len(), 1);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn create_thread_with(
        &self,
        new: CreateThread,
    ) -> Result<(Arc<Thread>, ThreadState), WorkingError> {
        let host_id = new.host_id.unwrap_or_else(|| self.new_thread_name());
        let mut id = self.thread_id(&host_id);
        id.agent = new.agent.unwrap_or(id.agent);
        let meta = session_meta(&self.worker.config, &id);
        let meta = SessionMeta {
            user: new.user.or(meta.user),
            venue: new.venue,
            ..meta
        };
        self.begin_thread(meta, new.custom, new.initial_chunks, None)
            .await
    }

    /// The id of this manager's thread with that host id. A host id with a secret is replaced, as when the thread is
    /// created.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// let id = manager.thread_id("chat-17");
    /// assert_eq!((id.agent.as_str(), id.host_id.as_str()), ("agent", "chat-17"));
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn thread_id(&self, host_id: &str) -> SessionId {
        SessionId {
            tenant: self.worker.config.tenant.clone(),
            agent: self.worker.config.agent.clone(),
            host_id: redact_id(&self.worker.config.redactor, host_id).into_owned(),
        }
    }

    async fn begin_thread(
        &self,
        session: SessionMeta,
        mut custom: Map<String, Value>,
        chunks: Vec<Chunk>,
        forked_from: Option<ForkOrigin>,
    ) -> Result<(Arc<Thread>, ThreadState), WorkingError> {
        let redactor = &self.worker.config.redactor;
        let session = redact_session(redactor, session);
        clean_custom(redactor, &mut custom);
        let id = session.id.clone();
        let new = NewThread {
            session,
            custom,
            rules: redactor.revision(),
            now: self.worker.folder.clock.now(),
        };
        let thread = self.worker.folder.store.create_thread(&new).await?;
        let is_new = thread.last == EventSeq(0);
        if is_new && (!chunks.is_empty() || forked_from.is_some()) {
            let entry = ThreadEntry::Initial {
                chunks: self.with_ids(&id, chunks)?,
                forked_from,
            };
            let text = "The thread began.".to_owned();
            // The same id for concurrent creators, so that one of them stores the entry.
            let event = EventId::of(&[b"initial"]);
            let live = self.worker.folder.loader.open(&id).await?;
            let mut state = live.gate.lock().await;
            let result = self
                .worker
                .appender
                .append_entry(&live, &mut state, entry, text, event)
                .await?;
            return Ok((result.thread, result.state));
        }
        let result = self.current(&id).await?;
        Ok((result.thread, result.state))
    }

    fn with_ids(
        &self,
        id: &SessionId,
        chunks: Vec<Chunk>,
    ) -> Result<Vec<Arc<Chunk>>, WorkingError> {
        let mut ids = IdSource::new(id, EventSeq(0));
        let named = chunks.into_iter().map(|mut chunk| {
            if chunk.id.0.is_empty() {
                chunk.id = ids.chunk();
            }
            Ok(Arc::new(clean_chunk(&self.worker.config.redactor, chunk)?))
        });
        named.collect()
    }

    /// Creates a thread from a state of another one, which stays unchanged. The two share the chunks of that state, the
    /// user, the room and the team, and nothing later.
    ///
    /// # Errors
    /// [`WorkingError::StateNotFound`] for a state that the thread never had.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.dispatch(&thread.id, &message("Hello!")).await?;
    /// let (fork, state) = manager.fork(&thread.id, None).await?;
    /// assert_eq!((fork.forked_from.as_ref(), state.len()), (Some(&thread.id.host_id), 1));
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn fork(
        &self,
        thread: &SessionId,
        state_id: Option<&StateId>,
    ) -> Result<(Arc<Thread>, ThreadState), WorkingError> {
        let state = match state_id {
            Some(id) => self.state(thread, id).await?,
            None => self.current_state(thread).await?,
        };
        let parent = self.thread(thread).await?;
        let parent = parent.ok_or_else(|| WorkingError::ThreadNotFound(thread.clone()))?;
        let forked = ForkOrigin {
            thread_id: thread.clone(),
            seq: state.metadata.provenance.seq,
            state_id: state.id.clone(),
        };
        let id = SessionId {
            host_id: self.new_thread_name(),
            ..thread.clone()
        };
        let meta = SessionMeta {
            forked_from: Some(thread.host_id.clone()),
            user: parent.user,
            venue: parent.venue,
            ..session_meta(&self.worker.config, &id)
        };
        let chunks = state.chunks().map(|chunk| Chunk::clone(chunk)).collect();
        self.begin_thread(meta, Map::new(), chunks, Some(forked))
            .await
    }

    /// Returns the present point in a thread's history, which can be restored.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// let now = manager.snapshot(&thread.id).await?;
    /// assert_eq!(now.state_id, manager.current_state(&thread.id).await?.id);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn snapshot(&self, thread: &SessionId) -> Result<ThreadSnapshot, WorkingError> {
        let state = self.current_state(thread).await?;
        Ok(ThreadSnapshot {
            thread: thread.clone(),
            seq: state.metadata.provenance.seq,
            state_id: state.id,
        })
    }

    /// Restores an earlier state. The thread keeps its id and its log, to which this adds one entry.
    ///
    /// # Errors
    /// [`WorkingError::StateNotFound`] for a state that the thread never had.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// let before = manager.snapshot(&thread.id).await?;
    /// manager.dispatch(&thread.id, &message("Hello!")).await?;
    /// let restored = manager.restore(&thread.id, &before.state_id).await?;
    /// assert!(restored.state.is_empty());
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn restore(
        &self,
        thread: &SessionId,
        state_id: &StateId,
    ) -> Result<DispatchResult, WorkingError> {
        let live = self.worker.folder.loader.open(thread).await?;
        let mut state = live.gate.lock().await;
        self.worker
            .appender
            .restore(&live, &mut state, state_id)
            .await
    }

    /// Replaces a chunk by a new one with other content, whose parent is the old one.
    ///
    /// # Errors
    /// [`WorkingError::ChunkNotFound`], and [`WorkingError::Immutable`] for one that may not be edited.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// let heard = manager.dispatch(&thread.id, &message("Deploys are on Mondays.")).await?;
    /// let old = &heard.added_chunks[0].id;
    /// let edited = manager.edit_chunk(&thread.id, old, ChunkContent::text("Deploys are on Tuesdays.")).await?;
    /// assert_eq!(edited.added_chunks[0].metadata.parent_ids, [old.clone()]);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn edit_chunk(
        &self,
        thread: &SessionId,
        chunk: &ChunkId,
        content: ChunkContent,
    ) -> Result<DispatchResult, WorkingError> {
        let live = self.worker.folder.loader.open(thread).await?;
        let mut state = live.gate.lock().await;
        self.worker.folder.catch_up(&live, &mut state).await?;
        let loaded = self.worker.folder.loader.load(&live, &mut state).await?;
        let missing = || WorkingError::ChunkNotFound(chunk.clone());
        let old = loaded.state.chunk(chunk).ok_or_else(missing)?;
        if !old.mutable {
            return Err(WorkingError::Immutable(chunk.clone()));
        }
        let now = self.worker.folder.clock.now();
        // Ids are made from a place that no log reaches, and a random part, so that no event makes the same one.
        let mut ids = IdSource::new(&live.id, EventSeq(u64::MAX >> 1));
        ids = ids.part((self.worker.config.random)() as u64 >> 33);
        let mut new = old.derive(&mut ids, now);
        new.content = content;
        let custom = &mut new.metadata.custom;
        custom.insert("editedFrom".to_owned(), old.id.0.to_string().into());
        custom.insert("editedAt".to_owned(), now.0.into());
        let new = clean_chunk(&self.worker.config.redactor, new)?;
        let text = format!("A chunk was edited: {}", new.content.to_text());
        let entry = ThreadEntry::Edited {
            target: old.id.clone(),
            chunk: Arc::new(new),
        };
        self.worker
            .appender
            .append_entry(
                &live,
                &mut state,
                entry,
                text,
                self.worker.appender.new_event_id(),
            )
            .await
    }

    /// Ends the session: ephemeral chunks are removed, and the session becomes due for extraction.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.dispatch(&thread.id, &message("Thanks, that was all.")).await?;
    /// let ended = manager.end_session(&thread.id).await?;
    /// assert_eq!(ended.state.len(), 1, "only what is ephemeral goes");
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn end_session(&self, thread: &SessionId) -> Result<DispatchResult, WorkingError> {
        let live = self.worker.folder.loader.open(thread).await?;
        let mut state = live.gate.lock().await;
        let text = "The session ended.".to_owned();
        self.worker
            .appender
            .append_entry(
                &live,
                &mut state,
                ThreadEntry::Ended,
                text,
                self.worker.appender.new_event_id(),
            )
            .await
    }

    /// Deletes a thread. Waiting callers get [`WorkingError::Deleted`]; its log stays until it is purged. False when
    /// there is no such thread.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// assert!(manager.delete_thread(&thread.id).await?);
    /// assert!(manager.thread(&thread.id).await?.is_none());
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn delete_thread(&self, thread: &SessionId) -> Result<bool, WorkingError> {
        let live = self.worker.folder.loader.open(thread).await?;
        let mut state = live.gate.lock().await;
        let deleted = self
            .worker
            .folder
            .store
            .delete_thread(thread, self.worker.folder.clock.now())
            .await?;
        state.unload_deleted(thread);
        live.set_block(None);
        self.worker.folder.loader.remove(thread);
        Ok(deleted)
    }

    /// Compacts the chunks of those ids, or all that can be (Team9's `triggerCompaction`), and returns when it is
    /// done. The person's newest words and calls without an answer are never compacted.
    ///
    /// # Errors
    /// [`WorkingError::Blocked`] while the thread is blocked, and [`WorkingError::NotCompacted`] when nothing shorter
    /// could be made of the chunks.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// # let long = "The deploy of the second host went wrong in the same way. ".repeat(8);
    /// # for number in 1..=6 {
    /// #     manager.dispatch(&thread.id, &message(&format!("{number}: {long}"))).await?;
    /// # }
    /// // All that can be.
    /// let before = manager.current_state(&thread.id).await?.len();
    /// let compacted = manager.trigger_compaction(&thread.id, None).await?;
    /// assert!(compacted.state.len() < before);
    ///
    /// // Or these.
    /// let chosen = compacted.state.chunk_ids()[..1].to_vec();
    /// let outcome = manager.trigger_compaction(&thread.id, Some(&chosen)).await;
    /// # drop(outcome);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn trigger_compaction(
        &self,
        thread: &SessionId,
        chunks: Option<&[ChunkId]>,
    ) -> Result<CompactionOutcome, WorkingError> {
        self.worker.compact(thread, chunks).await
    }

    /// How many threads are loaded.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// assert_eq!(manager.loaded(), 1);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn loaded(&self) -> usize {
        self.worker.folder.loader.loaded()
    }

    /// Unloads threads that are not in use, all but the `keep` used last, and returns how many. Their content stays
    /// in the store.
    ///
    /// # Errors
    /// The store's; threads that were not reached stay loaded.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// # drop(thread);
    /// assert_eq!(manager.unload_idle(0).await?, 1);
    /// assert_eq!(manager.loaded(), 0);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn unload_idle(&self, keep: usize) -> Result<usize, WorkingError> {
        self.worker.folder.loader.unload(keep).await
    }

    /// An id for a thread whose host gives none.
    fn new_thread_name(&self) -> String {
        ids::name("thread_", (self.worker.config.random)())
    }
}
