//! A statement, taken apart: what it is about, what it says of that, and what it takes back.
//!
//! Not here: which of two statements holds (`supersede`).

mod cues;
pub(super) mod figures;

use std::sync::LazyLock;

use daybook_text::lazy_pattern::{LazyPattern, constant_regex};
use regex::Regex;

use super::content::{ContentWord, ContentWords, content_words, is_everyday, lowered};

pub(super) use cues::SOURCE as PATTERNS;
pub use cues::prepare as prepare_parser;
use cues::{
    ADDITION, CHANGE, CHOICE, CONDITION, NEGATION, RENAMED, REPLACED, RESTRAINT, STATE,
    SettingPattern, TURN, WITHDRAWN, has,
};

/// Most words of what a statement takes back: longer phrases are not names of things.
const OLD_WORDS: usize = 6;

/// Words before others that tell no two things from each other.
const AGES: [&str; 10] = [
    "old", "new", "ancient", "current", "alten", "neuen", "alte", "neue", "viejo", "nuevo",
];

/// What a statement sets: of two that set one key differently, only one holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    /// What it is about; empty where only the conversation says so.
    pub key: ContentWords,
    /// What holds of it.
    pub value: ContentWords,
}

/// A word right before another: "api" of "api pool".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Qualifier {
    pub word: ContentWord,
    /// The other.
    pub of: ContentWord,
}

/// What a statement forbids or denies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Denial {
    /// The word right after the negation.
    pub head: ContentWords,
    /// All words of its clause.
    pub words: ContentWords,
}

/// A statement's parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Statement {
    /// All its words with content.
    pub words: ContentWords,
    /// What it forbids or denies.
    pub denials: Vec<Denial>,
    /// What it renames or swaps, by name, whatever else it is about.
    pub renamed: Vec<ContentWords>,
    /// What it does not want instead, by name.
    pub replaced: Vec<ContentWords>,
    /// What it takes back, by name.
    pub withdrawn: Vec<ContentWords>,
    /// What it chooses.
    pub choices: Vec<Setting>,
    /// What it states.
    pub states: Vec<Setting>,
    /// Its measures, dates, times and numbers: the key is what each measures.
    pub figures: Vec<Setting>,
    /// Its words without its figures.
    pub topic: ContentWords,
    /// The same of its first clause, where that says enough: "ada owns the orders service, ask her first".
    pub opening: ContentWords,
    /// Its words right before others: "api pool" is not "import pool".
    pub qualifiers: Vec<Qualifier>,
    /// It says itself that something changes.
    pub changes: bool,
    /// It says itself that it adds to what holds.
    pub adds: bool,
    /// It forbids or limits in words that are no negation.
    pub restrains: bool,
    /// It turns from what held.
    pub turns: bool,
}

impl Statement {
    /// Takes a text apart, sentence by sentence.
    pub(super) fn parse(text: &str) -> Self {
        let low = lowered(text);
        let (figures, without) = figures::figures(&low);
        let mut statement = Self {
            words: content_words(&low),
            topic: content_words(&without),
            opening: opening(&without),
            qualifiers: qualifiers(&without),
            figures,
            adds: has(&ADDITION, &low),
            restrains: has(&RESTRAINT, &low),
            turns: has(&TURN, &low),
            ..Self::default()
        };
        for clause in clauses(&at_verbs(&low)) {
            statement.add_clause(clause);
        }
        statement
    }

    /// Whether a text says that something changes: [`Statement::changes`] without the rest.
    pub(super) fn says_change(text: &str) -> bool {
        clauses(&at_verbs(&lowered(text))).any(|clause| has(&CHANGE, clause))
    }

    /// Whether a text says that something comes besides.
    pub(super) fn says_addition(text: &str) -> bool {
        has(&ADDITION, &lowered(text))
    }

    /// The figure of a value: its text is a number, and `subject` says what it is about. People write the words of a name
    /// apart: they say "the page size" of `PAGE_SIZE in settings.py`.
    pub(super) fn of_value(subject: &str, text: &str) -> Self {
        let (figures, _) = figures::figures(&lowered(text));
        let topic = content_words(&lowered(&spelled_out(without_file(subject))));
        Self {
            figures,
            words: topic.clone(),
            opening: topic.clone(),
            topic,
            ..Self::default()
        }
    }

