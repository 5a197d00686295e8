//! BM25 in its textbook form, over stemmed words without stop words: the baseline of a search engine.
//!
//! Uses recall's stemming, so that differences come from ranking and not from words.

use std::collections::HashMap;

use daybook_text::tokens::{TokenKind, for_each_token};

/// How soon more occurrences of a word stop counting.
const K1: f64 = 1.5;
/// How much long texts are discounted.
const B: f64 = 0.75;

/// Words that form a question without being its subject.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "been", "before", "being", "but", "by", "can", "could", "did", "do", "does", "doing", "during",
    "for", "from", "had", "has", "have", "having", "he", "her", "him", "his", "how", "i", "if",
    "in", "into", "is", "it", "its", "just", "many", "me", "might", "more", "most", "much", "my",
    "no", "not", "of", "on", "or", "our", "out", "over", "s", "she", "should", "so", "some",
    "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "to", "too", "up", "us", "was", "we", "were", "what", "when", "where", "which",
    "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

/// An inverted index of some texts.
pub(crate) struct Bm25 {
    /// For each stem, the texts that contain it, with the number of occurrences.
    postings: HashMap<String, Vec<(usize, u32)>>,
    /// Words of each text.
    lengths: Vec<u32>,
    average_length: f64,
}

impl Bm25 {
    pub(crate) fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut postings: HashMap<String, Vec<(usize, u32)>> = HashMap::new();
        let mut lengths = Vec::new();
        for (index, text) in texts.enumerate() {
            let stems = stems(text);
            lengths.push(stems.len() as u32);
            for stem in stems {
                let texts = postings.entry(stem).or_default();
                match texts.last_mut() {
                    Some((last, times)) if *last == index => *times += 1,
                    _ => texts.push((index, 1)),
                }
            }
        }
        let words: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
        let average_length = words as f64 / lengths.len().max(1) as f64;
        Self {
            postings,
            lengths,
            average_length,
        }
    }

    /// The score of each text; 0 where no word of the question occurs.
    pub(crate) fn scores(&self, question: &str) -> Vec<f64> {
        let mut scores = vec![0.0; self.lengths.len()];
        let mut stems = stems(question);
        stems.sort();
        stems.dedup();
        for stem in stems {
            let texts = self.postings.get(&stem).map_or(&[][..], |texts| texts);
            let (all, with) = (self.lengths.len() as f64, texts.len() as f64);
            let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
            for (index, times) in texts {
                let length = f64::from(self.lengths[*index]) / self.average_length;
                let times = f64::from(*times);
                let saturated = times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length));
                scores[*index] += rarity * saturated;
            }
        }
        scores
    }
}

/// The stems of a text's words without stop words.
pub(crate) fn stems(text: &str) -> Vec<String> {
    words(text).into_iter().map(|(_, stem)| stem).collect()
}

/// The words of a text without stop words, lower case and not stemmed.
pub(crate) fn content_words(text: &str) -> Vec<String> {
    words(text).into_iter().map(|(word, _)| word).collect()
}

fn words(text: &str) -> Vec<(String, String)> {
    let mut words = Vec::new();
    for_each_token(text, |token| {
        // The parts of a name stand for it; its whole would count it twice.
        let is_word = !matches!(token.kind, TokenKind::Whole { divided: true });
        if is_word && STOP_WORDS.binary_search(&token.surface).is_err() {
            words.push((token.surface.to_owned(), token.text.to_owned()));
        }
    });
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_in_order() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn scores_are_those_of_the_formula() {
        let texts = ["the tide turns", "tide tables of the harbour", "bread"];
        let scores = Bm25::new(texts.into_iter()).scores("When do tides turn?");
        // Lengths 2, 3 and 1, on average 2. `tide` is in two of three texts, `turn` in one.
        let (tide, turn) = (1.6_f64.ln(), (1.0_f64 + 2.5 / 1.5).ln());
        let (first, second) = (tide + turn, tide * 2.5 / (1.0 + 1.5 * (0.25 + 0.75 * 1.5)));
        let expected = [first, second, 0.0];
        for (score, expected) in scores.iter().zip(expected) {
            assert!((score - expected).abs() < 1e-12, "{scores:?}");
        }
    }
}
