//! The content of a statement: its words without those that only form the sentence, and whether it denies.
//!
//! Two statements of the same content are one observation. Words that mean the same in what people ask of agents count
//! as one word; a word in place of another is another content, however alike the sentences are.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use daybook_text::lazy_pattern::constant_regex;
use daybook_text::tokens::{TokenKind, for_each_token, index_text};
use regex::Regex;

pub(super) use super::content_words::{ContentWord, ContentWords, WordMap, WordsOutline};

/// The lists of words by which contents are made.
pub(super) const WORD_LISTS: &str = include_str!("content.txt");

/// Words without content, as tokens have them: without accents.
static EMPTY: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let mut surfaces = HashSet::new();
    for word in section("empty") {
        for_each_token(word, |token| {
            surfaces.insert(token.surface.to_owned());
        });
    }
    surfaces
});

/// The first word of each line, by the stems of the others.
static SYNONYMS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let lines = WORD_LISTS.lines();
    let lines = lines.skip_while(|line| *line != "[synonyms]").skip(1);
    let pairs = lines.flat_map(|line| {
        let mut words = line.split_whitespace().map(index_text);
        let first = words.next();
        words.filter_map(move |word| Some((word, first.clone()?)))
    });
    pairs.collect()
});

/// Words between which the order matters.
static ORDERED: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)\b(before|after|then|over|instead|rather|from|into|until|than|not|vor|nach|statt|bevor|nachdem|antes|después|avant|après)\b",
    )
});

/// Least share of their words that two long statements of the same content have in common.
const LONG_SHARED: f64 = 0.9;
/// Words from which a statement is long: a word more or less is a slip there.
const LONG: usize = 8;
/// Most words, as a share of its own, that the longer of two statements has besides those of the other.
const FURTHER: f64 = 0.2;
/// Stems of words that say that something is bounded, not what.
static BOUNDS: LazyLock<ContentWords> = LazyLock::new(|| {
    let stems = ["limit", "max", "maximum", "min", "minimum"];
    stems.into_iter().map(ContentWord::of).collect()
});
/// Signs that are parts of names.
const SIGNS: [char; 4] = ['*', '#', '@', '+'];
/// Fewest words of a statement that another may repeat with further ones.
const REPEATED: usize = 2;

/// What a statement says, whatever its grammar.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) words: ContentWords,
    /// The words in their order, where it matters.
    pub(super) order: Vec<ContentWord>,
    /// It denies or forbids.
    pub(crate) denies: bool,
    /// The words right after its negations.
    pub(crate) denied: ContentWords,
}

impl Content {
    pub(super) fn of(text: &str) -> Self {
        let low = lowered(text);
        let words = words_in_order(&low);
        Self {
            denies: denies(&low),
            denied: denied_words(&low),
            words: words.iter().copied().collect(),
            order: ordered(&low, words),
        }
    }

    /// Whether the other says the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.words, &other.words);
        if self.denies != other.denies || (ours.is_empty() && theirs.is_empty()) {
            return false;
        }
        // "never rebase, merge" and "never merge, rebase".
        let denies_other =
            |one: &Self, other: &Self| !one.denied.is_empty() && one.denied.is_subset(&other.words);
        if self.denied != other.denied && denies_other(self, other) && denies_other(other, self) {
            return false;
        }
        if ours == theirs {
            return self.order.is_empty() || other.order.is_empty() || self.order == other.order;
        }
        let longer = ours.len().max(theirs.len());
        let shorter = ours.len().min(theirs.len());
        let one_contrasts = self.order.is_empty() != other.order.is_empty();
        if one_contrasts || !self.numbers().eq(other.numbers()) {
            return false;
        }
        let common = ours.common(theirs);
        if common < REPEATED {
            return false;
        }
        let only_adds = common == shorter && (longer - common) as f64 <= FURTHER * longer as f64;
        let shared = 2.0 * common as f64 / (longer + shorter) as f64;
        only_adds || (shorter >= LONG && shared >= LONG_SHARED)
    }

    /// The words with digits: those of the same content are the same.
    pub(super) fn numbers(&self) -> impl Iterator<Item = ContentWord> + '_ {
        self.words.iter().filter(|word| word.has_digit())
    }
}

/// The words in their order, then those between which it matters: "after the backfill" is not "before the backfill".
/// None where no word orders them.
fn ordered(low: &str, mut words: Vec<ContentWord>) -> Vec<ContentWord> {
    let mut orders = ORDERED.find_iter(low).map(|it| it.as_str()).peekable();
    if orders.peek().is_none() {
        return Vec::new();
    }
    words.extend(orders.map(ContentWord::of));
    words
}

