//! Which events were shown or cited.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::{SessionId, Tenant};
use crate::time::Timestamp;
use crate::uses::Use;

/// Where it is kept which events were used. What goes with an undone import goes on both sides: uses of its
/// events, and uses by them.
#[async_trait]
pub trait UseStore: Send + Sync {
    /// Notes uses of a tenant's events, in one transaction, and returns how many were not known. A known one
    /// keeps the later time and the event that was first seen to use it. A new [`UseKind::Cited`] raises the
    /// scopes of the observations that hold and rest on the event, each once; nothing else raises any.
    ///
    /// Passed over are uses of an event that is not there, of a session by itself, and what is more than
    /// [`crate::limits::USES`] of one kind. Refused are more than [`crate::limits::USES_AT_ONCE`] at once, and
    /// uses that name another tenant. A session that uses something need not be there yet.
    ///
    /// [`UseKind::Cited`]: crate::uses::UseKind::Cited
    async fn note_uses(
        &self,
        tenant: &Tenant,
        uses: &[Use],
        now: Timestamp,
    ) -> Result<u64, StoreError>;

    /// The uses of the events of these sessions, in the order of [`Use`].
    async fn uses(&self, tenant: &Tenant, sessions: &[SessionId]) -> Result<Vec<Use>, StoreError>;
}
