//! Events come in: stored, then applied in the order in which they were stored.

use std::sync::Arc;
use std::time::Duration;

use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS};
use daybook_domain::seams::Append;
use daybook_domain::trigger::Patience;
use daybook_domain::working::{
    Block, BlockToken, BlockingReason, Entry, EventType, ThreadAppend, ThreadAppended, ThreadEvent,
};
use daybook_domain::{EventId, EventSeq, SessionId, SessionMeta, StoreError, Timestamp};
use tokio::sync::{MutexGuard, oneshot};

use super::live::{Inner, Live, Loaded};
use super::queue::Request;
use super::{DispatchResult, MemoryManager, Shared, StateChange, WorkingError};
use crate::working::compact::Why;
use crate::working::fold::Folded;
use crate::working::log::{self, Written};
use crate::working::reader::{Reader, WAITING};

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

    /// Serves a thread's queue until it is empty; nobody else does meanwhile.
    fn serve(&self, live: &Arc<Live>) {
        let (manager, live) = (self.clone(), Arc::clone(live));
        tokio::spawn(async move {
            loop {
                // Others get the gate between two groups.
                let mut inner = live.gate.lock().await;
                let group = live.queue.next_group();
                if group.is_empty() {
                    return;
                }
                manager.serve_group(&live, &mut inner, group).await;
            }
        });
    }

    /// Stores requests together; when that fails, each alone, so that each has its own error.
    async fn serve_group(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
        mut group: Vec<Request>,
    ) {
        if group.len() > 1 {
            match self.store_group(live, inner, &mut group).await {
                Ok(()) => return,
                Err(error) => tracing::debug!(thread = %live.id, %error, outcome = "one_by_one"),
            }
        }
        for request in group {
            let mut alone = [request];
            if let Err(error) = self.store_group(live, inner, &mut alone).await {
                let [request] = alone;
                request.refuse(error);
            }
        }
    }

    async fn store_group(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
        group: &mut [Request],
    ) -> Result<(), WorkingError> {
        let batch: Vec<_> = group
            .iter()
            .flat_map(|it| it.written.iter().cloned())
            .collect();
        let part = self.0.append_and_fold(live, inner, &batch, None).await?;
        let mut seqs = part.seqs.iter();
        let mut outcomes = part.outcomes.into_iter();
        let (mut ready, mut resumes) = (Vec::new(), false);
        for request in group {
            let own = seqs.by_ref().take(request.written.len()).copied();
            request.tell_stored(own.collect());
            let mut replies = std::mem::take(&mut request.replies).into_iter();
            for written in &request.written {
                let reply = replies.next();
                let order = order(&written.entry);
                match (outcomes.next(), reply) {
                    (Some(Outcome::Applied(result)), reply) => {
                        inner.orders.extend(order);
                        ready.push((reply, result));
                    }
                    (Some(Outcome::Known(seq)), reply) => {
                        ready.push((reply, inner.result(seq, &Folded::default())));
                    }
                    (Some(Outcome::Waits(seq)), reply) => {
                        resumes |= matches!(order, Some(EventType::ExecutionResume { .. }));
                        let waiting = inner.waiting.entry(seq).or_default();
                        waiting.replies.extend(reply);
                        waiting.order = order;
                    }
                    (None, _) => {}
                }
            }
        }
        let done = self.after(live, inner, resumes).await;
        if let Err(error) = done {
            // The events are stored; what comes after them is not theirs to fail for.
            self.0.observers.tell(|it| it.on_error(&live.id, &error));
        }
        // Whoever learns what an event came to sees, too, whether the thread stands still because of it.
        for (reply, result) in ready {
            if let Some(reply) = reply {
                let _ = reply.send(result);
            }
        }
        Ok(())
    }

    /// What follows when events were stored or applied: orders are obeyed, chunks compacted, a snapshot kept.
    pub(super) async fn after(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
        resumes: bool,
    ) -> Result<(), WorkingError> {
        if resumes {
            // To go on is what those who wait are waiting for.
            self.resume_locked(live, inner).await?;
        }
        while let Some(order) = inner.orders.pop_front() {
            self.obey(live, inner, &order).await?;
        }
        self.compact_if_due(live, inner).await?;
        if !inner.waiting.is_empty() {
            self.watch_block(live, inner);
        }
        let loaded = self.0.load(live, inner).await?;
        self.0.snapshot_if_due(&live.id, loaded).await?;
        Ok(())
    }

    /// What an applied event demands of the manager.
    async fn obey(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
        order: &EventType,
    ) -> Result<(), WorkingError> {
        match order {
            EventType::ExecutionPause { .. } => match self.pause_locked(live, inner).await {
                // It stands still already.
                Err(WorkingError::Blocked(_)) => Ok(()),
                other => other,
            },
            EventType::ExecutionResume {
                resume_from_state_id: Some(state),
            } => self.restore_locked(live, inner, state).await.map(drop),
            EventType::MemoryCompactManual { chunk_ids } => {
                let chunks = chunk_ids.as_deref();
                self.compact_in_background(live, inner, chunks, Why::Asked)
                    .await
            }
            EventType::MemoryCompactAuto {
                threshold,
                current_size,
            } if current_size >= threshold => {
                self.compact_in_background(live, inner, None, Why::Tokens(0))
                    .await
            }
            _ => Ok(()),
        }
    }
}

