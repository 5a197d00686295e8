//! A window's own account: what was wanted, how it ended, what was said last.
//!
//! A window in which a person asked for nothing has no account: warm-ups, bare commands and the
//! harness's own talk are not work.
//!
//! Not here: what was learned; the account only names the best of it.

use daybook_domain::extraction::Said;
use daybook_domain::{Digest, Event, ObservationKind as Kind, Timestamp};

use super::clauses::shortened;
use super::finds::{COMPOSED, Find};
use super::outcome::{Answer, answer, commits, outcome};
use super::sentences::{QUOTE, Sentence, one_line};
use super::turns::{Talk, Turn};

/// Most characters of the task.
const TASK: usize = 200;
/// Lines that say what happened.
const HIGHLIGHTS: usize = 5;

/// The account of a window; `None` when nobody asked for anything.
pub(super) fn digest(talk: &Talk<'_>, finds: &[Find]) -> Option<Digest> {
    let task = talk.turns.iter().find_map(task)?;
    let commits = commits(talk);
    let last = talk
        .turns
        .iter()
        .enumerate()
        .rev()
        .find_map(|(n, t)| Some((n, last_words(t)?)));
    let answered = last
        .as_ref()
        .is_some_and(|(n, _)| answer(talk, *n) == Answer::Given);
    let place = talk.events.iter().rev().find_map(|e| e.place.as_ref());
    let mut dated = talk
        .events
        .iter()
        .map(|e| e.at)
        .filter(|at| *at != Timestamp::ZERO);
    let from_at = dated.next().unwrap_or_default();
    Some(Digest {
        task: Some(task),
        outcome: Some(outcome(talk, &commits)),
        last_words: last.map(|(_, words)| words),
        answered,
        commits: commits.made,
        pushed: commits.pushed,
        highlights: highlights(finds),
        human_messages: u32::try_from(talk.turns.len()).unwrap_or(u32::MAX),
        branch: place.and_then(|p| p.branch.clone()),
        root: place.map(|p| p.root.clone()),
        from_at,
        to_at: dated.next_back().unwrap_or(from_at),
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

/// The best decisions, corrections, values and fixes, in the order in which they came.
fn highlights(finds: &[Find]) -> Vec<Said> {
    let mut lines: Vec<Said> = Vec::new();
    let mut subjects: Vec<&str> = Vec::new();
    for find in finds {
        let line = match find.draft.subject.as_deref() {
            Some(subject) if subjects.contains(&subject) => continue,
            Some(subject) => {
                subjects.push(subject);
                values_of(subject, finds)
            }
            None => match highlight(find) {
                Some(text) => highlighted(&text, &[find]),
                None => continue,
            },
        };
        lines.push(line);
        if lines.len() == HIGHLIGHTS {
            break;
        }
    }
    lines.sort_by(|a, b| a.events.cmp(&b.events));
    lines
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

/// All values of one subject on one line, in the order in which they were set.
fn values_of(subject: &str, finds: &[Find]) -> Said {
    let mut on: Vec<&Find> = finds
        .iter()
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
