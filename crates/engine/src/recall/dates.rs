//! Parses the times that a question names: `in May`, `on 7 May 2023`, `last week`, `yesterday`.
//!
//! Ranking takes them loosely: people often speak of a thing days after it happened, and one more day on both sides covers
//! every time zone. A question for what was done takes them exactly ([`named_days`]).

use std::borrow::Cow;

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

/// Words for periods in a script without spaces, and what they mean. The longest first.
const UNSPACED: [(&str, &str); 9] = [
    ("上个星期", " last week "),
    ("上个月", " last month "),
    ("上星期", " last week "),
    ("这个月", " this month "),
    ("上周", " last week "),
    ("这周", " this week "),
    ("本周", " this week "),
    ("昨天", " yesterday "),
    ("今天", " today "),
];
/// Small numbers as words, from one.
const NUMBERS: [&[&str]; 10] = [
    &["one", "a", "an", "einem", "einer"],
    &["two", "zwei"],
    &["three", "drei"],
    &["four", "vier"],
    &["five", "fünf"],
    &["six", "sechs"],
    &["seven", "sieben"],
    &["eight", "acht"],
    &["nine", "neun"],
    &["ten", "zehn"],
];

/// The periods that a question names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dates(Vec<NamedPeriod>);

/// A period that a question names, and how many of its words do so.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NamedPeriod {
    days: NamedDays,
    /// The places of the first word and the one behind the last.
    words: (usize, usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum NamedDays {
    /// This month of any year, and perhaps a day of it.
    OfAnyYear { month: i8, day: Option<i8> },
    /// From a day to another, inclusive, and the days that count for ranking.
    Between {
        exact: (Date, Date),
        near: (Date, Date),
    },
}

impl Dates {
    /// Parses the periods of a question that is asked at `now`. Without a known `now`, relative periods are ignored.
    pub fn of(question: &str, now: Timestamp) -> Self {
        let today = (now != Timestamp::ZERO).then(|| day_of(now)).flatten();
        Self(periods(&words(&spaced(question)), today))
    }

    /// Whether a time lies in one of the periods. An unknown time lies in none.
    pub(super) fn contains(&self, at: Timestamp) -> bool {
        if self.0.is_empty() || at == Timestamp::ZERO {
            return false;
        }
        let Some(day) = day_of(at) else {
            return false;
        };
        self.0.iter().any(|period| match &period.days {
            NamedDays::OfAnyYear { month, .. } => day.month() == *month,
            NamedDays::Between {
                near: (from, to), ..
            } => (*from..=*to).contains(&day),
        })
    }
}

/// The days of the first period that a question names, and the question without the words that name periods. Without a
/// year, the latest that has begun by `today` is meant.
pub(in crate::recall) fn named_days(question: &str, today: Date) -> Option<((Date, Date), String)> {
    let question = spaced(question);
    let words = words(&question);
    let periods = periods(&words, Some(today));
    let days = periods.iter().find_map(|period| period.days.exact(today))?;
    let names = |at: usize| {
        let mut all = periods.iter().map(|period| period.words);
        all.any(|(from, to)| (from..to).contains(&at))
    };
    let rest = words.iter().enumerate().filter(|(at, _)| !names(*at));
    let rest: Vec<&str> = rest.map(|(_, word)| *word).collect();
    Some((days, rest.join(" ")))
}

impl NamedDays {
    fn exact(&self, today: Date) -> Option<(Date, Date)> {
        match self {
            Self::Between { exact, .. } => Some(*exact),
            Self::OfAnyYear { month, day } => {
                let of_year = |year: i16| Date::new(year, *month, day.unwrap_or(1)).ok();
                let first = of_year(today.year())
                    .filter(|first| *first <= today)
                    .or_else(|| of_year(today.year() - 1))?;
                Some(match day {
                    Some(_) => (first, first),
                    None => (first, first.last_of_month()),
                })
            }
        }
    }

    /// These days exactly; for ranking with one more on both sides.
    fn between(from: Date, to: Date) -> Option<Self> {
        Some(Self::Between {
            exact: (from, to),
            near: (
                from.checked_sub(1.day()).ok()?,
                to.checked_add(1.day()).ok()?,
            ),
        })
    }
}

fn day_of(at: Timestamp) -> Option<Date> {
    let instant = Instant::from_millisecond(at.0).ok()?;
    Some(instant.to_zoned(TimeZone::UTC).date())
}

/// A question with spaces around the periods that a script without spaces names.
fn spaced(question: &str) -> Cow<'_, str> {
    if question.is_ascii() {
        return Cow::Borrowed(question);
    }
    let mut spaced = question.to_owned();
    for (word, meaning) in UNSPACED {
        spaced = spaced.replace(word, meaning);
    }
    Cow::Owned(spaced)
}

