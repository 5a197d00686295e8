//! Counts of suggestions that were not kept, by reason. They hold no content.

use std::collections::BTreeMap;
use std::fmt;

use strum::IntoStaticStr;

/// Why a suggestion was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum DropReason {
    /// It could not be parsed, or had no words.
    Unreadable,
    /// The answer ended within it.
    CutOff,
    /// More suggestions came before it than are kept.
    TooMany,
    /// It exceeds the longest text that is kept.
    TooLong,
    /// It rests on no event of the window.
    NoEvidence,
    /// It names a thing, number, date or path that its evidence does not name.
    Invented,
    /// It claims what a person wants, without a person's own words.
    NotAPersons,
    /// It generalizes a single order to a lasting preference.
    OneOff,
    /// It repeats an instruction of a tool's output or of the harness.
    Instruction,
    /// The operator's or user's guidance excludes it.
    Unwanted,
    /// It repeats what memory holds, and no person repeated it.
    Repeated,
}

impl DropReason {
    /// Its name in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The reason for people, to be put after "dropped:".
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::CutOff => "cut off",
            Self::TooMany => "too many",
            Self::TooLong => "too long",
            Self::NoEvidence => "without evidence",
            Self::Invented => "naming what its evidence does not",
            Self::NotAPersons => "said by no person",
            Self::OneOff => "one order only",
            Self::Instruction => "an instruction of a tool",
            Self::Unwanted => "not wanted",
            Self::Repeated => "repeating memory",
        }
    }
}

/// How many suggestions were not kept, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DropCounts(BTreeMap<DropReason, u32>);

impl DropCounts {
    /// Adds one for this reason.
    pub fn increment(&mut self, reason: DropReason) {
        self.add(reason, 1);
    }

    /// Adds `times` for this reason. Zero adds no entry.
    pub fn add(&mut self, reason: DropReason, times: u32) {
        if times > 0 {
            let increment = self.0.entry(reason).or_default();
            *increment = increment.saturating_add(times);
        }
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (reason, times) in &other.0 {
            self.add(*reason, *times);
        }
    }

    /// The count of this reason.
    #[must_use]
    pub fn count_of(&self, reason: DropReason) -> u32 {
        self.0.get(&reason).copied().unwrap_or(0)
    }

    /// The reasons that occurred, with their counts.
    pub fn counts(&self) -> impl Iterator<Item = (DropReason, u32)> + '_ {
        self.0.iter().map(|(reason, times)| (*reason, *times))
    }

    /// The sum over all reasons.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.0.values().fold(0, |sum, n| sum.saturating_add(*n))
    }
}

impl fmt::Display for DropCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (reason, times)) in self.0.iter().enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            write!(f, "{comma}{times} {}", reason.phrase())?;
        }
        Ok(())
    }
}
