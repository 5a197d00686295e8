//! Counts of what became of jobs, since the data folder was made.
//!
//! Stores count in the transaction that makes the change, so a count is right whichever process did
//! the work and however it ended.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::extraction::Yield;
use crate::failure::FailureClass;
use crate::ids::JobKind;
use crate::job::{FailOutcome, FinishOutcome};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum TallyKind {
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
    /// A worker ended a claim whose lease it had lost; it changed nothing.
    Lost,
    /// A try failed: [`FailureClass::Outage`].
    FailedOutage,
    /// A try failed: [`FailureClass::Content`].
    FailedContent,
    /// A try failed: [`FailureClass::Vanished`].
    FailedVanished,
    /// A try was cancelled: [`FailureClass::Cancelled`].
    FailedCancelled,
    /// A try met a cap: [`FailureClass::AtCap`].
    FailedAtCap,
}

impl TallyKind {
    /// The variant's name in columns and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// How a failed try of this class is counted.
    #[must_use]
    pub fn failed(class: FailureClass) -> Self {
        match class {
            FailureClass::Outage => Self::FailedOutage,
            FailureClass::Content => Self::FailedContent,
            FailureClass::Vanished => Self::FailedVanished,
            FailureClass::Cancelled => Self::FailedCancelled,
            FailureClass::AtCap => Self::FailedAtCap,
        }
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
            FailOutcome::GaveUp(_) => vec![Self::failed(class), Self::GaveUp],
            FailOutcome::RetryAt(_) | FailOutcome::Narrowed { .. } => vec![Self::failed(class)],
        }
    }
}

/// How often something has happened to jobs of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The kind.
    pub kind: JobKind,
    /// What.
    pub what: TallyKind,
    /// How often; never falls.
    pub count: u64,
}
