//! Removing things for good, and the tombstones that keep them away.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::{Scope, SessionId, Tenant};
use crate::observation::ObservationId;
use crate::page::{Page, PageRequest};
use crate::purge::{PurgeKey, PurgedEvents, SeqRange, Tombstone};
use crate::time::Timestamp;

/// Removes what a person purges, so that nothing brings it back.
///
/// An append of a session with a tombstone stores nothing and creates no session. An event with a tombstone is passed
/// over in every append of its session, and of a session that was forked from it. Both count as known. While a session
/// does not exist whose name has a tombstone, neither the progress of its transcript nor a use by it is stored.
#[async_trait]
pub trait PurgeStore: Send + Sync {
    /// The key of a tenant's tombstones: the stored one, else `fresh`, which is stored.
    async fn purge_key(&self, tenant: &Tenant, fresh: &PurgeKey) -> Result<PurgeKey, StoreError>;

    /// Adds tombstones under the tenant's key, which must be stored. Returns how many are new.
    async fn add_tombstones(
        &self,
        tenant: &Tenant,
        tombstones: &[Tombstone],
    ) -> Result<u64, StoreError>;

    /// A tenant's tombstones, in order.
    async fn tombstones(
        &self,
        tenant: &Tenant,
        page: PageRequest<Tombstone>,
    ) -> Result<Page<Tombstone, Tombstone>, StoreError>;

    /// Removes the events of a range of positions with everything that rests on them: windows of extractions that
    /// overlap it, evidence with one of them, retractions, uses, evidence of remotes, the state of the session's thread.
    /// Unlike an undone import it leaves no evidence with fewer events, whose words may come from a removed one. A lease on
    /// the session is lost; what remains of it is extracted again. A session without events is removed with its jobs,
    /// sources and names. Scopes concerned are raised. May take several transactions; safe to repeat.
    async fn purge_events(
        &self,
        session: &SessionId,
        range: SeqRange,
        now: Timestamp,
    ) -> Result<PurgedEvents, StoreError>;

    /// Removes one observation with its evidence. It is not derived from the same events again. False when there is
    /// none.
    async fn purge_observation(
        &self,
        scope: &Scope,
        id: ObservationId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Removes everything of a scope: observations, retractions, selection, proposals, its part of the index, its job and
    /// its name. Returns how many observations that were. May take several transactions; safe to repeat.
    async fn purge_scope(&self, scope: &Scope, now: Timestamp) -> Result<u64, StoreError>;

    /// Removes the results of a session's extractions. What was read is not read again, unless a redo is asked for; a
    /// lease on the session is lost. The session, its events, its thread and its switches stay. False when there was no
    /// result. Safe to repeat.
    async fn reset_session(&self, session: &SessionId) -> Result<bool, StoreError>;

    /// Removes all that was learned in a scope: observations, selection, proposals, its part of the index, its job. Its name
    /// and what a person took back there stay. Returns how many observations that were. May take several transactions; safe to
    /// repeat.
    async fn reset_scope(&self, scope: &Scope) -> Result<u64, StoreError>;

    /// Whether a scope holds no observation, and nothing that waits for its files.
    async fn is_scope_empty(&self, scope: &Scope) -> Result<bool, StoreError>;

    /// Overwrites what the store's files still hold of removed rows. False when it has to be repeated, because other
    /// readers are in the way. A server overwrites them by itself, when it vacuums.
    async fn erase_purged(&self) -> Result<bool, StoreError>;
}
