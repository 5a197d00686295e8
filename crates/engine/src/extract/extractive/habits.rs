//! Finds requests for what people ask for out of habit: tests, a review, a draft.
//!
//! One such request is about its moment, and no observation. What is asked for in many sessions shows how a person works;
//! that is counted over all of them (`consolidate::habits`).
//!
//! Not here: reminders within one session (`insistence`).

use daybook_domain::extraction::{CitedText, HabitualRequest};

use super::clauses::shorten;
use super::lexicon::Cue;
use super::sentences::MAX_QUOTE;
use super::turns::{HumanTurn, WindowConversation};

/// Most words of a sentence that asks; longer ones explain a piece of work.
const WORDS: usize = 25;

/// The requests of the window's messages from index `from` on, in order: the first of each message and habit.
pub(super) fn find_habits(talk: &WindowConversation<'_>, from: usize) -> Vec<HabitualRequest> {
    let turns = talk.new_turns().filter(|(_, turn)| turn.at >= from);
    turns.flat_map(|(_, turn)| habits_of(turn)).collect()
}

fn habits_of(turn: &HumanTurn<'_>) -> Vec<HabitualRequest> {
    let mut found: Vec<HabitualRequest> = Vec::new();
    let Some(lexicon) = turn.lexicon else {
        return found;
    };
    for sentence in turn.prose.iter().filter(|sentence| !sentence.redacted) {
        let low = sentence.low.as_str();
        let long = low.split(' ').count() > WORDS;
        if long || lexicon.has_cue(Cue::Trouble, low) || lexicon.has_cue(Cue::Complaint, low) {
            continue;
        }
        let known = |habit: &str| found.iter().any(|request| request.habit == habit);
        if let Some(habit) = lexicon.habit(low).filter(|habit| !known(habit)) {
            found.push(HabitualRequest {
                habit: habit.to_owned(),
                said: CitedText {
                    text: shorten(&sentence.text, MAX_QUOTE),
                    events: vec![turn.message.seq],
                    lines: vec![turn.message.line],
                },
            });
        }
    }
    found
}
