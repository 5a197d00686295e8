//! Estimates whether a question was discussed at all. The label accompanies the nearest answers, and never replaces
//! them.
//!
//! A question about something unknown also finds texts, because they share a word with it. The signals that separate
//! the two cases: how much of the question one place of a conversation contains, how well the best answer scores, and
//! how near its vector is. The weights and both thresholds come from `daybook eval`, which asks conversations their own
//! questions and those of others.

use serde::Serialize;
use strum::IntoStaticStr;

/// How likely it is that what was asked was ever discussed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[derive(IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Likelihood {
    /// The answers are probably about something else.
    #[default]
    Unlikely,
    /// The answers may be about the question.
    Weak,
    /// The answers are probably about the question.
    Likely,
}

impl Likelihood {
    /// The word that stands for it in output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The measurements that confidence is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct ConfidenceSignals {
    /// The greatest share of the question's weight that one place of a conversation contains, without people's names.
    pub share: f64,
    /// The best answer's score, without what its session adds.
    pub score: f64,
    /// Cosine of the angle between the question's vector and the nearest passage's; `None` without vectors.
    pub angle: Option<f64>,
    /// Concepts of the question, at most eight.
    pub concepts: usize,
}

/// The weight of each signal.
struct ConfidenceWeights {
    share: f64,
    score: f64,
    angle: f64,
    concepts: f64,
    /// The least weighted sums for the labels `likely` and `weak`.
    likely: f64,
    weak: f64,
}

/// As printed by `daybook eval locomo PATH --calibrate`, with vectors and without.
const WITH_VECTORS: ConfidenceWeights = ConfidenceWeights {
    share: 2.14,
    score: 2.21,
    angle: 2.40,
    concepts: 0.443,
    likely: 7.25,
    weak: 6.36,
};
const WITHOUT_VECTORS: ConfidenceWeights = ConfidenceWeights {
    share: 2.42,
    score: 2.82,
    angle: 0.0,
    concepts: 0.559,
    likely: 5.84,
    weak: 5.38,
};

/// How confident recall is that a question was discussed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct RecallConfidence {
    /// The label that is shown.
    pub label: Likelihood,
    /// From 0 to 1; comparable between questions.
    pub score: f64,
    /// What it was computed from.
    #[serde(rename = "signs")]
    pub signals: ConfidenceSignals,
}

impl RecallConfidence {
    /// Computes the confidence from the signals of a search.
    #[must_use]
    pub fn of(signals: ConfidenceSignals) -> Self {
        let weights = match signals.angle {
            Some(_) => WITH_VECTORS,
            None => WITHOUT_VECTORS,
        };
        let sum = weights.share * signals.share
            + weights.score * signals.score
            + weights.angle * signals.angle.unwrap_or_default()
            + weights.concepts * signals.concepts as f64;
        let label = if sum >= weights.likely {
            Likelihood::Likely
        } else if sum >= weights.weak {
            Likelihood::Weak
        } else {
            Likelihood::Unlikely
        };
        Self {
            label,
            score: 1.0 / (1.0 + (weights.likely - sum).exp()),
            signals,
        }
    }
}

#[cfg(test)]
#[path = "confidence_tests.rs"]
mod tests;
