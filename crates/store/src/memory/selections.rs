//! What consolidations selected.

use async_trait::async_trait;
use daybook_domain::seams::SelectionStore;
use daybook_domain::{FinishOutcome, LeaseToken, Scope, SelectionRecord, StoreError, Timestamp};

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
        selected: &SelectionRecord,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let (scope, _) = checked(lease, selected)?;
        let mut state = self.lock_for_change();
        let outcome = state.end_claim(lease, upto, now);
        if outcome != FinishOutcome::LeaseLost {
            state.selections.insert(scope.clone(), selected.clone());
        }
        Ok(outcome)
    }
}
