//! The features of a sentence, as numbers of weights.
//!
//! Each is hashed to one of [`BUCKETS`] weights; features that share a weight do little harm among so many.
//!
//! Not here: the weights (`super`).

use super::super::han::is_han;
use super::super::lexicon::{Cue, Lexicon};

/// Number of weights.
pub const BUCKETS: usize = 1 << 15;

/// Words at a sentence's start that count with their place.
const OPENING: usize = 3;
/// Letters of a word's ending.
const ENDING: usize = 3;
/// Sentence lengths, in words, at which another feature begins.
const LENGTHS: [usize; 6] = [3, 5, 8, 12, 18, 26];

/// Marks of code words, which tasks and remarks on code are full of.
const CODE: [&str; 6] = ["`", "()", "::", "/", "_", " --"];

/// Kinds of cues that bear on whether a sentence is worth keeping.
const CUES: [Cue; 18] = [
    Cue::Correction,
    Cue::Preference,
    Cue::General,
    Cue::NotStanding,
    Cue::Decision,
    Cue::NotDecision,
    Cue::Fact,
    Cue::States,
    Cue::NotFact,
    Cue::Later,
    Cue::Momentary,
    Cue::Request,
    Cue::Asks,
    Cue::Trouble,
    Cue::Complaint,
    Cue::Pointer,
    Cue::Order,
    Cue::Lasting,
];

/// The features of a sentence in lower case, ascending, each once.
pub(super) fn features(low: &str, lexicon: &Lexicon) -> Vec<u32> {
    let words = words(low);
    let mut found = Vec::new();
    let mut add = |kind: &str, text: &str| found.push(bucket(kind, text));
    for (i, word) in words.iter().enumerate() {
        add("word", word);
        if i < OPENING {
            add(["first", "second", "third"][i], word);
        }
        if let Some(ending) = ending(word) {
            add("ending", ending);
        }
        if word.chars().any(|c| c.is_ascii_digit()) {
            add("has", "number");
        }
    }
    for pair in words.windows(2) {
        add("pair", &pair.join(" "));
    }
    if let Some(last) = words.last() {
        add("last", last);
    }
    let length = LENGTHS.iter().filter(|from| words.len() >= **from).count();
    add("length", &length.to_string());
    for mark in CODE.iter().filter(|mark| low.contains(**mark)) {
        add("code", mark);
    }
    for (i, cue) in CUES.iter().enumerate() {
        if lexicon.has_cue(*cue, low) {
            add("cue", &i.to_string());
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The words of a text; of Han characters each pair of neighbours, since no blank parts words.
fn words(low: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '-' | '_');
    let mut words = Vec::new();
    for run in low
        .split(|c: char| !is_part(c))
        .filter(|run| !run.is_empty())
    {
        if run.contains(is_han) {
            let characters: Vec<char> = run.chars().collect();
            words.extend(characters.windows(2).map(String::from_iter));
        } else {
            words.push(run.to_owned());
        }
    }
    words
}

/// The last letters of a longer word.
fn ending(word: &str) -> Option<&str> {
    let letters = word.chars().count();
    let (start, _) = word.char_indices().nth(letters.checked_sub(ENDING)?)?;
    (letters > ENDING + 1 && !word.contains(is_han)).then(|| &word[start..])
}

/// FNV-1a, folded to the number of weights: the weights in the binary rest on it, so that no library may change it.
fn bucket(kind: &str, text: &str) -> u32 {
    let bytes = kind.bytes().chain([b'=']).chain(text.bytes());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    (hash ^ (hash >> 16)) & (BUCKETS as u32 - 1)
}

#[cfg(test)]
mod tests {
    use super::super::super::lexicon::english;
    use super::*;

    #[test]
    fn words_are_parted_by_blanks_and_han_characters_paired() {
        assert_eq!(
            words("don't use tabs, node_modules!"),
            ["don't", "use", "tabs", "node_modules"]
        );
        assert_eq!(words("前端用v"), ["前端", "端用", "用v"]);
    }

    #[test]
    fn sentences_differ_by_words_order_and_numbers() {
        let of = |low: &str| features(low, english());
        assert_eq!(of("ada owns the importer"), of("ada owns the importer"));
        assert_ne!(of("ada owns the importer"), of("the importer owns ada"));
        assert!(of("").iter().all(|feature| (*feature as usize) < BUCKETS));
    }

    #[test]
    fn the_ending_of_a_short_word_is_the_word() {
        assert_eq!(ending("running"), Some("ing"));
        assert_eq!(ending("runs"), None);
        assert_eq!(ending("größer"), Some("ßer"));
    }
}
