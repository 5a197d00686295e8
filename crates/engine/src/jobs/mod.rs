//! Background work: what is due is claimed, done, and finished in one transaction.
//!
//! `update` processes what is due and ends; `worker` goes on. Both run any number of times, in any
//! number of processes. Nothing here is on the reply path.
//!
//! Not here: when a job is due (that is `domain`), how results are stored (that is `store`).

mod consolidate;
mod crew;
mod entities;
mod extract;
pub(crate) mod filing;
mod forecast;
mod known;
mod mended;
mod own;
mod presence;
pub mod projects;
mod rebuild;
mod redo;
mod remember;
mod settle;
mod sharing;
mod update;
#[cfg(test)]
mod windows_tests;

use own::OwnSessions;

pub use entities::PersonShelves;
pub use forecast::{ASSUMED_ANSWER_PERCENT, Forecast, MetCap, ModelForecast, Which, forecast};
pub use presence::{Presence, free_vanished};
pub use rebuild::{Rebuilt, rebuild_index};
pub use redo::redo_older;
pub use remember::{NoteTarget, notes_session, remember};
pub use settle::settle_projects;
pub use sharing::Sharing;
pub use update::{
    Failed, Progress, SessionOutcome, UpdateReport, Waits, retry_waiting, work, write_due,
};

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::eligibility::Switches;
use daybook_domain::seams::{Store, TreeStore};
use daybook_domain::time::Clock;
use daybook_domain::{
    ClaimLimits, Claimed, FailOutcome, FailedTry, Failure, Retry, StoreError, Tenant, Wait,
};
use jiff::tz::TimeZone;
use tracing::warn;

use crate::extract::Extractor;
use crate::extract::window::WindowLimits;
use crate::files::FilesError;
use crate::files::shared::SharedError;
use crate::files::stamp::{Person, Stamp};

/// This engine, as gaps and extractions name it: a newer one revives what an older one gave up.
pub const ENGINE: &str = concat!("daybook/", env!("CARGO_PKG_VERSION"));

/// What every stage that works in the background is given.
#[derive(Clone)]
pub struct Workshop {
    /// Where sessions, jobs and results live.
    pub store: Arc<dyn Store>,
    /// Where the histories of memory files are shared, if several machines share one memory.
    pub trees: Option<Arc<dyn TreeStore>>,
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
    /// Where memory is switched off.
    pub switches: Switches,
    /// Bounds of the work.
    pub limits: WorkLimits,
}

/// Bounds of background work.
#[derive(Debug, Clone, Copy)]
pub struct WorkLimits {
    /// Sessions claimed at once, and in how many of them others may be working meanwhile.
    pub claim: ClaimLimits,
    /// Most of a session that one pass reads.
    pub window: WindowLimits,
    /// Sessions that this process extracts side by side; 0: it extracts none. More gains nothing without a
    /// model to wait for.
    pub parallel: usize,
    /// How long one job may run without a heartbeat before another worker may take it.
    pub lease: Duration,
    /// How often a failing window is tried, and how far apart.
    pub retry: Retry,
    /// Longest wait for work under way once the end was asked for; then it is given back unfinished.
    pub drain: Duration,
    /// Longest wait for another writer of the same memory folder.
    pub folder_wait: Duration,
}

impl Default for WorkLimits {
    fn default() -> Self {
        Self {
            claim: ClaimLimits::jobs(10),
            window: WindowLimits::default(),
            parallel: 4,
            lease: Duration::from_secs(300),
            retry: Retry::default(),
            drain: Duration::from_secs(10),
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

impl From<SharedError> for WorkError {
    fn from(error: SharedError) -> Self {
        match error {
            SharedError::Files(error) => Self::Files(error),
            SharedError::Store(error) => Self::Store(error),
        }
    }
}

impl Workshop {
    /// This machine's side of what is shared, if anything is.
    #[must_use]
    pub fn sharing(&self) -> Option<Sharing<'_>> {
        let trees = self.trees.as_deref()?;
        Some(Sharing {
            store: &*self.store,
            trees,
            root: &self.root,
        })
    }

    /// In whose name memory files are written, now.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        Stamp {
            time_ms: self.clock.now().0,
            person: Person::named(&self.person),
        }
    }

    /// Reports that a claim did not work out, and when trying again makes sense.
    async fn fail(
        &self,
        claimed: &Claimed,
        failure: Failure,
        wait: Wait,
    ) -> Result<FailOutcome, StoreError> {
        let now = self.clock.now();
        let class = failure.class.word();
        let failed = FailedTry {
            failure,
            wait,
            retry: self.limits.retry,
            jitter: jitter(claimed, now.0),
            engine: ENGINE.to_owned(),
        };
        let outcome = self.store.fail(&claimed.token, &failed, now).await?;
        warn!(job = %claimed.token.job(), class, outcome = word(&outcome));
        Ok(outcome)
    }
}

fn word(outcome: &FailOutcome) -> &'static str {
    match outcome {
        FailOutcome::RetryAt(_) => "retry",
        FailOutcome::Narrowed { .. } => "narrowed",
        FailOutcome::GaveUp(_) => "gave_up",
        FailOutcome::LeaseLost => "lost",
    }
}

/// A share in 0..=1 that differs between jobs and tries: workers that failed together do not
/// come back together.
fn jitter(claimed: &Claimed, now: i64) -> f64 {
    let job = claimed.token.job().to_string();
    let bits = daybook_domain::EventId::of(&[
        job.as_bytes(),
        &claimed.token.generation().to_le_bytes(),
        &now.to_le_bytes(),
    ]);
    (bits.0 as u32) as f64 / f64::from(u32::MAX)
}
