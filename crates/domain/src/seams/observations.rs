//! Observations, and the scopes that they belong to.

use std::time::Duration;

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::{EventSeq, Scope, ScopeKind, SessionId, Tenant};
use crate::observation::{Observation, ObservationId, ObservationKind};
use crate::page::{Page, PageRequest};
use crate::time::Timestamp;

/// A scope and how often what matters to it has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeState {
    /// The scope.
    pub scope: Scope,
    /// Raised with every change that its files must show.
    pub revision: u64,
    /// Observations that hold.
    pub observations: u64,
}

/// Words that a person took back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RetractedText {
    /// The session in which they were learned.
    pub session: SessionId,
    /// The event that they rest on.
    pub seq: EventSeq,
    /// The observation's words.
    pub text: String,
}

/// Observations of scopes: added, withdrawn and listed.
#[async_trait]
pub trait ObservationStore: Send + Sync {
    /// Stores observations that come from no extraction (what a person asked to remember), and
    /// raises their scopes.
    async fn observe(&self, observations: &[Observation], now: Timestamp)
    -> Result<(), StoreError>;

    /// Withdraws an observation from its scope: a person took it back. It does not return with
    /// evidence from the same events; an event that was not among them brings it back. False when
    /// there is none.
    async fn retract(
        &self,
        scope: &Scope,
        id: ObservationId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// The words that a person took back, by the events of these sessions that they rest on, ordered by session, event
    /// and words.
    async fn retracted_texts(
        &self,
        tenant: &Tenant,
        sessions: &[SessionId],
    ) -> Result<Vec<RetractedText>, StoreError>;

    /// Undoes a withdrawal: the observation is stored as it was given, and holds although its events are those that a
    /// person took it back for. From now on it counts as something that a person asked to remember. Raises its scope;
    /// changes nothing where it holds already.
    async fn reinstate(&self, observation: &Observation, now: Timestamp) -> Result<(), StoreError>;

    /// Observations that hold in a scope, ordered by first time, then id.
    async fn observations(&self, scope: &Scope) -> Result<Vec<Observation>, StoreError>;

    /// Observations of `kinds` that hold in the tenant's scopes of kind `scopes`, ordered by scope, first
    /// time and id. All at once: what occurs in several scopes is found by comparing them.
    async fn observations_of_kinds(
        &self,
        tenant: &Tenant,
        scopes: ScopeKind,
        kinds: &[ObservationKind],
    ) -> Result<Vec<Observation>, StoreError>;

    /// How many of a tenant's observations have live evidence from each span of time since `from`, with the span's
    /// beginning, ascending. A span begins at a multiple of its length; those without any are left out. Only the
    /// newest [`crate::limits::LEARNED_EVIDENCE`] pieces count, so the first span may lack some.
    async fn learned_by_span(
        &self,
        tenant: &Tenant,
        from: Timestamp,
        span: Duration,
    ) -> Result<Vec<(Timestamp, u64)>, StoreError>;
}

/// Scopes and their revisions.
#[async_trait]
pub trait ScopeStore: Send + Sync {
    /// Raises a scope's revision: something outside the database changed that its files must show.
    async fn touch_scope(&self, scope: &Scope, now: Timestamp) -> Result<u64, StoreError>;

    /// Scopes of a tenant that were ever raised, in the order of [`Scope`]. Whatever was observed
    /// raised its scope.
    async fn scopes(
        &self,
        tenant: &Tenant,
        page: PageRequest<Scope>,
    ) -> Result<Page<ScopeState, Scope>, StoreError>;
}
