//! Periods that are relative to today: `yesterday`, `last week`, `three days ago`.

use jiff::civil::{Date, date};
use jiff::{Span, ToSpan};

use super::{NamedDays, NamedPeriod};

const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
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

pub(super) fn relative(words: &[&str], at: usize, today: Date) -> Option<NamedPeriod> {
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
