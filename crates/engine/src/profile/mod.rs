//! Profiles: presets for when sessions fall due, how much is worked on at once, and who extracts.
//!
//! A profile is plain data. The four in `table` reproduce the systems that Daybook takes after. Every number is
//! a setting, so that a profile is a starting point. The bounds given here are those of the settings.
//!
//! Not here: reading settings, doing the work.

mod table;

use std::time::Duration;

use daybook_domain::trigger::{SweepLimits, TriggerRules};
use daybook_domain::{ClaimLimits, RetryPolicy};
use strum::{EnumString, IntoStaticStr, VariantNames};

use crate::consolidate::ConsolidationRules;
use crate::extract::KnownLimits;
use crate::extract::model::{Dialect, Rendering};
use crate::extract::window::WindowLimits;

/// A bound that never applies. Settings spell it `none`.
pub const UNBOUNDED: usize = usize::MAX;

/// Preset values for the settings of every stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name in settings.
    pub name: &'static str,
    /// When sessions fall due (MindRoom's `idle_seconds`, `max_dirty_age_seconds` and
    /// `max_cross_session_reprioritize`; D18, D90). Turns that may wait: 1 to 10,000, or `u32::MAX` for
    /// any number; a session that is about to be replaced goes before all others or, with
    /// [`daybook_domain::Priority::Normal`], in turn.
    pub triggers: TriggerRules,
    /// What a root session sweeps over when it starts (C15 to C21); `None`: nothing.
    pub sweep: Option<SweepLimits>,
    /// How much is worked on at once, and how long failures wait.
    pub work: WorkSettings,
    /// Where the list of waiting sessions is kept.
    pub ledger: Ledger,
    /// Which extractor finds what in a session is worth keeping.
    pub extractor: ExtractorKind,
    /// What a consolidation reads and writes.
    pub consolidation: ConsolidationRules,
    /// What of memory a context shows to an agent.
    pub context: ContextRules,
}

/// What of memory a context shows to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextRules {
    /// What it is made of.
    pub source: ContextSource,
    /// Most lines of a page with [`ContextSource::FirstLines`] (MindRoom's `max_entrypoint_lines`): 1 to 100,000.
    pub lines: usize,
}

/// What a context is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum ContextSource {
    /// Selected entries of `MEMORY.md`, with those for the current work.
    Entries,
    /// `memory_summary.md`, and nothing else (Codex).
    Summary,
    /// The first lines of `MEMORY.md`, and lines for the prompt (MindRoom).
    FirstLines,
}

impl ContextSource {
    /// Its name in settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// How much is worked on at once, and how long failures wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkSettings {
    /// Longest sleep of a worker between two polls: 1 s to 1 d (MindRoom's `flush_interval_seconds`).
    /// It wakes earlier when something falls due.
    pub poll: Duration,
    /// Bounds of one claim, and of all claims together (MindRoom's `max_sessions_per_cycle` and
    /// `max_sessions_per_agent_per_cycle`; D7, C6, M93): 1 to 1,000 each, or [`UNBOUNDED`].
    pub claims: ClaimLimits,
    /// Most of a session that one pass reads (MindRoom's `max_messages_per_flush`, `max_chars_per_flush`):
    /// 1 to 10,000 messages, 1 to 10,000,000 of their characters, or [`UNBOUNDED`].
    pub window: WindowLimits,
    /// How much of what memory holds already a model is shown with it.
    pub known: KnownLimits,
    /// Longest time of one extraction by a model: 1 s to 1 d (MindRoom's `max_extraction_seconds`). What takes longer is
    /// a failed try.
    pub extraction: Duration,
    /// Extractions side by side in one process: 1 to 64. More shortens the
    /// wait where extractions wait for a model.
    pub parallel: usize,
    /// How long a job may run without a heartbeat before another worker may take it: 1 s to 1 d.
    pub lease: Duration,
    /// What follows a failure: 1 to 100 tries, waits of 1 s to 7 d (MindRoom's `retry_cooldown_seconds`,
    /// `max_retry_cooldown_seconds`). With `most` as long as `first`, every wait is the same.
    pub retry: RetryPolicy,
    /// `status` names each session that waits longer. None is ever dropped. 1 min to 365 d (MindRoom's
    /// `stale_ttl_seconds`).
    pub stale_after: Duration,
    /// Longest wait at the end signal for work that is under way: 0 s to 10 min (Codex's shutdown
    /// timeout).
    pub drain: Duration,
}

/// Where the waiting sessions and their workers are recorded. How far each session has been read is always
/// in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Ledger {
    /// In the database alone.
    Database,
    /// In `memory_flush_state.json` (MindRoom's state file, M90).
    Json,
}

impl Ledger {
    /// Its name in settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Which extractor finds what is worth keeping. All but the first ask a model; where settings name no model,
/// the first replaces each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum ExtractorKind {
    /// Quotes people's plain statements and reports plain events; asks no model.
    Extractive,
    /// Asks for observations that cite their events, with a summary and raw memory.
    Extract,
    /// Asks for Daycare's observations, as XML.
    Observations,
    /// Posts transcripts to a memory agent with tools, which answers in the same form (Daycare).
    MemoryAgent,
    /// Asks for raw memory, a summary and a slug (Codex).
    StageOne,
    /// Asks for lines for the diary, or `NO_REPLY` (MindRoom).
    SilentTurn,
}

impl ExtractorKind {
    /// Its name in settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The prompt and the rendering of windows for its model; `None` if it asks no model.
    #[must_use]
    pub fn prompt_format(self) -> Option<(Dialect, Rendering)> {
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
