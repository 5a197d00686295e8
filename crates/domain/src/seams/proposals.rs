//! What a model proposed for memories.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::Scope;
use crate::proposals::ProposalRecord;

/// Stores what a model was asked about each scope, and what was accepted of its answers. It is written with the finish
/// of a consolidation ([`SelectionStore::finish_consolidation`]).
///
/// [`SelectionStore::finish_consolidation`]: super::SelectionStore::finish_consolidation
#[async_trait]
pub trait ProposalStore: Send + Sync {
    /// The scope's record; `None` while no model was asked about it.
    async fn proposals(&self, scope: &Scope) -> Result<Option<ProposalRecord>, StoreError>;
}
