//! The profiles: one function each, so that a system's choices can be read together.
//!
//! Constants are those of February 2026; where a system changed one, its date is given. Values that
//! a system leaves open are Daybook's, and where it would lose an event, the promise that no event is
//! skipped wins. docs/profiles.md compares all of it.

use std::time::Duration;

use daybook_domain::trigger::{DueLimits, Priority, SweepLimits, TriggerRules};
use daybook_domain::{ClaimLimits, RetryPolicy, SelectionLimits};

use super::{ContextRules, ContextSource, ExtractorKind, Ledger, Profile, UNBOUNDED, WorkSettings};
use crate::consolidate::{ConsolidationRules, FileLayout};
use crate::extract::KnownLimits;
use crate::extract::window::WindowLimits;

/// A turn limit that never applies.
const ANY: u32 = u32::MAX;

const fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

const fn minutes(n: u64) -> Duration {
    seconds(60 * n)
}

const fn hours(n: u64) -> Duration {
    minutes(60 * n)
}

const fn days(n: u64) -> Duration {
    hours(24 * n)
}

impl Default for Profile {
    /// [`Profile::daybook`].
    fn default() -> Self {
        Self::daybook()
    }
}

impl Profile {
    /// The profiles' names in settings, the default one first.
    pub const NAMES: [&'static str; 4] = ["daybook", "daycare", "codex", "mindroom"];

    /// All profiles, in the order of [`Profile::NAMES`].
    #[must_use]
    pub fn all() -> [Self; 4] {
        [
            Self::daybook(),
            Self::daycare(),
            Self::codex(),
            Self::mindroom(),
        ]
    }

    /// The profile of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|known| known.name == name)
    }

    /// Daybook's own: every trigger that one of the others has, soon after it happened.
    #[must_use]
    pub fn daybook() -> Self {
        Self {
            name: "daybook",
            triggers: TriggerRules {
                patience: DueLimits {
                    idle: minutes(2),
                    dirty: minutes(10),
                    turns: 5,
                },
                urgent: Priority::High,
                reprioritize: 5,
            },
            sweep: Some(SweepLimits::default()),
            work: WorkSettings {
                poll: seconds(30),
                claims: ClaimLimits {
                    jobs: 10,
                    per_agent: UNBOUNDED,
                    running: UNBOUNDED,
                    running_per_agent: UNBOUNDED,
                },
                window: WindowLimits::default(),
                known: KnownLimits::default(),
                extraction: hours(1),
                parallel: 4,
                lease: minutes(5),
                retry: RetryPolicy::default(),
                stale_after: days(1),
                drain: seconds(10),
            },
            ledger: Ledger::Database,
            extractor: ExtractorKind::Extract,
            consolidation: ConsolidationRules::default(),
            context: ContextRules {
                source: ContextSource::Entries,
                lines: 200,
            },
        }
    }

    /// Sessions are due when their agent sleeps, after five turns, and when they are compacted or
    /// reset; first in, first out, one at a time (D7, D8, D18, D90).
    #[must_use]
    pub fn daycare() -> Self {
        let own = Self::daybook();
        Self {
            name: "daycare",
            extractor: ExtractorKind::MemoryAgent,
            triggers: TriggerRules {
                // Daycare has no rule for time: a session that neither sleeps nor ends is never
                // extracted. No event may be skipped, so the idle time after which its host ends
                // an agent (3,600,000 ms) applies instead, and a day bounds every wait.
                patience: DueLimits {
                    idle: hours(1),
                    dirty: hours(24),
                    turns: 5,
                },
                urgent: Priority::Normal,
                reprioritize: 0,
            },
            sweep: None,
            work: WorkSettings {
                parallel: 1,
                ..own.work
            },
            consolidation: ConsolidationRules {
                layout: FileLayout::Daycare,
                ..own.consolidation
            },
            ..own
        }
    }