/// The words of a question, without punctuation around them.
fn words(question: &str) -> Vec<&str> {
    let is_sign = |c: char| !c.is_alphanumeric();
    let words = question
        .split_whitespace()
        .map(|word| word.trim_matches(is_sign));
    words.filter(|word| !word.is_empty()).collect()
}

fn periods(words: &[&str], today: Option<Date>) -> Vec<NamedPeriod> {
    let found = (0..words.len()).filter_map(|at| {
        month(words, at)
            .or_else(|| iso(words, at))
            .or_else(|| relative(words, at, today?))
    });
    found.collect()
}

fn month(words: &[&str], at: usize) -> Option<NamedPeriod> {
    let lower = words[at].to_lowercase();
    let month = MONTHS
        .iter()
        .position(|names| names.contains(&lower.as_str()))?;
    let month = i8::try_from(month + 1).ok()?;
    let before = at.checked_sub(1).map(|before| words[before].to_lowercase());
    let places = [at.checked_sub(1), Some(at + 1), Some(at + 2)];
    let number = |at: &Option<usize>| number(words.get((*at)?)?);
    let beside: Vec<(usize, i16)> = places
        .iter()
        .filter_map(|at| Some(((*at)?, number(at)?)))
        .collect();
    let is_named = before.is_some_and(|before| BEFORE_A_MONTH.contains(&before.as_str()));
    let is_verb = matches!(lower.as_str(), "may" | "march" | "mar" | "jan");
    if is_verb && !is_named && beside.is_empty() {
        return None;
    }
    let year = beside.iter().find(|(_, n)| (1900..2200).contains(n));
    // "May 7, 2023" and "7 May", but not the two of "in May two".
    let day = beside
        .iter()
        .find(|(place, n)| (1..=31).contains(n) && *place <= at + 1);
    let named = [day, year].into_iter().flatten().map(|(place, _)| *place);
    let named: Vec<usize> = named.chain([at]).collect();
    let words = (
        named.iter().copied().min().unwrap_or(at),
        named.iter().copied().max().unwrap_or(at) + 1,
    );
    let day = day.and_then(|(_, day)| i8::try_from(*day).ok());
    let days = match year {
        None => NamedDays::OfAnyYear { month, day },
        Some((_, year)) => {
            let first = Date::new(*year, month, 1).ok()?;
            let near = (first, first.last_of_month());
            let day = day.and_then(|day| Date::new(*year, month, day).ok());
            NamedDays::Between {
                exact: day.map_or(near, |day| (day, day)),
                near,
            }
        }
    };
    Some(NamedPeriod { days, words })
}

/// A number, also an ordinal (`7th`).
fn number(word: &str) -> Option<i16> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse().ok()
}

fn iso(words: &[&str], at: usize) -> Option<NamedPeriod> {
    let word = words[at];
    let day: Date = word.parse().ok().filter(|_| word.len() == 10)?;
    Some(NamedPeriod {
        days: NamedDays::between(day, day)?,
        words: (at, at + 1),
    })
}