/// Whether contents with these words may be the same, by their numbers and bits: much cheaper than to compare the words.
pub(super) fn may_be_same(one: WordsOutline, other: WordsOutline) -> bool {
    let longer = one.len().max(other.len());
    let common = one.common_at_most(other);
    (longer - common) as f64 <= FURTHER * longer as f64
}

/// A text in lower case with straight apostrophes.
pub(super) fn lowered(text: &str) -> String {
    text.to_lowercase().replace(['’', '‘'], "'")
}

/// The words with content of a text in lower case.
pub(super) fn content_words(low: &str) -> ContentWords {
    words_in_order(low).into_iter().collect()
}

/// The words of a value's subject: "limit of the list" and "list limit" are one, and so is "the list", which is limited.
pub(super) fn subject_words(subject: &str) -> ContentWords {
    let words = content_words(&lowered(subject));
    let others: ContentWords = words.iter().filter(|it| !BOUNDS.contains(*it)).collect();
    if others.is_empty() { words } else { others }
}

fn words_in_order(low: &str) -> Vec<ContentWord> {
    let mut words = Vec::new();
    for_each_content_word(low, |word| words.push(ContentWord::of(word)));
    words
}

/// The words with content of a text in lower case, stemmed, in their order.
pub(super) fn word_stems(low: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_content_word(low, |word| words.push(word.to_owned()));
    words
}

fn for_each_content_word(low: &str, mut visit: impl FnMut(&str)) {
    // Names that differ in their signs alone: `test_*.py` and `*_test.py`.
    for word in low.split_whitespace().filter(|word| word.contains(SIGNS)) {
        visit(word.trim_end_matches([',', ';', ')']));
    }
    for_each_token(low, |token| {
        let is_whole = matches!(token.kind, TokenKind::Whole { .. } | TokenKind::Pair);
        if is_whole && !EMPTY.contains(token.surface) {
            visit(SYNONYMS.get(token.text).map_or(token.text, String::as_str));
        }
    });
}

static NEGATION: LazyLock<HashSet<&str>> = LazyLock::new(|| section("negation").collect());

/// Whether a text in lower case denies or forbids; twice is not at all.
fn denies(low: &str) -> bool {
    plain_words(low)
        .filter(|word| NEGATION.contains(word))
        .count()
        % 2
        == 1
}

fn denied_words(low: &str) -> ContentWords {
    denied_stems(low)
        .iter()
        .map(|word| ContentWord::of(word))
        .collect()
}

/// The first word with content after each negation, stemmed.
pub(super) fn denied_stems(low: &str) -> Vec<String> {
    let mut denied = Vec::new();
    let mut is_denied = false;
    for word in plain_words(low) {
        let content = word_stems(word);
        match NEGATION.contains(word) {
            true => is_denied = true,
            false if is_denied && !content.is_empty() => {
                denied.extend(content);
                is_denied = false;
            }
            false => {}
        }
    }
    denied
}

fn plain_words(low: &str) -> impl Iterator<Item = &str> {
    low.split(|c: char| !(c.is_alphanumeric() || c == '\''))
}

fn section(name: &str) -> impl Iterator<Item = &'static str> {
    let heading = format!("[{name}]");
    let lines = WORD_LISTS.lines();
    let lines = lines.skip_while(move |line| *line != heading).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_in_other_words_is_one_content() {
        for (one, other) in [
            ("Please never amend commits", "don't amend any commits"),
            (
                "Always run the tests before you commit",
                "run tests before committing",
            ),
            ("delete the old folder", "Remove the old directory"),
            (
                "Wir verwenden immer Postgres für das Hauptbuch",
                "für das Hauptbuch bitte Postgres",
            ),
        ] {
            assert!(
                Content::of(one).is_same(&Content::of(other)),
                "{one} / {other}"
            );
        }
    }

    #[test]
    fn another_word_number_or_order_is_another_content() {
        for (one, other) in [
            (
                "let's use Postgres for the ledger",
                "let's use SQLite for the ledger",
            ),
            ("limit the list to 20 rows", "limit the list to 50 rows"),
            (
                "run the linter before the tests",
                "run the tests before the linter",
            ),
            ("amend commits", "never amend commits"),
            (
                "use tabs for indentation",
                "use tabs for indentation in Python",
            ),
            ("yes", "please"),
        ] {
            assert!(
                !Content::of(one).is_same(&Content::of(other)),
                "{one} / {other}"
            );
        }
    }
}
