//! What a consolidation reads and writes, as a profile chooses it.

use std::time::Duration;

use daybook_domain::SelectionLimits;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// What a consolidation reads and writes, and how often it runs by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsolidationRules {
    /// Which files a memory has.
    pub layout: FileLayout,
    /// Which sessions have a file in [`FileLayout::Codex`] (Codex's `max_raw_memories_for_consolidation`,
    /// `max_unused_days`).
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

/// Which files a memory has beside `MEMORY.md`, its summary, notes and entities: those of one system.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames,
)]
#[strum(serialize_all = "snake_case")]
pub enum FileLayout {
    /// A diary of sessions in `daily/`, and a page for each session in `sessions/`.
    Daybook,
    /// `observations.md`: a log of observations, each a block with its text and context.
    Daycare,
    /// A diary of sessions in `daily/`; `raw_memories.md` and `rollout_summaries/`, for the selected sessions.
    Codex,
    /// `daily/`: a log of observations for each day, each a line with an id.
    Mindroom,
}

impl FileLayout {
    /// Its name in settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether a person has one memory over all of their projects, as in Daycare.
    #[must_use]
    pub fn is_one_for_person(self) -> bool {
        match self {
            Self::Daycare => true,
            Self::Daybook | Self::Codex | Self::Mindroom => false,
        }
    }
}
