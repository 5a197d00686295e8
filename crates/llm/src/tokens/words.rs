//! Exact counts, a word at a time.
//!
//! A vocabulary cuts text into words first, and words repeat: what each is worth is kept, so that a text
//! costs little more than being cut. Ranks and patterns are made at the first count, once for all threads.
//!
//! Not here: which vocabulary a model has.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read as _;
use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use ruzstd::decoding::StreamingDecoder;

use super::ranks::TokenRanks;

/// Words that are kept for each vocabulary and thread; with more, all are forgotten: 2 MB at the most.
const KEPT: usize = 16_384;
/// Longer ones are not kept, for they hardly come again.
const LONGEST: usize = 32;

static O200K: LazyLock<WordTokenizer> = LazyLock::new(|| {
    // Capitals begin a word of their own, and a contraction ends one.
    let starts = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]";
    let goes_on = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]";
    let before = r"[^\r\n\p{L}\p{N}]?";
    let contraction = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
    let word = format!(
        r"{before}{starts}*{goes_on}+{contraction}|{before}{starts}+{goes_on}*{contraction}|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*"
    );
    WordTokenizer::new(include_bytes!("../../data/o200k.tokens.zst"), &word)
});

static CL100K: LazyLock<WordTokenizer> = LazyLock::new(|| {
    let word = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*";
    WordTokenizer::new(include_bytes!("../../data/cl100k.tokens.zst"), word)
});

thread_local! {
    static O200K_WORDS: WordCountCache = WordCountCache::default();
    static CL100K_WORDS: WordCountCache = WordCountCache::default();
}

/// How many tokens `text` is in the vocabulary `o200k`.
pub(super) fn count_o200k(text: &str) -> usize {
    O200K_WORDS.with(|words| words.count(&O200K, text))
}

/// How many tokens `text` is in the vocabulary `cl100k`.
pub(super) fn count_cl100k(text: &str) -> usize {
    CL100K_WORDS.with(|words| words.count(&CL100K, text))
}

/// One vocabulary.
struct WordTokenizer {
    ranks: TokenRanks,
    patterns: Regex,
}

/// Which of the patterns matched one character more than the word has.
const LOOKS_AHEAD: usize = 1;

impl WordTokenizer {
    /// Made once for each vocabulary and kept to the end, and so are its tokens.
    fn new(compressed: &[u8], word: &str) -> Self {
        // Blanks leave the last of them to the word that follows; the engine knows no look-ahead, so that
        // pattern takes the last one as well, and `split_word` gives it back.
        let lines_and_end = format!(r"{word}|\s*[\r\n]+|\s+$");
        let patterns = Regex::new_many(&[&lines_and_end, r"\s+\s", r"\s"]);
        Self {
            ranks: TokenRanks::parse(unpacked(compressed).leak()),
            patterns: patterns.expect("the patterns are constants that a test compiles"),
        }
    }

    /// The first word of `text`, and the rest.
    fn split_word<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let found = self
            .patterns
            .find(Input::new(text).anchored(Anchored::Yes))?;
        let mut word = &text[..found.end()];
        if found.pattern().as_usize() == LOOKS_AHEAD {
            let last = word.chars().next_back()?;
            word = &word[..word.len() - last.len_utf8()];
        }
        Some((word, &text[word.len()..]))
    }
}

/// A list of tokens, from a file of this crate.
fn unpacked(compressed: &[u8]) -> Vec<u8> {
    let mut tokens = Vec::new();
    let decoder = StreamingDecoder::new(compressed);
    decoder
        .ok()
        .and_then(|mut decoder| decoder.read_to_end(&mut tokens).ok())
        .expect("the files are constants that a test reads");
    tokens
}

/// What words are worth in one vocabulary.
#[derive(Default)]
struct WordCountCache(RefCell<HashMap<Box<str>, usize>>);

