//! A window's own account: what was wanted, how it ended, what was said last.
//!
//! A session has no account until a person asks for something: warm-ups, bare commands and the harness's
//! own talk are not work. From then on every window tells what it adds; the accounts of all windows come
//! to the same, however the log was cut (`consolidate::fold`).
//!
//! Not here: what was learned; the account only names the best of it.

use std::collections::BTreeMap;

use daybook_domain::extraction::Said;
use daybook_domain::{Digest, Event, ObservationKind as Kind, Timestamp};

use super::clauses::shortened;
use super::finds::{COMPOSED, Find};
use super::open_ends::asked_back;
use super::outcome::{Answer, answer, commits, course};
use super::sentences::{QUOTE, Sentence, one_line};
use super::turns::{Talk, Turn};

/// Most characters of the task.
const TASK: usize = 200;

/// Place from which on a session is work: from its first request on. `None` when there was none.
pub(super) fn work_from(talk: &Talk<'_>) -> Option<usize> {
    talk.work_from(|turn| task(turn).is_some())
}

/// The account of a window; `None` while no message has asked for anything.
pub(super) fn digest(talk: &Talk<'_>, finds: &[Find]) -> Option<Digest> {
    let work = work_from(talk)?;
    let from = work.max(talk.first);
    let turns = || talk.new_turns().filter(|(_, turn)| turn.at >= from);
    let events = &talk.events[from..];
    // A call may stand before the window, and its result within it.
    let commits = commits(talk, work);
    let course = course(talk, work, &commits);
    let last = turns().rev().find_map(|(n, t)| Some((n, last_words(t)?)));
    let answer = last.as_ref().map(|(n, _)| (*n, answer(talk, *n)));
    let asked = match answer {
        Some((n, Answer::AskedBack)) => asked_back(talk.of_turn(n).iter().copied()),
        Some((_, Answer::None | Answer::Given)) | None => None,
    };
    let place = events.iter().rev().find_map(|e| e.place.as_ref());
    let dated = || {
        events
            .iter()
            .map(|e| e.at)
            .filter(|at| *at != Timestamp::ZERO)
    };
    let from_at = dated().next().unwrap_or_default();
    Some(Digest {
        task: turns().find_map(|(_, turn)| task(turn)),
        outcome: Some(course.outcome(commits.made)),
        last_words: last.map(|(_, words)| words),
        answered: answer.is_some_and(|(_, answer)| answer == Answer::Given),
        asked,
        commits: commits.made,
        pushed: commits.pushed,
        highlights: highlights(talk, finds),
        human_messages: u32::try_from(turns().count()).unwrap_or(u32::MAX),
        branch: place.and_then(|p| p.branch.clone()),
        root: place.map(|p| p.root.clone()),
        from_at,
        to_at: dated().max().unwrap_or(from_at),
        course: Some(course),
        ..Digest::default()
    })
}

fn said(event: &Event, text: String) -> Said {
    Said {
        text,
        events: vec![event.seq],
        lines: vec![event.line],
    }
}

/// What a message asks for, when it asks for something.
fn task(turn: &Turn<'_>) -> Option<Said> {
    if turn.closes() {
        return None;
    }
    let mut text = with_title(turn)?;
    for next in &turn.prose[1..] {
        let both = format!("{text} {}", next.text);
        if both.chars().count() > TASK {
            break;
        }
        text = both;
    }
    Some(said(turn.said, shortened(closed(&text), TASK)))
}

/// The first sentence, with the title of what it announces: "do the following plan:".
fn with_title(turn: &Turn<'_>) -> Option<String> {
    let first = &turn.prose.first()?.text;
    let mut lines = turn
        .said
        .text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty());
    let announces = lines.next()?.ends_with(':');
    let title = lines
        .next()
        .and_then(|line| line.strip_prefix("# "))
        .filter(|_| announces);
    Some(title.map_or(first.clone(), |title| {
        format!("{} {title}", first.trim_end_matches(' '))
    }))
}

fn closed(text: &str) -> &str {
    text.trim_end_matches([':', ' '])
}

/// What a message asks or states at its end.
fn last_words(turn: &Turn<'_>) -> Option<Said> {
    if turn.closes() {
        return None;
    }
    if turn.prose.len() == 1 {
        return Some(said(
            turn.said,
            shortened(closed(&one_line(&with_title(turn)?)), QUOTE),
        ));
    }
    let mut text = String::new();
    for Sentence { text: words, .. } in turn.prose.iter().rev() {
        let both = if text.is_empty() {
            words.clone()
        } else {
            format!("{words} {text}")
        };
        if !text.is_empty() && both.chars().count() > QUOTE {
            break;
        }
        text = both;
    }
    Some(said(turn.said, shortened(closed(&text), QUOTE)))
}

/// The best decision, correction, value or fix of each turn, in the order in which they came.
fn highlights(talk: &Talk<'_>, finds: &[Find]) -> Vec<Said> {
    let mut by_turn: BTreeMap<usize, Said> = BTreeMap::new();
    for find in finds {
        let Some(last) = find.draft.events.last() else {
            continue;
        };
        let turn = talk.turn_at(*last);
        let line = match find.draft.subject.as_deref() {
            Some(subject) => Some(values_of(subject, &of_turn(talk, finds, turn))),
            None => highlight(find).map(|text| highlighted(&text, &[find])),
        };
        if let Some(line) = line {
            by_turn.entry(turn).or_insert(line);
        }
    }
    by_turn.into_values().collect()
}

fn of_turn<'f>(talk: &Talk<'_>, finds: &'f [Find], turn: usize) -> Vec<&'f Find> {
    let is_there = |find: &&Find| {
        let last = find.draft.events.last();
        last.is_some_and(|last| talk.turn_at(*last) == turn)
    };
    finds.iter().filter(is_there).collect()
}

fn highlighted(text: &str, on: &[&Find]) -> Said {
    let events = on.iter().flat_map(|f| f.draft.events.iter().copied());
    let mut on: Vec<_> = events
        .zip(on.iter().flat_map(|f| f.draft.lines.iter().copied()))
        .collect();
    on.sort_unstable();
    let (events, lines) = on.into_iter().unzip();
    Said {
        text: shortened(text, COMPOSED),
        events,
        lines,
    }
}

/// All values that a turn gave one subject on one line, in the order in which they were set.
fn values_of(subject: &str, finds: &[&Find]) -> Said {
    let mut on: Vec<&Find> = finds
        .iter()
        .copied()
        .filter(|f| f.draft.subject.as_deref() == Some(subject))
        .collect();
    on.sort_by(|a, b| a.draft.events.cmp(&b.draft.events));
    let values: Vec<&str> = on.iter().map(|f| f.draft.text.as_str()).collect();
    highlighted(&format!("set: {subject}: {}", values.join(" → ")), &on)
}

fn highlight(find: &Find) -> Option<String> {
    let draft = &find.draft;
    let text = &draft.text;
    match draft.kind {
        Kind::Correction => Some(format!("corrected: “{text}”")),
        Kind::Decision => Some(match &draft.context {
            Some(context) => format!("decided: “{text}” ({context})"),
            None => format!("decided: “{text}”"),
        }),
        Kind::Preference => Some(format!("wished: “{text}”")),
        Kind::Fix => Some(format!("fixed: {text}")),
        Kind::Value | Kind::Fact | Kind::OpenEnd | Kind::Note => None,
    }
}
