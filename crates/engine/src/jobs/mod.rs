//! Background work: due jobs are claimed, performed, and finished in one transaction.
//!
//! `update` processes due jobs and ends; `worker` continues. Both may run any number of times, in any
//! number of processes. Nothing here is on the reply path.
//!
//! Not here: when a job is due (`domain`), how results are stored (`store`).

mod agent;
mod agent_rules;
mod consolidate;
mod curation;
mod entities;
mod extract;
pub(crate) mod filing;
mod folder_sync;
mod forecast;
pub mod homes;
mod job_pool;
mod knowledge;
mod layouts;
pub mod line_memory;
pub mod memories;
pub mod memory_tool;
mod obstacles;
mod person_sessions;
pub mod persons_files;
pub mod persons_word;
pub mod project_repairs;
pub mod projects;
mod proposal_record;
mod proposals;
pub mod purge;
pub mod quarantine;
mod rebuild;
mod redact_files;
mod redo;
mod remember;
mod remote_sync;
mod rescan;
mod scope_memory;
mod selection;
mod settle;
mod thread_uses;
mod update;
#[cfg(test)]
mod windows_tests;
mod withdrawals;
mod worker_lock;

use person_sessions::PersonSessions;

pub use agent::AGENT_LIMITS;
pub use agent_rules::is_named_agent;
pub use entities::PersonEntityRepositories;
pub use folder_sync::FolderSync;
pub use forecast::{
    ASSUMED_ANSWER_PERCENT, Forecast, ForecastSelection, ModelForecast, ReachedCap, forecast,
};
pub use proposals::{ModelForScope, ProposalReport};
pub use rebuild::{RebuildReport, rebuild_index};
pub use redo::redo_older;
pub use remember::{NoteTarget, notes_session, remember};
pub use remote_sync::{FolderExchange, RemoteMerge, RemoteSync};
pub use scope_memory::MemorySource;
pub use settle::settle_projects;
pub use thread_uses::note_thread_uses;
pub use update::{
    FailedJob, SessionOutcome, UpdateReport, WaitFilter, WorkProgress, retry_waiting,
    revive_outdated, work, write_due,
};
pub use worker_lock::{WorkerLock, free_vanished};

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::eligibility::Switches;
use daybook_domain::seams::{Store, TreeStore};
use daybook_domain::time::Clock;
use daybook_domain::{
    ClaimLimits, ClaimedJob, FailOutcome, FailedTry, Failure, RetryPolicy, RetryWait, StoreError,
    Tenant,
};
use jiff::tz::TimeZone;
use tracing::warn;

use crate::consolidate::ConsolidationRules;
use crate::extract::window::WindowLimits;
use crate::extract::{Extractor, KnownLimits};
use crate::files::FilesError;
use crate::files::curation::CurationLimits;
use crate::files::shared::SharedError;
use crate::files::stamp::{CommitStamp, Person};
use daybook_text::redact::Redactor;
use daybook_working::tool_loop::ToolLoopLimits;

/// This engine's version, as stored with gaps and extractions: a newer engine retries what an older one
/// gave up.
pub const ENGINE: &str = concat!("daybook/", env!("CARGO_PKG_VERSION"));

/// What a consolidation calls before it writes files.
pub type BeforeFiles = Arc<dyn Fn() + Send + Sync>;

/// Everything that a background stage needs.
#[derive(Clone)]
pub struct WorkerContext {
    /// The store of sessions, jobs and results.
    pub store: Arc<dyn Store>,
    /// The store of shared histories of memory files, if several machines share one memory.
    pub trees: Option<Arc<dyn TreeStore>>,
    /// Called before a consolidation writes files, so that what they will show can be recorded.
    pub before_files: Option<BeforeFiles>,
    /// The data folder.
    pub root: PathBuf,
    /// The present time.
    pub clock: Arc<dyn Clock>,
    /// The extractor, which selects what is worth keeping.
    pub extractor: Arc<dyn Extractor>,
    /// The model that proposes wording, merges and supersessions in consolidations; `None`: none does.
    pub consolidation_model: Option<Arc<ModelForScope>>,
    /// This worker's name in leases, by which a vanished worker is distinguished from a slow one.
    pub holder: String,
    /// The person's name in memory files, and the name of their own scope.
    pub person: String,
    /// The time zone of dates in memory files.
    pub zone: TimeZone,
    /// The tenant that it works for.
    pub tenant: Tenant,
    /// Where memory is switched off.
    pub switches: Switches,
    /// The rules by which everything stored is redacted; what other rules redacted is rescanned.
    pub redactor: Redactor,
    /// Bounds of the work.
    pub limits: WorkLimits,
}

