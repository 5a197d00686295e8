//! Whether a question was discussed at all: a label beside the nearest answers, never in their place.
//!
//! A question about something unknown finds texts, too: they share a word with it. What tells the two apart is
//! how much of the question one place of a conversation has, how well the best answer scores, and how near
//! its vector is. The weights and the two bounds come from `daybook eval`, which asks conversations their own
//! questions and those of others.

use serde::Serialize;

/// How likely it is that what was asked was ever discussed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Likelihood {
    /// What was found is about something else.
    #[default]
    Unlikely,
    /// What was found may be about it.
    Weak,
    /// What was found is about it.
    Likely,
}

impl Likelihood {
    /// The word that stands for it in output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unlikely => "unlikely",
            Self::Weak => "weak",
            Self::Likely => "likely",
        }
    }
}

/// What tells whether a question was discussed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Signs {
    /// Share of the question's weight that one place of a conversation has, names of people left out.
    pub share: f64,
    /// What the best answer scored.
    pub score: f64,
    /// The angle between the question and the nearest passage; `None` without vectors.
    pub angle: Option<f64>,
    /// How many things the question asks for, at most eight.
    pub concepts: usize,
}

/// What each sign is worth.
struct Weighing {
    share: f64,
    score: f64,
    angle: f64,
    concepts: f64,
    /// At and above these sums, a question is likely, or weakly likely, to have been discussed.
    likely: f64,
    weak: f64,
}

/// What `daybook eval locomo PATH --calibrate` prints, with vectors and without.
const WITH_VECTORS: Weighing = Weighing {
    share: 2.33,
    score: 1.66,
    angle: 3.43,
    concepts: 0.330,
    likely: 7.00,
    weak: 6.22,
};
const WITHOUT_VECTORS: Weighing = Weighing {
    share: 2.47,
    score: 2.30,
    angle: 0.0,
    concepts: 0.446,
    likely: 5.33,
    weak: 4.93,
};

/// How sure it is that a question was discussed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Confidence {
    /// In a word.
    pub label: Likelihood,
    /// From 0 to 1; comparable between questions.
    pub score: f64,
    /// What it was judged by.
    pub signs: Signs,
}

impl Confidence {
    /// Judges a question that has answers.
    #[must_use]
    pub fn of(signs: Signs) -> Self {
        let weighing = match signs.angle {
            Some(_) => WITH_VECTORS,
            None => WITHOUT_VECTORS,
        };
        let sum = weighing.share * signs.share
            + weighing.score * signs.score
            + weighing.angle * signs.angle.unwrap_or_default()
            + weighing.concepts * signs.concepts as f64;
        let label = if sum >= weighing.likely {
            Likelihood::Likely
        } else if sum >= weighing.weak {
            Likelihood::Weak
        } else {
            Likelihood::Unlikely
        };
        Self {
            label,
            score: 1.0 / (1.0 + (weighing.likely - sum).exp()),
            signs,
        }
    }
}

#[cfg(test)]
#[path = "confidence_tests.rs"]
mod tests;
