//! The seams of storage: a trait for each table or purpose, where two real implementations keep one promise.
//!
//! The suites in `daybook-testkit` pin what is promised here; every store runs them. All calls may
//! be repeated after [`StoreError::Busy`]. Each call is one transaction unless it says otherwise.
//!
//! A function asks for the traits that it uses. [`Store`] is for wiring, where one object is handed on.
//!
//! Tenants are isolated: whichever way a call names its tenant, in a session, in a scope or by itself, the
//! answer is that of a store that no other tenant uses, and what would join two tenants is refused. Only
//! [`JobQueue`], [`JobWatch`], [`JobControl::revive_gaps`] without a job and [`RescanStore::raise_rescans`] see all
//! tenants, because workers serve them all.
//!
//! [`StoreError::Busy`]: crate::error::StoreError::Busy

mod embedder;
mod extractions;
mod imports;
mod index;
mod jobs;
mod observations;
mod places;
mod proposals;
mod purges;
mod rescans;
mod selections;
mod sessions;
mod sources;
mod spend;
mod supersessions;
mod trees;
mod uses;

pub use embedder::Embedder;
pub use extractions::{ExtractionStore, QuarantineStore, StagedWrites};
pub use imports::ImportStore;
pub use index::{IndexReader, IndexWriter, VectorStore};
pub use jobs::{GapKey, JobControl, JobListing, JobQueue, JobWatch};
pub use observations::{ObservationStore, RetractedText, ScopeState, ScopeStore};
pub use places::{PlaceStore, ProjectKey};
pub use proposals::ProposalStore;
pub use purges::PurgeStore;
pub use rescans::RescanStore;
pub use selections::{ConsolidationResults, SelectionStore};
pub use sessions::{Append, AppendOutcome, SessionCatalog, SessionKey, SessionLog};
pub use sources::SourceStore;
pub use spend::SpendStore;
pub use supersessions::SupersessionStore;
pub use trees::TreeStore;
pub use uses::UseStore;

/// What recall reads: the index, the sessions that its answers cite, what of it no longer holds, and what rests on it. It
/// has no methods of its own.
pub trait RecallStore:
    IndexReader + VectorStore + SessionLog + SessionCatalog + SupersessionStore + ObservationStore
{
}

impl<T> RecallStore for T where
    T: IndexReader
        + VectorStore
        + SessionLog
        + SessionCatalog
        + SupersessionStore
        + ObservationStore
{
}

/// All seams of one store, for wiring. It has no methods of its own.
pub trait Store:
    SessionLog
    + SessionCatalog
    + SourceStore
    + PlaceStore
    + ImportStore
    + JobQueue
    + JobWatch
    + JobControl
    + JobListing
    + ExtractionStore
    + StagedWrites
    + QuarantineStore
    + RescanStore
    + SelectionStore
    + ProposalStore
    + ObservationStore
    + SupersessionStore
    + ScopeStore
    + UseStore
    + IndexReader
    + VectorStore
    + IndexWriter
    + RecallStore
{
}

impl<T> Store for T where
    T: SessionLog
        + SessionCatalog
        + SourceStore
        + PlaceStore
        + ImportStore
        + JobQueue
        + JobWatch
        + JobControl
        + JobListing
        + ExtractionStore
        + StagedWrites
        + QuarantineStore
        + RescanStore
        + SelectionStore
        + ProposalStore
        + ObservationStore
        + SupersessionStore
        + ScopeStore
        + UseStore
        + IndexReader
        + VectorStore
        + IndexWriter
{
}
