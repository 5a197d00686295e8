//! The digest of a window: task, outcome, last words, highlights.
//!
//! A session has no digest until a person asks for something: warm-ups, bare commands and the harness's
//! own messages are not work. From then on each window's digest holds what the window adds; joined, the digests
//! give the same account however the log was cut (`consolidate::session_account`).
//!
//! Not here: the learned observations; the digest only names the best of them.

use std::collections::BTreeMap;

use daybook_domain::extraction::CitedText;
use daybook_domain::{Digest, Event, ObservationKind as Kind, Timestamp};
use daybook_text::wishes::wishes;

use super::clauses::shorten;
use super::done;
use super::habits::find_habits;
use super::lexicon::{Cue, english};
use super::open_ends::asked_back;
use super::outcome::{ReplyStatus, count_commits, course, reply_status};
use super::scored_draft::{MAX_COMPOSED, ScoredDraft};
use super::sentences::{MAX_QUOTE, Sentence, one_line};
use super::turns::{HumanTurn, WindowConversation};
use super::words::content_words;
use super::worth::ConversationKind;

/// Fewest content words of last words.
const LAST_WORDS: usize = 2;
/// The task of a message that holds nothing but another's text.
const PASTED: &str = "work on a pasted text";
/// Most characters of the task.
const TASK: usize = 200;

/// Index at which a session's work begins, with its first request. `None` if there is none.
pub(super) fn work_from(talk: &WindowConversation<'_>) -> Option<usize> {
    talk.work_from(|turn| find_task(turn).is_some())
}

/// The digest of a window; `None` while no message has asked for anything.
pub(super) fn window_digest(
    talk: &WindowConversation<'_>,
    finds: &[ScoredDraft],
) -> Option<Digest> {
    let work = work_from(talk)?;
    let from = work.max(talk.first);
    let turns = || talk.new_turns().filter(|(_, turn)| turn.at >= from);
    let events = &talk.events[from..];
    // A call may come before the window, and its result within it.
    let commits = count_commits(talk, work);
    let course = course(talk, work, &commits);
    let last = turns()
        .rev()
        .find_map(|(n, t)| Some((n, find_last_words(t)?)));
    let answer = last.as_ref().map(|(n, _)| (*n, reply_status(talk, *n)));
    let asked = match answer {
        Some((n, ReplyStatus::AskedBack)) => asked_back(talk.events_of_turn(n).iter().copied()),
        Some((_, ReplyStatus::None | ReplyStatus::Given)) | None => None,
    };
    let waits = |n: usize| waits_for_answer(talk, &talk.turns[n]);
    let place = events.iter().rev().find_map(|e| e.place.as_ref());
    let dated = || {
        events
            .iter()
            .map(|e| e.at)
            .filter(|at| *at != Timestamp::ZERO)
    };
    let from_at = dated().next().unwrap_or_default();
    Some(Digest {
        task: turns().find_map(|(_, turn)| find_task(turn)),
        outcome: Some(course.outcome(commits.made)),
        last_words: last.map(|(_, words)| words),
        answered: answer.is_some_and(|(n, answer)| answer == ReplyStatus::Given || !waits(n)),
        open_question: asked,
        title: done::title(talk, from),
        commits: commits.made,
        pushed: commits.pushed,
        committed: done::commit_subjects(talk, from),
        highlights: highlights(talk, finds),
        habits: find_habits(talk, from),
        human_messages: u32::try_from(turns().count()).unwrap_or(u32::MAX),
        branch: place.and_then(|p| p.branch.clone()),
        root: place.map(|p| p.root.clone()),
        from_at,
        to_at: dated().max().unwrap_or(from_at),
        course: Some(course),
        ..Digest::default()
    })
}

fn statement_of(event: &Event, text: String) -> CitedText {
    CitedText {
        text,
        events: vec![event.seq],
        lines: vec![event.line],
    }
}

