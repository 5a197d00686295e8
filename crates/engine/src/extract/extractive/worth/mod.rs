//! How much a sentence looks like one that is worth keeping, by weights learned from labelled messages.
//!
//! Most lasting statements have no word that announces them, and lists of verbs hold only the verbs that their writer
//! thought of. The weights are those of a logistic regression over a sentence's words, their pairs, endings and places, the
//! kinds of cues in it, and its vector by the built-in model: a word that no labelled message has lies near one that some
//! have. `cargo run --release -p daybook-eval --example worth` learns them from the messages to tune on of
//! `evaluation/statements.toml`, `messages.toml` and `personal.toml`. What is worth keeping where an agent works is
//! something else than where people talk of themselves: each has weights of its own.
//!
//! Not here: rules by cue words, which come first (`classify`); learning (`daybook-eval`).

mod features;

use std::io::{Read, Write};
use std::sync::LazyLock;

use daybook_embed::StaticModel;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::clauses::judged_words;
use super::lexicon::{Lexicon, lexicon_of};
use super::sentences::sentences;

pub use features::BUCKETS;
use features::features;

/// Bytes of a number in a file of weights.
const NUMBER: usize = 4;
/// Bytes that no file of weights has.
const LARGEST: u64 = 2 * BUCKETS as u64;
/// Most words of a verdict before what it corrects.
const VERDICT: usize = 3;

/// A bias, a weight for each feature, and one for each direction of the built-in model's vectors, whose id a file names.
#[derive(Debug, Clone, PartialEq)]
pub struct WorthWeights {
    bias: f32,
    of_features: Steps,
    of_vector: Steps,
}

/// Weights in whole steps.
#[derive(Debug, Clone, PartialEq)]
struct Steps {
    step: f32,
    weights: Vec<i8>,
}

impl Steps {
    /// Weights rounded to steps, of which the largest has 127.
    fn rounded(weights: &[f32]) -> Self {
        let most = weights.iter().fold(0.0_f32, |most, w| most.max(w.abs()));
        let step = most.max(f32::MIN_POSITIVE) / 127.0;
        let weights = weights.iter().map(|weight| (weight / step).round() as i8);
        Self {
            step,
            weights: weights.collect(),
        }
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.step.to_le_bytes());
        bytes.extend(self.weights.iter().map(|weight| weight.cast_unsigned()));
    }

    /// So many weights, and the bytes after them.
    fn decode(bytes: &[u8], many: usize) -> Option<(Self, &[u8])> {
        let (step, rest) = number(bytes)?;
        let (weights, rest) = rest.split_at_checked(many)?;
        let weights = weights.iter().map(|byte| byte.cast_signed()).collect();
        Some((Self { step, weights }, rest))
    }
}

/// The number that bytes begin with, and the bytes after it.
fn number(bytes: &[u8]) -> Option<(f32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<NUMBER>()?;
    Some((f32::from_le_bytes(*number), rest))
}

static OF_WORK: LazyLock<WorthWeights> = LazyLock::new(|| decoded(include_bytes!("work.bin")));
static OF_CHAT: LazyLock<WorthWeights> = LazyLock::new(|| decoded(include_bytes!("chat.bin")));

fn decoded(bytes: &[u8]) -> WorthWeights {
    WorthWeights::decode(bytes).expect("the weights inside the binary are whole")
}

/// What a conversation is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversationKind {
    /// An agent works, in a folder or with tools.
    Work,
    /// People talk, also with an assistant.
    Chat,
}

impl ConversationKind {
    fn weights(self) -> &'static WorthWeights {
        match self {
            Self::Work => &OF_WORK,
            Self::Chat => &OF_CHAT,
        }
    }

    /// The logarithm of the odds that a sentence is worth keeping; `low` is in lower case, without one-time requests.
    pub(super) fn worth(self, low: &str, lexicon: &Lexicon) -> f32 {
        self.weights().weigh(&JudgedSentence::of(low, lexicon))
    }
}

impl WorthWeights {
    /// Weights of features and of the vector, rounded to steps, of which the largest of each has 127.
    #[must_use]
    pub fn rounded(bias: f32, of_features: &[f32], of_vector: &[f32]) -> Self {
        Self {
            bias,
            of_features: Steps::rounded(of_features),
            of_vector: Steps::rounded(of_vector),
        }
    }

    /// The weights as a file holds them: compressed, because most of them are small.
    ///
    /// # Errors
    /// When they cannot be compressed.
    pub fn encode(&self) -> std::io::Result<Vec<u8>> {
        let mut bytes = self.bias.to_le_bytes().to_vec();
        self.of_features.encode(&mut bytes);
        self.of_vector.encode(&mut bytes);
        bytes.extend(StaticModel::built_in().id().bytes());
        let mut compressed = ZlibEncoder::new(Vec::new(), Compression::best());
        compressed.write_all(&bytes)?;
        compressed.finish()
    }

