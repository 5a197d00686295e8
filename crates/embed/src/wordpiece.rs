//! From words to tokens: the longest token of the vocabulary first, then the longest that
//! continues it, and so on. A word of which any part is unknown has no tokens.

use crate::file::{ModelVocabulary, Prefixes};
use crate::normalise::for_each_word;

/// Longer words are unknown, as in the tokenizer that the vocabulary belongs to.
const LONGEST_WORD: usize = 100;

/// A vocabulary of tokens that begin words and tokens that continue them.
pub(crate) trait Tokens {
    /// The longest token that `rest` begins with, and its length in bytes.
    fn longest(&self, rest: &str, is_continuation: bool) -> Option<(usize, usize)>;

    /// The token of an unknown word; `None` where such words are left out.
    fn unknown(&self) -> Option<usize> {
        None
    }
}

impl Tokens for ModelVocabulary<'_> {
    fn longest(&self, rest: &str, is_continuation: bool) -> Option<(usize, usize)> {
        let bounded = &rest.as_bytes()[..rest.len().min(ModelVocabulary::longest(self))];
        let prefixes = Prefixes::new(bounded, is_continuation);
        (1..=bounded.len())
            .rev()
            .filter(|len| rest.is_char_boundary(*len))
            .find_map(|len| Some((self.find(&prefixes, len)?, len)))
    }
}

/// Shows the tokens of `text` in order. An unknown word gives [`Tokens::unknown`].
pub(crate) fn for_each_token(vocabulary: &impl Tokens, text: &str, mut see: impl FnMut(usize)) {
    let mut word = String::with_capacity(32);
    let mut pieces = Vec::with_capacity(8);
    for_each_word(text, &mut word, |word| {
        pieces.clear();
        if split(vocabulary, word, &mut pieces) {
            pieces.iter().copied().for_each(&mut see);
        } else if let Some(unknown) = vocabulary.unknown() {
            see(unknown);
        }
    });
}

/// The tokens of one word; false if a part of it is unknown.
fn split(vocabulary: &impl Tokens, word: &str, pieces: &mut Vec<usize>) -> bool {
    if word.len() > LONGEST_WORD && word.chars().count() > LONGEST_WORD {
        return false;
    }
    let mut rest = word;
    while !rest.is_empty() {
        let is_continuation = rest.len() < word.len();
        let Some((token, len)) = vocabulary.longest(rest, is_continuation) else {
            return false;
        };
        pieces.push(token);
        rest = &rest[len..];
    }
    true
}

#[cfg(test)]
#[path = "wordpiece_tests.rs"]
mod tests;
