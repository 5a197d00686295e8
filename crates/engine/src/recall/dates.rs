//! Parses the times that a question names: `in May`, `on 7 May 2023`, `last week`, `yesterday`.
//!
//! Days are those of UTC; one more day on both sides covers every time zone.

use daybook_domain::Timestamp;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp as Instant, ToSpan};

/// Months, in English and German, by their first letters.
const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar"],
    &["february", "feb", "februar"],
    &["march", "mar", "märz"],
    &["april", "apr"],
    &["may", "mai"],
    &["june", "jun", "juni"],
    &["july", "jul", "juli"],
    &["august", "aug"],
    &["september", "sep", "sept"],
    &["october", "oct", "oktober"],
    &["november", "nov"],
    &["december", "dec", "dezember"],
];
const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];
/// Words before `may` or `march` that make it a month and not a verb.
const BEFORE_A_MONTH: [&str; 14] = [
    "in", "on", "of", "during", "since", "until", "by", "before", "after", "last", "early", "late",
    "mid", "im",
];

/// The periods that a question names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dates(Vec<NamedPeriod>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum NamedPeriod {
    /// This month of any year.
    Month(i8),
    /// From the first day to the second, inclusive.
    Days(Date, Date),
}

impl Dates {
    /// Parses the periods of a question that is asked at `now`. Without a known `now`, relative periods are ignored.
    pub fn of(question: &str, now: Timestamp) -> Self {
        let words = words(question);
        let today = (now != Timestamp::ZERO).then(|| day_of(now)).flatten();
        let found = (0..words.len()).filter_map(|at| {
            month(&words, at)
                .or_else(|| iso(words[at]))
                .or_else(|| relative(&words, at, today?))
        });
        Self(found.collect())
    }

    /// Whether a time lies in one of the periods. An unknown time lies in none.
    pub(super) fn contains(&self, at: Timestamp) -> bool {
        if self.0.is_empty() || at == Timestamp::ZERO {
            return false;
        }
        let Some(day) = day_of(at) else {
            return false;
        };
        self.0.iter().any(|when| match when {
            NamedPeriod::Month(month) => day.month() == *month,
            NamedPeriod::Days(from, to) => (*from..=*to).contains(&day),
        })
    }
}

fn day_of(at: Timestamp) -> Option<Date> {
    let instant = Instant::from_millisecond(at.0).ok()?;
    Some(instant.to_zoned(TimeZone::UTC).date())
}

/// The words of a question, without punctuation around them.
fn words(question: &str) -> Vec<&str> {
    let is_sign = |c: char| !c.is_alphanumeric();
    let words = question
        .split_whitespace()
        .map(|word| word.trim_matches(is_sign));
    words.filter(|word| !word.is_empty()).collect()
}

fn month(words: &[&str], at: usize) -> Option<NamedPeriod> {
    let lower = words[at].to_lowercase();
    let month = MONTHS
        .iter()
        .position(|names| names.contains(&lower.as_str()))?;
    let month = i8::try_from(month + 1).ok()?;
    let before = at.checked_sub(1).map(|before| words[before].to_lowercase());
    let number = |at: usize| words.get(at).and_then(|word| number(word));
    let beside = [
        at.checked_sub(1).and_then(number),
        number(at + 1),
        number(at + 2),
    ];
    let is_named = before.is_some_and(|before| BEFORE_A_MONTH.contains(&before.as_str()));
    let is_verb = matches!(lower.as_str(), "may" | "march" | "mar" | "jan");
    if is_verb && !is_named && beside.iter().flatten().next().is_none() {
        return None;
    }
    let year = beside
        .iter()
        .flatten()
        .copied()
        .find(|n| (1900..2200).contains(n));
    let Some(year) = year else {
        return Some(NamedPeriod::Month(month));
    };
    // The day is ignored: people often mention an event days after it happened.
    let first = Date::new(year, month, 1).ok()?;
    Some(NamedPeriod::Days(first, first.last_of_month()))
}

/// A number, also an ordinal (`7th`).
fn number(word: &str) -> Option<i16> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse().ok()
}

fn iso(word: &str) -> Option<NamedPeriod> {
    let day: Date = word.parse().ok().filter(|_| word.len() == 10)?;
    days(day, day)
}

/// The period from a day to another, extended by one day on both sides.
fn days(from: Date, to: Date) -> Option<NamedPeriod> {
    Some(NamedPeriod::Days(
        from.checked_sub(1.day()).ok()?,
        to.checked_add(1.day()).ok()?,
    ))
}

fn relative(words: &[&str], at: usize, today: Date) -> Option<NamedPeriod> {
    let word = words[at].to_lowercase();
    let back = |span: Span| today.checked_sub(span).ok();
    match word.as_str() {
        "today" | "heute" => return days(today, today),
        "yesterday" | "gestern" => return days(back(1.day())?, back(1.day())?),
        _ => {}
    }
    let before = words[at.checked_sub(1)?].to_lowercase();
    if let Some(weekday) = WEEKDAYS.iter().position(|day| *day == word) {
        let today_is = today.weekday().to_monday_zero_offset();
        let ago = (i64::from(today_is) - i64::try_from(weekday).ok()?).rem_euclid(7);
        let ago = if ago == 0 { 7 } else { ago };
        return match before.as_str() {
            "last" | "on" | "this" | "since" => days(back(ago.days())?, back(ago.days())?),
            _ => None,
        };
    }
    match (before.as_str(), word.as_str()) {
        ("this", "week") => days(back(6.days())?, today),
        ("last", "week") => days(back(13.days())?, back(1.day())?),
        ("this", "month") => days(today.first_of_month(), today),
        ("last", "month") => {
            let last = today.first_of_month().checked_sub(1.day()).ok()?;
            days(last.first_of_month(), last)
        }
        ("last", "year") => days(date(today.year() - 1, 1, 1), date(today.year() - 1, 12, 31)),
        _ => None,
    }
}

#[cfg(test)]
#[path = "dates_tests.rs"]
mod tests;
