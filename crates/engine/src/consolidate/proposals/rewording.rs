//! Whether words say what a statement says: nothing enters, and nothing that matters is left out.
//!
//! Numbers, names, paths and quotes are compared both ways, as those of an extraction are with its evidence. No word with
//! content enters, but in another form, and those that stay keep their order: `prefer tabs to spaces` has the words of its
//! opposite. Negations, conditions, quantities and tenses stay with the words that they belong to.
//!
//! Not here: which statement may be reworded (`answer`), and whether a person did (`mod`).

use std::collections::BTreeSet;

use daybook_text::fence::{one_line, without_citations};
use daybook_text::instruction::is_instruction;
use daybook_text::redact::Redactor;

use super::drop_reason::ProposalDropReason;
use crate::consolidate::content::{Content, denied_stems, lowered, word_stems};
use crate::extract::model::{MAX_TEXT, names_all};

/// Characters that a rewording may have beyond twice those of the statement.
const FURTHER_CHARS: usize = 40;
/// Fewest characters of a word of which another may be a longer form, and most that the form adds.
const INFLECTED: (usize, usize) = (4, 3);
/// Characters that mark up text, address a person or end our lines: only a statement's own may stay.
const SIGNS: &str = "<>[]{}()#^|*`~\\$@=_/";
/// Words that limit or order what a statement says.
const CONDITIONS: [&str; 14] = [
    "only", "unless", "except", "until", "before", "after", "instead", "rather", "than", "without",
    "if", "when", "while", "during",
];
/// Further words without content of their own that change what the words behind them say.
const MODIFIERS: [&str; 24] = [
    "from", "into", "over", "by", "all", "any", "some", "most", "every", "both", "no", "not",
    "can", "could", "may", "might", "was", "were", "did", "had", "used", "will", "would", "longer",
];
/// Words that may be left out, besides those without content.
const FILLER: [&str; 26] = [
    "yeah",
    "yes",
    "yep",
    "hey",
    "hi",
    "hello",
    "hm",
    "hmm",
    "um",
    "uh",
    "oh",
    "ah",
    "btw",
    "anyway",
    "guess",
    "kinda",
    "basically",
    "obviously",
    "honestly",
    "literally",
    "thanks",
    "thank",
    "sorry",
    "pls",
    "plz",
    "alright",
];

/// Whether `text` may be shown in place of the statement `source`.
pub(super) fn may_reword(source: &str, text: &str) -> Result<(), ProposalDropReason> {
    if !is_a_line(source, text) {
        return Err(ProposalDropReason::Unreadable);
    }
    let (before, after) = (Content::of(source), Content::of(text));
    let (low_source, low_text) = (lowered(source), lowered(text));
    let (old_words, new_words) = (word_stems(&low_source), word_stems(&low_text));
    let is_grounded = names_all(source, text)
        && names_all(text, source)
        && adds_no_word(&old_words, &new_words)
        && keeps_words(source, &new_words)
        && before.denies == after.denies
        && are_alike(&denied_stems(&low_source), &denied_stems(&low_text))
        && keeps_modifiers(source, text)
        && keeps_order(source, text);
    match is_grounded {
        true => Ok(()),
        false => Err(ProposalDropReason::NotGrounded),
    }
}

/// Whether a text is one plain line, without secrets, citations, markup and orders that the statement does not have.
fn is_a_line(source: &str, text: &str) -> bool {
    let chars = text.chars().count();
    let is_marked_up = |c: char| SIGNS.contains(c) && !source.contains(c);
    chars <= MAX_TEXT.min(2 * source.chars().count() + FURTHER_CHARS)
        && text.contains(char::is_alphanumeric)
        && text.starts_with(|c: char| c.is_alphanumeric() || source.starts_with(c))
        && one_line(text) == text
        && without_citations(text) == text
        && !text.contains(is_marked_up)
        && (is_instruction(source) || !is_instruction(text))
        && Redactor::current().redact(text).text == text
}

fn adds_no_word(before: &[String], after: &[String]) -> bool {
    after.iter().all(|word| has_form_of(before, word))
}

/// Whether every word with content stays in some form, but filler.
fn keeps_words(source: &str, after: &[String]) -> bool {
    let low = lowered(source);
    // Parts of names are compared by names; here a word stands between blanks.
    let words = low.split_whitespace().filter(|word| {
        let plain = word.trim_matches(|c: char| !c.is_alphanumeric());
        !FILLER.contains(&plain)
    });
    let mut content = words.flat_map(word_stems);
    content.all(|word| has_form_of(after, &word))
}

/// Whether each condition and each modifier stands before the word that it stood before.
fn keeps_modifiers(source: &str, text: &str) -> bool {
    let known = |word: &str| {
        let mut all = CONDITIONS.iter().chain(&MODIFIERS);
        all.find(|known| **known == unified(word)).copied()
    };
    // It only says that a wish holds.
    let source = lowered(source).replace("from now on", "");
    let (before, after) = (with_next_word(&source, known), with_next_word(text, known));
    let is_same = |one: &(&str, String), other: &(&str, String)| {
        one.0 == other.0 && (one.1 == other.1 || is_form_of(&one.1, &other.1))
    };
    before.len() == after.len() && before.iter().zip(&after).all(|(a, b)| is_same(a, b))
}

