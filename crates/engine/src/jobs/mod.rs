//! Background work: what is due is claimed, done, and finished in one transaction.
//!
//! `update` processes what is due and ends; `worker` goes on. Both run any number of times, in any
//! number of processes. Nothing here is on the reply path.
//!
//! Not here: when a job is due (that is `domain`), how results are stored (that is `store`).

mod consolidate;
mod extract;
pub(crate) mod filing;
mod presence;
pub mod projects;
mod rebuild;
mod remember;
mod trigger;
mod update;

pub use presence::{Presence, free_vanished};
pub use rebuild::{Rebuilt, rebuild_index};
pub use remember::{notes_session, remember};
pub use trigger::{Triggered, trigger};
pub use update::{Failed, Progress, UpdateReport, work, write_due};

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::seams::Store;
use daybook_domain::time::Clock;
use daybook_domain::{StoreError, Tenant};
use jiff::tz::TimeZone;

use crate::extract::Extractor;
use crate::files::FilesError;

/// This engine, as gaps and extractions name it: a newer one revives what an older one gave up.
pub const ENGINE: &str = concat!("daybook/", env!("CARGO_PKG_VERSION"));

/// What every stage that works in the background is given.
#[derive(Clone)]
pub struct Workshop {
    /// Where sessions, jobs and results live.
    pub store: Arc<dyn Store>,
    /// The data folder.
    pub root: PathBuf,
    /// The present time.
    pub clock: Arc<dyn Clock>,
    /// What tells what is worth keeping.
    pub extractor: Arc<dyn Extractor>,
    /// Who works: named in leases, so that a vanished worker can be told from a slow one.
    pub holder: String,
    /// What the person is called in memory files, and the name of their own scope.
    pub person: String,
    /// Whose days and hours memory files show.
    pub zone: TimeZone,
    /// The wall that it works behind.
    pub tenant: Tenant,
    /// Bounds of the work.
    pub limits: WorkLimits,
}

/// Bounds of background work.
#[derive(Debug, Clone, Copy)]
pub struct WorkLimits {
    /// Sessions claimed at once. More drains a backlog sooner and holds more leases.
    pub sessions_per_claim: usize,
    /// How long one job may run without a heartbeat before another worker may take it.
    pub lease: Duration,
    /// Longest wait for another writer of the same memory folder.
    pub folder_wait: Duration,
}

impl Default for WorkLimits {
    fn default() -> Self {
        Self {
            sessions_per_claim: 10,
            lease: Duration::from_secs(300),
            folder_wait: Duration::from_secs(10),
        }
    }
}

/// Why work could not go on.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Memory files could not be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
}
