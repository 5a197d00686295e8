//! Reads what a model proposed for a scope.
//!
//! Not here: asking it (`proposals`).

use daybook_domain::seams::Store;
use daybook_domain::{ProposalRecord, Scope, StoreError};
use tracing::warn;

/// The record of a scope. One that cannot be read counts as none: the memory is built without it.
pub(super) async fn proposal_record(
    store: &dyn Store,
    scope: &Scope,
) -> Result<ProposalRecord, StoreError> {
    match store.proposals(scope).await {
        Err(StoreError::Corrupt(what)) => {
            warn!(%scope, what, "the proposals of a model cannot be read");
            Ok(ProposalRecord::default())
        }
        read => Ok(read?.unwrap_or_default()),
    }
}
