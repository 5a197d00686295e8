//! Answers what was done in a period from the diary: "what did we do yesterday?".
//!
//! Such a question shares no word with what answers it, and a search by words finds whatever says "yesterday". The diary has
//! a file for each day, which is read as it is, with a person's edits.
//!
//! Not here: which questions these are (`diary_question`), what is written to the diary (`consolidate`).

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::Path;

use daybook_domain::{Scope, Timestamp};
use daybook_text::redact::Redactor;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use super::diary_question::{DiaryQuestion, WantedLines};
use crate::files::diary::{DiaryEntry, between};
use crate::files::layout::folder;
use crate::files::own_secrets::masked;
use crate::files::reindex::split_citation;
use crate::recall::search::RankedAnswer;

/// Most days of one memory that are read for a question, the latest of its period.
const MOST_DAYS: usize = 100;

/// An entry of a diary, with the memory that has it.
struct FoundEntry {
    scope: Scope,
    entry: DiaryEntry,
}

/// What the diaries of scopes have of the period that is asked for.
pub(super) fn find(
    root: &Path,
    scopes: &[Scope],
    (asked, today): (&DiaryQuestion, Date),
    (limit, zone): (usize, &TimeZone),
) -> Vec<RankedAnswer> {
    // The latest so many sessions are of as many days at most.
    let are_latest = asked.days.is_none() && asked.is_about_all();
    let most = match asked.wanted {
        WantedLines::Sessions if are_latest => limit,
        WantedLines::Sessions | WantedLines::Of(_) => MOST_DAYS,
    };
    let all = scopes.iter();
    let found: Vec<FoundEntry> = all
        .flat_map(|scope| entries(root, scope, (asked, today), most))
        .collect();
    let lines = match asked.wanted {
        WantedLines::Sessions => Vec::new(),
        WantedLines::Of(kind) => lines_of(&found, (asked, kind), zone),
    };
    // "What did we decide about the crane?" is searched for where no decision names it.
    let may_show_sessions = asked.wanted == WantedLines::Sessions || asked.is_about_all();
    match lines.is_empty() && may_show_sessions {
        true => sessions(found, (limit, asked.days.is_none()), zone),
        false => lines,
    }
}

/// What one memory's diary has of the period that is asked for. A folder that cannot be read has nothing: it is listed among
/// what is refused.
fn entries(
    root: &Path,
    scope: &Scope,
    (asked, today): (&DiaryQuestion, Date),
    most: usize,
) -> Vec<FoundEntry> {
    let (from, to) = asked.days.unwrap_or((Date::ZERO, today));
    let days = (from.to_string(), to.min(today).to_string());
    let read = between(&folder(root, scope), (&days.0, &days.1), most);
    let redactor = Redactor::current();
    let shown = |text: &str| masked(&redactor, text).into_owned();
    let found = read
        .unwrap_or_default()
        .into_iter()
        .map(|entry| FoundEntry {
            scope: scope.clone(),
            entry: DiaryEntry {
                line: shown(&entry.line),
                below: entry.below.iter().map(|line| shown(line)).collect(),
                day: entry.day,
            },
        });
    let is_about = |one: &FoundEntry| {
        let DiaryEntry { line, below, .. } = &one.entry;
        asked.is_about(&format!("{line}\n{}", below.join("\n")))
    };
    found.filter(is_about).collect()
}

/// The entries of sessions: those of which most came, or the latest; the newest day first, each day in the order of time.
fn sessions(
    mut found: Vec<FoundEntry>,
    (limit, are_latest): (usize, bool),
    zone: &TimeZone,
) -> Vec<RankedAnswer> {
    // A session of two memories is in the diary of both.
    let mut seen = HashSet::new();
    found.retain(|one| seen.insert((one.entry.day.clone(), one.entry.line.clone())));
    found.sort_by_key(|one| {
        let DiaryEntry { day, line, below } = &one.entry;
        let came = if are_latest { 0 } else { below.len() };
        Reverse((came, day.clone(), line.clone()))
    });
    found.truncate(limit);
    found.sort_by(|a, b| {
        let day = |one: &FoundEntry| Reverse(one.entry.day.clone());
        (day(a), &a.entry.line).cmp(&(day(b), &b.entry.line))
    });
    let answers = found.into_iter().map(|one| {
        let below = one.entry.below.join("\n");
        let context = (!below.is_empty()).then_some(below);
        answer(&one, &one.entry.line, context, zone)
    });
    answers.collect()
}

/// The lines below the entries that begin with a word and a colon and name what is asked for, the newest first.
fn lines_of(
    found: &[FoundEntry],
    (asked, kind): (&DiaryQuestion, &str),
    zone: &TimeZone,
) -> Vec<RankedAnswer> {
    let start = format!("{kind}: ");
    let mut seen = HashSet::new();
    let mut answers: Vec<RankedAnswer> = Vec::new();
    for one in found {
        let lines = one
            .entry
            .below
            .iter()
            .filter(|line| line.starts_with(&start) && asked.is_about(line));
        for line in lines.filter(|line| seen.insert((*line).clone())) {
            let about = split_citation(&one.entry.line).0.to_owned();
            answers.push(answer(one, line, Some(about), zone));
        }
    }
    answers.sort_by_key(|answer| Reverse(answer.time));
    answers
}

fn answer(
    found: &FoundEntry,
    line: &str,
    context: Option<String>,
    zone: &TimeZone,
) -> RankedAnswer {
    let DiaryEntry {
        day, line: first, ..
    } = &found.entry;
    RankedAnswer {
        time: time_of(day, first, zone).unwrap_or(Timestamp::ZERO),
        ..super::answer(&found.scope, format!("daily/{day}.md"), line, context)
    }
}

/// When an entry of a day began: its line begins with the hour.
fn time_of(day: &str, line: &str, zone: &TimeZone) -> Option<Timestamp> {
    let day: Date = day.parse().ok()?;
    let hour = line.get(..5).and_then(|hour| hour.parse::<Time>().ok());
    let begins = day.to_datetime(hour.unwrap_or_default());
    let instant = begins.to_zoned(zone.clone()).ok()?.timestamp();
    Some(Timestamp(instant.as_millisecond()))
}

#[cfg(test)]
#[path = "diary_tests.rs"]
mod tests;
