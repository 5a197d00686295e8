//! A store that does to its callers what stores do: it fails, before it did what was asked or after; it lets
//! others act first; and, where a test must notice that, it makes a mistake.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use daybook_domain::seams::{Append, Appended, SessionStore};
use daybook_domain::source::{Import, ImportNo, Source, Undone};
use daybook_domain::working::{
    BlockOutcome, BlockToken, BlockingReason, LogPage, NewThread, Thread, ThreadAppend,
    ThreadAppended, ThreadStore,
};
use daybook_domain::{
    Event, EventId, EventSeq, Place, Project, RootRecord, Session, SessionId, StoreError, Tenant,
    Timestamp,
};
use daybook_testkit::simulation::{Gate, whole};
use tokio::sync::Semaphore;

/// A fault of one of the next calls, counted from 0.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// Nothing is done.
    Before(u32),
    /// It is done, and nobody learns of it.
    After(u32),
}

/// A mistake that a store's author could make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// A compaction is stored whose block is over: it counts before what came meanwhile.
    TokenNotChecked,
    /// An append does not tell that the thread stands still.
    BlockNotTold,
    /// An append does not tell what others stored before it.
    OthersNotTold,
}

/// Where a process waits until one of its calls is let through, and what those were.
#[derive(Clone, Default)]
pub(crate) struct Steps {
    pub(crate) gate: Gate,
    pub(crate) made: Arc<Mutex<Vec<&'static str>>>,
}

pub(crate) struct Faulty {
    store: Arc<dyn ThreadStore>,
    next: Mutex<Option<Fault>>,
    steps: Option<Steps>,
    mistake: Option<Mistake>,
    /// While somebody holds its permit, no thread is blocked.
    pub(crate) blocking: Semaphore,
}

impl Faulty {
    pub(crate) fn new(store: Arc<dyn ThreadStore>) -> Self {
        Self {
            store,
            next: Mutex::new(None),
            steps: None,
            mistake: None,
            blocking: Semaphore::new(1),
        }
    }

    /// One each of whose calls is a step of a simulation.
    pub(crate) fn stepped(
        store: Arc<dyn ThreadStore>,
        steps: &Steps,
        mistake: Option<Mistake>,
    ) -> Self {
        Self {
            steps: Some(steps.clone()),
            mistake,
            ..Self::new(store)
        }
    }

    pub(crate) fn schedule(&self, fault: Fault) {
        *self.next.lock().expect("a lock") = Some(fault);
    }

    pub(crate) fn no_more_faults(&self) {
        *self.next.lock().expect("a lock") = None;
    }

    /// How many events are stored, over all sessions; compactions left out.
    pub(crate) async fn stored(&self) -> u64 {
        let sessions = self
            .store
            .sessions(&Tenant::local(), 10)
            .await
            .expect("sessions");
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
        steps.gate.hear().await;
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
                Some(Fault::Before(0) | Fault::After(0)) => next.take(),
                Some(Fault::Before(calls)) => {
                    *next = Some(Fault::Before(calls - 1));
                    None
                }
                Some(Fault::After(calls)) => {
                    *next = Some(Fault::After(calls - 1));
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
            Some(Fault::Before(_)) => fault(),
            Some(Fault::After(_)) => {
                call.await?;
                fault()
            }
            None => call.await,
        }
    }

    async fn append_mistaken(&self, append: &ThreadAppend) -> Result<ThreadAppended, StoreError> {
        let mut answer = self.store.append_entries(append).await?;
        match (self.mistake, &mut answer) {
            (Some(Mistake::TokenNotChecked), ThreadAppended::BlockLost) => {
                let ends = None;
                let unchecked = ThreadAppend {
                    ends,
                    ..append.clone()
                };
                return self.store.append_entries(&unchecked).await;
            }
            (Some(Mistake::BlockNotTold), ThreadAppended::Stored { block, .. }) => *block = None,
            (Some(Mistake::OthersNotTold), ThreadAppended::Stored { before, .. }) => {
                *before = EventSeq(0);
            }
            _ => {}
        }
        Ok(answer)
    }
}

#[async_trait]
impl ThreadStore for Faulty {
    async fn create_thread(&self, new: &NewThread) -> Result<Thread, StoreError> {
        self.store.create_thread(new).await
    }

    async fn thread(&self, id: &SessionId) -> Result<Option<Thread>, StoreError> {
        self.call("thread", self.store.thread(id)).await
    }

    async fn threads(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Thread>, StoreError> {
        self.store.threads(tenant, limit).await
    }

    async fn append_entries(&self, append: &ThreadAppend) -> Result<ThreadAppended, StoreError> {
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
impl SessionStore for Faulty {
    async fn append(&self, append: &Append) -> Result<Appended, StoreError> {
        self.store.append(append).await
    }
    async fn event_ids(&self, session: &SessionId) -> Result<Vec<(EventSeq, EventId)>, StoreError> {
        self.store.event_ids(session).await
    }
    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        self.store.session(id).await
    }
    async fn sessions(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Session>, StoreError> {
        self.store.sessions(tenant, limit).await
    }
    async fn sessions_active(
        &self,
        tenant: &Tenant,
        between: (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        self.store.sessions_active(tenant, between, limit).await
    }
    async fn switch_memory(&self, session: &SessionId, on: bool) -> Result<bool, StoreError> {
        self.store.switch_memory(session, on).await
    }
    async fn find_sessions(&self, tenant: &Tenant, name: &str) -> Result<Vec<Session>, StoreError> {
        self.store.find_sessions(tenant, name).await
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
    async fn sources(&self, tenant: &Tenant) -> Result<Vec<Source>, StoreError> {
        self.store.sources(tenant).await
    }
    async fn put_source(
        &self,
        tenant: &Tenant,
        source: &Source,
        import: Option<ImportNo>,
    ) -> Result<(), StoreError> {
        self.store.put_source(tenant, source, import).await
    }
    async fn places(&self, tenant: &Tenant) -> Result<Vec<(Place, Option<String>)>, StoreError> {
        self.store.places(tenant).await
    }
    async fn projects(&self, tenant: &Tenant) -> Result<Vec<Project>, StoreError> {
        self.store.projects(tenant).await
    }
    async fn assign_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.store.assign_root(tenant, root, project, now).await
    }
    async fn roots(&self, tenant: &Tenant) -> Result<Vec<RootRecord>, StoreError> {
        self.store.roots(tenant).await
    }

    async fn derive_root(
        &self,
        tenant: &Tenant,
        root: &str,
        project: &Project,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.store.derive_root(tenant, root, project, now).await
    }

    async fn forget_identity(&self, tenant: &Tenant, identity: &str) -> Result<bool, StoreError> {
        self.store.forget_identity(tenant, identity).await
    }

    async fn begin_import(
        &self,
        tenant: &Tenant,
        what: &str,
        now: Timestamp,
    ) -> Result<ImportNo, StoreError> {
        self.store.begin_import(tenant, what, now).await
    }
    async fn end_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.store.end_import(tenant, import, now).await
    }
    async fn imports(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Import>, StoreError> {
        self.store.imports(tenant, limit).await
    }
    async fn undo_import(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<Undone, StoreError> {
        self.store.undo_import(tenant, import, now).await
    }
}