    /// A starting root session sweeps over sessions that have long been idle (C15 to C21).
    ///
    /// | | before | February 2026, used here | newest |
    /// |---|---|---|---|
    /// | age of sessions | | 30 d | 10 d |
    /// | rest of sessions | | 12 h | 6 h |
    /// | claims per start | 64 | 16 | 2 |
    #[must_use]
    pub fn codex() -> Self {
        let own = Self::daybook();
        Self {
            name: "codex",
            extractor: ExtractorKind::StageOne,
            triggers: TriggerRules {
                // Codex claims sessions only when one starts. Here they are also due once they have
                // been idle for as long as a sweep requires, and before they are too old for one: in
                // Codex, a session that is older at the next start is lost.
                patience: DueLimits {
                    idle: hours(12),
                    dirty: days(30),
                    turns: ANY,
                },
                reprioritize: 0,
                ..own.triggers
            },
            sweep: Some(SweepLimits {
                surfaces: ["cli", "vscode", "atlas", "chatgpt"]
                    .map(String::from)
                    .into(),
                max_age: days(30),
                min_idle: hours(12),
                scan: 5_000,
                claims: 16,
            }),
            work: WorkSettings {
                claims: ClaimLimits {
                    jobs: 8,
                    // As many as a start claims (C19), counted over all processes.
                    running: 16,
                    ..own.work.claims
                },
                parallel: 8,
                lease: seconds(3_600),
                retry: RetryPolicy {
                    tries: 3,
                    first: seconds(3_600),
                    most: seconds(3_600),
                    ..own.work.retry
                },
                ..own.work
            },
            consolidation: ConsolidationRules {
                layout: FileLayout::Codex,
                selection: SelectionLimits {
                    most: 256,
                    unused: days(30),
                },
                cooldown: hours(6),
            },
            context: ContextRules {
                source: ContextSource::Summary,
                ..own.context
            },
            ..own
        }
    }

    /// Sessions are due when they have been idle, or have waited for ten minutes; a prompt raises the priority of
    /// its agent's other sessions (M1, M84 to M93).
    #[must_use]
    pub fn mindroom() -> Self {
        let own = Self::daybook();
        Self {
            name: "mindroom",
            extractor: ExtractorKind::SilentTurn,
            triggers: TriggerRules {
                patience: DueLimits {
                    idle: seconds(120),
                    dirty: seconds(600),
                    turns: ANY,
                },
                reprioritize: 5,
                ..own.triggers
            },
            sweep: None,
            work: WorkSettings {
                poll: seconds(180),
                claims: ClaimLimits {
                    jobs: 10,
                    per_agent: 3,
                    running_per_agent: 1,
                    ..own.work.claims
                },
                // MindRoom shows the newest messages of a session and moves its cursor past the rest.
                // Here a pass reads no more than it shows, so that each message is in one pass.
                window: WindowLimits {
                    messages: 20,
                    chars: 12_000,
                    ..own.work.window
                },
                extraction: seconds(30),
                retry: RetryPolicy {
                    tries: 3,
                    first: seconds(30),
                    most: seconds(300),
                    ..own.work.retry
                },
                stale_after: seconds(86_400),
                ..own.work
            },
            ledger: Ledger::Json,
            consolidation: ConsolidationRules {
                layout: FileLayout::Mindroom,
                ..own.consolidation
            },
            context: ContextRules {
                source: ContextSource::FirstLines,
                lines: 200,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_found_by_its_name() {
        let names = Profile::all().map(|profile| profile.name);
        assert_eq!(names, Profile::NAMES);
        for profile in Profile::all() {
            assert_eq!(Profile::from_name(profile.name), Some(profile));
        }
        assert_eq!(Profile::from_name("Codex"), None);
        assert_eq!(Profile::default(), Profile::daybook());
    }

    /// Unlike in those systems, a session that no sweep reaches is extracted before it is too old for one.
    #[test]
    fn no_profile_lets_an_event_wait_until_it_is_too_old_for_a_sweep() {
        for profile in Profile::all() {
            let Profile {
                name,
                triggers,
                sweep,
                ..
            } = profile;
            let age = sweep.map_or(Duration::MAX, |sweep| sweep.max_age);
            assert!(triggers.patience.dirty <= age, "{name}");
            assert!(triggers.patience.idle <= triggers.patience.dirty, "{name}");
        }
    }
}