    fn add_clause(&mut self, clause: &str) {
        self.changes |= has(&CHANGE, clause);
        self.denials.extend(denial(clause));
        self.renamed.extend(named_old(&RENAMED, clause));
        self.replaced.extend(named_old(&REPLACED, clause));
        self.withdrawn.extend(named_old(&WITHDRAWN, clause));
        self.choices.extend(settings(&CHOICE, clause));
        self.states.extend(settings(&STATE, clause));
    }

    /// Whether it denies one of the words itself.
    pub(super) fn denies(&self, words: &ContentWords) -> bool {
        let mut denials = self.denials.iter();
        denials.any(|denial| !denial.head.is_disjoint(words))
    }

    /// What it sets.
    pub(super) fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.choices.iter().chain(&self.states)
    }
}

/// The name of "NAME in FILE". Of "retries in the importer" the importer tells them from others.
fn without_file(subject: &str) -> &str {
    match subject.split_once(" in ") {
        Some((name, file)) if file.contains(['.', '/']) => name,
        _ => subject,
    }
}

/// A name with blanks between its words: `page size` of `PAGE_SIZE` and `page Size` of `pageSize`.
fn spelled_out(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_uppercase() && words.ends_with(char::is_lowercase) {
            words.push(' ');
        }
        words.push(if matches!(c, '_' | '-' | '.') { ' ' } else { c });
    }
    words
}

/// Fewest words with content of an opening that says enough.
const OPENING_WORDS: usize = 2;

/// The words with content of a text's first clause, or of all of it where the clause has few.
fn opening(low: &str) -> ContentWords {
    let mut clauses = low
        .split([',', ';', '(', '!', '?'])
        .flat_map(|it| it.split(". "));
    let first = content_words(clauses.next().unwrap_or_default());
    if first.len() >= OPENING_WORDS {
        first
    } else {
        content_words(low)
    }
}

/// A comma before a clause of its own as a semicolon: "it never worked, let's drop it".
fn at_verbs(low: &str) -> String {
    const BEGIN: [&str; 10] = [
        "let's ", "we ", "we'", "i ", "please ", "always ", "never ", "don't ", "so ", "stop ",
    ];
    let begin = |text: &str| BEGIN.iter().any(|begin| text.starts_with(begin));
    let mut joined = String::with_capacity(low.len());
    for (n, part) in low.split(", ").enumerate() {
        if n > 0 {
            joined.push_str(if begin(part) { "; " } else { ", " });
        }
        joined.push_str(part);
    }
    joined
}

/// Sentences and the parts of them between semicolons and dashes.
fn clauses(low: &str) -> impl Iterator<Item = &str> {
    low.split(['\n', ';', '!', '?', '…'])
        .flat_map(|part| part.split(". "))
        .flat_map(|part| part.split(" - "))
        .flat_map(|part| part.split(" — "))
        .flat_map(|part| part.split(" -> "))
        .map(|clause| clause.trim_matches(|c: char| c.is_whitespace() || "\"“”'.,:".contains(c)))
        .map(without_address)
        .filter(|clause| !clause.is_empty())
}

/// Since when something holds, before what holds.
static SINCE: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"^(?:since|from|as of|starting) (?:today|yesterday|tomorrow|now on|now|(?:this|next|last) \w+|\w+day),? (?:on,? )?",
    )
});

/// "the vault is in Oban" of "remember: the vault is in Oban".
fn without_address(clause: &str) -> &str {
    let address = [
        "remember",
        "note",
        "fyi",
        "for the record",
        "keep in mind",
        "merke dir",
        "recuerda",
        "btw",
        "update",
        "heads up",
    ];
    let stated = match clause.split_once([':', ',']) {
        Some((first, rest)) if address.contains(&first.trim()) => rest.trim_start(),
        Some((first, rest)) if first.starts_with("quick ") => rest.trim_start(),
        _ => clause.strip_prefix("remember that ").unwrap_or(clause),
    };
    match SINCE.find(stated) {
        Some(since) => &stated[since.end()..],
        None => stated,
    }
}

