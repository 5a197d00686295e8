//! The jobs of sessions in a JSON file: `memory_flush_state.json` of seed 004.
//!
//! [`Ledgered`] is a store whose extraction jobs stand in the file, and everything else in the store
//! beneath. `docs/flush-state.md` describes the file.
//!
//! A file and a database cannot be changed in one step, so one of them must be right whenever they
//! differ. **How far** a session is to be read and has been read commits with its events and its
//! results, so there the row of the store beneath is right. **Who works when** (leases, waits, tries,
//! priorities, turns) is decided in the file. All that holds under one lock on the file:
//!
//! 1. What changes events or results first *lends* the job to the row beneath, runs there as one
//!    transaction that checks the lease, and takes the row back into the file.
//! 2. A claim is decided in the file, and lent before anybody is told of it. So a lease in the file
//!    that its row does not have was ended beneath, and no generation is ever issued twice.
//! 3. A crash after the transaction and before the file is written leaves the row ahead: its
//!    watermarks differ, or the lease is gone. Whoever meets the job next sees that (`book::settled`)
//!    and goes on from the row: nothing is extracted twice.
//! 4. A session whose append crashed in between may not be in the file at all; so opening, each claim
//!    that finds nothing due, and whoever asks when something will be, compare all rows with the file
//!    once they have changed.
//! 5. A crash in any other place leaves the file as it was, and the change was never acknowledged.
//!
//! So the file can also be lost: what it is rebuilt from are the rows, leases and all.
//!
//! Not here: rules. Jobs change by the transitions of `domain`.

mod book;
mod file;
#[cfg(test)]
mod fuzz_tests;
mod jobs;
mod ledgered;
mod sessions;
mod text;
mod threads;

use async_trait::async_trait;
use daybook_domain::{Job, StoreError};

pub use ledgered::Ledgered;

/// Name of the file in the data folder.
pub const FILE: &str = "memory_flush_state.json";

/// What a ledger needs of the store beneath it, besides the seams.
#[async_trait]
pub trait JobRows: Send + Sync {
    /// Writes jobs as they are, in one transaction, whatever is known of them.
    async fn put_jobs(&self, jobs: &[Job]) -> Result<(), StoreError>;
}
