//! Learns what a sentence that is worth keeping looks like, from the messages to tune on.
//!
//! A logistic regression, trained over all examples at once and without chance. Sentences worth keeping and others count
//! the same in total, however many there are of each.
//!
//! Not here: the features (`worth`), and from which weight on a sentence is kept (the extractor's rules).

use daybook_engine::extract::extractive::worth::{BUCKETS, WorthWeights, judged_sentences};

use super::cases::StatementCases;
use crate::dataset::Split;

const STEPS: usize = 1_500;
const RATE: f32 = 2.0;
/// Share of a step that the next one takes over.
const MOMENTUM: f32 = 0.9;
/// How strongly weights are drawn to 0.
const DECAY: f32 = 2e-4;

/// Parts that the messages to tune on are cut into, to judge each by what the others teach.
const FOLDS: usize = 5;

/// A sentence to learn from.
struct Example {
    features: Vec<u32>,
    is_worth: bool,
    /// The number of its message.
    message: usize,
}

/// What a least worth would keep of sentences that the weights were not learned from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorthShare {
    /// The least worth.
    pub least: f32,
    /// Share of the sentences worth keeping that are kept.
    pub kept: f64,
    /// Share of the others that are left out.
    pub left_out: f64,
}

/// Learns the weights from the messages to tune on.
#[must_use]
pub fn learn_worth(cases: &StatementCases) -> WorthWeights {
    let examples = examples(cases);
    learn(&examples.iter().collect::<Vec<_>>())
}

/// What each of the least worths would keep, of the messages to tune on: a fifth is judged by what the others teach, in turn.
#[must_use]
pub fn worth_shares(cases: &StatementCases, leasts: &[f32]) -> Vec<WorthShare> {
    let examples = examples(cases);
    let mut judged: Vec<(f32, bool)> = Vec::new();
    for fold in 0..FOLDS {
        let is_held_out = |example: &&Example| example.message % FOLDS == fold;
        let (held_out, others): (Vec<&Example>, Vec<&Example>) =
            examples.iter().partition(is_held_out);
        let learned = learn(&others);
        judged.extend(
            held_out
                .iter()
                .map(|it| (learned.weigh(&it.features), it.is_worth)),
        );
    }
    let share = |least: f32, is_worth: bool| {
        let alike: Vec<f32> = judged
            .iter()
            .filter(|it| it.1 == is_worth)
            .map(|it| it.0)
            .collect();
        alike
            .iter()
            .filter(|worth| (**worth >= least) == is_worth)
            .count() as f64
            / alike.len() as f64
    };
    let shares = leasts.iter().map(|least| WorthShare {
        least: *least,
        kept: share(*least, true),
        left_out: share(*least, false),
    });
    shares.collect()
}

fn learn(examples: &[&Example]) -> WorthWeights {
    let worth = examples.iter().filter(|example| example.is_worth).count();
    let share = |is_worth: bool| {
        let alike = if is_worth {
            worth
        } else {
            examples.len() - worth
        };
        0.5 / alike.max(1) as f32
    };
    let (of_worth, of_others) = (share(true), share(false));
    let (mut bias, mut weights) = (0.0_f32, vec![0.0_f32; BUCKETS]);
    let (mut bias_speed, mut speeds) = (0.0_f32, vec![0.0_f32; BUCKETS]);
    for _ in 0..STEPS {
        let mut bias_slope = 0.0;
        let mut slopes: Vec<f32> = weights.iter().map(|weight| DECAY * weight).collect();
        for example in examples {
            let sum: f32 = example
                .features
                .iter()
                .map(|at| weights[*at as usize])
                .sum();
            let likely = 1.0 / (1.0 + (-(bias + sum)).exp());
            let slope = match example.is_worth {
                true => of_worth * (likely - 1.0),
                false => of_others * likely,
            };
            bias_slope += slope;
            for at in &example.features {
                slopes[*at as usize] += slope;
            }
        }
        bias_speed = MOMENTUM * bias_speed - RATE * bias_slope;
        bias += bias_speed;
        for ((weight, speed), slope) in weights.iter_mut().zip(&mut speeds).zip(slopes) {
            *speed = MOMENTUM * *speed - RATE * slope;
            *weight += *speed;
        }
    }
    WorthWeights::rounded(bias, &weights)
}

/// The sentences that hold words to keep, and those of messages that have none. Of a message with both, the sentences
/// without words to keep may explain the others, and teach nothing.
fn examples(cases: &StatementCases) -> Vec<Example> {
    let tuned = cases
        .statements
        .iter()
        .filter(|case| case.split == Split::Tune);
    let examples = tuned.enumerate().flat_map(|(message, case)| {
        let kept: Vec<String> = case.keep.iter().map(|words| words.to_lowercase()).collect();
        judged_sentences(&case.text)
            .into_iter()
            .filter_map(move |sentence| {
                let is_worth = kept.iter().any(|words| sentence.low.contains(words));
                (is_worth || kept.is_empty()).then_some(Example {
                    features: sentence.features,
                    is_worth,
                    message,
                })
            })
    });
    examples.collect()
}
