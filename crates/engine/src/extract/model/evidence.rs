//! Checks whether everything that a text names is named by its evidence.
//!
//! Numbers, days, paths, names of code, proper names and quotes are checked word by word: a model
//! that names one of them without evidence has invented it. Other words may be the model's own, as
//! long as enough of the text's significant words occur in the evidence (`EvidenceSet::overlaps`).
//!
//! Not here: which events are evidence, and the consequence of a failed check (`validation`).

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::LazyLock;

use daybook_domain::{Event, Origin};
use daybook_text::lazy_pattern::constant_regex;
use daybook_text::pasted::typed;
use regex::Regex;

use super::transcript::day;
use super::truncate::keep_ends;
use crate::extract::Window;
use crate::extract::extractive::text_analysis::{
    capitals_mark_names, is_common_word, significant_words,
};

/// Bytes of head and of tail of an event that count as evidence: as much as a model reads of a person's message.
const EVIDENCE: (usize, usize) = (4_500, 1_500);

const NUMBER_WORDS: [(&str, &str); 11] = [
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
];

/// Verbs after which the first word of a sentence is its subject.
const VERBS: [&str; 22] = [
    "is", "are", "was", "were", "has", "have", "had", "runs", "uses", "needs", "must", "should",
    "can", "cannot", "will", "lives", "wants", "prefers", "likes", "requires", "owns", "works",
];

static CODE: LazyLock<Regex> = LazyLock::new(|| constant_regex("`([^`]+)`"));
static QUOTE: LazyLock<Regex> = LazyLock::new(|| constant_regex("[\"“”]([^\"“”]+)[\"“”]"));
static MARKER: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"\[REDACTED[^\]]*\]"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"\d+(?:[.,]\d+)*"));
/// A number with nothing but punctuation and a short unit around it.
static NUMERIC: LazyLock<Regex> =
    LazyLock::new(|| constant_regex(r"^[$€£~<>=≤≥+x-]*\d[\d.,:/–%$€£+x-]*[a-zA-Zµ°]{0,3}$"));
static DAY: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"^\d{4}-\d\d-\d\d$"));

/// The text of one event, with derived forms that are computed on first use.
#[derive(Debug)]
pub(super) struct EvidenceText {
    text: String,
    /// The text in lower case, on one line, with plain quotes.
    low: String,
    words: OnceCell<String>,
    numbers: OnceCell<HashSet<String>>,
    significant_words: OnceCell<HashSet<String>>,
    days: Vec<String>,
}

impl EvidenceText {
    fn of(event: &Event, text: &str) -> Self {
        let text = keep_ends(text, EVIDENCE.0, EVIDENCE.1);
        let tool = event.tool.as_deref().unwrap_or("");
        Self {
            days: days_around(event),
            ..Self::of_text(&format!("{text} {tool}"))
        }
    }

    pub(super) fn of_text(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            low: plain(text),
            words: OnceCell::new(),
            numbers: OnceCell::new(),
            significant_words: OnceCell::new(),
            days: Vec::new(),
        }
    }

    fn words(&self) -> &str {
        self.words.get_or_init(|| words(&self.low))
    }

    fn numbers(&self) -> &HashSet<String> {
        self.numbers.get_or_init(|| {
            let spelled = NUMBER_WORDS
                .iter()
                .filter(|(word, _)| contains_whole_word(&self.low, word));
            let spelled = spelled.map(|(_, number)| (*number).to_owned());
            numbers(&self.low).chain(spelled).collect()
        })
    }

    fn significant_words(&self) -> &HashSet<String> {
        self.significant_words
            .get_or_init(|| significant_words(&self.text))
    }
}

/// The texts of a window's events, each analyzed at most once.
pub(super) struct EvidenceIndex<'a> {
    window: Window<'a>,
    texts: Vec<OnceCell<EvidenceText>>,
    /// The texts without what persons pasted.
    typed: Vec<OnceCell<EvidenceText>>,
    /// Known without evidence: the person's name, root and branch of the window's place.
    context: EvidenceText,
    /// The session's summary up to the window.
    summary: EvidenceText,
}

