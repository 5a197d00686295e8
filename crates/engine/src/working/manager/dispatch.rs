//! Events come in: stored, then applied in the order in which they were stored.
//!
//! Not here: who stores them (`serving`), what they do to the state (`applying`).

use std::time::Duration;

use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS};
use daybook_domain::working::ThreadEvent;
use daybook_domain::{EventId, EventSeq, SessionId};
use tokio::sync::oneshot;

use super::queue::Request;
use super::{DispatchResult, MemoryManager, WorkingError};
use crate::working::log::{self, Written};

impl MemoryManager {
    /// Stores an event; when this returns it is on disk, and is applied when its turn comes. Waits for no
    /// compaction and no pause.
    ///
    /// # Errors
    /// [`WorkingError`]; what failed before the event was stored left nothing behind.
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
    /// let seq = manager.append(&thread.id, &said("Hello!")).await?;
    /// assert_eq!(seq.0, 1);
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn append(
        &self,
        thread: &SessionId,
        event: &ThreadEvent,
    ) -> Result<EventSeq, WorkingError> {
        let (seqs, _) = self
            .store(thread, std::slice::from_ref(event), false)
            .await?;
        Ok(seqs.last().copied().unwrap_or_default())
    }

    /// Stores an event, and says what it came to when it was applied. Whoever stops waiting stops nothing.
    ///
    /// # Errors
    /// [`WorkingError`]; [`WorkingError::Reducer`] for an event that is stored and does nothing.
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
    /// let hello = ThreadEvent::new(EventType::user("Hello, agent!"), Timestamp(0));
    /// let result = manager.dispatch(&thread.id, &hello).await?;
    /// assert_eq!(result.added_chunks[0].content.told(), "Hello, agent!");
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn dispatch(
        &self,
        thread: &SessionId,
        event: &ThreadEvent,
    ) -> Result<DispatchResult, WorkingError> {
        self.dispatch_all(thread, std::slice::from_ref(event)).await
    }

    /// [`MemoryManager::dispatch`] of several events, in order; what they came to together. Without any,
    /// the state as it is.
    ///
    /// # Errors
    /// The first one's; all others are applied all the same.
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
    /// let result = manager.dispatch_all(&thread.id, &[said("One."), said("Two.")]).await?;
    /// assert_eq!(result.added_chunks.len(), 2);
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn dispatch_all(
        &self,
        thread: &SessionId,
        events: &[ThreadEvent],
    ) -> Result<DispatchResult, WorkingError> {
        let (_, replies) = self.store(thread, events, true).await?;
        let gone = || WorkingError::Deleted(thread.clone());
        let mut whole: Option<DispatchResult> = None;
        let mut fault = None;
        for reply in replies {
            let result = reply.await.unwrap_or_else(|_| Err(gone()));
            match (result, &mut whole) {
                (Ok(part), Some(whole)) => whole.extend(part),
                (Ok(part), None) => whole = Some(part),
                (Err(error), _) => fault = fault.or(Some(error)),
            }
        }
        match (fault, whole) {
            (Some(fault), _) => Err(fault),
            (None, Some(whole)) => Ok(whole),
            (None, None) => self.current(thread).await,
        }
    }

