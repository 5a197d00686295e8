//! Insisting: the same habit asked after again and again within one session.
//!
//! "Tests, tests, tests", "we haven't added any tests?", "is there a test for it?" are one wish
//! with three pieces of evidence. One such question alone is a question.
//!
//! Not here: corrections that stand by themselves (`acts`).

use daybook_domain::{Event, ObservationKind as Kind};

use super::finds::Find;
use super::lexicon::{Cue, english};
use super::sentences::{Sentence, lowered};
use super::turns::{Talk, Turn};

/// Reminders are short; longer messages say something else besides.
const REMINDER_WORDS: usize = 14;
/// Reminders of one habit that make an insistence.
const TIMES: usize = 2;
const INSISTS: i32 = 60;
const EACH: i32 = 10;

/// One reminder of a habit.
struct Reminder<'a> {
    habit: usize,
    turn: &'a Turn<'a>,
    words: String,
    telling: i32,
}

/// Habits that the person insisted on, with each message that made it an insistence, and all before it
/// that did so.
pub(super) fn insistence(talk: &Talk<'_>) -> Vec<Find> {
    let reminders: Vec<Reminder<'_>> = talk.turns.iter().filter_map(reminder).collect();
    let new = (0..reminders.len()).filter(|n| reminders[*n].turn.at >= talk.first);
    new.filter_map(|n| insisted(talk, &reminders[..=n]))
        .collect()
}

/// Whether so many reminders of one habit, of which `loudest` is the most telling one, are more than
/// questions.
fn insists(said: &[&Reminder<'_>], loudest: &Reminder<'_>) -> bool {
    said.len() >= TIMES || loudest.telling >= DOUBLED
}

/// Whether the last of the reminders makes an insistence.
fn insisted(talk: &Talk<'_>, reminders: &[Reminder<'_>]) -> Option<Find> {
    let last = reminders.last()?;
    let horizon = talk.horizon(last.turn.at);
    let said: Vec<&Reminder<'_>> = reminders
        .iter()
        .filter(|r| r.habit == last.habit && r.turn.at >= horizon)
        .collect();
    let loudest = said.iter().rev().max_by_key(|r| r.telling)?;
    if !insists(&said, loudest) {
        return None;
    }
    let before = &said[..said.len() - 1];
    let was_told = before
        .iter()
        .rev()
        .max_by_key(|r| r.telling)
        .is_some_and(|loudest| insists(before, loudest));
    // What made it an insistence before was told then.
    let new = if was_told { before.len() } else { 0 };
    let events: Vec<&Event> = said[new..].iter().map(|r| r.turn.said).collect();
    let others = said
        .iter()
        .filter(|r| r.words != loudest.words && r.telling > FOLLOWS);
    let also = others
        .max_by_key(|r| (r.telling, r.words.len()))
        .map(|r| format!("also: “{}”", r.words));
    let score = INSISTS + EACH * i32::try_from(said.len()).unwrap_or(0).min(4);
    Some(Find::said(Kind::Correction, score, &events, &loudest.words).in_context(also))
}

/// The same word said over and over.
const DOUBLED: i32 = 3;
/// Says that it was not done.
const MISSED: i32 = 2;
/// Asks whether it was done.
const ASKS: i32 = 1;
/// Only the agent's answer shows what was meant.
const FOLLOWS: i32 = 0;

fn reminder<'a>(turn: &'a Turn<'a>) -> Option<Reminder<'a>> {
    let lexicon = turn.lexicon?;
    let low = turn.low();
    if low.split(' ').count() > REMINDER_WORDS || lexicon.shows(Cue::Closing, &low) {
        return None;
    }
    let words: Vec<&str> = turn.prose.iter().map(|s| s.text.as_str()).collect();
    let words = words.join(" ");
    let of = |habit, telling| {
        Some(Reminder {
            habit,
            turn,
            words: words.clone(),
            telling,
        })
    };
    if let Some(habit) = lexicon.which(Cue::Practice, &low) {
        if is_doubled(&low) {
            return of(habit, DOUBLED);
        }
        if lexicon.shows(Cue::Reminder, &low) && !lexicon.shows(Cue::Request, &low) {
            let missed = lexicon.weight(Cue::Correction, &low) > 0;
            return of(habit, if missed { MISSED } else { ASKS });
        }
        return None;
    }
    let answer = turn.conceded.as_ref()?;
    let admitted = answer.iter().take(2).find(|s| admits_omission(s))?;
    let habit = english().which(Cue::Practice, &admitted.low)?;
    (low.ends_with('?') && low.split(' ').count() <= REMINDER_WORDS / 2)
        .then(|| of(habit, FOLLOWS))?
}

fn admits_omission(sentence: &Sentence) -> bool {
    let low = lowered(&sentence.text);
    [
        "didn't",
        "did not",
        "should have",
        "forgot",
        "missed",
        "haven't",
    ]
    .iter()
    .any(|w| low.contains(w))
}

fn is_doubled(low: &str) -> bool {
    let words: Vec<&str> = low
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .collect();
    words
        .windows(2)
        .any(|pair| pair[0] == pair[1] && pair[0].len() > 3)
}