/// Bounds of background work.
#[derive(Debug, Clone, Copy)]
pub struct WorkLimits {
    /// Sessions claimed at once, and in how many of them other workers may be active meanwhile.
    pub claim: ClaimLimits,
    /// Most of a session that one pass reads.
    pub window: WindowLimits,
    /// How much of what memory holds already an extractor is given with it.
    pub known: KnownLimits,
    /// Sessions that this process extracts concurrently; 0: none. Without a model to wait for, more than there are cores
    /// gains nothing.
    pub parallel: usize,
    /// Whether what older rules for secrets let pass is redacted again. A caller that waits for an answer goes
    /// without: rewriting the database file cannot be interrupted.
    pub rescans: bool,
    /// Whether consolidations ask their model. A caller that waits for an answer goes without: what is new to the model
    /// stays due.
    pub proposals: bool,
    /// Bounds of a run of the agent that edits a private copy of a memory with the consolidation model; `None`: none runs.
    pub agent: Option<ToolLoopLimits>,
    /// How long one job may run without a heartbeat before another worker may take it.
    pub lease: Duration,
    /// How often a failing window is tried, and the pauses in between.
    pub retry: RetryPolicy,
    /// Longest wait for running work once the end was requested; then it is released unfinished.
    pub drain: Duration,
    /// Longest wait for another writer of the same memory folder.
    pub folder_wait: Duration,
    /// What a consolidation reads and writes.
    pub consolidation: ConsolidationRules,
    /// How `MEMORY.md` is curated in passes; `None`: every consolidation makes it anew.
    pub curation: Option<CurationLimits>,
}

impl Default for WorkLimits {
    fn default() -> Self {
        Self {
            claim: ClaimLimits::jobs(10),
            window: WindowLimits::default(),
            known: KnownLimits::default(),
            parallel: 4,
            rescans: true,
            proposals: true,
            agent: None,
            lease: Duration::from_secs(300),
            retry: RetryPolicy::default(),
            drain: Duration::from_secs(10),
            folder_wait: Duration::from_secs(10),
            consolidation: ConsolidationRules::default(),
            curation: None,
        }
    }
}

/// Why work could not continue.
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

impl WorkerContext {
    /// Synchronization with the shared histories; `None` if nothing is shared.
    #[must_use]
    pub fn folder_sync(&self) -> Option<FolderSync<'_>> {
        let trees = self.trees.as_deref()?;
        Some(FolderSync {
            store: &*self.store,
            trees,
            root: &self.root,
        })
    }

    /// Author and time of commits made now.
    #[must_use]
    pub fn stamp(&self) -> CommitStamp {
        CommitStamp {
            time_ms: self.clock.now().0,
            person: Person::named(&self.person),
        }
    }

    /// Records that a claim failed, and when to retry.
    async fn fail(
        &self,
        claimed: &ClaimedJob,
        failure: Failure,
        wait: RetryWait,
    ) -> Result<FailOutcome, StoreError> {
        let now = self.clock.now();
        let class = failure.class.as_str();
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

/// A factor in 0..=1 that differs between jobs and tries, so that workers that failed together do not retry
/// together.
fn jitter(claimed: &ClaimedJob, now: i64) -> f64 {
    let job = claimed.token.job().to_string();
    let bits = daybook_domain::EventId::of(&[
        job.as_bytes(),
        &claimed.token.generation().to_le_bytes(),
        &now.to_le_bytes(),
    ]);
    (bits.0 as u32) as f64 / f64::from(u32::MAX)
}
