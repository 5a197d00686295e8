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
