//! A text in its plainest words, so that the same is written the same: "30 seconds" and "30s", "the third of June" and
//! "June 3", "next to" and "beside".
//!
//! Not here: which words have content (`content`); what a figure measures (`statement::figures`).

use std::collections::HashMap;
use std::sync::LazyLock;

use daybook_text::lazy_pattern::constant_regex;
use regex::{Captures, Regex};

use super::word_lists::lines_of;

/// Words by another that stands for them, and a pattern of all of them.
struct Words {
    plain: HashMap<&'static str, &'static str>,
    any: String,
}

impl Words {
    /// Of pairs of a word and its plain form.
    fn new(pairs: impl Iterator<Item = (&'static str, &'static str)>) -> Self {
        let plain: HashMap<_, _> = pairs.collect();
        // The longest first; those of one length in an order that is the same in every process.
        let mut words: Vec<&str> = plain.keys().copied().collect();
        words.sort_unstable_by_key(|word| (std::cmp::Reverse(word.len()), *word));
        let words: Vec<String> = words.into_iter().map(regex::escape).collect();
        let any = words.join("|");
        Self { plain, any }
    }

    /// Of a section whose lines are `plain = word word …`.
    fn of_section(name: &str) -> Self {
        let lines = lines_of(name).filter_map(|line| line.split_once(" = "));
        Self::new(lines.flat_map(|(plain, words)| words.split(' ').map(move |it| (it, plain))))
    }

    fn of(&self, found: &str) -> &'static str {
        self.plain.get(found).copied().unwrap_or_default()
    }
}

static PHRASES: LazyLock<Words> = LazyLock::new(|| {
    let pairs = lines_of("phrases").filter_map(|line| line.split_once(" ="));
    Words::new(pairs.map(|(phrase, plain)| (phrase, plain.trim())))
});
static NUMBERS: LazyLock<Words> = LazyLock::new(|| Words::of_section("numbers"));
static ORDINALS: LazyLock<Words> = LazyLock::new(|| Words::of_section("ordinals"));
static MONTHS: LazyLock<Words> = LazyLock::new(|| Words::of_section("months"));
static UNITS: LazyLock<Words> = LazyLock::new(|| Words::of_section("units"));

static PHRASE: LazyLock<Regex> = LazyLock::new(|| {
    let any = &PHRASES.any;
    constant_regex(&format!(
        r"(?P<before>^|[^\w-])(?P<phrase>{any})(?P<after>$|[^\w-])"
    ))
});
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| constant_regex(&format!(r"\b(?:{})\b", NUMBERS.any)));
/// "18:40", "6:40 pm", "9 uhr", "a las 9".
static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"\b(?:(?:um|a las) )?(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))? ?(?P<half>[ap]m|uhr|o'clock)\b|\b(?P<of_day>\d{1,2}):(?P<of_hour>\d{2})\b|\b(?:um|a las) (?P<full>\d{1,2})\b",
    )
});
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let (month, day) = (&MONTHS.any, &ORDINALS.any);
    constant_regex(&format!(
        r"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)? (?:of |de )?|(?P<ordinal>{day}) of )(?P<month>{month})\b|\b(?P<first>{month})\.? (?P<then>\d{{1,2}})(?:st|nd|rd|th)?\b"
    ))
});
/// A number before its unit, or behind the sign of a currency.
static MEASURE: LazyLock<Regex> = LazyLock::new(|| {
    let any = &UNITS.any;
    constant_regex(&format!(
        r"(?P<sign>[$€]) ?(?P<amount>\d+(?:[.,]\d+)?)|\b(?:(?P<number>\d+(?:[.,]\d+)?)[ -]?|(?:one|eine[rmn]?|una?) )(?P<unit>{any})(?P<after>$|[^\w])"
    ))
});
/// How many of a unit are one of a larger one.
const LARGER: [(&str, u32, &str); 3] = [
    ("millis", 1000, "secs"),
    ("secs", 60, "mins"),
    ("mins", 60, "hours"),
];
/// What is bounded is bounded in many words, which add nothing to the number.
static AT_MOST: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"\b(?:under|below|within|up to|at most|(?:no|not) (?:more|longer|larger|bigger|higher) than|less than|fewer than|shorter than|smaller than|lower than|max(?:imum)?(?: of)?|höchstens|maximal|unter|bis zu|como máximo|menos de)(?P<gap> (?:about |etwa )?)(?P<number>\d)|(?P<bounded>\d\w*) (?:max|maximum|at most|or less|or fewer|tops|höchstens)\b",
    )
});
static AT_LEAST: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"\b(?:at least|no (?:less|fewer) than|more than|longer than|larger than|above|over|min(?:imum)?(?: of)?|mindestens|über|mehr als|más de|al menos|por lo menos) (?P<number>\d)|(?P<bounded>\d\w*) (?:min|minimum|or more|or newer|at least)\b",
    )
});

