//! Learns what a sentence that is worth keeping looks like, from the messages to tune on.
//!
//! A logistic regression, trained over all examples at once and without chance. Sentences worth keeping and others count
//! the same in total, however many there are of each.
//!
//! Not here: the features (`worth`), and from which weight on a sentence is kept (the extractor's rules).

use daybook_engine::extract::extractive::worth::{
    BUCKETS, JudgedSentence, WorthWeights, judged_sentences,
};

use super::cases::StatementCases;
use crate::dataset::Split;

const STEPS: usize = 1_500;
const RATE: f32 = 2.0;
/// Share of a step that the next one takes over.
const MOMENTUM: f32 = 0.9;
/// How strongly weights are drawn to 0.
const DECAY: f32 = 2e-4;
/// How long a sentence's vector is beside its features, each of which counts as one.
const VECTOR: f32 = 3.0;

/// Parts that the messages to tune on are cut into, to judge each by what the others teach.
const FOLDS: usize = 5;

/// A sentence to learn from.
struct Example {
    sentence: JudgedSentence,
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
                .map(|it| (learned.weigh(&it.sentence), it.is_worth)),
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
    let directions = examples.first().map_or(0, |it| it.sentence.vector.len());
    let (mut bias, mut bias_speed) = (0.0_f32, 0.0_f32);
    let mut of_features = MovingWeights::new(BUCKETS);
    let mut of_vector = MovingWeights::new(directions);
    for _ in 0..STEPS {
        let mut bias_slope = 0.0;
        let mut feature_slopes = of_features.decay();
        let mut vector_slopes = of_vector.decay();
        for example in examples {
            let JudgedSentence {
                features, vector, ..
            } = &example.sentence;
            let weights = features.iter().map(|at| of_features.weights[*at as usize]);
            let along = vector.iter().zip(&of_vector.weights);
            let along: f32 = along.map(|(part, weight)| part * weight).sum();
            let sum = bias + weights.sum::<f32>() + VECTOR * along;
            let likely = 1.0 / (1.0 + (-sum).exp());
            let slope = match example.is_worth {
                true => of_worth * (likely - 1.0),
                false => of_others * likely,
            };
            bias_slope += slope;
            for at in features {
                feature_slopes[*at as usize] += slope;
            }
            for (of_direction, part) in vector_slopes.iter_mut().zip(vector) {
                *of_direction += VECTOR * slope * part;
            }
        }
        bias_speed = MOMENTUM * bias_speed - RATE * bias_slope;
        bias += bias_speed;
        of_features.go_down(&feature_slopes);
        of_vector.go_down(&vector_slopes);
    }
    let of_vector: Vec<f32> = of_vector.weights.iter().map(|it| VECTOR * it).collect();
    WorthWeights::rounded(bias, &of_features.weights, &of_vector)
}

/// Weights with the steps that they take.
struct MovingWeights {
    weights: Vec<f32>,
    speeds: Vec<f32>,
}

impl MovingWeights {
    fn new(many: usize) -> Self {
        Self {
            weights: vec![0.0; many],
            speeds: vec![0.0; many],
        }
    }

    /// What draws each weight to 0.
    fn decay(&self) -> Vec<f32> {
        self.weights.iter().map(|weight| DECAY * weight).collect()
    }

    fn go_down(&mut self, slopes: &[f32]) {
        let weights = self.weights.iter_mut().zip(&mut self.speeds);
        for ((weight, speed), slope) in weights.zip(slopes) {
            *speed = MOMENTUM * *speed - RATE * slope;
            *weight += *speed;
        }
    }
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
                    sentence,
                    is_worth,
                    message,
                })
            })
    });
    examples.collect()
}
