//! What consolidations selected: a column of the scope's row.

use async_trait::async_trait;
use daybook_domain::seams::SelectionStore;
use daybook_domain::{FinishOutcome, LeaseToken, Scope, SelectionRecord, StoreError, Timestamp};

use super::PostgresStore;
use super::connection::{TenantAccess, Tx};
use super::fault::Fault;
use super::jobs::finish;
use super::names::{find_scope, scope_no};
use super::values::{get, values};
use crate::selections::{checked, selection_of};

#[async_trait]
impl SelectionStore for PostgresStore {
    async fn selection(&self, scope: &Scope) -> Result<Option<SelectionRecord>, StoreError> {
        let work = |tx: Tx| async move {
            let Some(no) = find_scope(&tx, scope).await? else {
                return Ok(None);
            };
            let find = "SELECT selection FROM scopes WHERE scope_no = $1";
            let text: Option<String> = get(&tx.one(find, values![no]).await?, "selection")?;
            let selection = text.as_deref().map(selection_of);
            selection.transpose().map_err(Fault::corrupt)
        };
        self.read(TenantAccess::Only(&scope.tenant), work).await
    }

    async fn finish_consolidation(
        &self,
        lease: &LeaseToken,
        upto: u64,
        selected: &SelectionRecord,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let (scope, text) = checked(lease, selected)?;
        let text = &text;
        let work = |tx: Tx| async move {
            let outcome = finish(&tx, lease, upto, now).await?;
            if outcome != FinishOutcome::LeaseLost {
                let no = scope_no(&tx, scope).await?;
                let set = "UPDATE scopes SET selection = $1 WHERE scope_no = $2";
                tx.execute(set, values![text, no]).await?;
            }
            Ok(outcome)
        };
        self.write(TenantAccess::Only(&scope.tenant), work).await
    }
}
