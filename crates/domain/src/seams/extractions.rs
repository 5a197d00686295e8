//! What extractions yielded, and what memory agents wrote.

use async_trait::async_trait;

use crate::entity::StagedEntityWrite;
use crate::error::StoreError;
use crate::extraction::{Digest, Extraction, ExtractionRecord, Provenance};
use crate::ids::{EventSeq, LeaseToken, Scope, SessionId, Tenant};
use crate::job::FinishOutcome;
use crate::observation::ObservationId;
use crate::quarantine::{QuarantineDecision, QuarantinedObservation};
use crate::time::Timestamp;

/// Stores and lists what extractions yielded.
#[async_trait]
pub trait ExtractionStore: Send + Sync {
    /// Ends the extraction that `lease` holds, in one transaction: stores what was yielded and staged,
    /// advances done to the window's end, withdraws what retracted events carried, swaps
    /// generations when a redo has caught up, and raises the revision of every scope concerned
    /// together with its consolidation's input. Changes nothing if the lease is lost.
    async fn finish_extraction(
        &self,
        lease: &LeaseToken,
        extraction: &Extraction,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError>;

    /// Live extractions of the sessions that worked in project `project`, by session and window. All at
    /// once: the project's pages are built from every one of them.
    async fn extractions_in_project(
        &self,
        tenant: &Tenant,
        project: &str,
    ) -> Result<Vec<ExtractionRecord>, StoreError>;

    /// Live extractions whose digest names no root, by session and window. All at once: they belong to no
    /// project, and a person's pages are built from every one of theirs.
    async fn extractions_without_root(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<ExtractionRecord>, StoreError>;

    /// Live extractions of one session, by window.
    async fn extractions_of(
        &self,
        session: &SessionId,
    ) -> Result<Vec<ExtractionRecord>, StoreError>;

    /// Which extractors made the live extractions of which sessions: each pair once, in order. All at once:
    /// what a newer extractor redoes is chosen from all sessions.
    async fn extractors(&self, tenant: &Tenant)
    -> Result<Vec<(SessionId, Provenance)>, StoreError>;

    /// The account of the last window before event `before` that taught something, of those that
    /// generation `redo` of a session has read, live or not.
    async fn digest_before(
        &self,
        session: &SessionId,
        redo: u32,
        before: EventSeq,
    ) -> Result<Option<Digest>, StoreError>;
}

/// Observations that wait for a person's decision. They are stored and removed with their extraction.
#[async_trait]
pub trait QuarantineStore: Send + Sync {
    /// The tenant's quarantined observations of live extractions, decided ones included, by the time of their
    /// extraction, then session and window. All at once: what is extracted anew is compared with each.
    async fn quarantined(&self, tenant: &Tenant)
    -> Result<Vec<QuarantinedObservation>, StoreError>;

    /// Stores a person's decision about an observation, wherever extractions quarantined it. False when none did.
    async fn decide(
        &self,
        scope: &Scope,
        id: ObservationId,
        decision: QuarantineDecision,
    ) -> Result<bool, StoreError>;
}

/// Writes of memory agents that wait until the files of entities hold them.
#[async_trait]
pub trait StagedWrites: Send + Sync {
    /// Staged writes of a tenant's extractions, by the time at which they were stored, then session and
    /// window; those of a redo at once, since each says what it replaces. Those of a window are withdrawn
    /// when a later window retracts one of its events. All at once: each is applied after those before it.
    async fn staged(&self, tenant: &Tenant) -> Result<Vec<StagedEntityWrite>, StoreError>;

    /// Takes staged writes out: they are in the files now, or never will be. What was staged anew for
    /// the same window stays. Raises nothing; repeating it changes nothing.
    async fn unstage(&self, staged: &[StagedEntityWrite]) -> Result<(), StoreError>;
}