/// Compiles the patterns of figures.
pub(super) fn prepare() {
    for pattern in [&NUMBER, &CLOCK, &DATE, &MEASURE] {
        LazyLock::force(pattern);
    }
}

/// A text in lower case in its plainest words.
pub(super) fn plain(low: &str) -> String {
    let phrases = PHRASE.replace_all(low, |found: &Captures<'_>| {
        let phrase = PHRASES.of(&found["phrase"]);
        format!("{}{phrase}{}", &found["before"], &found["after"])
    });
    let plain = figures(&phrases);
    let plain = AT_LEAST.replace_all(&plain, "min $number$bounded");
    AT_MOST.replace_all(&plain, "$number$bounded").into_owned()
}

/// A text in lower case with its figures each in one form: `30secs`, `m06d03`, `c1840`.
pub(super) fn figures(low: &str) -> String {
    let numbers = NUMBER.replace_all(low, |found: &Captures<'_>| NUMBERS.of(&found[0]));
    let dated = DATE.replace_all(&numbers, date);
    let timed = CLOCK.replace_all(&dated, clock);
    MEASURE.replace_all(&timed, measure).into_owned()
}

fn date(found: &Captures<'_>) -> String {
    let part = |name| found.name(name).map(|it| it.as_str());
    let month = MONTHS.of(part("month").or(part("first")).unwrap_or_default());
    let ordinal = part("ordinal").map(|it| ORDINALS.of(it));
    let day = part("day").or(part("then")).or(ordinal).unwrap_or_default();
    format!("m{month:0>2}d{day:0>2}")
}

fn clock(found: &Captures<'_>) -> String {
    let part = |name| found.name(name).map(|it| it.as_str());
    let hour = part("hour").or(part("of_day")).or(part("full"));
    let hour: u32 = hour.and_then(|it| it.parse().ok()).unwrap_or_default();
    let hour = match part("half") {
        Some("pm") => hour % 12 + 12,
        Some("am") => hour % 12,
        _ => hour,
    };
    let minute = part("minute").or(part("of_hour")).unwrap_or("00");
    format!("c{hour:0>2}{minute}")
}

fn measure(found: &Captures<'_>) -> String {
    if let Some(amount) = found.name("amount") {
        return format!("{}{}", amount.as_str(), UNITS.of(&found["sign"]));
    }
    let number = found.name("number").map_or("1", |it| it.as_str());
    let (number, unit) = match number.parse() {
        Ok(whole) => in_largest_unit(whole, UNITS.of(&found["unit"])),
        Err(_) => (number.to_owned(), UNITS.of(&found["unit"])),
    };
    format!("{number}{unit}{}", &found["after"])
}

/// "3600 s" are one hour, and a week is seven days.
fn in_largest_unit(mut number: u32, mut unit: &'static str) -> (String, &'static str) {
    if unit == "weeks" {
        return (number.saturating_mul(7).to_string(), "days");
    }
    for (smaller, many, larger) in LARGER {
        if unit == smaller && number > 0 && number.is_multiple_of(many) {
            (number, unit) = (number / many, larger);
        }
    }
    (number.to_string(), unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_written_the_same() {
        for (text, expected) in [
            ("after 30 seconds", "after 30secs"),
            ("after 30s.", "after 30secs."),
            ("for two weeks", "for 14days"),
            ("for one week", "for 7days"),
            ("3600 s", "1hours"),
            ("the second may fail", "the second may fail"),
            ("a 14-day window", "a 14days window"),
            ("launch is on june 3rd", "launch is on m06d03"),
            ("the third of june", "the m06d03"),
            ("at 6:40 pm", "at c1840"),
            ("at 18:40", "at c1840"),
            ("a las nueve", "c0900"),
            ("costs $20 or 20 dollars", "costs 20dollars or 20dollars"),
            ("17°c", "17degrees"),
            ("answers within 200 ms", "answers 200millis"),
            ("at least 20 players", "min 20 players"),
            ("right next to it", "right beside it"),
            ("don't forget to lint", " lint"),
            ("release 2.0 of the api", "release 2.0 of the api"),
            ("压缩到200kb以内", "压缩到200kb以内"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
    }
}