/// The words that `known` recognises, each with the next word with content.
fn with_next_word(
    text: &str,
    known: impl Fn(&str) -> Option<&'static str>,
) -> Vec<(&'static str, String)> {
    let (mut pairs, mut open) = (Vec::new(), Vec::new());
    for word in plain_words(&lowered(text)) {
        match known(word) {
            Some(word) => open.push(word),
            None => {
                let content = word_stems(word).into_iter().next();
                let content = content.into_iter();
                pairs.extend(content.flat_map(|next| {
                    let marked = open.drain(..).map(move |word| (word, next.clone()));
                    marked.collect::<Vec<_>>()
                }));
            }
        }
    }
    pairs.extend(open.into_iter().map(|word| (word, String::new())));
    pairs
}

/// Whether a word, or another form of it, is among these.
fn has_form_of(words: &[String], word: &str) -> bool {
    words.iter().any(|other| other == word) || words.iter().any(|other| is_form_of(other, word))
}

/// Whether one of two words begins the other, which is little longer: `indent` and `indented`. Numbers have no forms.
fn is_form_of(one: &str, other: &str) -> bool {
    let (short, long) = match one.len() <= other.len() {
        true => (one, other),
        false => (other, one),
    };
    let is_word = long.chars().all(char::is_alphabetic);
    let (least, most) = INFLECTED;
    is_word
        && short.chars().count() >= least
        && long.len() - short.len() <= most
        && long.starts_with(short)
}

fn are_alike(one: &[String], other: &[String]) -> bool {
    let covers =
        |these: &[String], those: &[String]| those.iter().all(|word| has_form_of(these, word));
    covers(one, other) && covers(other, one)
}

/// Whether the words that stay are in the order of the statement.
fn keeps_order(source: &str, text: &str) -> bool {
    let before = word_stems(&lowered(source));
    let mut before = before.iter();
    let after = word_stems(&lowered(text));
    let mut after = after.iter();
    after.all(|word| before.any(|known| known == word || is_form_of(known, word)))
}

/// The conditions of a text.
pub(super) fn conditions(text: &str) -> BTreeSet<&'static str> {
    let low = lowered(text);
    let found = plain_words(&low).filter_map(|word| {
        let mut known = CONDITIONS.iter();
        known.find(|known| **known == unified(word)).copied()
    });
    found.collect()
}

/// The first of words that are one where they stand before others.
fn unified(word: &str) -> &str {
    match word {
        "if" => "when",
        "each" => "every",
        word => word,
    }
}

fn plain_words(low: &str) -> impl Iterator<Item = &str> {
    low.split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, text: &str, expected: bool) {
        assert_eq!(
            may_reword(source, text).is_ok(),
            expected,
            "{source} / {text}"
        );
    }

    #[test]
    fn filler_may_go_and_forms_may_change() {
        check(
            "so yeah I really think you should always run cargo fmt, every commit",
            "Run cargo fmt at every commit.",
            true,
        );
        check("indentation: tabs", "Indent with tabs.", true);
        check(
            "never ever amend commits please",
            "Never amend commits.",
            true,
        );
        check("cache limit 50", "The cache limit is 50.", true);
        check(
            "from now on always write short answers, please",
            "Always write short answers.",
            true,
        );
    }

    #[test]
    fn nothing_enters() {
        for text in [
            "The cache limit is 50 entries of 2 MB",
            "The cache limit is 60",
            "The Redis cache limit is 50",
            "The cache limit of `src/cache.rs` is 50",
            "The cache limit is 50, deploy on Fridays",
            "The cache limit is not 50",
            "The cache limit is 50 [5e7a:L3]",
            "The cache limit is 50 <system>",
            "- The cache limit is 50",
            "The cache limit\nis 50",
            "The cache limit is 50 before",
        ] {
            check("so the cache limit is 50", text, false);
        }
    }

    #[test]
    fn numbers_names_conditions_and_negations_stay() {
        for (source, text) in [
            (
                "wait 30 seconds for the Hetzner backup",
                "Wait for the Hetzner backup",
            ),
            (
                "wait 30 seconds for the Hetzner backup",
                "Wait 30 seconds for the backup",
            ),
            (
                "use tabs for indentation in tests",
                "Use tabs for indentation",
            ),
            ("deploy only after review", "Deploy and review"),
            ("never deploy on Fridays", "Deploy on Fridays"),
            (
                "run the linter before the tests",
                "Run the tests before the linter",
            ),
            ("use tabs, not spaces", "Use spaces, not tabs"),
            (
                "call it \"tide table\" everywhere",
                "Call it a table for the tide",
            ),
        ] {
            check(source, text, false);
        }
    }
}
