//! What consolidations selected, and how they end.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::{LeaseToken, Scope};
use crate::job::FinishOutcome;
use crate::proposals::ProposalRecord;
use crate::selection::SelectionRecord;
use crate::time::Timestamp;

/// What a consolidation leaves besides memory files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConsolidationResults<'a> {
    /// What it selected, in place of the last selection; `None` leaves that.
    pub selection: Option<&'a SelectionRecord>,
    /// What a model proposed, in place of the scope's record; `None` leaves that.
    pub proposals: Option<&'a ProposalRecord>,
    /// When the scope is due again without new input: its revision is raised. `None` if only input makes it due.
    pub again_at: Option<Timestamp>,
}

/// Stores which sessions the last successful consolidation of a scope selected.
#[async_trait]
pub trait SelectionStore: Send + Sync {
    /// The selection of the scope's last success; `None` before the first one that selected.
    async fn selection(&self, scope: &Scope) -> Result<Option<SelectionRecord>, StoreError>;

    /// Ends the consolidation that `lease` holds and stores its results, in one transaction. Changes nothing if the
    /// lease is lost. A selection states what was read, also of sessions that were extracted anew since: they differ
    /// from it, and so count as added the next time.
    ///
    /// Refused is the lease of a job of another kind.
    async fn finish_consolidation(
        &self,
        lease: &LeaseToken,
        upto: u64,
        results: ConsolidationResults<'_>,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError>;
}
