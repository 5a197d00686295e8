//! What one way of keeping memory chooses: when sessions fall due, how much is worked on at once, and
//! which implementation does each stage.
//!
//! A profile is plain data. The four in [`table`] stand for the systems that Daybook takes after;
//! every number is a setting, so that a profile is a starting point. Bounds that are given here are
//! those of the settings.
//!
//! Not here: reading settings, doing the work.

mod table;

use std::time::Duration;

use daybook_domain::trigger::{Patience, Priority};

/// A bound that never applies. Settings spell it `none`.
pub const UNBOUNDED: usize = usize::MAX;

/// A choice for every stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The word by which settings choose it.
    pub name: &'static str,
    /// When sessions fall due.
    pub triggers: Rules,
    /// How much is worked on at once, and how long failures wait.
    pub work: Work,
    /// Where it can be read which sessions wait.
    pub ledger: Ledger,
    /// Tells what in a session is worth keeping.
    pub extractor: Extractor,
    /// Puts together what was observed.
    pub consolidator: Consolidator,
    /// Which memory files there are.
    pub layout: Layout,
}

/// When sessions fall due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Quiet time, 0 s to 30 d, and longest wait, 1 s to 365 d (M.1 `idle_seconds`,
    /// `max_dirty_age_seconds`). Longer means fewer passes, and memory that comes later.
    pub patience: Patience,
    /// Turns since the last success after which a session is due at the next one: 1 to 10,000, or
    /// [`UNBOUNDED`] (D.2). More means fewer passes over busy sessions.
    pub turn_limit: usize,
    /// What a session gets that is about to be compacted or reset: [`Priority::High`] goes before
    /// all others, [`Priority::Normal`] in turn (D.2).
    pub urgent: Priority,
    /// Other waiting sessions of the same agent that one prompt raises: 0 to 1,000; 0 raises none
    /// (M.3 `max_cross_session_reprioritize`). More brings what was said in parallel forward.
    pub reprioritize: usize,
    /// What a starting root session looks over; `None`: nothing.
    pub sweep: Option<Sweep>,
}

/// What a starting root session looks over (1.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// Where sessions come from that it takes, as hosts name it (1.4); empty: from anywhere.
    pub sources: Vec<String>,
    /// Sessions whose last event is older are passed over: 0 s to 90 d (1.6 `max_rollout_age_days`).
    /// What they already brought into the log stays due by the other rules.
    pub max_age: Duration,
    /// Sessions that have rested for less are passed over: 0 s to 48 h (1.6 `min_rollout_idle_hours`).
    pub min_idle: Duration,
    /// Most sessions looked at: 0 to 100,000 (1.5). More finds older ones and takes longer.
    pub scan: usize,
    /// Most sessions claimed: 0 to 128 (1.6 `max_rollouts_per_startup`). More means more work at
    /// each start.
    pub claims: usize,
}

/// How much is worked on at once, and how long failures wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Longest sleep of a worker between two looks: 1 s to 1 d (D.3; M.1 `flush_interval_seconds`).
    /// It wakes earlier when something falls due.
    pub poll: Duration,
    /// Bounds of one claim, and of all claims together.
    pub claims: ClaimLimits,
    /// How long a job may run without a heartbeat before another worker may take it: 1 s to 1 d (1.5).
    pub lease: Duration,
    /// What follows a failure.
    pub retry: Retry,
    /// A session that waits longer is named by `status`, and is never dropped: 1 min to 365 d (M.1
    /// `stale_ttl_seconds`).
    pub stale_after: Duration,
    /// Longest wait at the end signal for work that is under way: 0 s to 10 min (1.5, shutdown
    /// timeout).
    pub drain: Duration,
}

/// Bounds of one claim, and of all claims together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimLimits {
    /// Most jobs in one claim: 1 to 1,000 (D.3, M.1 `max_sessions_per_cycle`). More drains a backlog
    /// sooner and holds more leases.
    pub jobs: usize,
    /// Most jobs of one agent in one claim: 1 to 1,000, or [`UNBOUNDED`] (M.1
    /// `max_sessions_per_agent_per_cycle`). Fewer keeps a busy agent from crowding others out.
    pub per_agent: usize,
    /// Most extractions under way, over all processes: 1 to 1,000 (1.5, 1.7).
    pub running: usize,
    /// Most extractions of one agent under way: 1 to 1,000, or [`UNBOUNDED`] (seed 004, "Cross-Session
    /// Freshness Guards").
    pub running_per_agent: usize,
}

/// What follows a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Tries that a window has before it is narrowed: 1 to 100 (1.5).
    pub tries: u32,
    /// Wait after the first failure, 1 s to 1 d; each further one doubles it (M.1
    /// `retry_cooldown_seconds`).
    pub first: Duration,
    /// Longest wait after a failure: `first` to 7 d (M.1 `max_retry_cooldown_seconds`). As long as
    /// `first`: every wait is the same.
    pub most: Duration,
}

/// Where it can be read which sessions wait. What decides is always the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ledger {
    /// In the database alone.
    Database,
    /// Also in `memory_flush_state.json` (seed 004, "State Model").
    Json,
}

impl Ledger {
    /// The word by which settings choose it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Json => "json",
        }
    }
}

/// Which implementation tells what is worth keeping. Those that ask a model come with their stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extractor {
    /// Quotes what was plainly said or done; asks no model.
    Extractive,
}

/// Which implementation puts together what was observed. Those that ask a model come with their stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consolidator {
    /// Merges what says the same, ranks, and quotes; asks no model.
    Merge,
}

/// Which memory files there are. Those of other systems come with their stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The files of DESIGN.md, "On disk".
    Daybook,
}

impl Extractor {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Extractive => "extractive",
        }
    }
}

impl Consolidator {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Merge => "merge",
        }
    }
}

impl Layout {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Daybook => "daybook",
        }
    }
}
