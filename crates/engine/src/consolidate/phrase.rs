//! Formats parts of an entry's line: citations, quotes, dates, counts.

use std::collections::HashSet;

use daybook_domain::extraction::CitedText;
use daybook_domain::{Citation, Evidence, Timestamp};
use daybook_text::fence::without_citations;
use jiff::tz::TimeZone;

/// What stands in place of a time that is not known.
const UNDATED: &str = "undated";
/// Most sessions that one entry cites.
const CITED_SESSIONS: usize = 3;
/// Most line ranges in one citation; the newest are left out first.
const CITED_RANGES: usize = 6;

/// `[7f78:L382,476] [ca:L83-143]`
pub(super) fn citations<'e>(evidence: impl IntoIterator<Item = &'e Evidence>) -> String {
    let mut cited: Vec<(&str, Vec<u32>)> = Vec::new();
    // Of sessions that are not shown, the number alone.
    let mut others: HashSet<&str> = HashSet::new();
    for one in evidence {
        match cited.iter().position(|(label, _)| *label == one.label) {
            Some(known) => cited[known].1.extend(&one.lines),
            None if cited.len() < CITED_SESSIONS => cited.push((&one.label, one.lines.clone())),
            None => drop(others.insert(&one.label)),
        }
    }
    let more = others.len();
    let mut text: Vec<String> = cited
        .into_iter()
        .map(|(label, lines)| cite(label, lines))
        .collect();
    if more > 0 {
        text.push(format!("+{more}"));
    }
    text.join(" ")
}

/// `[7f78:L382,476]`
pub(super) fn cite(label: &str, mut lines: Vec<u32>) -> String {
    lines.sort_unstable();
    lines.dedup();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match ranges.last_mut() {
            Some((_, to)) if *to + 1 == line => *to = line,
            _ => ranges.push((line, line)),
        }
    }
    ranges.truncate(CITED_RANGES);
    format!(
        "[{}]",
        Citation {
            session: label.to_owned(),
            lines: ranges
        }
    )
}

/// `[7f78:L1159]`
pub(super) fn cite_statement(label: &str, said: &CitedText) -> String {
    cite(label, said.lines.clone())
}

/// Words in straight quotes; quotes inside become single, so that the end is unambiguous, and what looks like a citation
/// is none.
pub(super) fn quoted(words: &str) -> String {
    format!("\"{}\"", without_citations(words).replace('"', "'"))
}

/// `27 Jan`
pub(super) fn day(at: Timestamp, zone: &TimeZone) -> String {
    format_time(at, zone, "%-d %b")
}

/// `2026-01-27`
pub(super) fn date(at: Timestamp, zone: &TimeZone) -> String {
    date_and_hour(at, zone).0
}

/// `2026-01-27` and `13:56`. They are formatted by hand, as every session has them.
pub(super) fn date_and_hour(at: Timestamp, zone: &TimeZone) -> (String, String) {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) if at != Timestamp::ZERO => {
            let time = zone.to_datetime(time);
            let (year, month, day) = (time.year(), time.month(), time.day());
            let date = format!("{year:04}-{month:02}-{day:02}");
            (date, format!("{:02}:{:02}", time.hour(), time.minute()))
        }
        _ => (UNDATED.to_owned(), UNDATED.to_owned()),
    }
}

/// `21–31 Jan 2026`, `27 Jan 2026`, `19 Jan – 11 Feb 2026`
#[must_use]
pub(super) fn span(from: Timestamp, to: Timestamp, zone: &TimeZone) -> String {
    if from == Timestamp::ZERO {
        return UNDATED.to_owned();
    }
    let last = format_time(to, zone, "%-d %b %Y");
    if date(from, zone) == date(to, zone) {
        return last;
    }
    if format_time(from, zone, "%b %Y") == format_time(to, zone, "%b %Y") {
        return format!("{}–{last}", format_time(from, zone, "%-d"));
    }
    if format_time(from, zone, "%Y") == format_time(to, zone, "%Y") {
        return format!("{} – {last}", format_time(from, zone, "%-d %b"));
    }
    format!("{} – {last}", format_time(from, zone, "%-d %b %Y"))
}

fn format_time(at: Timestamp, zone: &TimeZone, format: &str) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) if at != Timestamp::ZERO => {
            time.to_zoned(zone.clone()).strftime(format).to_string()
        }
        _ => UNDATED.to_owned(),
    }
}

/// `3 commits, 1 pushed`; empty when there are none.
pub(super) fn commits(made: u32, pushed: u32) -> String {
    let noun = if made == 1 { "commit" } else { "commits" };
    match (made, pushed) {
        (0, _) => String::new(),
        (_, 0) => format!("{made} {noun}, not pushed"),
        (_, pushed) if pushed >= made => format!("{made} {noun}, pushed"),
        (_, pushed) => format!("{made} {noun}, {pushed} pushed"),
    }
}

/// `1 session`, `4 sessions`
pub(super) fn count(n: usize, noun: &str) -> String {
    if n == 1 {
        format!("1 {noun}")
    } else {
        format!("{n} {noun}s")
    }
}

/// The first `most` characters, cut at a word, with an ellipsis if anything was cut.
pub(super) fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most).collect();
    let cut = head
        .rfind(char::is_whitespace)
        .filter(|at| *at > most / 2)
        .unwrap_or(head.len());
    format!(
        "{}…",
        head[..cut].trim_end_matches([' ', ',', ';', ':', '.'])
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_hours_are_those_of_the_calendar() {
        for zone in ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu"] {
            let zone = TimeZone::get(zone).expect("the zone is known");
            for n in 0..4_000 {
                // From 1860 to 2190, at all hours.
                let at = Timestamp((n - 1_333) * 2_611_000_123);
                let (date, hour) = date_and_hour(at, &zone);
                assert_eq!(date, format_time(at, &zone, "%Y-%m-%d"), "{at:?}");
                assert_eq!(hour, format_time(at, &zone, "%H:%M"), "{at:?}");
            }
        }
    }
}
