//! When work falls due: the table of DESIGN.md, "When due", as values.

use std::time::Duration;

use serde::{Deserialize, Serialize};

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

/// How long a session may rest, and how long its events may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Quiet time after the last activity before a session is taken. Longer means fewer passes.
    pub idle: Duration,
    /// Longest wait of an unprocessed event, however busy its session is.
    pub dirty: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(120),
            dirty: Duration::from_secs(600),
        }
    }
}

/// Turns since the last success after which a session is due, however busy it is: at the next one.
pub const TURN_LIMIT: usize = 5;

/// What happened to a session, as far as it decides when the session is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
}

impl Trigger {
    /// The mark that it makes for a session of `input` events, of which `turns` wait.
    #[must_use]
    pub fn mark(self, input: u64, turns: usize, now: Timestamp, patience: Patience) -> Mark {
        match self {
            Self::Turn if turns <= TURN_LIMIT => Mark::activity(input, now, patience),
            Self::Turn | Self::Sleep | Self::End => Mark::at_once(input, now, Priority::Normal),
            Self::Compaction | Self::Reset => Mark::at_once(input, now, Priority::High),
        }
    }
}

/// One act of raising a job's input: "invalidate", "mark dirty" and "enqueue" are all this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// How far there is something to do.
    pub input: u64,
    /// Due then at the earliest, unless `deadline` comes first. Each mark overwrites it.
    pub idle_due: Timestamp,
    /// Due then at the latest. Marks only lower it.
    pub deadline: Timestamp,
    /// Marks only raise it.
    pub priority: Priority,
}

impl Mark {
    /// A turn completed: due once the session has rested, at the latest by the deadline.
    #[must_use]
    pub fn activity(input: u64, last_activity: Timestamp, patience: Patience) -> Self {
        Self {
            input,
            idle_due: last_activity.plus(patience.idle),
            deadline: last_activity.plus(patience.dirty),
            priority: Priority::Normal,
        }
    }

    /// Due at once: turn limit, sleep, session end; with [`Priority::High`], compaction and reset.
    #[must_use]
    pub fn at_once(input: u64, now: Timestamp, priority: Priority) -> Self {
        Self {
            input,
            idle_due: now,
            deadline: now,
            priority,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(trigger: Trigger, turns: usize, idle_due: i64, deadline: i64, priority: Priority) {
        let patience = Patience {
            idle: Duration::from_millis(10),
            dirty: Duration::from_millis(100),
        };
        let expected = Mark {
            input: 7,
            idle_due: Timestamp(idle_due),
            deadline: Timestamp(deadline),
            priority,
        };
        let mark = trigger.mark(7, turns, Timestamp(1_000), patience);
        assert_eq!(mark, expected);
    }

    #[test]
    fn turns_let_a_session_rest_until_more_than_five_wait() {
        check(Trigger::Turn, 1, 1_010, 1_100, Priority::Normal);
        check(Trigger::Turn, 5, 1_010, 1_100, Priority::Normal);
        check(Trigger::Turn, 6, 1_000, 1_000, Priority::Normal);
    }

    #[test]
    fn a_session_that_sleeps_or_ends_is_due_at_once() {
        check(Trigger::Sleep, 1, 1_000, 1_000, Priority::Normal);
        check(Trigger::End, 1, 1_000, 1_000, Priority::Normal);
    }

    #[test]
    fn a_session_about_to_be_replaced_goes_first() {
        check(Trigger::Compaction, 1, 1_000, 1_000, Priority::High);
        check(Trigger::Reset, 1, 1_000, 1_000, Priority::High);
    }
}