    /// The weights of a file; `None` if it is damaged, or made for vectors of another model than the built-in one.
    #[must_use]
    pub fn decode(compressed: &[u8]) -> Option<Self> {
        let mut bytes = Vec::new();
        let mut inflated = ZlibDecoder::new(compressed).take(LARGEST);
        inflated.read_to_end(&mut bytes).ok()?;
        let model = StaticModel::built_in();
        let (bias, rest) = number(&bytes)?;
        let (of_features, rest) = Steps::decode(rest, BUCKETS)?;
        let (of_vector, rest) = Steps::decode(rest, model.dimensions())?;
        (rest == model.id().as_bytes()).then_some(Self {
            bias,
            of_features,
            of_vector,
        })
    }

    /// The logarithm of the odds that a sentence is worth keeping.
    #[must_use]
    pub fn weigh(&self, sentence: &JudgedSentence) -> f32 {
        let weights = sentence.features.iter();
        let weights = weights.filter_map(|feature| self.of_features.weights.get(*feature as usize));
        let steps: i32 = weights.map(|weight| i32::from(*weight)).sum();
        let parts = sentence.vector.iter().zip(&self.of_vector.weights);
        let along: f32 = parts.map(|(part, weight)| part * f32::from(*weight)).sum();
        self.bias + self.of_features.step * steps as f32 + self.of_vector.step * along
    }
}

/// The greatest worth of a message's sentences, or of what follows the introduction of one; `None` if all of them ask, or
/// in an unsupported language.
#[must_use]
pub fn worth_of_message(message: &str, conversation: ConversationKind) -> Option<f32> {
    let (judged, lexicon) = judged_words_of(message)?;
    let whole = judged.iter().map(String::as_str);
    let parts = whole.flat_map(|low| [Some(low), after_introduction(low)]);
    parts
        .flatten()
        .map(|low| conversation.worth(low, lexicon))
        .reduce(f32::max)
}

/// What follows an introduction: "the key must …" of "that's wrong, the key must …" and of "I looked at it: the key must …".
pub(super) fn after_introduction(low: &str) -> Option<&str> {
    let verdict = low
        .split_once(", ")
        .filter(|(it, _)| it.split(' ').count() <= VERDICT);
    verdict
        .or_else(|| low.split_once(": "))
        .map(|(_, rest)| rest)
}

/// A sentence of a message, as its worth is judged.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedSentence {
    /// In lower case, without one-time requests.
    pub low: String,
    /// Its features, ascending.
    pub features: Vec<u32>,
    /// Its vector by the built-in model.
    pub vector: Vec<f32>,
}

impl JudgedSentence {
    /// A sentence in lower case, without one-time requests.
    fn of(low: &str, lexicon: &Lexicon) -> Self {
        Self {
            features: features(low, lexicon),
            vector: StaticModel::built_in().embed(low),
            low: low.to_owned(),
        }
    }
}

/// The sentences of a message whose worth is judged: no questions. None of a message in an unsupported language.
#[must_use]
pub fn judged_sentences(message: &str) -> Vec<JudgedSentence> {
    let Some((judged, lexicon)) = judged_words_of(message) else {
        return Vec::new();
    };
    let judged = judged.iter().map(|low| JudgedSentence::of(low, lexicon));
    judged.collect()
}

/// The words of a message's sentences that ask nothing, as they are judged, and the lexicon of its language.
fn judged_words_of(message: &str) -> Option<(Vec<String>, &'static Lexicon)> {
    let plain: Vec<String> = sentences(message, None)
        .into_iter()
        .map(|sentence| sentence.low)
        .collect();
    let lexicon = lexicon_of(&plain.join(" "))?;
    let judged = sentences(message, Some(lexicon))
        .iter()
        .filter(|sentence| !sentence.is_question())
        .map(|sentence| judged_words(&sentence.text, lexicon))
        .collect();
    Some((judged, lexicon))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_survive_their_file_within_half_a_step() {
        let mut weights = vec![0.0; BUCKETS];
        weights[7] = 1.27;
        weights[9] = -0.5;
        let mut of_vector = vec![0.0; StaticModel::built_in().dimensions()];
        of_vector[1] = 2.54;
        let rounded = WorthWeights::rounded(-0.25, &weights, &of_vector);
        let file = rounded.encode().expect("they can be compressed");
        assert_eq!(WorthWeights::decode(&file), Some(rounded.clone()));
        let sentence = JudgedSentence {
            low: String::new(),
            features: vec![7, 9],
            vector: vec![1.0, 0.5],
        };
        assert!((rounded.weigh(&sentence) - (1.27 - 0.5 + 1.27 - 0.25)).abs() < 0.01);
        assert_eq!(WorthWeights::decode(&file[1..]), None);
        assert_eq!(WorthWeights::decode(&file[..file.len() / 2]), None);
    }

    #[test]
    fn a_message_is_judged_by_its_sentences_without_requests_and_questions() {
        let low = |message: &str| -> Vec<String> {
            let judged = judged_sentences(message);
            judged.into_iter().map(|sentence| sentence.low).collect()
        };
        assert_eq!(
            low("Card payments go through the gateway. Can you look why the hook fails?"),
            ["card payments go through the gateway."]
        );
        assert_eq!(low("前端用vue写。后端呢？"), ["前端用vue写。"]);
        assert!(low("テストを先に書いてください").is_empty());
    }
}
