//! How much a sentence looks like one that is worth keeping, by weights learned from labelled messages.
//!
//! Most lasting statements have no word that announces them, and lists of verbs hold only the verbs that their writer
//! thought of. The weights are those of a logistic regression over a sentence's words, their pairs, endings and places,
//! and the kinds of cues in it; `cargo run --release -p daybook-eval --example worth` learns them from the halves of
//! `evaluation/statements.toml` and `evaluation/personal.toml` to tune on. What is worth keeping where an agent works is
//! something else than where people talk of themselves: each has weights of its own.
//!
//! Not here: rules by cue words, which come first (`classify`); learning (`daybook-eval`).

mod features;

use std::io::{Read, Write};
use std::sync::LazyLock;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::clauses::judged_words;
use super::lexicon::{Lexicon, lexicon_of};
use super::sentences::sentences;

pub use features::BUCKETS;
use features::features;

/// Bytes before the weights of a file: bias and step.
const HEADER: usize = 8;
/// Most words of a verdict before what it corrects.
const VERDICT: usize = 3;

/// A bias, and a weight for each feature, in whole steps.
#[derive(Debug, Clone, PartialEq)]
pub struct WorthWeights {
    bias: f32,
    step: f32,
    weights: Vec<i8>,
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
        self.weights().weigh(&features(low, lexicon))
    }
}

impl WorthWeights {
    /// Weights rounded to steps, of which the largest has 127.
    #[must_use]
    pub fn rounded(bias: f32, weights: &[f32]) -> Self {
        let most = weights.iter().fold(0.0_f32, |most, w| most.max(w.abs()));
        let step = most.max(f32::MIN_POSITIVE) / 127.0;
        let weights = weights.iter().map(|weight| (weight / step).round() as i8);
        Self {
            bias,
            step,
            weights: weights.collect(),
        }
    }

    /// The weights as a file holds them: compressed, because most of them are small.
    ///
    /// # Errors
    /// When they cannot be compressed.
    pub fn encode(&self) -> std::io::Result<Vec<u8>> {
        let mut bytes = ZlibEncoder::new(Vec::new(), Compression::best());
        bytes.write_all(&self.bias.to_le_bytes())?;
        bytes.write_all(&self.step.to_le_bytes())?;
        let weights = self.weights.iter().map(|weight| weight.to_le_bytes()[0]);
        bytes.write_all(&weights.collect::<Vec<u8>>())?;
        bytes.finish()
    }

    /// The weights of a file; `None` if it is damaged, or of another size.
    #[must_use]
    pub fn decode(compressed: &[u8]) -> Option<Self> {
        let mut bytes = Vec::with_capacity(HEADER + BUCKETS);
        let mut inflated = ZlibDecoder::new(compressed).take((HEADER + BUCKETS + 1) as u64);
        inflated.read_to_end(&mut bytes).ok()?;
        let (header, weights) = bytes.split_at_checked(HEADER)?;
        let number = |at: usize| Some(f32::from_le_bytes(header.get(at..at + 4)?.try_into().ok()?));
        (weights.len() == BUCKETS).then_some(Self {
            bias: number(0)?,
            step: number(4)?,
            weights: weights.iter().map(|byte| byte.cast_signed()).collect(),
        })
    }

    /// The logarithm of the odds that a sentence with these features is worth keeping.
    #[must_use]
    pub fn weigh(&self, features: &[u32]) -> f32 {
        let steps: i32 = features
            .iter()
            .filter_map(|feature| self.weights.get(*feature as usize))
            .map(|weight| i32::from(*weight))
            .sum();
        self.bias + self.step * steps as f32
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedSentence {
    /// In lower case, without one-time requests.
    pub low: String,
    /// Its features, ascending.
    pub features: Vec<u32>,
}

/// The sentences of a message whose worth is judged: no questions. None of a message in an unsupported language.
#[must_use]
pub fn judged_sentences(message: &str) -> Vec<JudgedSentence> {
    let Some((judged, lexicon)) = judged_words_of(message) else {
        return Vec::new();
    };
    let judged = judged.into_iter().map(|low| JudgedSentence {
        features: features(&low, lexicon),
        low,
    });
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
        let rounded = WorthWeights::rounded(-0.25, &weights);
        let file = rounded.encode().expect("they can be compressed");
        assert_eq!(WorthWeights::decode(&file), Some(rounded.clone()));
        assert!((rounded.weigh(&[7, 9]) - (1.27 - 0.5 - 0.25)).abs() < 0.01);
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
