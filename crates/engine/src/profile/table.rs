//! The profiles: one function each, so that a reader sees a system's choices together.
//!
//! A seed's own constant stands with its era where it changed; the seeds are of February 2026. What
//! a seed leaves open is Daybook's, and where a seed would lose an event, the promise that no event is
//! skipped wins over it. docs/profiles.md shows all of it side by side.

use std::time::Duration;

use daybook_domain::trigger::{Patience, Priority, Rules, Sweep};
use daybook_domain::{ClaimLimits, Retry};

use super::{Consolidator, Extractor, Layout, Ledger, Profile, UNBOUNDED, Work};
use crate::extract::window::WindowLimits;

/// Any number of turns may wait.
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
    /// The words by which settings choose a profile, the default one first.
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
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|known| known.name == name)
    }

    /// Daybook's own: every trigger that a seed has, soon after it happened.
    #[must_use]
    pub fn daybook() -> Self {
        Self {
            name: "daybook",
            triggers: Rules {
                patience: Patience {
                    idle: minutes(2),
                    dirty: minutes(10),
                    turns: 5,
                },
                urgent: Priority::High,
                reprioritize: 5,
            },
            sweep: Some(Sweep::default()),
            work: Work {
                poll: seconds(30),
                claims: ClaimLimits {
                    jobs: 10,
                    per_agent: UNBOUNDED,
                    running: UNBOUNDED,
                    running_per_agent: UNBOUNDED,
                },
                window: WindowLimits::default(),
                parallel: 4,
                lease: minutes(5),
                retry: Retry::default(),
                stale_after: days(1),
                drain: seconds(10),
            },
            ledger: Ledger::Database,
            extractor: Extractor::Extract,
            consolidator: Consolidator::Merge,
            layout: Layout::Daybook,
        }
    }

    /// Sessions are due when their agent sleeps, after five turns, and when they are compacted or
    /// reset; first in, first out, one at a time (seeds 000 and 001, spec D.2 and D.3).
    #[must_use]
    pub fn daycare() -> Self {
        let own = Self::daybook();
        Self {
            name: "daycare",
            extractor: Extractor::MemoryAgent,
            triggers: Rules {
                // The seed has no rule for time: a session that neither sleeps nor ends is never
                // taken. No event is skipped, so the hour after which its host ends an agent that
                // nobody talks to (3,600,000 ms) stands in, and a day bounds every wait.
                patience: Patience {
                    idle: hours(1),
                    dirty: hours(24),
                    turns: 5,
                },
                urgent: Priority::Normal,
                reprioritize: 0,
            },
            sweep: None,
            work: Work {
                parallel: 1,
                ..own.work
            },
            ..own
        }
    }

    /// A starting root session sweeps over what has long rested (seed 002, spec 1.4 to 1.8).
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
            extractor: Extractor::StageOne,
            triggers: Rules {
                // The seed takes sessions at a start alone. Here they are due, too, once they have
                // rested for as long as a sweep asks for, and before they are too old for one: in
                // the seed, a session that is older at the next start is lost.
                patience: Patience {
                    idle: hours(12),
                    dirty: days(30),
                    turns: ANY,
                },
                reprioritize: 0,
                ..own.triggers
            },
            sweep: Some(Sweep {
                surfaces: ["cli", "vscode", "atlas", "chatgpt"]
                    .map(String::from)
                    .into(),
                max_age: days(30),
                min_idle: hours(12),
                scan: 5_000,
                claims: 16,
            }),
            work: Work {
                claims: ClaimLimits {
                    jobs: 8,
                    // As many as a start claims (1.8), over all processes.
                    running: 16,
                    ..own.work.claims
                },
                parallel: 8,
                lease: seconds(3_600),
                retry: Retry {
                    tries: 3,
                    first: seconds(3_600),
                    most: seconds(3_600),
                    ..own.work.retry
                },
                ..own.work
            },
            ..own
        }
    }

    /// Sessions are due when they have rested, or have waited for ten minutes; a prompt brings its
    /// agent's other sessions forward (seed 004, spec M.1 to M.4, M.13).
    #[must_use]
    pub fn mindroom() -> Self {
        let own = Self::daybook();
        Self {
            name: "mindroom",
            extractor: Extractor::SilentTurn,
            triggers: Rules {
                patience: Patience {
                    idle: seconds(120),
                    dirty: seconds(600),
                    turns: ANY,
                },
                reprioritize: 5,
                ..own.triggers
            },
            sweep: None,
            work: Work {
                poll: seconds(180),
                claims: ClaimLimits {
                    jobs: 10,
                    per_agent: 3,
                    running_per_agent: 1,
                    ..own.work.claims
                },
                // The seed shows the newest messages of a session and moves its cursor past the rest.
                // Here a pass reads no more than is shown, so that each message is in one of them.
                window: WindowLimits {
                    messages: 20,
                    chars: 12_000,
                    ..own.work.window
                },
                retry: Retry {
                    tries: 3,
                    first: seconds(30),
                    most: seconds(300),
                    ..own.work.retry
                },
                stale_after: seconds(86_400),
                ..own.work
            },
            ledger: Ledger::Json,
            ..own
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
            assert_eq!(Profile::named(profile.name), Some(profile));
        }
        assert_eq!(Profile::named("Codex"), None);
        assert_eq!(Profile::default(), Profile::daybook());
    }

    /// Whatever a seed did, a session that is never swept over is extracted before it is too old to be.
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
