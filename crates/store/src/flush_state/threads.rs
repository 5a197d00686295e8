//! Threads: calls go to the inner store. Their entries are events, so jobs are lent and taken back.

use async_trait::async_trait;
use daybook_domain::seams::Store;
use daybook_domain::working::{
    BlockOutcome, BlockToken, BlockingReason, LogPage, NewThread, Thread, ThreadAppend,
    ThreadAppendOutcome, ThreadStore,
};
use daybook_domain::{EventSeq, JobKey, SessionId, StoreError, Tenant, Timestamp};

use super::state::{LedgerEntry, seconds};
use super::{JobRows, Ledgered};

#[async_trait]
impl<S: Store + ThreadStore + JobRows> ThreadStore for Ledgered<S> {
    async fn create_thread(&self, new: &NewThread) -> Result<Thread, StoreError> {
        self.inner.create_thread(new).await
    }

    async fn thread(&self, id: &SessionId) -> Result<Option<Thread>, StoreError> {
        self.inner.thread(id).await
    }

    async fn threads(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Thread>, StoreError> {
        self.inner.threads(tenant, limit).await
    }

    async fn append_entries(
        &self,
        append: &ThreadAppend,
    ) -> Result<ThreadAppendOutcome, StoreError> {
        let key = JobKey::Extract(append.append.session.id.clone());
        let record_mark = |entry: &mut LedgerEntry, _: &ThreadAppendOutcome| {
            entry.marked_at = entry.marked_at.max(seconds(append.append.now));
        };
        let operation = self.inner.append_entries(append);
        self.with_jobs_lent(&[key], operation, record_mark).await
    }

    async fn entries(
        &self,
        id: &SessionId,
        after: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<LogPage, StoreError> {
        self.inner.entries(id, after, limit, bytes).await
    }

    async fn block(
        &self,
        id: &SessionId,
        reason: BlockingReason,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<BlockOutcome, StoreError> {
        self.inner.block(id, reason, until, now).await
    }

    async fn extend_block(
        &self,
        id: &SessionId,
        token: BlockToken,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        self.inner.extend_block(id, token, until).await
    }

    async fn unblock(&self, id: &SessionId, token: BlockToken) -> Result<bool, StoreError> {
        self.inner.unblock(id, token).await
    }

    async fn put_snapshot(
        &self,
        id: &SessionId,
        seq: EventSeq,
        snapshot: &[u8],
    ) -> Result<(), StoreError> {
        self.inner.put_snapshot(id, seq, snapshot).await
    }

    async fn snapshot(&self, id: &SessionId) -> Result<Option<(EventSeq, Vec<u8>)>, StoreError> {
        self.inner.snapshot(id).await
    }

    async fn delete_thread(&self, id: &SessionId, now: Timestamp) -> Result<bool, StoreError> {
        self.inner.delete_thread(id, now).await
    }
}
