//! The secrets with a known format, one row for each.
//!
//! A row describes, in our own words, the format of an issuer's keys. It runs only where
//! one of its `starts` occurs in the text, and sees no more than `behind` and `reach` bytes
//! around that place. The rows stand in one file for each sort of issuer. Longer starts come first,
//! since of two rows that find the same bytes the earlier one gives the name.
//!
//! Not here: secrets that only a name reveals (`assign`), addresses (`url`), keys in armour (`pem`).

mod clouds;
mod commands;
mod databases;
mod identity;
mod messages;
mod models;
mod monitoring;
mod payments;
mod shared;
mod source_code;
mod tools;

use super::proof::Proof;
use super::shape::contains;
use super::span::RuleRank;

/// How one format is recognised.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// The rule's name, which the marker shows in place of the secret.
    pub(super) name: &'static str,
    /// Every text that the pattern matches contains one of these, in this case of letters.
    pub(super) starts: &'static [&'static str],
    /// Matches at the start, or across it if `behind` is not 0. The first group that takes part, or else all
    /// of it, is hidden. ASCII only; the `regex` crate's syntax.
    pub(super) pattern: &'static str,
    /// Whether letters of any case count.
    pub(super) any_case: bool,
    /// Bytes before the start that the pattern may take.
    pub(super) behind: usize,
    /// Bytes from the start on that the pattern may take.
    pub(super) reach: usize,
    /// A further condition on the matched bytes.
    pub(super) proof: Proof,
    /// Whether the secret must not touch `+`, `/` or `=`, as a piece of base 64 by chance does.
    pub(super) alone: bool,
    /// Text in lower case that must stand before the start on the same line, if not empty.
    line_has: &'static str,
    /// Text in lower case that must not stand there, if not empty.
    line_lacks: &'static str,
    pub(super) rank: RuleRank,
}

const DEFAULT_REACH: usize = 1024;

const fn rule(name: &'static str, starts: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule {
        name,
        starts,
        pattern,
        any_case: false,
        behind: 0,
        reach: DEFAULT_REACH,
        proof: Proof::Format,
        alone: false,
        line_has: "",
        line_lacks: "",
        rank: RuleRank::Issuer,
    }
}

impl Rule {
    const fn proof(self, proof: Proof) -> Self {
        Self { proof, ..self }
    }

    const fn any_case(self) -> Self {
        Self {
            any_case: true,
            ..self
        }
    }

    const fn behind(self, behind: usize) -> Self {
        Self { behind, ..self }
    }

    const fn reach(self, reach: usize) -> Self {
        Self { reach, ..self }
    }

    const fn alone(self) -> Self {
        Self {
            alone: true,
            ..self
        }
    }

    /// Whether what stands before the start on its line allows a secret of this kind there.
    pub(super) fn is_on_right_line(&self, before: &[u8]) -> bool {
        (self.line_has.is_empty() || contains(before, self.line_has.as_bytes()))
            && (self.line_lacks.is_empty() || !contains(before, self.line_lacks.as_bytes()))
    }

    const fn off_line_with(self, line_lacks: &'static str) -> Self {
        Self { line_lacks, ..self }
    }

    const fn on_line_with(self, line_has: &'static str) -> Self {
        Self { line_has, ..self }
    }

    const fn shared(self) -> Self {
        Self {
            rank: RuleRank::Shared,
            ..self
        }
    }
}

/// One list for each sort of issuer.
const GROUPS: [&[Rule]; 11] = [
    clouds::RULES,
    models::RULES,
    source_code::RULES,
    databases::RULES,
    messages::RULES,
    identity::RULES,
    payments::RULES,
    monitoring::RULES,
    tools::RULES,
    commands::RULES,
    shared::RULES,
];

const LEN: usize = {
    let mut len = 0;
    let mut group = 0;
    while group < GROUPS.len() {
        len += GROUPS[group].len();
        group += 1;
    }
    len
};

/// All rules for secrets with a known format.
pub(super) static RULES: [Rule; LEN] = {
    let mut rules = [GROUPS[0][0]; LEN];
    let (mut group, mut row, mut place) = (0, 0, 0);
    while place < LEN {
        if row == GROUPS[group].len() {
            group += 1;
            row = 0;
        } else {
            rules[place] = GROUPS[group][row];
            row += 1;
            place += 1;
        }
    }
    rules
};