impl<'a> EvidenceIndex<'a> {
    pub(super) fn of(window: Window<'a>) -> Self {
        let person = window.session.user.as_deref().unwrap_or("");
        let place = window
            .events
            .iter()
            .rev()
            .find_map(|event| event.place.as_ref());
        let root = place.map_or("", |place| place.root.as_str());
        let branch = place
            .and_then(|place| place.branch.as_deref())
            .unwrap_or("");
        Self {
            window,
            texts: window.events.iter().map(|_| OnceCell::new()).collect(),
            typed: window.events.iter().map(|_| OnceCell::new()).collect(),
            context: EvidenceText::of_text(&format!("{person} {root} {branch}")),
            summary: EvidenceText::of_text(window.known.summary.unwrap_or("")),
        }
    }

    /// The significant words of one event.
    pub(super) fn significant_words(&self, place: usize) -> &HashSet<String> {
        self.text_at(place).significant_words()
    }

    /// The evidence of the events at these places of the window.
    pub(super) fn evidence(&self, places: &[usize]) -> EvidenceSet<'_> {
        EvidenceSet {
            texts: places.iter().map(|place| self.text_at(*place)).collect(),
            context: &self.context,
        }
    }

    /// Like [`EvidenceIndex::evidence`], without what persons pasted.
    pub(super) fn typed_evidence(&self, places: &[usize]) -> EvidenceSet<'_> {
        EvidenceSet {
            texts: places.iter().map(|place| self.typed_at(*place)).collect(),
            context: &self.context,
        }
    }

    /// Like [`EvidenceIndex::evidence`], with the summary of the windows before.
    pub(super) fn evidence_with_summary(&self, places: &[usize]) -> EvidenceSet<'_> {
        let mut evidence = self.evidence(places);
        evidence.texts.push(&self.summary);
        evidence
    }

    fn typed_at(&self, place: usize) -> &EvidenceText {
        let event = &self.window.events[place];
        if event.origin != Origin::Human {
            return self.text_at(place);
        }
        self.typed[place].get_or_init(|| EvidenceText::of(event, &typed(&event.text)))
    }

    fn text_at(&self, place: usize) -> &EvidenceText {
        self.texts[place].get_or_init(|| {
            let event = &self.window.events[place];
            EvidenceText::of(event, &event.text)
        })
    }
}

/// Whether `source` names everything that `text` names: numbers, days, paths, names of code, proper names, quotes.
pub(crate) fn names_all(source: &str, text: &str) -> bool {
    let (source, context) = (EvidenceText::of_text(source), EvidenceText::of_text(""));
    let evidence = EvidenceSet {
        texts: vec![&source],
        context: &context,
    };
    evidence.supports(text)
}

/// The texts that a claim is checked against.
pub(super) struct EvidenceSet<'a> {
    texts: Vec<&'a EvidenceText>,
    context: &'a EvidenceText,
}

impl<'a> EvidenceSet<'a> {
    /// Adds a further text to the evidence.
    pub(super) fn with_text(mut self, more: &'a EvidenceText) -> Self {
        self.texts.push(more);
        self
    }
}

