//! A store that misbehaves as real stores do: it fails, before or after it executed a call; it lets
//! other callers act first; and, where a test must notice that, it has a planted mistake.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::page::Page;
use daybook_domain::seams::{Append, AppendOutcome, SessionCatalog, SessionKey, SessionLog};
use daybook_domain::working::{
    BlockOutcome, BlockToken, BlockingReason, LogPage, NewThread, Thread, ThreadAppend,
    ThreadAppendOutcome, ThreadStore,
};
use daybook_domain::{
    Event, EventId, EventSeq, PageRequest, Session, SessionId, StoreError, Tenant, Timestamp,
};
use daybook_testkit::simulation::{CallGate, whole};
use tokio::sync::Semaphore;

/// A fault of one of the next calls, counted from 0.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PlannedFault {
    /// The call fails without being executed.
    Before(u32),
    /// The call is executed, and still returns an error.
    After(u32),
}

/// A mistake that a store's author could make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreMistake {
    /// A compaction is stored though its block is over: it counts before entries that arrived meanwhile.
    TokenNotChecked,
    /// An append does not report the thread's block.
    BlockNotReported,
    /// An append does not report the entries that other processes stored before it.
    OthersNotReported,
}

/// The gate at which a process's calls wait, and the names of the calls that were let through.
#[derive(Clone, Default)]
pub(crate) struct Steps {
    pub(crate) gate: CallGate,
    pub(crate) made: Arc<Mutex<Vec<&'static str>>>,
}

pub(crate) struct FaultyStore {
    store: Arc<dyn ThreadStore>,
    next: Mutex<Option<PlannedFault>>,
    steps: Option<Steps>,
    mistake: Option<StoreMistake>,
    /// While a test holds its permit, calls that block a thread wait.
    pub(crate) blocking: Semaphore,
}

impl FaultyStore {
    pub(crate) fn new(store: Arc<dyn ThreadStore>) -> Self {
        Self {
            store,
            next: Mutex::new(None),
            steps: None,
            mistake: None,
            blocking: Semaphore::new(1),
        }
    }

    /// A store whose every call is a step of a simulation.
    pub(crate) fn stepped(
        store: Arc<dyn ThreadStore>,
        steps: &Steps,
        mistake: Option<StoreMistake>,
    ) -> Self {
        Self {
            steps: Some(steps.clone()),
            mistake,
            ..Self::new(store)
        }
    }

    pub(crate) fn schedule(&self, fault: PlannedFault) {
        *self.next.lock().expect("a lock") = Some(fault);
    }

    pub(crate) fn no_more_faults(&self) {
        *self.next.lock().expect("a lock") = None;
    }

    /// The number of stored events, over all sessions, without compactions.
    pub(crate) async fn stored_events(&self) -> u64 {
        let sessions = self
            .store
            .sessions(&Tenant::local(), PageRequest::first(10))
            .await
            .expect("sessions")
            .items;
        let mut stored = 0;
        for session in sessions {
            let all = self.store.events(
                &session.id,
                EventSeq(0),
                EventSeq(u64::MAX >> 1),
                1 << 20,
                1 << 30,
            );
            let all = all.await.expect("events");
            let counts = |event: &&Event| event.origin != daybook_domain::Origin::Synthetic;
            stored += all.iter().filter(counts).count() as u64;
        }
        stored
    }

    async fn call<T>(
        &self,
        name: &'static str,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let Some(steps) = &self.steps else {
            return self.or_fault(call).await;
        };
        steps.gate.pause().await;
        let answer = whole(call).await;
        steps.made.lock().expect("a lock").push(name);
        steps.gate.await_answer().await;
        answer
    }

    async fn or_fault<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let due = {
            let mut next = self.next.lock().expect("a lock");
            match *next {
                None => None,
                Some(PlannedFault::Before(0) | PlannedFault::After(0)) => next.take(),
                Some(PlannedFault::Before(calls)) => {
                    *next = Some(PlannedFault::Before(calls - 1));
                    None
                }
                Some(PlannedFault::After(calls)) => {
                    *next = Some(PlannedFault::After(calls - 1));
                    None
                }
            }
        };
        let fault = || {
            Err(StoreError::Unavailable {
                what: "a fault".to_owned(),
                source: "as planned".into(),
            })
        };
        match due {
            Some(PlannedFault::Before(_)) => fault(),
            Some(PlannedFault::After(_)) => {
                call.await?;
                fault()
            }
            None => call.await,
        }
    }

    async fn append_mistaken(
        &self,
        append: &ThreadAppend,
    ) -> Result<ThreadAppendOutcome, StoreError> {
        let mut answer = self.store.append_entries(append).await?;
        match (self.mistake, &mut answer) {
            (Some(StoreMistake::TokenNotChecked), ThreadAppendOutcome::BlockLost) => {
                let ends = None;
                let unchecked = ThreadAppend {
                    ends,
                    ..append.clone()
                };
                return self.store.append_entries(&unchecked).await;
            }
            (Some(StoreMistake::BlockNotReported), ThreadAppendOutcome::Stored { block, .. }) => {
                *block = None
            }
            (Some(StoreMistake::OthersNotReported), ThreadAppendOutcome::Stored { before, .. }) => {
                *before = EventSeq(0);
            }
            _ => {}
        }
        Ok(answer)
    }
}

