//! What the cases came to.

use serde::Serialize;

use super::judge::Shown;
use crate::dataset::Split;

/// Result of one case.
#[derive(Debug, Clone, Serialize)]
pub struct CaseRecord {
    /// Its name; of a pair, its statements.
    pub name: String,
    /// Its part.
    pub split: Split,
    /// What was wrong; empty if nothing was.
    pub failed: Vec<&'static str>,
    /// The first answer, for changes.
    pub answer: String,
    /// The first answer from the memory of all cases, if it is wrong.
    pub crowd_answer: String,
    /// The lines of `MEMORY.md`.
    pub lines: Vec<String>,
}

/// How many of how many were right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ChangesScore {
    /// Right ones.
    pub right: usize,
    /// All.
    pub of: usize,
}

impl ChangesScore {
    pub(super) fn note(&mut self, right: bool) {
        self.right += usize::from(right);
        self.of += 1;
    }

    /// The share of right ones; 1 of none.
    #[must_use]
    pub fn share(&self) -> f64 {
        match self.of {
            0 => 1.0,
            of => self.right as f64 / of as f64,
        }
    }
}

/// The scores of one part, and the record of each case.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ChangesReport {
    /// What holds comes first in recall.
    pub first_in_recall: ChangesScore,
    /// What holds comes first in recall from one memory of all cases.
    pub first_in_crowd: ChangesScore,
    /// What holds stands alone in `MEMORY.md`, its past in brackets.
    pub alone_in_files: ChangesScore,
    /// Of the changes that are shown, those that are shown the right way round.
    pub right_way_round: ChangesScore,
    /// Statements that only resemble each other and both stand there.
    pub kept: ChangesScore,
    /// Of the pairs that are one observation, those that say the same.
    pub merge_precision: ChangesScore,
    /// Of the pairs that say the same, those that are one observation.
    pub merge_recall: ChangesScore,
    /// Of the later statements that end an earlier one, those by which it ends.
    pub end_recall: ChangesScore,
    /// Of the statements that end by a later one, those that no longer hold.
    pub end_precision: ChangesScore,
    /// Every case.
    pub cases: Vec<CaseRecord>,
}

pub(super) fn record(
    name: &str,
    split: Split,
    failed: &[Option<&'static str>],
    shown: Shown,
) -> CaseRecord {
    CaseRecord {
        name: name.to_owned(),
        split,
        failed: failed.iter().copied().flatten().collect(),
        answer: shown.answer,
        crowd_answer: String::new(),
        lines: shown.lines,
    }
}