impl WordCountCache {
    fn count(&self, tokenizer: &WordTokenizer, text: &str) -> usize {
        let mut known = self.0.borrow_mut();
        let mut tokens = 0;
        let mut rest = text;
        while let Some((word, after)) = tokenizer.split_word(rest) {
            rest = after;
            if let Some(&worth) = known.get(word) {
                tokens += worth;
                continue;
            }
            let worth = tokenizer.ranks.count(word.as_bytes());
            tokens += worth;
            if word.len() <= LONGEST {
                if known.len() >= KEPT {
                    known.clear();
                }
                known.insert(word.into(), worth);
            }
        }
        tokens
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folder() -> std::path::PathBuf {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
    }

    /// The committed files and what belongs into them.
    fn vocabularies() -> [(&'static str, Vec<u8>); 2] {
        let list = |tokenizer: &bpe_openai::Tokenizer| {
            let ranks = 0..u32::try_from(tokenizer.bpe.num_tokens()).unwrap();
            let tokens = || ranks.clone().map(|rank| tokenizer.bpe.token_bytes(rank));
            let lengths = tokens().map(|token| u8::try_from(token.len()).unwrap());
            // Lengths and bytes are compressed better apart from each other.
            let mut list: Vec<u8> = lengths.chain([0]).collect();
            list.extend(tokens().flatten());
            list
        };
        [
            ("o200k.tokens", list(bpe_openai::o200k_base())),
            ("cl100k.tokens", list(bpe_openai::cl100k_base())),
        ]
    }

    /// Run by hand when the format changes: `cargo test -p daybook-llm vocabularies -- --ignored`, and then
    /// `zstd -19 --rm` on both files.
    #[test]
    #[ignore = "writes the files that the other test reads"]
    fn write_vocabularies() {
        for (name, list) in vocabularies() {
            std::fs::write(folder().join(name), list).unwrap();
        }
    }

    #[test]
    fn the_committed_vocabularies_are_those_of_another_implementation() {
        for (name, list) in vocabularies() {
            let file = std::fs::read(folder().join(format!("{name}.zst"))).unwrap();
            assert!(unpacked(&file) == list, "{name}");
        }
    }

    /// Both vocabularies count `text` as the other implementation does.
    #[track_caller]
    fn check(text: &str) {
        let o200k = bpe_openai::o200k_base().count(text);
        assert_eq!(count_o200k(text), o200k, "o200k: {text:?}");
        let cl100k = bpe_openai::cl100k_base().count(text);
        assert_eq!(count_cl100k(text), cl100k, "cl100k: {text:?}");
    }

    #[test]
    fn a_count_is_exact_whatever_was_counted_before() {
        for number in 0..20_000 {
            check(&format!("word{number} once, word{number} twice\n"));
        }
    }

    #[test]
    fn blanks_are_cut_as_in_the_vocabulary() {
        for blanks in [
            " ",
            "  ",
            "\t\t",
            " \n",
            "\n ",
            "\r\n\r\n",
            " \u{a0}\u{3000}",
        ] {
            check(blanks);
            check(&format!("{blanks}begins"));
            check(&format!("ends{blanks}"));
            check(&format!("a{blanks}b{blanks}{blanks}. {blanks}7{blanks}'s"));
        }
    }

    #[test]
    fn a_word_may_be_long() {
        check(&"a".repeat(20_000));
        check(&"ab".repeat(9_999));
        check(&"=-".repeat(9_999));
        check(&"記憶を保つ".repeat(2_000));
    }

    #[test]
    fn this_source_is_counted_exactly() {
        for source in [include_str!("words.rs"), include_str!("../tokens.rs")] {
            source.lines().for_each(check);
            check(source);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_counted_exactly(text in r"(\PC|\s|[A-Za-z0-9 ']{1,12}){0,60}") {
            check(&text);
        }

        #[test]
        fn any_run_of_letters_is_counted_exactly(text in r"[a-e]{1,300}|[\p{Han}]{1,100}|[A-Za-z]{1,200}") {
            check(&text);
        }
    }
}
