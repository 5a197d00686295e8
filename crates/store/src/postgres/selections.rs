//! What consolidations selected and what a model proposed: columns of the scope's row.

use async_trait::async_trait;
use daybook_domain::seams::{ConsolidationResults, ProposalStore, SelectionStore};
use daybook_domain::{
    FinishOutcome, LeaseToken, ProposalRecord, Scope, SelectionRecord, StoreError, Timestamp,
};

use super::PostgresStore;
use super::connection::{TenantAccess, Tx};
use super::fault::Fault;
use super::jobs::finish;
use super::names::{find_scope, raise_one, scope_no};
use super::values::{get, values};
use crate::selections::{checked, proposals_of, selection_of};

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
        results: ConsolidationResults<'_>,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let (scope, texts) = checked(lease, results)?;
        let texts = &texts;
        let work = |tx: Tx| async move {
            let outcome = finish(&tx, lease, upto, now).await?;
            if outcome == FinishOutcome::LeaseLost {
                return Ok(outcome);
            }
            let no = scope_no(&tx, scope).await?;
            // What is not given stays.
            let set = "UPDATE scopes SET selection = COALESCE($1, selection), proposals = COALESCE($2, proposals)
                       WHERE scope_no = $3";
            tx.execute(set, values![&texts.selection, &texts.proposals, no])
                .await?;
            match results.again_at {
                Some(at) => {
                    raise_one(&tx, scope, at).await?;
                    Ok(FinishOutcome::StillDue)
                }
                None => Ok(outcome),
            }
        };
        self.write(TenantAccess::Only(&scope.tenant), work).await
    }
}

#[async_trait]
impl ProposalStore for PostgresStore {
    async fn proposals(&self, scope: &Scope) -> Result<Option<ProposalRecord>, StoreError> {
        let work = |tx: Tx| async move {
            let Some(no) = find_scope(&tx, scope).await? else {
                return Ok(None);
            };
            let find = "SELECT proposals FROM scopes WHERE scope_no = $1";
            let text: Option<String> = get(&tx.one(find, values![no]).await?, "proposals")?;
            let proposals = text.as_deref().map(proposals_of);
            proposals.transpose().map_err(Fault::corrupt)
        };
        self.read(TenantAccess::Only(&scope.tenant), work).await
    }
}
