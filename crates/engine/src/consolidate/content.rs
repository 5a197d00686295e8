//! The content of a statement: its words without those that only form the sentence, and whether it denies.
//!
//! Two statements of the same content are one observation. Words that mean the same in what people ask of agents count
//! as one word; a word in place of another is another content, however alike the sentences are.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use daybook_text::tokens::{TokenKind, for_each_token, index_text};

pub(super) use super::content_words::{ContentWord, ContentWords, WordMap, WordsOutline};
use super::contrasts::{are_exchanged, contrasts};
use super::plain::plain;
use super::word_lists::{lines_of, words_of};

/// Words without content, as tokens have them: without accents.
static EMPTY: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let mut surfaces = HashSet::new();
    for word in words_of("empty") {
        for_each_token(word, |token| {
            surfaces.insert(token.surface.to_owned());
        });
    }
    surfaces
});

/// The first word of each line, by the stems of the others.
static SYNONYMS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let pairs = lines_of("synonyms").flat_map(|line| {
        let mut words = line.split_whitespace().map(index_text);
        let first = words.next();
        words.filter_map(move |word| Some((word, first.clone()?)))
    });
    pairs.collect()
});

/// Words that change a statement that they are added to.
static TURNING: LazyLock<ContentWords> = LazyLock::new(|| {
    let words = words_of("turning").flat_map(word_stems);
    words.map(|word| ContentWord::of(&word)).collect()
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

/// Most words of a statement in which the order matters without a word that says so.
const SHORT: usize = 6;

/// What a statement says, whatever its grammar.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) words: ContentWords,
    /// The words in their order, of what is short or contrasts.
    pub(super) order: Vec<ContentWord>,
    /// The words that contrast, in their order: "before", "instead".
    pub(super) contrasts: Vec<ContentWord>,
    /// It denies or forbids.
    pub(crate) denies: bool,
    /// The words right after its negations.
    pub(crate) denied: ContentWords,
}

impl Content {
    pub(super) fn of(text: &str) -> Self {
        let low = plain(&lowered(text));
        let mut order = words_in_order(&low);
        let words: ContentWords = order.iter().copied().collect();
        let contrasts = contrasts(&low);
        if contrasts.is_empty() && order.len() > SHORT {
            order = Vec::new();
        }
        Self {
            denies: denies(&low),
            denied: denied_words(&low),
            words,
            order,
            contrasts,
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
            return !self.contrasts_with(other);
        }
        self.is_nearly(other) && !self.contrasts_with(other)
    }

    /// Whether both say the same but for a word or two that change nothing.
    fn is_nearly(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.words, &other.words);
        let longer = ours.len().max(theirs.len());
        let shorter = ours.len().min(theirs.len());
        let common = ours.common(theirs);
        let only_adds = common == shorter && (longer - common) as f64 <= FURTHER * longer as f64;
        let shared = 2.0 * common as f64 / (longer + shorter) as f64;
        let is_close = only_adds || (shorter >= LONG && shared >= LONG_SHARED);
        is_close
            && common >= REPEATED
            && self.contrasts.is_empty() == other.contrasts.is_empty()
            && self.numbers().eq(other.numbers())
            && ours.shared(&TURNING).eq(theirs.shared(&TURNING))
    }

    /// Whether the order of the same words makes another statement of them: "run the linter before the tests", and "barbara
    /// reports to edsger".
    fn contrasts_with(&self, other: &Self) -> bool {
        let in_common = |one: &Self, with: &Self| -> Vec<ContentWord> {
            let words = one.order.iter().copied();
            words.filter(|word| with.words.contains(*word)).collect()
        };
        let (ours, theirs) = (in_common(self, other), in_common(other, self));
        match self.contrasts.is_empty() || other.contrasts.is_empty() {
            true => are_exchanged(&ours, &theirs),
            false => ours != theirs || self.contrasts != other.contrasts,
        }
    }

    /// The words with digits: those of the same content are the same.
    pub(super) fn numbers(&self) -> impl Iterator<Item = ContentWord> + '_ {
        self.words.iter().filter(|word| word.has_digit())
    }
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

static EVERYDAY: LazyLock<ContentWords> = LazyLock::new(|| {
    let words = words_of("everyday").flat_map(words_in_order);
    words.collect()
});

/// Whether a word tells no statement's subject from another's: "week", "people", "ask".
pub(super) fn is_everyday(word: ContentWord) -> bool {
    EVERYDAY.contains(word)
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

static NEGATION: LazyLock<HashSet<&str>> = LazyLock::new(|| words_of("negation").collect());

/// Whether a text in lower case denies or forbids; twice is not at all.
fn denies(low: &str) -> bool {
    let words = plain_words(low).filter(|word| NEGATION.contains(word));
    let inside = words_of("negation inside words").map(|word| low.matches(word).count());
    (words.count() + inside.sum::<usize>()) % 2 == 1
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_has_two_meanings() {
        let mut known = HashSet::new();
        for line in lines_of("synonyms") {
            let stems: HashSet<String> = line.split_whitespace().map(index_text).collect();
            for stem in stems {
                assert!(known.insert(stem.clone()), "{stem} of {line}");
            }
        }
    }

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
            (
                "retry uploads for 30 seconds",
                "uploads: retry for at most 30s",
            ),
            ("don't forget to run the linter", "always run the linter"),
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
            ("barbara reports to edsger", "edsger reports to barbara"),
            ("replace chrono with jiff", "replace jiff with chrono"),
            (
                "the fan of the server room in the basement starts above 80 degrees",
                "the fan of the server room in the basement starts below 80 degrees",
            ),
            ("prefer tabs over spaces", "prefer spaces over tabs"),
            (
                "turn compression on for the cdn in the european region",
                "turn compression off for the cdn in the european region",
            ),
            (
                "run the linter before the tests in the nightly pipeline",
                "run the tests before the linter in the nightly build pipeline",
            ),
            (
                "测试环境的服务可以访问外部网络和数据库",
                "测试环境的服务不可以访问外部网络和数据库",
            ),
        ] {
            assert!(
                !Content::of(one).is_same(&Content::of(other)),
                "{one} / {other}"
            );
        }
    }
}
