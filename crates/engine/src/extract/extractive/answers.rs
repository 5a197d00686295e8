//! The agent's open question that a person's first words answer: "how often should it refresh?", "every 5 min".
//!
//! Such words say the answer alone; what it is about stands in the question, which is their context.
//!
//! Not here: the choice of one of the agent's options (`choices`).

use daybook_domain::Origin;

use super::lexicon::{Cue, english, lexicon_of};
use super::sentences::{agent_sentences, one_line};
use super::turns::{HumanTurn, WindowConversation};
use super::words::content_words;

/// Most bytes of an answer that needs its question.
const SHORT_ANSWER: usize = 80;
/// Words of a sentence before the answer that says nothing: "hmm.", "no."
const NOTHING: usize = 2;
/// Fewest content words of a question that says what it is about: "how early?" does not.
const SUBJECT_WORDS: usize = 2;

/// The open question that the sentence at `at` of a person's message answers, quoted as `words`.
pub(super) fn answered_question(
    talk: &WindowConversation<'_>,
    turn: &HumanTurn<'_>,
    (at, words): (usize, &str),
) -> Option<String> {
    let mut before = turn.prose[..at].iter();
    let is_first = before.all(|s| s.low.split_whitespace().count() <= NOTHING);
    (is_first && words.len() <= SHORT_ANSWER)
        .then(|| open_question(talk, turn))
        .flatten()
}

/// The open question that ends the agent's message right before a person's.
fn open_question(talk: &WindowConversation<'_>, turn: &HumanTurn<'_>) -> Option<String> {
    let before = talk.events[..turn.at].iter();
    let reply = turn.previous_reply?;
    let spoke_since = before
        .rev()
        .take_while(|event| event.seq > reply.seq)
        .any(|event| event.origin == Origin::Human);
    let said = agent_sentences(&reply.text);
    let (question, before) = said.split_last()?;
    let lexicon = lexicon_of(&question.low).unwrap_or_else(english);
    if spoke_since || !question.is_question() || !lexicon.has_cue(Cue::AsksOpenly, &question.low) {
        return None;
    }
    let says_subject = content_words(&question.low, lexicon).len() >= SUBJECT_WORDS;
    let before = before.last().filter(|_| !says_subject);
    Some(match before {
        Some(before) => one_line(&format!("{} {}", before.text, question.text)),
        None => question.text.clone(),
    })
}