impl EvidenceSet<'_> {
    fn any_text(&self, holds: impl Fn(&&EvidenceText) -> bool) -> bool {
        self.texts.iter().chain([&self.context]).any(holds)
    }

    /// The number of these words that occur in the texts.
    pub(super) fn count_overlap(&self, significant_words: &HashSet<String>) -> usize {
        significant_words
            .iter()
            .filter(|word| {
                self.texts
                    .iter()
                    .any(|text| text.significant_words().contains(*word))
            })
            .count()
    }

    /// Whether at least a quarter of a text's significant words occur in this evidence.
    pub(super) fn overlaps(&self, significant_words: &HashSet<String>) -> bool {
        let shared = self.count_overlap(significant_words);
        significant_words.is_empty() || (shared > 0 && shared * 4 >= significant_words.len())
    }

    /// Whether this evidence names everything that `text` names.
    pub(super) fn supports(&self, text: &str) -> bool {
        let text = MARKER.replace_all(text, " ");
        let code = CODE
            .captures_iter(&text)
            .all(|c| self.contains_name(&plain(&c[1])));
        let quotes = QUOTE.captures_iter(&text).all(|c| {
            let quoted = words(&plain(&c[1]));
            !quoted.contains(' ')
                || self.any_text(|text| contains_whole_word(text.words(), &quoted))
        });
        if !code || !quotes {
            return false;
        }
        let text = CODE.replace_all(&text, " ");
        let tokens: Vec<&str> = text.split_whitespace().collect();
        let has_names = capitals_mark_names(&text);
        tokens.iter().enumerate().all(|(i, raw)| {
            let opens = i == 0 || tokens[i - 1].ends_with(['.', '!', '?', ':', ';', '(', '-', '–']);
            let next = tokens.get(i + 1).copied().unwrap_or("");
            self.supports_token(raw, has_names, opens.then_some(next))
        })
    }

    /// Whether this evidence names one token, if the token names anything. `opening` is the word after it where
    /// it opens a sentence.
    fn supports_token(&self, raw: &str, has_names: bool, opening: Option<&str>) -> bool {
        let token = raw
            .trim_start_matches(|c: char| "([{<\"'“”‘’*".contains(c))
            .trim_end_matches(|c: char| ".,;:!?)]}>\"'“”‘’*…".contains(c));
        let token = token.trim_end_matches("'s").trim_end_matches("’s");
        let low = plain(token);
        if low.is_empty() {
            return true;
        }
        if let Some((_, number)) = NUMBER_WORDS.iter().find(|(word, _)| *word == low) {
            return self.contains_number(number) || *number == self.texts.len().to_string();
        }
        if low.contains(|c: char| c.is_ascii_digit()) {
            return self.supports_number(&low);
        }
        if is_code(token) {
            return self.contains_name(&low) || self.supports_alternatives(&low);
        }
        let capital = token.chars().next().is_some_and(char::is_uppercase);
        if !has_names || !capital || is_common_word(&low) || low.chars().count() < 2 {
            return true;
        }
        let is_subject = opening.is_none_or(|next| VERBS.contains(&next));
        !is_subject || self.contains_name(&low) || self.contains_stem(&low)
    }

    fn supports_number(&self, low: &str) -> bool {
        if DAY.is_match(low) {
            return self.any_text(|text| text.days.iter().any(|day| day == low))
                || self.contains_name(low);
        }
        if NUMERIC.is_match(low) {
            return numbers(low).all(|number| self.contains_number(&number));
        }
        self.contains_name(low)
    }

    /// Whether each side of `read/write` occurs as a word.
    fn supports_alternatives(&self, low: &str) -> bool {
        let mut sides = low.split('/');
        let word = |side: &str| !side.is_empty() && side.chars().all(char::is_alphabetic);
        low.contains('/')
            && sides.all(|side| {
                word(side)
                    && (self.contains_name(side)
                        || self.contains_stem(side)
                        || is_common_word(side))
            })
    }

    fn contains_name(&self, low: &str) -> bool {
        self.any_text(|text| contains_whole_word(&text.low, low))
    }

    fn contains_number(&self, number: &str) -> bool {
        self.any_text(|text| text.numbers().contains(number))
    }

    /// Whether a word occurs in another form: its stem begins a word.
    fn contains_stem(&self, low: &str) -> bool {
        let stems = significant_words(low);
        !stems.is_empty()
            && stems
                .iter()
                .all(|stem| self.any_text(|text| begins_word(&text.low, stem)))
    }
}

/// Lower case, on one line, with plain quotes.
fn plain(text: &str) -> String {
    let low = text.to_lowercase().replace(['’', '‘'], "'");
    low.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn words(low: &str) -> String {
    let words = low
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a word of `text` begins with `stem`.
fn begins_word(text: &str, stem: &str) -> bool {
    let mut found = text.match_indices(stem);
    found.any(|(at, _)| !text[..at].ends_with(char::is_alphanumeric))
}

/// Whether `name` occurs in `text` other than as a part of a longer word.
fn contains_whole_word(text: &str, name: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + name.len()..]);
            let inner = name.starts_with(char::is_alphanumeric);
            (!inner || edge(before.chars().next_back()))
                && (!name.ends_with(char::is_alphanumeric) || edge(after.chars().next()))
        })
}

/// Every number in `text`, without thousands separators.
fn numbers(text: &str) -> impl Iterator<Item = String> {
    NUMBER.find_iter(text).flat_map(|found| {
        let number = found.as_str();
        let grouped = number.split(',').skip(1).all(|group| group.len() >= 3);
        match grouped {
            true => vec![number.replace(',', "")],
            false => number.split(',').map(str::to_owned).collect(),
        }
    })
}

