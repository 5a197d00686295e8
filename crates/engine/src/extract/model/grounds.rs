//! What a text names, and whether its evidence names it too.
//!
//! Numbers, days, paths, names of code, proper names and quotes can be checked word by word: a model
//! that names one of them which nobody named has invented it. Other words may be the model's own, as
//! long as enough of what carries the text is the evidence's (see `share`).
//!
//! Not here: which events are evidence, and what follows from a doubt (`validation`).

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::LazyLock;

use daybook_domain::Event;
use regex::Regex;

use super::cut::ends;
use super::transcript::day;
use crate::extract::Window;
use crate::extract::extractive::bearing::{capitals_name, is_usual, telling_words};

/// Bytes of head and of tail of an event that count as evidence: as much as a model is shown of a person's.
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

/// Words behind which the first word of a sentence is what the sentence is about.
const VERBS: [&str; 22] = [
    "is", "are", "was", "were", "has", "have", "had", "runs", "uses", "needs", "must", "should",
    "can", "cannot", "will", "lives", "wants", "prefers", "likes", "requires", "owns", "works",
];

static CODE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("`([^`]+)`").expect("the pattern is constant"));
static QUOTE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("[\"“”]([^\"“”]+)[\"“”]").expect("the pattern is constant"));
static MARKER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[REDACTED[^\]]*\]").expect("the pattern is constant"));
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d+(?:[.,]\d+)*").expect("the pattern is constant"));
/// A number with nothing around it but marks and a short unit.
static NUMERIC: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[$€£~<>=≤≥+x-]*\d[\d.,:/–%$€£+x-]*[a-zA-Zµ°]{0,3}$")
        .expect("the pattern is constant")
});
static DAY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\d{4}-\d\d-\d\d$").expect("the pattern is constant"));

/// What one event says, in forms that are made when they are first needed.
#[derive(Debug)]
pub(super) struct Saying {
    text: String,
    /// In lower case, on one line, with plain quotes.
    low: String,
    words: OnceCell<String>,
    numbers: OnceCell<HashSet<String>>,
    telling: OnceCell<HashSet<String>>,
    days: Vec<String>,
}

impl Saying {
    fn of(event: &Event) -> Self {
        let text = ends(&event.text, EVIDENCE.0, EVIDENCE.1);
        let tool = event.tool.as_deref().unwrap_or("");
        Self {
            days: days_around(event),
            ..Self::besides(&format!("{text} {tool}"))
        }
    }

    pub(super) fn besides(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            low: plain(text),
            words: OnceCell::new(),
            numbers: OnceCell::new(),
            telling: OnceCell::new(),
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
                .filter(|(word, _)| stands(&self.low, word));
            let spelled = spelled.map(|(_, number)| (*number).to_owned());
            numbers(&self.low).chain(spelled).collect()
        })
    }

    fn telling(&self) -> &HashSet<String> {
        self.telling.get_or_init(|| telling_words(&self.text))
    }
}

/// What the events of a window say, each looked at once at most.
pub(super) struct Sayings<'a> {
    window: Window<'a>,
    of: Vec<OnceCell<Saying>>,
    /// What everybody knows: the person's name, the place.
    besides: Saying,
    /// The session's summary up to the window.
    summary: Saying,
}

impl<'a> Sayings<'a> {
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
            of: window.events.iter().map(|_| OnceCell::new()).collect(),
            besides: Saying::besides(&format!("{person} {root} {branch}")),
            summary: Saying::besides(window.known.summary.unwrap_or("")),
        }
    }

    /// The words of one event that carry it.
    pub(super) fn telling(&self, place: usize) -> &HashSet<String> {
        self.saying(place).telling()
    }

    /// What the events at these places of the window say together.
    pub(super) fn grounds(&self, places: &[usize]) -> Grounds<'_> {
        Grounds {
            of: places.iter().map(|place| self.saying(*place)).collect(),
            besides: &self.besides,
        }
    }

    /// What those events say, and what the windows before came to.
    pub(super) fn story(&self, places: &[usize]) -> Grounds<'_> {
        let mut grounds = self.grounds(places);
        grounds.of.push(&self.summary);
        grounds
    }

    fn saying(&self, place: usize) -> &Saying {
        self.of[place].get_or_init(|| Saying::of(&self.window.events[place]))
    }
}

/// What some events say.
pub(super) struct Grounds<'a> {
    of: Vec<&'a Saying>,
    besides: &'a Saying,
}

impl<'a> Grounds<'a> {
    /// What is known besides counts as said.
    pub(super) fn knowing(mut self, more: &'a Saying) -> Self {
        self.of.push(more);
        self
    }
}

