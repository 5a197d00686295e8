//! Whether anything has changed, by whatever process.
//!
//! The version is how many transactions the server has seen the end of, as a snapshot knows it. It
//! grows with every commit, costs a writer nothing, and shows a commit exactly when its rows are
//! shown. It also grows with what other databases of the server do, which wakes somebody for nothing.

use std::time::Duration;

use daybook_domain::StoreError;
use daybook_domain::seams::JobStore;

use super::PostgresStore;
use super::connection::{Fault, Tx};
use super::values::get;

/// How often somebody who waits for a change looks for one.
const LOOK: Duration = Duration::from_secs(1);

/// All transactions before the snapshot's end have ended, but for those that it names.
pub(super) async fn version(tx: &Tx) -> Result<u64, Fault> {
    let ended = "SELECT pg_snapshot_xmax(seen)::TEXT::BIGINT
            - (SELECT count(*) FROM pg_snapshot_xip(seen)) AS version
        FROM pg_current_snapshot() AS seen";
    get(&tx.one(ended, &[]).await?, "version")
}

pub(super) async fn until_changed(
    store: &PostgresStore,
    seen: u64,
    longest: Duration,
) -> Result<(), StoreError> {
    let until = tokio::time::Instant::now() + longest;
    while store.version().await? == seen && tokio::time::Instant::now() < until {
        tokio::time::sleep_until(until.min(tokio::time::Instant::now() + LOOK)).await;
    }
    Ok(())
}
