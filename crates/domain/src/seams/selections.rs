//! What consolidations selected.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::{LeaseToken, Scope};
use crate::job::FinishOutcome;
use crate::selection::SelectionRecord;
use crate::time::Timestamp;

/// Stores which sessions the last successful consolidation of a scope selected.
#[async_trait]
pub trait SelectionStore: Send + Sync {
    /// The selection of the scope's last success; `None` before the first one that selected.
    async fn selection(&self, scope: &Scope) -> Result<Option<SelectionRecord>, StoreError>;

    /// Ends the consolidation that `lease` holds and replaces its scope's selection, in one transaction. Changes
    /// nothing if the lease is lost. The record states what was read, also of sessions that were extracted anew
    /// since: they differ from it, and so count as added the next time.
    ///
    /// Refused is the lease of a job of another kind.
    async fn finish_consolidation(
        &self,
        lease: &LeaseToken,
        upto: u64,
        selected: &SelectionRecord,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError>;
}
