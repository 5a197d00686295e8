//! What consolidations selected: a column of the scope's row.

use async_trait::async_trait;
use daybook_domain::seams::SelectionStore;
use daybook_domain::{FinishOutcome, LeaseToken, Scope, SelectionRecord, StoreError, Timestamp};
use rusqlite::params;

use super::SqliteStore;
use super::connection::Fault;
use super::jobs::finish;
use super::names::{find_scope, scope_no};
use crate::selections::{checked, selection_of};

#[async_trait]
impl SelectionStore for SqliteStore {
    async fn selection(&self, scope: &Scope) -> Result<Option<SelectionRecord>, StoreError> {
        self.read(|tx| {
            let Some(no) = find_scope(tx, scope)? else {
                return Ok(None);
            };
            let mut find = tx.prepare_cached("SELECT selection FROM scopes WHERE scope_no = ?")?;
            let text: Option<String> = find.query_row([no], |row| row.get(0))?;
            let text = text.as_deref().map(selection_of);
            text.transpose().map_err(Fault::corrupt)
        })
    }

    async fn finish_consolidation(
        &self,
        lease: &LeaseToken,
        upto: u64,
        selected: &SelectionRecord,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let (scope, text) = checked(lease, selected)?;
        self.write(|tx| {
            let outcome = finish(tx, lease, upto, now)?;
            if outcome != FinishOutcome::LeaseLost {
                tx.prepare_cached("UPDATE scopes SET selection = ? WHERE scope_no = ?")?
                    .execute(params![text, scope_no(tx, scope)?])?;
            }
            Ok(outcome)
        })
    }
}
