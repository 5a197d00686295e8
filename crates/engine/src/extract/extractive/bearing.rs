//! What the cue words tell whoever checks others' findings: whether a message asks for something
//! lasting, and which words of a text carry it.
//!
//! Not here: finding anything (`acts`).

use std::collections::HashSet;

use super::acts::LEAST;
use super::clauses::without_requests;
use super::lexicon::{Cue, Lexicon, english, is_german, lexicon_of};
use super::prose::floor_str;
use super::sentences::{Sentence, lowered, sentences};
use super::words::content_words;
use crate::recall::tokens::index_text;

/// Weight of a cue from which a wish counts as lasting, if somebody else took it for one.
const LASTING: i32 = 40;
/// Bytes of a text by which its language is judged.
const JUDGED: usize = 400;

/// What a person's message asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::extract) enum Bearing {
    /// Something beyond the moment, or it corrects.
    Lasting,
    /// Nothing, or something for now.
    Passing,
    /// Its language is not understood here.
    Unknown,
}

/// Whether the message asks for something beyond the moment.
pub(in crate::extract) fn bearing(message: &str) -> Bearing {
    let plain: Vec<String> = sentences(message, None)
        .into_iter()
        .map(|s| s.low)
        .collect();
    let Some(lexicon) = lexicon_of(&plain.join(" ")) else {
        return Bearing::Unknown;
    };
    let lasting = |sentence: &Sentence| is_lasting(sentence, lexicon);
    match sentences(message, Some(lexicon)).iter().any(lasting) {
        true => Bearing::Lasting,
        false => Bearing::Passing,
    }
}

fn is_lasting(sentence: &Sentence, lexicon: &Lexicon) -> bool {
    let low = lowered(&without_requests(&sentence.text, LEAST, lexicon));
    let wishes =
        lexicon.weight(Cue::Preference, &low) >= LASTING && !lexicon.shows(Cue::NotStanding, &low);
    let corrects = lexicon.weight(Cue::Correction, &low) >= LASTING;
    let general = lexicon.shows(Cue::General, &low);
    (wishes || corrects || general) && !lexicon.shows(Cue::Momentary, &low)
}

/// The words of a text that carry meaning of their own, as they are searched for.
pub(in crate::extract) fn telling_words(text: &str) -> HashSet<String> {
    let low = lowered(text);
    let lexicon = lexicon_of(floor_str(&low, JUDGED)).unwrap_or_else(english);
    let words = content_words(&low, lexicon).join(" ");
    index_text(&words)
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether a word, in lower case, stands in any English text.
pub(in crate::extract) fn is_usual(word: &str) -> bool {
    english().is_usual(word)
}

/// Whether a capital letter within a sentence of this text marks a name.
pub(in crate::extract) fn capitals_name(text: &str) -> bool {
    !lexicon_of(floor_str(&lowered(text), JUDGED)).is_some_and(is_german)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, expected: Bearing) {
        assert_eq!(bearing(message), expected, "{message}");
    }

    #[test]
    fn an_order_of_the_moment_is_passing() {
        check("push it to main now", Bearing::Passing);
        check("please rename the parser to reader", Bearing::Passing);
        check("can you add a test for the empty file?", Bearing::Passing);
    }

    #[test]
    fn a_wish_or_a_correction_is_lasting() {
        check(
            "from now on run the tests before you commit",
            Bearing::Lasting,
        );
        check("don't use mocks, we have a test database", Bearing::Lasting);
        check("I prefer short answers", Bearing::Lasting);
        check("bitte immer zuerst die tests schreiben", Bearing::Lasting);
    }

    #[test]
    fn a_language_without_cue_words_is_unknown() {
        check("テストを先に書いてください", Bearing::Unknown);
    }
}
