//! Whether words say what a statement says: nothing enters, and nothing that matters is left out.
//!
//! Numbers, names, paths and quotes are compared both ways, as those of an extraction are with its evidence. No word with
//! content enters, but in another form. Negations, conditions and the order around `before` or `instead of` stay.
//!
//! Not here: which statement may be reworded (`answer`), and whether a person did (`mod`).

use std::collections::BTreeSet;

use daybook_text::fence::{one_line, without_citations};
use daybook_text::instruction::is_instruction;
use daybook_text::redact::Redactor;

use super::checks::ProposalDropReason;
use crate::consolidate::content::{Content, ContentWords, content_words, lowered};
use crate::extract::model::{MAX_TEXT, names_all};

/// Characters that a rewording may have beyond twice those of the statement.
const FURTHER_CHARS: usize = 40;
/// Least share of a statement's words with content that stay.
const LEAST_KEPT: f64 = 0.6;
/// Fewest characters of a word of which another may be a longer form, and most that the form adds.
const INFLECTED: (usize, usize) = (4, 3);
/// Characters that mark up text, address somebody or end our lines: only a statement's own may stay.
const SIGNS: &str = "<>[]{}()#^|*`~\\$@=_/";
/// Words that limit or order what a statement says.
const MARKERS: [&str; 14] = [
    "only", "unless", "except", "until", "before", "after", "instead", "rather", "than", "without",
    "if", "when", "while", "during",
];
/// Words behind which stands where or when a statement holds.
const QUALIFIERS: [&str; 16] = [
    "in", "on", "for", "under", "within", "during", "when", "while", "if", "unless", "only",
    "except", "until", "before", "after", "without",
];

/// Whether `text` may be shown in place of the statement `source`.
pub(super) fn may_reword(source: &str, text: &str) -> Result<(), ProposalDropReason> {
    if !is_a_line(source, text) {
        return Err(ProposalDropReason::Unreadable);
    }
    let (before, after) = (Content::of(source), Content::of(text));
    let is_grounded = names_all(source, text)
        && names_all(text, source)
        && adds_no_word(&before.words, &after.words)
        && leaves_enough(source, (&before.words, &after.words))
        && before.denies == after.denies
        && are_alike(&before.denied, &after.denied)
        && markers(source) == markers(text)
        && keeps_order(&before, &after);
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

fn adds_no_word(before: &ContentWords, after: &ContentWords) -> bool {
    after.iter().all(|word| has_form_of(before, word))
}

/// Whether most words stay, and all that stand behind a qualifier.
fn leaves_enough(source: &str, (before, after): (&ContentWords, &ContentWords)) -> bool {
    let kept = before.iter().filter(|word| has_form_of(after, word));
    let enough = kept.count() as f64 >= LEAST_KEPT * before.len() as f64;
    let mut qualified = qualified_words(source).into_iter();
    enough && qualified.all(|word| has_form_of(after, &word))
}

/// The first word with content behind each qualifier.
fn qualified_words(text: &str) -> ContentWords {
    let (mut qualified, mut is_qualified) = (ContentWords::new(), false);
    for word in plain_words(&lowered(text)) {
        let content = content_words(word);
        if QUALIFIERS.contains(&word) {
            is_qualified = true;
        } else if is_qualified && !content.is_empty() {
            qualified.extend(content);
            is_qualified = false;
        }
    }
    qualified
}

/// Whether a word, or another form of it, is among these.
fn has_form_of(words: &ContentWords, word: &str) -> bool {
    words.contains(word) || words.iter().any(|other| is_form_of(other, word))
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

fn are_alike(one: &ContentWords, other: &ContentWords) -> bool {
    let covers = |these: &ContentWords, those: &ContentWords| {
        those.iter().all(|word| has_form_of(these, word))
    };
    covers(one, other) && covers(other, one)
}

/// Whether the words that stay are in the order of the statement, where that matters.
fn keeps_order(before: &Content, after: &Content) -> bool {
    if before.order.is_empty() && after.order.is_empty() {
        return true;
    }
    let mut rest = before.order.iter();
    let mut after = after.order.iter();
    after.all(|word| rest.any(|known| known == word || is_form_of(known, word)))
}

/// The words of a text that limit or order it. `if` and `when` are one.
pub(super) fn markers(text: &str) -> BTreeSet<&'static str> {
    let low = lowered(text);
    let found = plain_words(&low).filter_map(|word| {
        let known = MARKERS.iter().find(|known| **known == word)?;
        Some(if *known == "if" { "when" } else { *known })
    });
    found.collect()
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
