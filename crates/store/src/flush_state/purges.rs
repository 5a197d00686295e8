//! Purges: the jobs of removed sessions leave the file, too.

use async_trait::async_trait;
use daybook_domain::seams::{PurgeStore, Store};
use daybook_domain::{
    JobKey, ObservationId, Page, PageRequest, PurgeKey, PurgedEvents, Scope, SeqRange, SessionId,
    StoreError, Tenant, Timestamp, Tombstone,
};

use super::{JobRows, Ledgered};

#[async_trait]
impl<S: Store + PurgeStore + JobRows> PurgeStore for Ledgered<S> {
    async fn purge_key(&self, tenant: &Tenant, fresh: &PurgeKey) -> Result<PurgeKey, StoreError> {
        self.inner.purge_key(tenant, fresh).await
    }

    async fn add_tombstones(
        &self,
        tenant: &Tenant,
        tombstones: &[Tombstone],
    ) -> Result<u64, StoreError> {
        self.inner.add_tombstones(tenant, tombstones).await
    }

    async fn tombstones(
        &self,
        tenant: &Tenant,
        page: PageRequest<Tombstone>,
    ) -> Result<Page<Tombstone, Tombstone>, StoreError> {
        self.inner.tombstones(tenant, page).await
    }

    async fn purge_events(
        &self,
        session: &SessionId,
        range: SeqRange,
        now: Timestamp,
    ) -> Result<PurgedEvents, StoreError> {
        let purging = self.inner.purge_events(session, range, now);
        let key = JobKey::Extract(session.clone());
        self.with_jobs_lent(&[key], purging, |_, _| ()).await
    }

    async fn purge_observation(
        &self,
        scope: &Scope,
        id: ObservationId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.inner.purge_observation(scope, id, now).await
    }

    async fn purge_scope(&self, scope: &Scope, now: Timestamp) -> Result<u64, StoreError> {
        self.inner.purge_scope(scope, now).await
    }

    async fn reset_session(&self, session: &SessionId) -> Result<bool, StoreError> {
        let resetting = self.inner.reset_session(session);
        let key = JobKey::Extract(session.clone());
        self.with_jobs_lent(&[key], resetting, |_, _| ()).await
    }

    async fn reset_scope(&self, scope: &Scope) -> Result<u64, StoreError> {
        self.inner.reset_scope(scope).await
    }

    async fn is_scope_empty(&self, scope: &Scope) -> Result<bool, StoreError> {
        self.inner.is_scope_empty(scope).await
    }

    async fn erase_purged(&self) -> Result<bool, StoreError> {
        self.inner.erase_purged().await
    }
}