    /// Stores events, and says of each one, in order, what it came to. Waits for a compaction, no longer
    /// than `patience`, and for no pause.
    ///
    /// # Errors
    /// [`WorkingError`]; what is wrong with one event alone stands with it.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use std::time::Duration;
    /// # use daybook_domain::Timestamp;
    /// # use daybook_domain::working::{EventType, ThreadEvent};
    /// # use daybook_engine::working::manager::{MemoryManager, MemoryManagerConfig, WorkingError};
    /// # use daybook_engine::working::reduce::ReducerRegistry;
    /// # let clock = Arc::new(daybook_testkit::ManualClock::at(Timestamp(0)));
    /// # let store = Arc::new(daybook_store::MemoryStore::new());
    /// # let manager = MemoryManager::new(store.clone(), ReducerRegistry::default(), None, clock, MemoryManagerConfig::default());
    /// # let said = |words: &str| ThreadEvent::new(EventType::user(words), Timestamp(0));
    /// # daybook_testkit::run(async {
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.pause(&thread.id).await?;
    /// let told = manager.dispatch_within(&thread.id, &[said("Hello!")], Duration::from_secs(8)).await?;
    /// assert!(told[0].result.is_none());
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn dispatch_within(
        &self,
        thread: &SessionId,
        events: &[ThreadEvent],
        patience: Duration,
    ) -> Result<Vec<Dispatched>, WorkingError> {
        let (seqs, replies) = self.store(thread, events, true).await?;
        let waiting = self.wait_while_compacting(thread);
        // Whether or not the time was enough, those that were applied have their replies.
        if let Ok(waited) = tokio::time::timeout(patience, waiting).await {
            waited?;
        }
        let told = seqs
            .into_iter()
            .zip(replies)
            .map(|(seq, mut reply)| Dispatched {
                seq,
                result: reply.try_recv().ok(),
            });
        Ok(told.collect())
    }

    /// Has events stored, and waits until they are. What each comes to is told if that is wanted.
    async fn store(
        &self,
        thread: &SessionId,
        events: &[ThreadEvent],
        wait: bool,
    ) -> Result<(Vec<EventSeq>, Vec<Reply>), WorkingError> {
        let now = self.0.clock.now();
        let mut written = Vec::with_capacity(events.len());
        for event in events {
            let id = match event.id() {
                Some(id) => EventId::of(&[b"id", id.as_bytes()]),
                None => super::lifecycle::fresh_event(),
            };
            written.push(log::event(&self.0.config.redactor, event, id, now)?);
        }
        let live = self.0.live(thread).await?;
        let (mut stored, mut replies) = (Vec::new(), Vec::new());
        let requests = batches(written).into_iter().map(|written| {
            let (request, is_stored, applied) = Request::new(written, wait);
            stored.push(is_stored);
            replies.extend(applied);
            request
        });
        if live.queue.push(requests.collect()) {
            self.serve(&live);
        }
        let gone = || WorkingError::Deleted(thread.clone());
        let mut seqs = Vec::new();
        for stored in stored {
            seqs.extend(stored.await.map_err(|_| gone())??);
        }
        Ok((seqs, replies))
    }
}

/// What became of an event of [`MemoryManager::dispatch_within`]. It is stored.
///
/// ```
/// use daybook_engine::working::manager::Dispatched;
///
/// fn waits(dispatched: &Dispatched) -> bool {
///     dispatched.result.is_none()
/// }
/// # let _ = waits;
/// ```
#[derive(Debug)]
pub struct Dispatched {
    /// Its place in the log.
    pub seq: EventSeq,
    /// What it came to; nothing while it waits for a compaction or a pause to end.
    pub result: Option<Result<DispatchResult, WorkingError>>,
}

/// On which it is told what an event came to.
type Reply = oneshot::Receiver<Result<DispatchResult, WorkingError>>;

impl DispatchResult {
    fn extend(&mut self, next: Self) {
        self.thread = next.thread;
        self.seq = next.seq;
        self.state = next.state;
        self.added_chunks.extend(next.added_chunks);
        self.removed_chunk_ids.extend(next.removed_chunk_ids);
    }
}

/// In parts that one append may carry each.
fn batches(written: Vec<Written>) -> Vec<Vec<Written>> {
    let mut batches: Vec<Vec<Written>> = Vec::new();
    let mut bytes = 0;
    for one in written {
        let length = one.event.text.len();
        match batches.last_mut() {
            Some(batch) if batch.len() < APPEND_EVENTS && bytes + length <= APPEND_BYTES => {
                bytes += length;
                batch.push(one);
            }
            Some(_) | None => {
                bytes = length;
                batches.push(vec![one]);
            }
        }
    }
    batches
}
