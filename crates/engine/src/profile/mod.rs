//! What one way of keeping memory chooses: when sessions fall due, how much is worked on at once, and
//! which implementation does each stage.
//!
//! A profile is plain data. The four in `table` stand for the systems that Daybook takes after;
//! every number is a setting, so that a profile is a starting point. Bounds that are given here are
//! those of the settings.
//!
//! Not here: reading settings, doing the work.

mod table;

use std::time::Duration;

use daybook_domain::trigger::{Rules, Sweep};
use daybook_domain::{ClaimLimits, Retry};

use crate::extract::model::{Dialect, Rendering};
use crate::extract::window::WindowLimits;

/// A bound that never applies. Settings spell it `none`.
pub const UNBOUNDED: usize = usize::MAX;

/// A choice for every stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The word by which settings choose it.
    pub name: &'static str,
    /// When sessions fall due (M.1 `idle_seconds`, `max_dirty_age_seconds`; D.2; M.3
    /// `max_cross_session_reprioritize`). Turns that may wait: 1 to 10,000, or `u32::MAX` for any
    /// number; a session that is about to be replaced goes before all others or, with
    /// [`daybook_domain::Priority::Normal`], in turn.
    pub triggers: Rules,
    /// What a starting root session looks over (1.8); `None`: nothing.
    pub sweep: Option<Sweep>,
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

/// How much is worked on at once, and how long failures wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Longest sleep of a worker between two looks: 1 s to 1 d (D.3; M.1 `flush_interval_seconds`).
    /// It wakes earlier when something falls due.
    pub poll: Duration,
    /// Bounds of one claim, and of all claims together (D.3; 1.7; M.1 `max_sessions_per_cycle`,
    /// `max_sessions_per_agent_per_cycle`; seed 004, "Cross-Session Freshness Guards"): 1 to 1,000
    /// each, or [`UNBOUNDED`].
    pub claims: ClaimLimits,
    /// Most of a session that one pass reads (M.1 `max_messages_per_flush`, `max_chars_per_flush`):
    /// 1 to 10,000 messages, 1 to 10,000,000 of their characters, or [`UNBOUNDED`].
    pub window: WindowLimits,
    /// Extractions side by side in one process: 1 to 64 (1.5). More is sooner done where a model is
    /// waited for.
    pub parallel: usize,
    /// How long a job may run without a heartbeat before another worker may take it: 1 s to 1 d (1.5).
    pub lease: Duration,
    /// What follows a failure: 1 to 100 tries (1.5), waits of 1 s to 7 d (M.1 `retry_cooldown_seconds`,
    /// `max_retry_cooldown_seconds`). With `most` as long as `first`, every wait is the same.
    pub retry: Retry,
    /// A session that waits longer is named by `status`, and is never dropped: 1 min to 365 d (M.1
    /// `stale_ttl_seconds`).
    pub stale_after: Duration,
    /// Longest wait at the end signal for work that is under way: 0 s to 10 min (1.5, shutdown
    /// timeout).
    pub drain: Duration,
}

/// Where it stands which sessions wait and who works on them. How far each has been read stands in
/// the database, whichever it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ledger {
    /// In the database alone.
    Database,
    /// In `memory_flush_state.json` (seed 004, "State Model").
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

/// Which implementation tells what is worth keeping. All but the first ask a model; where none is named,
/// the first stands for each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extractor {
    /// Quotes what was plainly said or done; asks no model.
    Extractive,
    /// Asks for observations that cite their events, with a summary and raw memory.
    Extract,
    /// Asks for observations as XML (D.6).
    Observations,
    /// Posts what happened to a memory agent with tools, which answers in the same form (D.4).
    MemoryAgent,
    /// Asks for raw memory, a summary and a slug (two-phase 2.5).
    StageOne,
    /// Asks for lines for the diary, or `NO_REPLY` (M.4).
    SilentTurn,
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
    const ALL: [Self; 6] = [
        Self::Extractive,
        Self::Extract,
        Self::Observations,
        Self::MemoryAgent,
        Self::StageOne,
        Self::SilentTurn,
    ];

    /// The words by which settings choose one.
    pub const WORDS: [&'static str; 6] = [
        Self::Extractive.word(),
        Self::Extract.word(),
        Self::Observations.word(),
        Self::MemoryAgent.word(),
        Self::StageOne.word(),
        Self::SilentTurn.word(),
    ];

    /// The one with that word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.word() == word)
    }

    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Extractive => "extractive",
            Self::Extract => "extract",
            Self::Observations => "observations",
            Self::MemoryAgent => "memory_agent",
            Self::StageOne => "stage_one",
            Self::SilentTurn => "silent_turn",
        }
    }

    /// What a model is asked, and how a window is shown to it; nothing if none is asked.
    #[must_use]
    pub fn manner(self) -> Option<(Dialect, Rendering)> {
        match self {
            Self::Extractive => None,
            Self::Extract => Some((Dialect::Extract, Rendering::Numbered)),
            Self::Observations => Some((Dialect::Observations, Rendering::Headings)),
            Self::MemoryAgent => Some((Dialect::MemoryAgent, Rendering::Headings)),
            Self::StageOne => Some((Dialect::StageOne, Rendering::Rollout)),
            Self::SilentTurn => Some((Dialect::SilentTurn, Rendering::Lines)),
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
