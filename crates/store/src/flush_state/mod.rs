//! The jobs of sessions in a JSON file: MindRoom's `memory_flush_state.json`.
//!
//! [`Ledgered`] is a store whose extraction jobs are in the file, and everything else in the inner store.
//! `docs/flush-state.md` describes the file.
//!
//! A file and a database cannot be changed in one step, so one of them must be right whenever they differ.
//! **How far** a session is to be read and has been read commits with its events and its results, so there the
//! row of the inner store is right. **Who works when** (leases, waits, tries, priorities, turns) is decided in
//! the file. All that holds under one lock on the file:
//!
//! 1. A change of events or results first *lends* the job to its row in the inner store, runs there as one
//!    transaction that checks the lease, and takes the row back into the file.
//! 2. A claim is decided in the file, and lent before it is returned. So a lease in the file that its row
//!    does not have was ended in the inner store, and no generation is ever issued twice.
//! 3. A crash after the transaction and before the file is written leaves the row ahead: its watermarks
//!    differ, or the lease is gone. The next call that reads the job detects that (`state::reconcile`) and
//!    continues from the row: nothing is extracted twice.
//! 4. A session whose append crashed in between may not be in the file at all; so opening, each claim that
//!    finds nothing due, and each query for the next due time compare all rows with the file once they have
//!    changed.
//! 5. A crash in any other place leaves the file as it was, and the change was never acknowledged.
//!
//! So the file can also be lost: it is rebuilt from the rows, leases included.
//!
//! Not here: rules. Jobs change by the transitions of `domain`.

mod file;
#[cfg(test)]
mod fuzz_tests;
mod jobs;
mod json;
mod ledgered;
mod purges;
mod sessions;
mod state;
mod threads;

use async_trait::async_trait;
use daybook_domain::{Job, StoreError};

pub use ledgered::Ledgered;

/// Name of the file in the data folder.
pub const FILE: &str = "memory_flush_state.json";

/// What a ledger needs of its inner store, besides the seams.
#[async_trait]
pub trait JobRows: Send + Sync {
    /// Writes jobs as they are, in one transaction, over whatever rows exist.
    async fn put_jobs(&self, jobs: &[Job]) -> Result<(), StoreError>;
}
