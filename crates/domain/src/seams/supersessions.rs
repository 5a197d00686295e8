//! Which observations no longer hold.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::{EventSeq, Scope, SessionId, Tenant};
use crate::observation::ObservationId;
use crate::supersession::{KnownObservation, SupersededObservation, Supersession};

/// Notes which observations no longer hold, and finds them by their evidence. Derived by consolidation from the
/// observations of a scope; every consolidation replaces what is noted.
#[async_trait]
pub trait SupersessionStore: Send + Sync {
    /// Replaces what is noted of a scope. Observations that are gone are left out. Raises nothing: what is noted follows
    /// from observations that raised the scope themselves.
    async fn set_supersessions(
        &self,
        scope: &Scope,
        supersessions: &[Supersession],
    ) -> Result<(), StoreError>;

    /// The observations that no longer hold and rest on one of these events, once for each event, ordered by event,
    /// then scope, then observation.
    async fn superseded_by_event(
        &self,
        tenant: &Tenant,
        events: &[(SessionId, EventSeq)],
    ) -> Result<Vec<SupersededObservation>, StoreError>;

    /// The observations with these ids in scopes of a tenant, in the order asked for; `None` for each that is unknown.
    async fn known_observations(
        &self,
        tenant: &Tenant,
        wanted: &[(Scope, ObservationId)],
    ) -> Result<Vec<Option<KnownObservation>>, StoreError>;

    /// The observation with this id in a scope.
    async fn known_observation(
        &self,
        scope: &Scope,
        id: ObservationId,
    ) -> Result<Option<KnownObservation>, StoreError> {
        let wanted = [(scope.clone(), id)];
        let found = self.known_observations(&scope.tenant, &wanted).await?;
        Ok(found.into_iter().next().flatten())
    }
}
