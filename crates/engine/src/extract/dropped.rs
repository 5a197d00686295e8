//! What an extractor was told and did not believe: how much of it and why, never what.

use std::collections::BTreeMap;
use std::fmt;

/// Why something was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// It could not be read, or had no words.
    Unreadable,
    /// The answer ended within it.
    CutOff,
    /// There was more of it than is kept.
    TooMany,
    /// It was longer than is kept.
    TooLong,
    /// It rests on no event of the window.
    NoEvidence,
    /// It names a thing, number, date or path that its evidence does not.
    Invented,
    /// It says what a person wants, but no person said so.
    NotAPersons,
    /// It takes one order for a lasting wish.
    OneOff,
    /// It repeats an instruction that came from a tool or the harness.
    Instruction,
    /// Operator or user do not want such things kept.
    Unwanted,
}

impl DropReason {
    /// The word that stands for it in reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::CutOff => "cut_off",
            Self::TooMany => "too_many",
            Self::TooLong => "too_long",
            Self::NoEvidence => "no_evidence",
            Self::Invented => "invented",
            Self::NotAPersons => "not_a_persons",
            Self::OneOff => "one_off",
            Self::Instruction => "instruction",
            Self::Unwanted => "unwanted",
        }
    }

    /// The reason in words, as the end of "dropped:".
    #[must_use]
    pub fn words(self) -> &'static str {
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
        }
    }
}

/// Counts of what was not kept, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dropped(BTreeMap<DropReason, u32>);

impl Dropped {
    /// Counts one.
    pub fn count(&mut self, reason: DropReason) {
        self.add(reason, 1);
    }

    /// Counts `times`; none is not counted.
    pub fn add(&mut self, reason: DropReason, times: u32) {
        if times > 0 {
            let count = self.0.entry(reason).or_default();
            *count = count.saturating_add(times);
        }
    }

    /// Counts all that `other` counted.
    pub fn join(&mut self, other: &Self) {
        for (reason, times) in &other.0 {
            self.add(*reason, *times);
        }
    }

    /// How often for this reason.
    #[must_use]
    pub fn of(&self, reason: DropReason) -> u32 {
        self.0.get(&reason).copied().unwrap_or(0)
    }

    /// How often for each reason that there was.
    pub fn counts(&self) -> impl Iterator<Item = (DropReason, u32)> + '_ {
        self.0.iter().map(|(reason, times)| (*reason, *times))
    }

    /// How many in all.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.0.values().fold(0, |sum, n| sum.saturating_add(*n))
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (reason, times)) in self.0.iter().enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            write!(f, "{comma}{times} {}", reason.words())?;
        }
        Ok(())
    }
}