/// The day of an event, and the days before and after it, to which "yesterday" and "tomorrow" refer.
fn days_around(event: &Event) -> Vec<String> {
    let Some(day) = day(event.at) else {
        return Vec::new();
    };
    let around = [day.yesterday().ok(), Some(day), day.tomorrow().ok()];
    around
        .into_iter()
        .flatten()
        .map(|day| day.to_string())
        .collect()
}

/// Whether a token looks like a path, a flag, an address or a name of code.
fn is_code(token: &str) -> bool {
    let inner = token.trim_matches(|c: char| !c.is_alphanumeric());
    let dotted = inner.contains('.') && inner.split('.').any(|part| part.chars().count() > 1);
    let humps = inner.chars().zip(inner.chars().skip(1));
    let humps = humps
        .filter(|(a, b)| a.is_lowercase() && b.is_uppercase())
        .count()
        > 0;
    let flag = token.starts_with("--") || token.starts_with(['/', '~', '@', '#']);
    let marked = inner.contains(['/', '\\', '_', '@', '#', '=']) || inner.contains("::");
    !inner.is_empty() && (marked || dotted || humps || flag)
}

#[cfg(test)]
mod tests {
    use super::super::dialogue_test_support::{dialogue_events, session};
    use super::*;
    use crate::extract::KnownMemory;

    fn check(evidence: &str, text: &str, supports_token: bool) {
        let events = dialogue_events(&format!("human: {evidence}"));
        let session = session(&events);
        let index = EvidenceIndex::of(Window {
            session: &session,
            before: &[],
            events: &events,
            known: KnownMemory::default(),
            is_redone: false,
        });
        assert_eq!(
            index.evidence(&[0]).supports(text),
            supports_token,
            "{evidence} / {text}"
        );
    }

    #[test]
    fn a_number_must_have_been_said() {
        check("set the limit to 50", "The limit is 50.", true);
        check("set the limit to 500", "The limit is 50", false);
        check("wait 10,000 ms", "Wait 10000ms", true);
        check("use two spaces", "Indent with 2 spaces", true);
        check("use spaces", "Indent with four spaces", false);
        check("from 10 to 15", "10-15 entries", true);
        check("at 10:30", "at 10:45", false);
        check("use version 2.1.3", "Version v2.1.3 is used", false);
        check("use v2.1.3", "Version v2.1.3 is used", true);
    }

    #[test]
    fn a_path_or_a_name_of_code_must_have_been_said() {
        check(
            "look at src/extract/mod.rs",
            "Extraction begins in src/extract/mod.rs.",
            true,
        );
        check(
            "look at src/extract/mod.rs",
            "Extraction begins in src/extract/lib.rs",
            false,
        );
        check(
            "call getRewindPoints",
            "`getRewindPoints` is per strategy",
            true,
        );
        check("call it", "`getRewindPoints` is per strategy", false);
        check("pass --no-verify", "Never pass --no-verify", true);
        check("never skip hooks", "Never pass --no-verify", false);
        check(
            "we read and write here",
            "Both read/write, and/or nothing, e.g. here",
            true,
        );
    }

    #[test]
    fn a_proper_name_must_have_been_said() {
        check("we deploy to hetzner", "They deploy to Hetzner", true);
        check("we deploy by hand", "They deploy to Hetzner", false);
        check("we deploy by hand", "Kubernetes is used to deploy", false);
        check("we deploy by hand", "Deployment is manual", true);
        check(
            "short answers please",
            "Prefers short answers; Ada wants them",
            true,
        );
        check(
            "schreib die tests zuerst",
            "Die Tests werden zuerst geschrieben, nicht der Code",
            true,
        );
    }

    #[test]
    fn a_quote_must_be_one() {
        check(
            "tests, tests, tests!",
            "Insisted: \"tests tests tests\"",
            true,
        );
        check("we need a test", "Insisted: \"tests tests tests\"", false);
    }

    #[test]
    fn a_day_is_that_of_the_event_or_was_said() {
        check("we ship tomorrow", "Ships on 2026-01-28", true);
        check("we ship in spring", "Ships on 2026-04-01", false);
    }

    #[test]
    fn a_hidden_secret_names_nothing() {
        check("the key is set", "The key is [REDACTED:openai-key9]", true);
    }
}
