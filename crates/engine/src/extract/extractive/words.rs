//! The content words of a sentence, and whether it names something concrete.
//!
//! A sentence that names something, or that has enough content words, can be understood next
//! month; one of "this", "it" and "again" cannot.
//!
//! Not here: cue words (`lexicon`).

use super::lexicon::Lexicon;

/// The words of `low` that carry meaning.
pub(super) fn content_words<'a>(low: &'a str, lexicon: &Lexicon) -> Vec<&'a str> {
    low.split(|c: char| !(c.is_alphanumeric() || "_-/.'".contains(c)))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| word.chars().count() > 1 && !lexicon.is_function_word(word))
        .filter(|word| !FILL.contains(word))
        .collect()
}

/// Words that occur in nearly every request, whatever its subject.
const FILL: [&str; 49] = [
    "please",
    "just",
    "also",
    "really",
    "maybe",
    "now",
    "again",
    "thing",
    "things",
    "something",
    "need",
    "want",
    "think",
    "like",
    "get",
    "got",
    "make",
    "see",
    "look",
    "know",
    "going",
    "go",
    "let's",
    "it's",
    "that's",
    "i'd",
    "i'm",
    "don't",
    "didn't",
    "me",
    "us",
    "him",
    "them",
    "some",
    "any",
    "all",
    "too",
    "very",
    "still",
    "bit",
    "much",
    "one",
    "ones",
    "which",
    "no",
    "not",
    "yes",
    "other",
    "won't",
];

/// Whether the sentence names something: code, a path, a flag, a number, a proper name.
pub(super) fn is_concrete(text: &str) -> bool {
    text.contains('`')
        || text
            .split_whitespace()
            .enumerate()
            .any(|(i, word)| is_name(word, i == 0))
}

fn is_name(word: &str, first: bool) -> bool {
    let word = word.trim_matches(|c: char| !(c.is_alphanumeric() || "-_/.()".contains(c)));
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let inner = word.trim_end_matches(['.', '?', '!', ',']);
    let camel = bare
        .chars()
        .zip(bare.chars().skip(1))
        .any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let shout =
        bare.chars().count() > 1 && bare.chars().all(|c| c.is_uppercase() || c.is_ascii_digit());
    let proper = !first && bare.chars().count() > 2 && bare.starts_with(char::is_uppercase);
    camel
        || shout
        || proper
        || inner.contains(['_', '/'])
        || inner.starts_with("--")
        || inner.ends_with("()")
        || inner.trim_start_matches('.').contains('.')
        || bare.chars().any(|c| c.is_ascii_digit())
}
