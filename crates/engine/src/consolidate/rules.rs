//! What a consolidation reads and writes, as a profile chooses it.

use std::time::Duration;

use daybook_domain::SelectionLimits;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// What a consolidation reads and writes, and how often it runs by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsolidationRules {
    /// How the sessions' pages are laid out.
    pub layout: FileLayout,
    /// Which sessions have a file in [`FileLayout::Codex`] (Codex's `max_raw_memories_for_consolidation`,
    /// `max_unused_days`). In the other layout all have.
    pub selection: SelectionLimits,
    /// Rest of a scope between two consolidations that no person requested: 0 s to 30 d.
    pub cooldown: Duration,
}

impl Default for ConsolidationRules {
    fn default() -> Self {
        Self {
            layout: FileLayout::Daybook,
            selection: SelectionLimits::default(),
            cooldown: Duration::ZERO,
        }
    }
}

/// How the pages of sessions are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum FileLayout {
    /// A page for each session, below `sessions/`.
    Daybook,
    /// `raw_memories.md` and `rollout_summaries/`, for the selected sessions.
    Codex,
}

impl FileLayout {
    /// Its name in settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
