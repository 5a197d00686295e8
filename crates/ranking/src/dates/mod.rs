//! Parses the times that a question names: `in May`, `on 7 May 2023`, `last week`, `yesterday`.
//!
//! Ranking takes them loosely: people often speak of a thing days after it happened, and one more day on both sides covers
//! every time zone. A question for what was done takes them exactly (`named_days`).

mod relative;

use std::borrow::Cow;

use daybook_domain::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp as Instant, ToSpan};

use self::relative::relative;

/// Months, in English, German and Spanish.
const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "enero"],
    &["february", "feb", "februar", "febrero"],
    &["march", "mar", "märz", "marzo"],
    &["april", "apr", "abril"],
    &["may", "mai", "mayo"],
    &["june", "jun", "juni", "junio"],
    &["july", "jul", "juli", "julio"],
    &["august", "aug", "agosto"],
    &["september", "sep", "sept", "septiembre"],
    &["october", "oct", "oktober", "octubre"],
    &["november", "nov", "noviembre"],
    &["december", "dec", "dezember", "diciembre"],
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
    /// This day of any month.
    OfAnyMonth { day: i8 },
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

    /// Whether the question names none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a time lies in one of the periods. An unknown time lies in none.
    pub fn contains(&self, at: Timestamp) -> bool {
        if self.0.is_empty() || at == Timestamp::ZERO {
            return false;
        }
        let Some(day) = day_of(at) else {
            return false;
        };
        self.0.iter().any(|period| match &period.days {
            NamedDays::OfAnyYear { month, .. } => day.month() == *month,
            NamedDays::OfAnyMonth { day: named } => (day.day() - named).abs() <= 1,
            NamedDays::Between {
                near: (from, to), ..
            } => (*from..=*to).contains(&day),
        })
    }
}

/// The days of the first period that a question names, and the question without the words that name periods. Without a
/// year, the latest that has begun by `today` is meant.
pub fn named_days(question: &str, today: Date) -> Option<((Date, Date), String)> {
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
            // The last one that has begun.
            Self::OfAnyMonth { day } => {
                let mut months = (0..12).filter_map(|back| {
                    let month = today.first_of_month().checked_sub(back.months()).ok()?;
                    Date::new(month.year(), month.month(), *day).ok()
                });
                let named = months.find(|named| *named <= today)?;
                Some((named, named))
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
    // The longest number first: 11月 is not 1月.
    for (number, names) in (1..).zip(MONTHS).collect::<Vec<_>>().into_iter().rev() {
        spaced = spaced.replace(&format!("{number}月"), &format!(" {} ", names[0]));
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
            .or_else(|| day_alone(words, at))
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
    // "27 de enero".
    let back = if before.as_deref() == Some("de") {
        2
    } else {
        1
    };
    let places = [at.checked_sub(back), Some(at + 1), Some(at + 2)];
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

/// A day without its month: "the 14th", "am 14.".
fn day_alone(words: &[&str], at: usize) -> Option<NamedPeriod> {
    let before = words[at.checked_sub(1)?].to_lowercase();
    let is_month = |at: usize| words.get(at).is_some_and(|_| month(words, at).is_some());
    let word = words[at].to_lowercase();
    let digits = word.trim_end_matches(char::is_alphabetic);
    let is_day = match before.as_str() {
        // Not the 5th option.
        "the" => {
            let is_ordinal = matches!(&word[digits.len()..], "st" | "nd" | "rd" | "th");
            let place = at.checked_sub(2).map(|place| words[place].to_lowercase());
            let is_time = place.is_some_and(|place| BEFORE_A_MONTH.contains(&place.as_str()));
            is_ordinal && (is_time || at + 1 == words.len())
        }
        "am" | "vom" | "zum" => digits.len() == word.len(),
        _ => false,
    };
    let day = digits.parse().ok().filter(|day| (1..=31).contains(day));
    // "The 14th of May" is found by its month.
    let has_month = (at + 1..at + 3).any(is_month);
    let days = NamedDays::OfAnyMonth { day: day? };
    (is_day && !has_month).then_some(NamedPeriod {
        days,
        words: (at - 1, at + 1),
    })
}

/// A number, also an ordinal (`7th`, `7日`).
fn number(word: &str) -> Option<i16> {
    let digits = word.trim_end_matches(char::is_alphabetic);
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

#[cfg(test)]
#[path = "dates_tests.rs"]
mod tests;