/// What an event demands of the manager, if it is such an event.
fn order(entry: &Entry) -> Option<EventType> {
    match entry {
        Entry::Event { event } => match &event.kind {
            kind @ (EventType::ExecutionPause { .. }
            | EventType::ExecutionResume { .. }
            | EventType::MemoryCompactManual { .. }
            | EventType::MemoryCompactAuto { .. }) => Some(kind.clone()),
            _ => None,
        },
        _ => None,
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

/// What became of one append.
pub(super) struct Part {
    pub(super) seqs: Vec<EventSeq>,
    /// Of each entry.
    pub(super) outcomes: Vec<Outcome>,
    /// Whether the block that it was to end was over; then nothing was stored.
    pub(super) is_lost: bool,
}

/// What became of one entry that was stored.
pub(super) enum Outcome {
    /// It was applied.
    Applied(Result<DispatchResult, WorkingError>),
    /// It was stored and applied before.
    Known(EventSeq),
    /// It will be applied.
    Waits(EventSeq),
}

impl Shared {
    /// Stores entries and folds them, and whatever else is stored before them.
    pub(super) async fn append_and_fold(
        &self,
        live: &Live,
        inner: &mut Inner,
        batch: &[Written],
        ends: Option<BlockToken>,
    ) -> Result<Part, WorkingError> {
        if inner.waiting.len() as u64 >= WAITING && ends.is_none() {
            return Err(WorkingError::TooManyWaiting {
                thread: live.id.clone(),
                waiting: inner.waiting.len(),
            });
        }
        self.load(live, inner).await?;
        let now = self.clock.now();
        let append = self.entries_for(live, batch, ends, now);
        let (seqs, before, block) = match self.store.append_entries(&append).await {
            Ok(ThreadAppended::Stored {
                seqs,
                before,
                block,
            }) => (seqs, before, block),
            Ok(ThreadAppended::BlockLost) => {
                return Ok(Part {
                    seqs: Vec::new(),
                    outcomes: Vec::new(),
                    is_lost: true,
                });
            }
            Err(StoreError::NotFound(_)) => {
                inner.loaded = None;
                self.forget(&live.id);
                return Err(WorkingError::ThreadNotFound(live.id.clone()));
            }
            Err(error) => return Err(error.into()),
        };
        live.set_block(block);
        let loaded = self.load(live, inner).await?;
        let is_next = block.is_none() && loaded.folded >= before;
        if !is_next && ends.is_none() {
            self.catch_up(live, inner).await?;
        }
        let mut outcomes = Vec::with_capacity(batch.len());
        for (written, &seq) in batch.iter().zip(&seqs) {
            let is_new = seq > before;
            outcomes.push(if is_new && (is_next || ends.is_some()) {
                let entry = Some(&written.entry);
                Outcome::Applied(self.fold_one(live, inner, seq, written.event.at, entry))
            } else if inner.loaded.as_ref().is_some_and(|loaded| loaded.has(seq)) {
                match is_new {
                    // Caught up with just now, together with what others had stored.
                    true => Outcome::Applied(inner.result(seq, &Folded::default())),
                    false => Outcome::Known(seq),
                }
            } else {
                Outcome::Waits(seq)
            });
        }
        let part = Part {
            seqs,
            outcomes,
            is_lost: false,
        };
        if let Some(loaded) = inner.loaded.as_mut() {
            let thread = Arc::make_mut(&mut loaded.thread);
            thread.updated_at = now;
            thread.last = thread
                .last
                .max(part.seqs.last().copied().unwrap_or_default());
            thread.block = block;
        }
        Ok(part)
    }

    fn entries_for(
        &self,
        live: &Live,
        batch: &[Written],
        ends: Option<BlockToken>,
        now: Timestamp,
    ) -> ThreadAppend {
        let is_event = |written: &Written| matches!(written.entry, Entry::Event { .. });
        ThreadAppend {
            append: Append {
                session: self.meta(&live.id),
                events: batch.iter().map(|written| written.event.clone()).collect(),
                source: None,
                import: None,
                // What is compacted or over is not waited for.
                patience: match batch.iter().all(is_event) {
                    true => self.config.patience,
                    false => Patience {
                        idle: Duration::ZERO,
                        dirty: Duration::ZERO,
                        ..self.config.patience
                    },
                },
                switches: self.config.switches.clone(),
                now,
            },
            entries: batch.iter().map(|written| written.stored.clone()).collect(),
            ends,
        }
    }

    pub(super) fn meta(&self, id: &SessionId) -> SessionMeta {
        SessionMeta {
            id: id.clone(),
            kind: self.config.kind,
            memory_off: false,
            forked_from: None,
            user: self.config.user.clone(),
            surface: None,
        }
    }

    /// Folds what is stored and nothing waits for, in order.
    pub(super) async fn catch_up(
        &self,
        live: &Live,
        inner: &mut Inner,
    ) -> Result<Option<Block>, WorkingError> {
        let now = self.clock.now();
        let folded = self.load(live, inner).await?.folded;
        let mut reader = Reader::new(&*self.store, &live.id, folded, now);
        while let Some(placed) = reader.next().await? {
            let known = inner.loaded.as_ref().is_some_and(|it| it.has(placed.seq));
            if known {
                continue;
            }
            let waiting = inner.waiting.remove(&placed.seq);
            let result = self.fold_one(live, inner, placed.seq, placed.at, placed.entry.as_ref());
            if let Some(waiting) = waiting {
                inner.orders.extend(waiting.order);
                let again = Folded::default();
                let mut result = Some(result);
                for reply in waiting.replies {
                    let result = result.take();
                    let _ = reply.send(result.unwrap_or_else(|| inner.result(placed.seq, &again)));
                }
            }
        }
        let block = reader.block();
        live.set_block(block);
        if let Some(loaded) = inner.loaded.as_mut() {
            Arc::make_mut(&mut loaded.thread).block = block;
        }
        Ok(block)
    }

    /// Folds one entry that comes next, and tells those who watch.
    pub(super) fn fold_one(
        &self,
        live: &Live,
        inner: &mut Inner,
        seq: EventSeq,
        at: Timestamp,
        entry: Option<&Entry>,
    ) -> Result<DispatchResult, WorkingError> {
        let gone = || WorkingError::ThreadNotFound(live.id.clone());
        let loaded = inner.loaded.as_mut().ok_or_else(gone)?;
        let event = match entry {
            Some(Entry::Event { event }) => Some(event),
            _ => None,
        };
        let is_watched = !self.observers.is_empty();
        if let (true, Some(event)) = (is_watched, event) {
            self.observers
                .tell(|it| it.on_event_dispatch(&live.id, event));
        }
        let began = is_watched.then(|| self.clock.now());
        let folded = loaded.fold(seq, at, entry, &self.config.count);
        if let Some(began) = began {
            let took = self.clock.now().since(began);
            self.tell(&live.id, loaded, event, &folded, took);
        }
        match folded.fault {
            Some(message) => Err(WorkingError::Reducer {
                thread: live.id.clone(),
                seq: seq.0,
                message,
            }),
            None => inner.result(seq, &folded),
        }
    }

    fn tell(
        &self,
        id: &SessionId,
        loaded: &Loaded,
        event: Option<&ThreadEvent>,
        folded: &Folded,
        took: Duration,
    ) {
        if let Some(event) = event {
            self.observers
                .tell(|it| it.on_reducer_execute(id, event, took));
        }
        if folded.is_changed {
            let change = StateChange {
                thread: id,
                state: &loaded.state,
                event,
                operations: &folded.operations,
                added_chunks: &folded.applied.added,
                removed_chunk_ids: &folded.applied.removed,
            };
            self.observers.tell(|it| it.on_state_change(&change));
        }
        let Some(event) = event else { return };
        match event.kind {
            EventType::LlmSubagentSpawn { .. } => {
                self.observers.tell(|it| it.on_sub_agent_spawn(id, event));
            }
            EventType::SubagentResult { .. } | EventType::SubagentError { .. } => {
                self.observers.tell(|it| it.on_sub_agent_result(id, event));
            }
            _ => {}
        }
    }
}

impl Inner {
    /// What an entry came to.
    pub(super) fn result(
        &self,
        seq: EventSeq,
        folded: &Folded,
    ) -> Result<DispatchResult, WorkingError> {
        let corrupt = || StoreError::Corrupt("a thread was unloaded while it was used".to_owned());
        let loaded = self.loaded.as_ref().ok_or_else(corrupt)?;
        Ok(DispatchResult {
            thread: Arc::clone(&loaded.thread),
            seq,
            state: loaded.state.clone(),
            added_chunks: folded.applied.added.clone(),
            removed_chunk_ids: folded.applied.removed.clone(),
        })
    }
}

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

/// Why a thread stands still, if it does.
pub(super) fn reason(block: Option<Block>) -> Option<BlockingReason> {
    block.map(|block| block.reason)
}