fn relative(words: &[&str], at: usize, today: Date) -> Option<NamedPeriod> {
    let word = words[at].to_lowercase();
    let back = |span: Span| today.checked_sub(span).ok();
    let single = match word.as_str() {
        "today" | "heute" | "hoy" => Some(today),
        "yesterday" | "gestern" | "ayer" => Some(back(1.day())?),
        "vorgestern" | "anteayer" => Some(back(2.days())?),
        _ => None,
    };
    if let Some(day) = single {
        return Some(NamedPeriod {
            days: NamedDays::between(day, day)?,
            words: (at, at + 1),
        });
    }
    let first = at.checked_sub(1)?;
    let before = words[first].to_lowercase();
    let days = weekday(&before, &word, today).or_else(|| week_month_or_year(&before, &word, today));
    if let Some(days) = days {
        return Some(NamedPeriod {
            days,
            words: (first, at + 1),
        });
    }
    let (number, unit, from) = ago(words, at)?;
    let span = match unit {
        Unit::Day => number.days(),
        Unit::Week => number.weeks(),
        Unit::Month => number.months(),
    };
    let day = back(span)?;
    let days = match unit {
        Unit::Day => NamedDays::between(day, day)?,
        Unit::Week => {
            NamedDays::between(monday_of(day)?, monday_of(day)?.checked_add(6.days()).ok()?)?
        }
        Unit::Month => NamedDays::between(day.first_of_month(), day.last_of_month())?,
    };
    Some(NamedPeriod {
        days,
        words: (from, at + 1),
    })
}

fn weekday(before: &str, word: &str, today: Date) -> Option<NamedDays> {
    let weekday = WEEKDAYS.iter().position(|day| *day == word)?;
    if !matches!(before, "last" | "on" | "this" | "since") {
        return None;
    }
    let today_is = today.weekday().to_monday_zero_offset();
    let ago = (i64::from(today_is) - i64::try_from(weekday).ok()?).rem_euclid(7);
    let ago = if ago == 0 { 7 } else { ago };
    let day = today.checked_sub(ago.days()).ok()?;
    NamedDays::between(day, day)
}

fn week_month_or_year(before: &str, word: &str, today: Date) -> Option<NamedDays> {
    let back = |span: Span| today.checked_sub(span).ok();
    let monday = monday_of(today)?;
    match (before, word) {
        ("this" | "diese" | "dieser" | "esta", "week" | "woche" | "semana") => {
            Some(NamedDays::Between {
                exact: (monday, today),
                near: (back(7.days())?, today.checked_add(1.day()).ok()?),
            })
        }
        ("last" | "letzte" | "letzter", "week" | "woche") | ("semana", "pasada") => {
            Some(NamedDays::Between {
                exact: (
                    monday.checked_sub(7.days()).ok()?,
                    monday.checked_sub(1.day()).ok()?,
                ),
                near: (back(14.days())?, today),
            })
        }
        ("this" | "diesen" | "este", "month" | "monat" | "mes") => {
            NamedDays::between(today.first_of_month(), today)
        }
        ("last" | "letzten", "month" | "monat") | ("mes", "pasado") => {
            let last = today.first_of_month().checked_sub(1.day()).ok()?;
            NamedDays::between(last.first_of_month(), last)
        }
        ("last", "year") => {
            NamedDays::between(date(today.year() - 1, 1, 1), date(today.year() - 1, 12, 31))
        }
        _ => None,
    }
}

fn monday_of(day: Date) -> Option<Date> {
    let since = i64::from(day.weekday().to_monday_zero_offset());
    day.checked_sub(since.days()).ok()
}

enum Unit {
    Day,
    Week,
    Month,
}

/// `three days ago`, `vor 2 Wochen`: the number, the unit, and the place of the first word. `at` is that of the last one.
fn ago(words: &[&str], at: usize) -> Option<(i64, Unit, usize)> {
    let lower = |at: usize| words.get(at).map(|word| word.to_lowercase());
    let last = lower(at)?;
    let (number_at, unit_at, from) = match last.as_str() {
        "ago" => (at.checked_sub(2)?, at - 1, at - 2),
        _ if lower(at.checked_sub(2)?)? == "vor" => (at - 1, at, at - 2),
        _ => return None,
    };
    let word = lower(number_at)?;
    let named = NUMBERS
        .iter()
        .position(|names| names.contains(&word.as_str()));
    let number = match named {
        Some(place) => i64::try_from(place + 1).ok()?,
        None => word.parse().ok().filter(|n| (1..1000).contains(n))?,
    };
    let unit = match lower(unit_at)?.as_str() {
        "day" | "days" | "tag" | "tagen" => Unit::Day,
        "week" | "weeks" | "woche" | "wochen" => Unit::Week,
        "month" | "months" | "monat" | "monaten" => Unit::Month,
        _ => return None,
    };
    Some((number, unit, from))
}

#[cfg(test)]
#[path = "dates_tests.rs"]
mod tests;
