//! Fits the weights of confidence's signals to questions that were rightly answered and to questions of other
//! conversations. Fits on one part of the conversations, and reports on the other.

use daybook_engine::recall::confidence::ConfidenceSignals;
use serde::Serialize;

use crate::confidence::{ConfidenceReport, StatedConfidence, Unanswerable};
use crate::metrics::quantile;
use crate::report::EvalReport;

/// Steps of the fit, and its learning rate. More steps change the fourth decimal.
const STEPS: usize = 20_000;
const RATE: f64 = 0.5;
/// Weight decay.
const DRIFT: f64 = 1e-4;
/// Shares of right answers at or above the thresholds of `likely` and of `weak`.
const LIKELY_KEEPS: f64 = 0.96;
const WEAK_KEEPS: f64 = 0.99;

/// Weights of the signals, and the bounds of the labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// In the order share, score, angle, concepts.
    pub weights: [f64; 4],
    /// Least weighted sum for `likely`.
    pub likely: f64,
    /// Least weighted sum for `weak`.
    pub weak: f64,
    /// The report on questions that the weights were not fitted to.
    pub report: Option<ConfidenceReport>,
}

/// A question's signals, and whether it was rightly answered.
#[derive(Debug, Clone, Copy)]
struct CalibrationSample {
    signals: [f64; 4],
    is_right: bool,
}

/// Fits to every second conversation of a report, or to the `tune` split of a user's questions, and reports on the
/// rest. `None` if one of the sides is empty.
#[must_use]
pub fn calibrate(report: &EvalReport) -> Option<Calibration> {
    let (tune, rest) = samples(report);
    if !tune.iter().any(|s| s.is_right) || tune.iter().all(|s| s.is_right) {
        return None;
    }
    let weights = fit(&tune);
    let keeping = |share: f64| {
        let right = tune.iter().filter(|sample| sample.is_right);
        -quantile(right.map(|sample| -sum(&weights, &sample.signals)), share)
    };
    let (likely, weak) = (keeping(LIKELY_KEEPS), keeping(WEAK_KEEPS));
    let stated = |is_right: bool| -> Vec<StatedConfidence> {
        let of = rest.iter().filter(|sample| sample.is_right == is_right);
        of.map(|sample| {
            let value = sum(&weights, &sample.signals);
            let is_likely = value >= likely;
            StatedConfidence { value, is_likely }
        })
        .collect()
    };
    let kind = match report.foreign.is_empty() {
        true => Unanswerable::NeverDiscussed,
        false => Unanswerable::OtherConversation,
    };
    Some(Calibration {
        weights,
        likely,
        weak,
        report: ConfidenceReport::of(&stated(true), &stated(false), kind),
    })
}

fn samples(report: &EvalReport) -> (Vec<CalibrationSample>, Vec<CalibrationSample>) {
    let (mut tune, mut rest) = (Vec::new(), Vec::new());
    let mut conversations: Vec<&str> = report.questions.iter().map(|q| &*q.conversation).collect();
    conversations.dedup();
    let is_second = |name: &str| {
        let place = conversations.iter().position(|own| *own == name);
        place.is_some_and(|place| place % 2 == 1)
    };
    let mut add = |signals: Option<ConfidenceSignals>, is_right: bool, for_tuning: bool| {
        let Some(signals) = signals else {
            return;
        };
        let signals = [
            signals.share,
            signals.score,
            signals.angle.unwrap_or_default(),
            signals.concepts as f64,
        ];
        let side = if for_tuning { &mut tune } else { &mut rest };
        side.push(CalibrationSample { signals, is_right });
    };
    for question in &report.questions {
        let for_tuning = match question.split {
            Some(split) => split == crate::dataset::Split::Tune,
            None => !is_second(&question.conversation),
        };
        if question.is_right() && question.counts() {
            add(question.signals, true, for_tuning);
        } else if question.is_unanswerable() {
            add(question.signals, false, for_tuning);
        }
    }
    for foreign in &report.foreign {
        add(foreign.signals, false, !is_second(&foreign.asked_of));
    }
    (tune, rest)
}

fn sum(weights: &[f64; 4], signals: &[f64; 4]) -> f64 {
    weights
        .iter()
        .zip(signals)
        .map(|(weight, sign)| weight * sign)
        .sum()
}

/// Fits by logistic regression on scaled signals. Both sides weigh the same, whatever their sizes.
fn fit(samples: &[CalibrationSample]) -> [f64; 4] {
    let count = |is_right| {
        samples
            .iter()
            .filter(|s| s.is_right == is_right)
            .count()
            .max(1) as f64
    };
    let (right, wrong) = (count(true), count(false));
    let most = |at: usize| {
        samples
            .iter()
            .map(|s| s.signals[at].abs())
            .fold(1e-9, f64::max)
    };
    let scale: [f64; 4] = std::array::from_fn(most);
    let (mut weights, mut base) = ([0.0; 4], 0.0);
    for _ in 0..STEPS {
        let (mut slope, mut base_slope) = ([0.0; 4], 0.0);
        for sample in samples {
            let scaled: [f64; 4] = std::array::from_fn(|at| sample.signals[at] / scale[at]);
            let guess = 1.0 / (1.0 + (-(sum(&weights, &scaled) + base)).exp());
            let (target, share) = match sample.is_right {
                true => (1.0, 0.5 / right),
                false => (0.0, 0.5 / wrong),
            };
            for (slope, sign) in slope.iter_mut().zip(scaled) {
                *slope += share * (guess - target) * sign;
            }
            base_slope += share * (guess - target);
        }
        for (weight, slope) in weights.iter_mut().zip(slope) {
            *weight -= RATE * (slope + DRIFT * *weight);
        }
        base -= RATE * base_slope;
    }
    std::array::from_fn(|at| weights[at] / scale[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_separates_the_sides_weighs_and_the_others_do_not() {
        let sample = |n: usize, is_right: bool| CalibrationSample {
            signals: [
                if is_right { 0.8 } else { 0.2 },
                (n % 7) as f64 / 7.0,
                0.5,
                3.0,
            ],
            is_right,
        };
        let samples: Vec<CalibrationSample> = (0..70).map(|n| sample(n, n % 2 == 0)).collect();
        let weights = fit(&samples);
        assert!(weights[0] > 5.0, "{weights:?}");
        assert!(weights[1].abs() < 0.5, "{weights:?}");
    }
}
