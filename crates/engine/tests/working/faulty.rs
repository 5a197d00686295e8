//! A store that fails when it is told to: before it did what was asked, or after.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use daybook_domain::seams::{Append, Appended, SessionStore};
use daybook_domain::source::{Import, ImportNo, Source, Undone};
use daybook_domain::working::{
    BlockOutcome, BlockToken, BlockingReason, LogPage, NewThread, Thread, ThreadAppend,
    ThreadAppended, ThreadStore,
};
use daybook_domain::{
    Event, EventId, EventSeq, Place, Project, Session, SessionId, StoreError, Tenant, Timestamp,
};
use daybook_store::MemoryStore;
use tokio::sync::Semaphore;

/// A fault of one of the next calls, counted from 0.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// Nothing is done.
    Before(u32),
    /// It is done, and nobody learns of it.
    After(u32),
}

pub(crate) struct Faulty {
    store: Arc<MemoryStore>,
    next: Mutex<Option<Fault>>,
    /// While somebody holds its permit, no thread is blocked.
    pub(crate) blocking: Semaphore,
}

impl Faulty {
    pub(crate) fn new(store: Arc<MemoryStore>) -> Self {
        Self {
            store,
            next: Mutex::new(None),
            blocking: Semaphore::new(1),
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
}

#[async_trait]
impl ThreadStore for Faulty {
    async fn create_thread(&self, new: &NewThread) -> Result<Thread, StoreError> {
        self.store.create_thread(new).await
    }

    async fn thread(&self, id: &SessionId, now: Timestamp) -> Result<Option<Thread>, StoreError> {
        self.call(self.store.thread(id, now)).await
    }

    async fn threads(
        &self,
        tenant: &Tenant,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Thread>, StoreError> {
        self.store.threads(tenant, limit, now).await
    }

    async fn append_entries(&self, append: &ThreadAppend) -> Result<ThreadAppended, StoreError> {
        self.call(self.store.append_entries(append)).await
    }

    async fn entries(
        &self,
        id: &SessionId,
        after: EventSeq,
        limit: usize,
        bytes: usize,
        now: Timestamp,
    ) -> Result<LogPage, StoreError> {
        self.call(self.store.entries(id, after, limit, bytes, now))
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
        self.call(self.store.block(id, reason, until, now)).await
    }

    async fn extend_block(
        &self,
        id: &SessionId,
        token: BlockToken,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.call(self.store.extend_block(id, token, until, now))
            .await
    }

    async fn unblock(
        &self,
        id: &SessionId,
        token: BlockToken,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.call(self.store.unblock(id, token, now)).await
    }

    async fn put_snapshot(
        &self,
        id: &SessionId,
        seq: EventSeq,
        snapshot: &[u8],
    ) -> Result<(), StoreError> {
        self.call(self.store.put_snapshot(id, seq, snapshot)).await
    }

    async fn snapshot(&self, id: &SessionId) -> Result<Option<(EventSeq, Vec<u8>)>, StoreError> {
        self.call(self.store.snapshot(id)).await
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