#[async_trait]
impl ThreadStore for FaultyStore {
    async fn create_thread(&self, new: &NewThread) -> Result<Thread, StoreError> {
        self.store.create_thread(new).await
    }

    async fn thread(&self, id: &SessionId) -> Result<Option<Thread>, StoreError> {
        self.call("thread", self.store.thread(id)).await
    }

    async fn threads(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Thread>, StoreError> {
        self.store.threads(tenant, limit).await
    }

    async fn append_entries(
        &self,
        append: &ThreadAppend,
    ) -> Result<ThreadAppendOutcome, StoreError> {
        self.call("append_entries", self.append_mistaken(append))
            .await
    }

    async fn entries(
        &self,
        id: &SessionId,
        after: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<LogPage, StoreError> {
        self.call("entries", self.store.entries(id, after, limit, bytes))
            .await
    }

    async fn block(
        &self,
        id: &SessionId,
        reason: BlockingReason,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<BlockOutcome, StoreError> {
        let _may = self.blocking.acquire().await.expect("it is never closed");
        self.call("block", self.store.block(id, reason, until, now))
            .await
    }

    async fn extend_block(
        &self,
        id: &SessionId,
        token: BlockToken,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        self.call("extend_block", self.store.extend_block(id, token, until))
            .await
    }

    async fn unblock(&self, id: &SessionId, token: BlockToken) -> Result<bool, StoreError> {
        self.call("unblock", self.store.unblock(id, token)).await
    }

    async fn put_snapshot(
        &self,
        id: &SessionId,
        seq: EventSeq,
        snapshot: &[u8],
    ) -> Result<(), StoreError> {
        self.call("put_snapshot", self.store.put_snapshot(id, seq, snapshot))
            .await
    }

    async fn snapshot(&self, id: &SessionId) -> Result<Option<(EventSeq, Vec<u8>)>, StoreError> {
        self.call("snapshot", self.store.snapshot(id)).await
    }

    async fn delete_thread(&self, id: &SessionId, now: Timestamp) -> Result<bool, StoreError> {
        self.store.delete_thread(id, now).await
    }
}

#[async_trait]
impl SessionLog for FaultyStore {
    async fn append(&self, append: &Append) -> Result<AppendOutcome, StoreError> {
        self.store.append(append).await
    }

    async fn event_ids(&self, session: &SessionId) -> Result<Vec<(EventSeq, EventId)>, StoreError> {
        self.store.event_ids(session).await
    }

    async fn events(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.store.events(session, after, upto, limit, bytes).await
    }

    async fn events_at(
        &self,
        session: &SessionId,
        lines: (u32, u32),
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.store.events_at(session, lines, limit).await
    }

    async fn retracted_seqs(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
    ) -> Result<BTreeSet<EventSeq>, StoreError> {
        self.store.retracted_seqs(session, after, upto).await
    }
}

#[async_trait]
impl SessionCatalog for FaultyStore {
    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        self.store.session(id).await
    }

    async fn sessions(
        &self,
        tenant: &Tenant,
        page: PageRequest<SessionKey>,
    ) -> Result<Page<Session, SessionKey>, StoreError> {
        self.store.sessions(tenant, page).await
    }

    async fn sessions_active(
        &self,
        tenant: &Tenant,
        between: (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        self.store.sessions_active(tenant, between, limit).await
    }

    async fn switch_memory(
        &self,
        session: &SessionId,
        on: bool,
        switches: &Switches,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.store.switch_memory(session, on, switches, now).await
    }

    async fn find_sessions(&self, tenant: &Tenant, name: &str) -> Result<Vec<Session>, StoreError> {
        self.store.find_sessions(tenant, name).await
    }
}
