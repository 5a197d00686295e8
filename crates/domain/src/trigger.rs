//! When work falls due: the table of DESIGN.md, "When due", as values.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::time::Timestamp;

/// Which due job is taken first. Only rises until the job finishes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// A sweep found it.
    Low,
    /// The ordinary case.
    #[default]
    Normal,
    /// Its agent was prompted elsewhere: what it holds may be wanted soon.
    Raised,
    /// A compaction or reset: the session is about to be replaced.
    High,
}

impl Priority {
    /// As a number for stores; greater is more urgent.
    #[must_use]
    pub fn rank(self) -> i64 {
        match self {
            Self::Low => 0,
            Self::Normal => 1,
            Self::Raised => 2,
            Self::High => 3,
        }
    }

    /// The priority that [`Priority::rank`] numbers.
    #[must_use]
    pub fn from_rank(rank: i64) -> Option<Self> {
        [Self::Low, Self::Normal, Self::Raised, Self::High]
            .into_iter()
            .find(|p| p.rank() == rank)
    }
}

/// How long a session may rest, and how long and how many of its turns may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueLimits {
    /// Quiet time after the last activity before a session is taken. Longer means fewer passes.
    pub idle: Duration,
    /// Longest wait of an unprocessed event, however busy its session is.
    pub dirty: Duration,
    /// Most turns that wait: with the next one the session is due, however busy it is.
    pub turns: u32,
}

impl Default for DueLimits {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(120),
            dirty: Duration::from_secs(600),
            turns: 5,
        }
    }
}

/// What the triggers of a profile do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TriggerRules {
    /// When an active session is due.
    pub patience: DueLimits,
    /// The priority of a session that is about to be replaced.
    pub urgent: Priority,
    /// Most other sessions of the same agent that one prompt raises. 0: none.
    pub reprioritize: usize,
}

impl Default for TriggerRules {
    fn default() -> Self {
        Self {
            patience: DueLimits::default(),
            urgent: Priority::High,
            reprioritize: 5,
        }
    }
}

/// Bounds of what a starting session has looked over (Codex, C15 to C21).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepLimits {
    /// Only sessions held there, as their host names it (`cli`, `vscode`); empty for all.
    pub surfaces: Vec<String>,
    /// Only sessions with activity this recently.
    pub max_age: Duration,
    /// Only sessions that have rested so long.
    pub min_idle: Duration,
    /// Most sessions that are looked at, those that are done included.
    pub scan: usize,
    /// Most sessions that are made due; those that run now count.
    pub claims: usize,
}

impl Default for SweepLimits {
    /// What the profile `daybook` looks over.
    fn default() -> Self {
        Self {
            surfaces: Vec::new(),
            // A month away loses nothing; older sessions are for `import`, which asks a person. What is in the
            // log already stays due, however old it is.
            max_age: Duration::from_secs(30 * 86_400),
            min_idle: DueLimits::default().idle,
            scan: 5_000,
            claims: 16,
        }
    }
}

/// What happened to a session, as far as it decides when the session is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Trigger {
    /// A turn completed.
    Turn,
    /// The agent has no pending messages.
    Sleep,
    /// The conversation is over.
    End,
    /// The agent is about to condense what it holds of the conversation.
    Compaction,
    /// The conversation is about to be replaced by a new one.
    Reset,
    /// A person wrote a message: what other sessions of the agent hold may be wanted soon.
    Prompt,
    /// A session of a person's own begins: what waits is looked over.
    Start,
}

impl Trigger {
    /// The variant's name in commands, requests and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The mark that it makes for its own session of `input` events; `None` for what concerns
    /// other sessions alone.
    #[must_use]
    pub fn mark(self, input: u64, now: Timestamp, rules: &TriggerRules) -> Option<DueMark> {
        match self {
            Self::Turn => Some(DueMark::activity(input, now, rules.patience)),
            Self::Sleep | Self::End => Some(DueMark::at_once(input, now, Priority::Normal)),
            Self::Compaction | Self::Reset => Some(DueMark::at_once(input, now, rules.urgent)),
            Self::Prompt | Self::Start => None,
        }
    }
}

/// One act of raising a job's input: "invalidate", "mark dirty" and "enqueue" are all this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueMark {
    /// How far there is something to do.
    pub input: u64,
    /// Due then at the earliest, unless `deadline` comes first. Each mark overwrites it.
    pub idle_due: Timestamp,
    /// Due then at the latest. Marks only lower it.
    pub deadline: Timestamp,
    /// Marks only raise it.
    pub priority: Priority,
    /// Turns that began with what it marks.
    pub turns: u32,
    /// With more turns than this waiting, it is due at `active`.
    pub turn_limit: u32,
    /// When there was something going on.
    pub active: Timestamp,
}

impl DueMark {
    /// A turn completed: due once the session has rested, at the latest by the deadline.
    #[must_use]
    pub fn activity(input: u64, last_activity: Timestamp, patience: DueLimits) -> Self {
        Self {
            input,
            idle_due: last_activity.plus(patience.idle),
            deadline: last_activity.plus(patience.dirty),
            priority: Priority::Normal,
            turns: 0,
            turn_limit: patience.turns,
            active: last_activity,
        }
    }

    /// The mark, of so many turns that began.
    #[must_use]
    pub fn with_turns(self, turns: u32) -> Self {
        Self { turns, ..self }
    }

    /// Due at once: sleep, session end; with [`Priority::High`], compaction and reset.
    #[must_use]
    pub fn at_once(input: u64, now: Timestamp, priority: Priority) -> Self {
        Self {
            input,
            idle_due: now,
            deadline: now,
            priority,
            turns: 0,
            turn_limit: u32::MAX,
            active: now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(trigger: Trigger, idle_due: i64, deadline: i64, priority: Priority) {
        let rules = TriggerRules {
            patience: DueLimits {
                idle: Duration::from_millis(10),
                dirty: Duration::from_millis(100),
                turns: 5,
            },
            ..TriggerRules::default()
        };
        let mark = trigger.mark(7, Timestamp(1_000), &rules).expect("a mark");
        let due = (mark.input, mark.idle_due, mark.deadline, mark.priority);
        assert_eq!(due, (7, Timestamp(idle_due), Timestamp(deadline), priority));
    }

    #[test]
    fn a_turn_lets_a_session_rest() {
        check(Trigger::Turn, 1_010, 1_100, Priority::Normal);
    }

    #[test]
    fn a_session_that_sleeps_or_ends_is_due_at_once() {
        check(Trigger::Sleep, 1_000, 1_000, Priority::Normal);
        check(Trigger::End, 1_000, 1_000, Priority::Normal);
    }

    #[test]
    fn a_session_about_to_be_replaced_goes_first() {
        check(Trigger::Compaction, 1_000, 1_000, Priority::High);
        check(Trigger::Reset, 1_000, 1_000, Priority::High);
    }

    #[test]
    fn prompts_and_starts_concern_other_sessions() {
        let rules = TriggerRules::default();
        assert_eq!(Trigger::Prompt.mark(7, Timestamp(0), &rules), None);
        assert_eq!(Trigger::Start.mark(7, Timestamp(0), &rules), None);
    }
}
