//! What has become of work, counted since the data folder was made.
//!
//! Stores count in the transaction that makes the change, so a count is right whichever process did
//! the work and however it ended.

use serde::{Deserialize, Serialize};

use crate::extraction::Yield;
use crate::failure::FailureClass;
use crate::ids::JobKind;
use crate::job::{FailOutcome, FinishOutcome};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tallied {
    /// A claim was granted.
    Claimed,
    /// A claim ended, and everything known was done and worth keeping.
    Finished,
    /// A claim ended with Nothing worth keeping.
    Nothing,
    /// A claim ended, and input was still ahead.
    Partly,
    /// A range was given up.
    GaveUp,
    /// Waiting work was given up by hand.
    Cancelled,
    /// Somebody ended a claim that was no longer theirs; it changed nothing.
    Lost,
    /// A try failed.
    Failed(FailureClass),
}

impl Tallied {
    /// Everything that is counted.
    pub const ALL: [Self; 12] = [
        Self::Claimed,
        Self::Finished,
        Self::Nothing,
        Self::Partly,
        Self::GaveUp,
        Self::Cancelled,
        Self::Lost,
        Self::Failed(FailureClass::Outage),
        Self::Failed(FailureClass::Content),
        Self::Failed(FailureClass::Vanished),
        Self::Failed(FailureClass::Cancelled),
        Self::Failed(FailureClass::AtCap),
    ];

    /// The word that stands for it in columns.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Finished => "finished",
            Self::Nothing => "nothing",
            Self::Partly => "partly",
            Self::GaveUp => "gave_up",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
            Self::Failed(FailureClass::Outage) => "failed_outage",
            Self::Failed(FailureClass::Content) => "failed_content",
            Self::Failed(FailureClass::Vanished) => "failed_vanished",
            Self::Failed(FailureClass::Cancelled) => "failed_cancelled",
            Self::Failed(FailureClass::AtCap) => "failed_at_cap",
        }
    }

    /// What [`Tallied::word`] names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tallied| tallied.word() == word)
    }

    /// How a finish is counted.
    #[must_use]
    pub fn finish(outcome: FinishOutcome) -> Self {
        match outcome {
            FinishOutcome::Complete => Self::Finished,
            FinishOutcome::StillDue => Self::Partly,
            FinishOutcome::LeaseLost => Self::Lost,
        }
    }

    /// How the end of an extraction is counted.
    #[must_use]
    pub fn extraction(outcome: FinishOutcome, yielded: &Yield) -> Self {
        match (outcome, yielded) {
            (FinishOutcome::Complete, Yield::Nothing) => Self::Nothing,
            (outcome, _) => Self::finish(outcome),
        }
    }

    /// How a failure of this class is counted: the try, and what came of it.
    #[must_use]
    pub fn failure(class: FailureClass, outcome: &FailOutcome) -> Vec<Self> {
        match outcome {
            FailOutcome::LeaseLost => vec![Self::Lost],
            FailOutcome::GaveUp(_) => vec![Self::Failed(class), Self::GaveUp],
            FailOutcome::RetryAt(_) | FailOutcome::Narrowed { .. } => vec![Self::Failed(class)],
        }
    }
}

/// How often something has happened to jobs of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The kind.
    pub kind: JobKind,
    /// What.
    pub what: Tallied,
    /// How often; never falls.
    pub count: u64,
}