impl Grounds<'_> {
    fn any(&self, says: impl Fn(&&Saying) -> bool) -> bool {
        self.of.iter().chain([&self.besides]).any(says)
    }

    /// How many of these words are said here.
    fn share(&self, telling: &HashSet<String>) -> usize {
        telling
            .iter()
            .filter(|word| {
                self.of
                    .iter()
                    .any(|saying| saying.telling().contains(*word))
            })
            .count()
    }

    /// Whether enough of what carries a text is said here that it can be taken from here: a quarter.
    pub(super) fn say(&self, telling: &HashSet<String>) -> bool {
        let said = self.share(telling);
        telling.is_empty() || (said > 0 && said * 4 >= telling.len())
    }

    /// Whether everything that `text` names is named here.
    pub(super) fn hold(&self, text: &str) -> bool {
        let text = MARKER.replace_all(text, " ");
        let code = CODE.captures_iter(&text).all(|c| self.names(&plain(&c[1])));
        let quotes = QUOTE.captures_iter(&text).all(|c| {
            let quoted = words(&plain(&c[1]));
            !quoted.contains(' ') || self.any(|saying| stands(saying.words(), &quoted))
        });
        if !code || !quotes {
            return false;
        }
        let text = CODE.replace_all(&text, " ");
        let tokens: Vec<&str> = text.split_whitespace().collect();
        let names = capitals_name(&text);
        tokens.iter().enumerate().all(|(i, raw)| {
            let opens = i == 0 || tokens[i - 1].ends_with(['.', '!', '?', ':', ';', '(', '-', '–']);
            let next = tokens.get(i + 1).copied().unwrap_or("");
            self.holds(raw, names, opens.then_some(next))
        })
    }

    /// Whether one token is named here, if it names anything. `opening` is the word behind it where it
    /// opens a sentence.
    fn holds(&self, raw: &str, names: bool, opening: Option<&str>) -> bool {
        let token = raw
            .trim_start_matches(|c: char| "([{<\"'“”‘’*".contains(c))
            .trim_end_matches(|c: char| ".,;:!?)]}>\"'“”‘’*…".contains(c));
        let token = token.trim_end_matches("'s").trim_end_matches("’s");
        let low = plain(token);
        if low.is_empty() {
            return true;
        }
        if let Some((_, number)) = NUMBER_WORDS.iter().find(|(word, _)| *word == low) {
            return self.counts(number) || *number == self.of.len().to_string();
        }
        if low.contains(|c: char| c.is_ascii_digit()) {
            return self.holds_number(&low);
        }
        if is_code(token) {
            return self.names(&low) || self.holds_alternatives(&low);
        }
        let capital = token.chars().next().is_some_and(char::is_uppercase);
        if !names || !capital || is_usual(&low) || low.chars().count() < 2 {
            return true;
        }
        let about = opening.is_none_or(|next| VERBS.contains(&next));
        !about || self.names(&low) || self.tells(&low)
    }

    fn holds_number(&self, low: &str) -> bool {
        if DAY.is_match(low) {
            return self.any(|saying| saying.days.iter().any(|day| day == low)) || self.names(low);
        }
        if NUMERIC.is_match(low) {
            return numbers(low).all(|number| self.counts(&number));
        }
        self.names(low)
    }

    /// `read/write`, where each side is a word that was said.
    fn holds_alternatives(&self, low: &str) -> bool {
        let mut sides = low.split('/');
        let word = |side: &str| !side.is_empty() && side.chars().all(char::is_alphabetic);
        low.contains('/')
            && sides
                .all(|side| word(side) && (self.names(side) || self.tells(side) || is_usual(side)))
    }

    fn names(&self, low: &str) -> bool {
        self.any(|saying| stands(&saying.low, low))
    }

    fn counts(&self, number: &str) -> bool {
        self.any(|saying| saying.numbers().contains(number))
    }

    /// Whether a word was said in another form: its stem begins a word.
    fn tells(&self, low: &str) -> bool {
        let stems = telling_words(low);
        !stems.is_empty()
            && stems
                .iter()
                .all(|stem| self.any(|saying| begins_word(&saying.low, stem)))
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

/// Whether a word of `text` begins so.
fn begins_word(text: &str, stem: &str) -> bool {
    let mut found = text.match_indices(stem);
    found.any(|(at, _)| !text[..at].ends_with(char::is_alphanumeric))
}

/// Whether `name` stands in `text` and is no piece of a longer word.
fn stands(text: &str, name: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + name.len()..]);
            let inner = name.starts_with(char::is_alphanumeric);
            (!inner || edge(before.chars().next_back()))
                && (!name.ends_with(char::is_alphanumeric) || edge(after.chars().next()))
        })
}

/// Every number in `text`, without marks of thousands.
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

/// The day on which an event was said and its neighbours, which "yesterday" and "tomorrow" name.
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
    use super::super::scene::{scene, session};
    use super::*;
    use crate::extract::Known;

    fn check(evidence: &str, text: &str, holds: bool) {
        let events = scene(&format!("human: {evidence}"));
        let session = session(&events);
        let sayings = Sayings::of(Window {
            session: &session,
            before: &[],
            events: &events,
            known: Known::default(),
            is_redone: false,
        });
        assert_eq!(
            sayings.grounds(&[0]).hold(text),
            holds,
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
