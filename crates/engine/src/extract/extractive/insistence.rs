//! Finds insistence: repeated reminders of the same practice within one session.
//!
//! "Tests, tests, tests", "we haven't added any tests?", "is there a test for it?" are one wish
//! with three pieces of evidence. One such question alone is a question.
//!
//! Not here: corrections that stand by themselves (`speech_acts`).

use daybook_domain::{Event, ObservationKind as Kind};

use super::lexicon::{Cue, english};
use super::scored_draft::ScoredDraft;
use super::sentences::{Sentence, lowered};
use super::turns::{HumanTurn, WindowConversation};

/// Most words of a reminder; longer messages have another purpose.
const REMINDER_WORDS: usize = 14;
/// Reminders of one practice that make an insistence.
const TIMES: usize = 2;
const INSISTS: i32 = 60;
const EACH: i32 = 10;

/// One reminder of a practice.
struct Reminder<'a> {
    practice: usize,
    turn: &'a HumanTurn<'a>,
    words: String,
    strength: i32,
}

/// A correction for each new reminder that makes or continues an insistence, with its evidence.
pub(super) fn find_insistence(talk: &WindowConversation<'_>) -> Vec<ScoredDraft> {
    let reminders: Vec<Reminder<'_>> = talk.turns.iter().filter_map(find_reminder).collect();
    let new = (0..reminders.len()).filter(|n| reminders[*n].turn.at >= talk.first);
    new.filter_map(|n| insistence_of_last(talk, &reminders[..=n]))
        .collect()
}

/// Whether these reminders of one practice are an insistence. `loudest` is the strongest of them.
fn is_insistence(reminders: &[&Reminder<'_>], loudest: &Reminder<'_>) -> bool {
    reminders.len() >= TIMES || loudest.strength >= DOUBLED
}

/// The insistence that the last of the reminders makes; `None` if it makes none.
fn insistence_of_last(
    talk: &WindowConversation<'_>,
    reminders: &[Reminder<'_>],
) -> Option<ScoredDraft> {
    let last = reminders.last()?;
    let horizon = talk.look_back_start(last.turn.at);
    let same: Vec<&Reminder<'_>> = reminders
        .iter()
        .filter(|r| r.practice == last.practice && r.turn.at >= horizon)
        .collect();
    let loudest = same.iter().rev().max_by_key(|r| r.strength)?;
    if !is_insistence(&same, loudest) {
        return None;
    }
    let before = &same[..same.len() - 1];
    let was_insistence = before
        .iter()
        .rev()
        .max_by_key(|r| r.strength)
        .is_some_and(|loudest| is_insistence(before, loudest));
    // If the earlier reminders were an insistence already, they are the evidence of an earlier draft.
    let new = if was_insistence { before.len() } else { 0 };
    let events: Vec<&Event> = same[new..].iter().map(|r| r.turn.message).collect();
    let others = same
        .iter()
        .filter(|r| r.words != loudest.words && r.strength > FOLLOWS);
    let also = others
        .max_by_key(|r| (r.strength, r.words.len()))
        .map(|r| format!("also: “{}”", r.words));
    let score = INSISTS + EACH * i32::try_from(same.len()).unwrap_or(0).min(4);
    Some(
        ScoredDraft::from_quote(Kind::Correction, score, &events, &loudest.words)
            .with_context(also),
    )
}

/// The same word, repeated.
const DOUBLED: i32 = 3;
/// States that it was not done.
const MISSED: i32 = 2;
/// Asks whether it was done.
const ASKS: i32 = 1;
/// Only the agent's answer names the practice.
const FOLLOWS: i32 = 0;

fn find_reminder<'a>(turn: &'a HumanTurn<'a>) -> Option<Reminder<'a>> {
    let lexicon = turn.lexicon?;
    let low = turn.low();
    if low.split(' ').count() > REMINDER_WORDS || lexicon.has_cue(Cue::Closing, &low) {
        return None;
    }
    let words: Vec<&str> = turn.prose.iter().map(|s| s.text.as_str()).collect();
    let words = words.join(" ");
    let of = |practice, strength| {
        Some(Reminder {
            practice,
            turn,
            words: words.clone(),
            strength,
        })
    };
    if let Some(practice) = lexicon.which(Cue::Practice, &low) {
        if is_doubled(&low) {
            return of(practice, DOUBLED);
        }
        if lexicon.has_cue(Cue::Reminder, &low) && !lexicon.has_cue(Cue::Request, &low) {
            let missed = lexicon.weight(Cue::Correction, &low) > 0;
            return of(practice, if missed { MISSED } else { ASKS });
        }
        return None;
    }
    let answer = turn.concession.as_ref()?;
    let admitted = answer.iter().take(2).find(|s| admits_omission(s))?;
    let practice = english().which(Cue::Practice, &admitted.low)?;
    (low.ends_with('?') && low.split(' ').count() <= REMINDER_WORDS / 2)
        .then(|| of(practice, FOLLOWS))?
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