/// What a clause forbids or denies: the first word with content after its negation. A denial under a condition denies
/// nothing.
fn denial(clause: &str) -> Option<Denial> {
    let mut ends: Vec<usize> = NEGATION
        .iter()
        .filter_map(|pattern| pattern.if_possible(clause))
        .flat_map(|pattern| pattern.find_iter(clause).map(|found| found.end()))
        .collect();
    ends.sort_unstable();
    ends.into_iter().find_map(|end| {
        let after = clause[end..].split([',', '(', ':']).next()?;
        let mut words = after.split_whitespace().map(content_words);
        let head = words.find(|found| !found.is_empty())?;
        let words = content_words(after);
        (!has(&CONDITION, after)).then_some(Denial { head, words })
    })
}

/// Words right before others, without a word of the sentence's form between them.
fn qualifiers(low: &str) -> Vec<Qualifier> {
    let words: Vec<&str> = low.split_whitespace().collect();
    let pairs = words.windows(2).filter_map(|pair| {
        let ends = pair[0].ends_with([',', '.', ':', ';', '!', '?', ')']);
        if ends || AGES.contains(&pair[0]) {
            return None;
        }
        Some(Qualifier {
            word: content_words(pair[0]).only()?,
            of: content_words(pair[1]).only()?,
        })
    });
    pairs.collect()
}

fn named_old(patterns: &[LazyPattern], clause: &str) -> Vec<ContentWords> {
    let possible = patterns.iter().filter_map(|it| it.if_possible(clause));
    let found = possible.flat_map(|it| it.captures_iter(clause));
    found
        .filter_map(|captures| Some(content_words(captures.name("old")?.as_str())))
        .filter(|old| (1..=OLD_WORDS).contains(&old.len()))
        .collect()
}

fn settings(patterns: &[SettingPattern], clause: &str) -> Vec<Setting> {
    let found = patterns.iter().filter_map(|it| it.captures(clause));
    let setting = found.map(|captures| {
        let words = |name| {
            let group = captures.name(name);
            group.map_or_else(ContentWords::default, |group| content_words(group.as_str()))
        };
        Setting {
            key: words("key"),
            value: words("value"),
        }
    });
    // "Tomorrow is friday" sets nothing.
    let is_thing = |key: &ContentWords| key.is_empty() || !key.iter().all(is_everyday);
    setting
        .filter(|it| !it.value.is_empty() && is_thing(&it.key))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> ContentWords {
        content_words(text)
    }

    #[test]
    fn what_is_replaced_or_taken_back_is_named() {
        for (text, old) in [
            ("Use spaces instead of tabs", "tabs"),
            (
                "we're changing the language from summarise to summarize",
                "summarise",
            ),
            (
                "let's use true/false and not on/off for skip-push",
                "on/off",
            ),
            ("Replace the cron job with a worker", "cron job"),
            ("wir nehmen Postgres statt MySQL", "mysql"),
            ("usa pnpm en vez de npm", "npm"),
        ] {
            let parsed = Statement::parse(text);
            let mut named = parsed.replaced.iter().chain(&parsed.renamed);
            assert!(named.any(|it| *it == words(old)), "{text}: {parsed:?}");
        }
        for (text, old) in [
            ("Close ENT-241", "ENT-241"),
            ("let's drop the wizard", "wizard"),
            ("we don't need suffixes any more", "suffixes"),
            ("the nightly job is gone", "nightly job"),
        ] {
            let parsed = Statement::parse(text);
            assert!(parsed.withdrawn.contains(&words(old)), "{text}: {parsed:?}");
        }
    }

    #[test]
    fn the_words_of_a_name_are_those_that_people_say() {
        let said = Statement::parse("the page size is 24");
        for subject in [
            "PAGE_SIZE in settings.py",
            "pageSize in src/app.ts",
            "page-size",
        ] {
            let value = Statement::of_value(subject, "30");
            assert_eq!(value.topic, said.topic, "{subject}");
        }
    }

    #[test]
    fn a_choice_and_a_state_have_a_key_and_a_value() {
        for (text, key, value) in [
            ("Let's use Postgres for the ledger", "ledger", "postgres"),
            (
                "write commit messages in German",
                "commit messages",
                "german",
            ),
            (
                "The staging server runs on port 8080",
                "staging server",
                "port 8080",
            ),
            ("our default branch is trunk", "default branch", "trunk"),
        ] {
            let parsed = Statement::parse(text);
            let setting = Setting {
                key: words(key),
                value: words(value),
            };
            assert!(
                parsed.settings().any(|it| *it == setting),
                "{text}: {parsed:?}"
            );
        }
    }
}
