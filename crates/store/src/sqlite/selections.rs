//! What consolidations selected and what a model proposed: columns of the scope's row.

use async_trait::async_trait;
use daybook_domain::seams::{ConsolidationResults, ProposalStore, SelectionStore};
use daybook_domain::{
    FinishOutcome, LeaseToken, ProposalRecord, Scope, SelectionRecord, StoreError, Timestamp,
};
use rusqlite::{Connection, params};

use super::SqliteStore;
use super::connection::Fault;
use super::jobs::finish;
use super::names::{find_scope, scope_no};
use super::revisions::raise_one;
use crate::selections::{checked, proposals_of, selection_of};

#[async_trait]
impl SelectionStore for SqliteStore {
    async fn selection(&self, scope: &Scope) -> Result<Option<SelectionRecord>, StoreError> {
        self.read(|tx| {
            let text = column(tx, scope, "SELECT selection FROM scopes WHERE scope_no = ?")?;
            let selection = text.as_deref().map(selection_of);
            selection.transpose().map_err(Fault::corrupt)
        })
    }

    async fn finish_consolidation(
        &self,
        lease: &LeaseToken,
        upto: u64,
        results: ConsolidationResults<'_>,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let (scope, texts) = checked(lease, results)?;
        self.write(|tx| {
            let outcome = finish(tx, lease, upto, now)?;
            if outcome == FinishOutcome::LeaseLost {
                return Ok(outcome);
            }
            // What is not given stays.
            tx.prepare_cached(
                "UPDATE scopes SET selection = COALESCE(?, selection), proposals = COALESCE(?, proposals)
                 WHERE scope_no = ?",
            )?
            .execute(params![
                texts.selection,
                texts.proposals,
                scope_no(tx, scope)?
            ])?;
            match results.again_at {
                Some(at) => {
                    raise_one(tx, scope, at)?;
                    Ok(FinishOutcome::StillDue)
                }
                None => Ok(outcome),
            }
        })
    }
}

#[async_trait]
impl ProposalStore for SqliteStore {
    async fn proposals(&self, scope: &Scope) -> Result<Option<ProposalRecord>, StoreError> {
        self.read(|tx| {
            let text = column(tx, scope, "SELECT proposals FROM scopes WHERE scope_no = ?")?;
            let proposals = text.as_deref().map(proposals_of);
            proposals.transpose().map_err(Fault::corrupt)
        })
    }
}

/// One text of the scope's row, which may not exist.
fn column(tx: &Connection, scope: &Scope, find: &str) -> Result<Option<String>, Fault> {
    match find_scope(tx, scope)? {
        Some(no) => Ok(tx.prepare_cached(find)?.query_row([no], |row| row.get(0))?),
        None => Ok(None),
    }
}
