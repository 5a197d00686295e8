//! Exact counts, a word at a time.
//!
//! A vocabulary cuts text into words first, and words repeat: what each is worth is kept, so that a text
//! costs little more than being cut.
//!
//! Not here: which vocabulary a model has.

use std::cell::RefCell;
use std::collections::HashMap;

use bpe_openai::Tokenizer;

/// Words that are kept for each vocabulary and thread; with more, all are forgotten: 2 MB at the most.
const KEPT: usize = 16_384;
/// Longer ones are not kept, for they hardly come again.
const LONGEST: usize = 32;

/// What words are worth in one vocabulary.
#[derive(Default)]
pub(super) struct Words(RefCell<HashMap<Box<str>, usize>>);

impl Words {
    pub(super) fn count(&self, tokenizer: &Tokenizer, text: &str) -> usize {
        let text = tokenizer.normalize(text);
        let mut known = self.0.borrow_mut();
        let mut worth = |word: &str| {
            if let Some(&tokens) = known.get(word) {
                return tokens;
            }
            let tokens = tokenizer.bpe.count(word.as_bytes());
            if word.len() <= LONGEST {
                if known.len() >= KEPT {
                    known.clear();
                }
                known.insert(word.into(), tokens);
            }
            tokens
        };
        tokenizer.split(text.as_str()).map(&mut worth).sum()
    }
}
