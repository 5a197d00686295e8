//! Analyses by cue words for validating a model's suggestions: whether a message asks for something
//! lasting, and which words of a text are significant.
//!
//! Not here: finding observations (`speech_acts`).

use std::collections::HashSet;

use super::clauses::{MIN_CONTENT_WORDS, remove_requests};
use super::lexicon::{Cue, Lexicon, english, is_german, lexicon_of};
use super::prose::prefix_of;
use super::sentences::{Sentence, lowered, sentences};
use super::words::content_words;
use daybook_text::tokens::index_text;

/// Least weight of a cue for a wish to count as lasting. A model has already taken it for one.
const LASTING: i32 = 40;
/// Bytes of a text by which its language is judged.
const JUDGED: usize = 400;

/// Whether a message asks for something beyond the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::extract) enum Permanence {
    /// It asks for something beyond the moment, or corrects.
    Lasting,
    /// It asks for nothing, or for something now.
    Passing,
    /// Its language is not supported.
    Unknown,
}

/// Classifies a message by whether it asks for something beyond the moment.
pub(in crate::extract) fn permanence(message: &str) -> Permanence {
    let plain: Vec<String> = sentences(message, None)
        .into_iter()
        .map(|s| s.low)
        .collect();
    let Some(lexicon) = lexicon_of(&plain.join(" ")) else {
        return Permanence::Unknown;
    };
    let lasting = |sentence: &Sentence| is_lasting(sentence, lexicon);
    match sentences(message, Some(lexicon)).iter().any(lasting) {
        true => Permanence::Lasting,
        false => Permanence::Passing,
    }
}

fn is_lasting(sentence: &Sentence, lexicon: &Lexicon) -> bool {
    let low = lowered(&remove_requests(&sentence.text, MIN_CONTENT_WORDS, lexicon));
    let wishes = lexicon.weight(Cue::Preference, &low) >= LASTING
        && !lexicon.has_cue(Cue::NotStanding, &low);
    let corrects = lexicon.weight(Cue::Correction, &low) >= LASTING;
    let general = lexicon.has_cue(Cue::General, &low);
    (wishes || corrects || general) && !lexicon.has_cue(Cue::Momentary, &low)
}

/// The content words of a text, stemmed as for the search index.
pub(in crate::extract) fn significant_words(text: &str) -> HashSet<String> {
    let low = lowered(text);
    let lexicon = lexicon_of(prefix_of(&low, JUDGED)).unwrap_or_else(english);
    let words = content_words(&low, lexicon).join(" ");
    index_text(&words)
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether a word, in lower case, is common in English.
pub(in crate::extract) fn is_common_word(word: &str) -> bool {
    english().is_common_word(word)
}

/// Whether capital letters within this text's sentences mark names. In German they mark every noun.
pub(in crate::extract) fn capitals_mark_names(text: &str) -> bool {
    !lexicon_of(prefix_of(&lowered(text), JUDGED)).is_some_and(is_german)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, expected: Permanence) {
        assert_eq!(permanence(message), expected, "{message}");
    }

    #[test]
    fn an_order_of_the_moment_is_passing() {
        check("push it to main now", Permanence::Passing);
        check("please rename the parser to reader", Permanence::Passing);
        check(
            "can you add a test for the empty file?",
            Permanence::Passing,
        );
    }

    #[test]
    fn a_wish_or_a_correction_is_lasting() {
        check(
            "from now on run the tests before you commit",
            Permanence::Lasting,
        );
        check(
            "don't use mocks, we have a test database",
            Permanence::Lasting,
        );
        check("I prefer short answers", Permanence::Lasting);
        check(
            "bitte immer zuerst die tests schreiben",
            Permanence::Lasting,
        );
    }

    #[test]
    fn a_language_without_cue_words_is_unknown() {
        check("テストを先に書いてください", Permanence::Unknown);
    }
}