/// The request of a message; `None` if it asks for nothing. What was pasted is not quoted.
fn find_task(turn: &HumanTurn<'_>) -> Option<CitedText> {
    if turn.prose.is_empty() && turn.is_pasted() {
        return Some(statement_of(turn.message, PASTED.to_owned()));
    }
    if turn.is_closing() {
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
    Some(statement_of(turn.message, shorten(trim_cut(&text), TASK)))
}

/// The first sentence, with the title of the text that it announces: "do the following plan:".
fn with_title(turn: &HumanTurn<'_>) -> Option<String> {
    let first = &turn.prose.first()?.text;
    let mut lines = turn
        .message
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

fn trim_cut(text: &str) -> &str {
    text.trim_end_matches([':', ' '])
}

/// Cues of a message to an agent that something is to come of, besides those of its wishes.
const WAITING: [Cue; 5] = [
    Cue::Order,
    Cue::AsksPlainly,
    Cue::Trouble,
    Cue::Complaint,
    Cue::Report,
];

/// Whether a message without a reply waits for one. Where people talk, only a question does: "great catching up, take it
/// easy!" does not. Where an agent works, what was broken off does, and what asks, wishes or complains; "live since
/// Thursday, all fine" does not.
fn waits_for_answer(talk: &WindowConversation<'_>, turn: &HumanTurn<'_>) -> bool {
    if turn.prose.iter().any(Sentence::is_question) {
        return true;
    }
    if talk.kind_at(turn) != ConversationKind::Work {
        return false;
    }
    let is_plain = turn.refused_call.is_none() && !turn.interrupting && !turn.is_pasted();
    let Some(lexicon) = turn.lexicon.filter(|_| is_plain) else {
        return true;
    };
    let has_cue = |sentence: &Sentence| {
        let low = sentence.low.as_str();
        WAITING.iter().any(|cue| lexicon.has_cue(*cue, low))
    };
    turn.prose.iter().any(has_cue) || !wishes(turn.words).is_empty()
}

/// The last sentences of a message, as many as fit; `None` if they mean nothing alone: "all four".
fn find_last_words(turn: &HumanTurn<'_>) -> Option<CitedText> {
    let lexicon = turn.lexicon.unwrap_or_else(english);
    if turn.is_closing() || content_words(&turn.low(), lexicon).len() < LAST_WORDS {
        return None;
    }
    if turn.prose.len() == 1 {
        return Some(statement_of(
            turn.message,
            shorten(trim_cut(&one_line(&with_title(turn)?)), MAX_QUOTE),
        ));
    }
    let mut text = String::new();
    for Sentence { text: words, .. } in turn.prose.iter().rev() {
        let both = if text.is_empty() {
            words.clone()
        } else {
            format!("{words} {text}")
        };
        if !text.is_empty() && both.chars().count() > MAX_QUOTE {
            break;
        }
        text = both;
    }
    Some(statement_of(
        turn.message,
        shorten(trim_cut(&text), MAX_QUOTE),
    ))
}

/// The best decision, correction, preference, value or fix of each turn, in order.
fn highlights(talk: &WindowConversation<'_>, finds: &[ScoredDraft]) -> Vec<CitedText> {
    let mut by_turn: BTreeMap<usize, CitedText> = BTreeMap::new();
    for find in finds {
        let Some(last) = find.draft.events.last() else {
            continue;
        };
        let turn = talk.turn_at(*last);
        let line = match find.draft.subject.as_deref() {
            Some(subject) => Some(values_of(subject, &drafts_of_turn(talk, finds, turn))),
            None => highlight(find).map(|text| highlighted(&text, &[find])),
        };
        if let Some(line) = line {
            by_turn.entry(turn).or_insert(line);
        }
    }
    by_turn.into_values().collect()
}

fn drafts_of_turn<'f>(
    talk: &WindowConversation<'_>,
    finds: &'f [ScoredDraft],
    turn: usize,
) -> Vec<&'f ScoredDraft> {
    let is_there = |find: &&ScoredDraft| {
        let last = find.draft.events.last();
        last.is_some_and(|last| talk.turn_at(*last) == turn)
    };
    finds.iter().filter(is_there).collect()
}

fn highlighted(text: &str, on: &[&ScoredDraft]) -> CitedText {
    let events = on.iter().flat_map(|f| f.draft.events.iter().copied());
    let mut on: Vec<_> = events
        .zip(on.iter().flat_map(|f| f.draft.lines.iter().copied()))
        .collect();
    on.sort_unstable();
    let (events, lines) = on.into_iter().unzip();
    CitedText {
        text: shorten(text, MAX_COMPOSED),
        events,
        lines,
    }
}

/// All values of one subject in a turn on one line, in the order in which they were set.
fn values_of(subject: &str, finds: &[&ScoredDraft]) -> CitedText {
    let mut on: Vec<&ScoredDraft> = finds
        .iter()
        .copied()
        .filter(|f| f.draft.subject.as_deref() == Some(subject))
        .collect();
    on.sort_by(|a, b| a.draft.events.cmp(&b.draft.events));
    let values: Vec<&str> = on.iter().map(|f| f.draft.text.as_str()).collect();
    highlighted(&format!("set: {subject}: {}", values.join(" → ")), &on)
}

fn highlight(find: &ScoredDraft) -> Option<String> {
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
