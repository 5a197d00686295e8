//! What consolidations selected, and what a model proposed.

use async_trait::async_trait;
use daybook_domain::seams::{ConsolidationResults, ProposalStore, SelectionStore};
use daybook_domain::{
    FinishOutcome, LeaseToken, ProposalRecord, Scope, SelectionRecord, StoreError, Timestamp,
};

use super::MemoryStore;
use crate::selections::checked;

#[async_trait]
impl SelectionStore for MemoryStore {
    async fn selection(&self, scope: &Scope) -> Result<Option<SelectionRecord>, StoreError> {
        Ok(self.lock().selections.get(scope).cloned())
    }

    async fn finish_consolidation(
        &self,
        lease: &LeaseToken,
        upto: u64,
        results: ConsolidationResults<'_>,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let (scope, _) = checked(lease, results)?;
        let mut state = self.lock_for_change();
        let outcome = state.end_claim(lease, upto, now);
        if outcome == FinishOutcome::LeaseLost {
            return Ok(outcome);
        }
        let ConsolidationResults {
            selection,
            proposals,
            again_at,
        } = results;
        if let Some(selection) = selection {
            state.selections.insert(scope.clone(), selection.clone());
        }
        if let Some(proposals) = proposals {
            state.proposals.insert(scope.clone(), proposals.clone());
        }
        let Some(at) = again_at else {
            return Ok(outcome);
        };
        state.raise_one(scope, at);
        Ok(FinishOutcome::StillDue)
    }
}

#[async_trait]
impl ProposalStore for MemoryStore {
    async fn proposals(&self, scope: &Scope) -> Result<Option<ProposalRecord>, StoreError> {
        Ok(self.lock().proposals.get(scope).cloned())
    }
}
