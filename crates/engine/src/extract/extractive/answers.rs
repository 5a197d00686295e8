//! The agent's open question that a person's first words answer: "how often should it refresh?", "every 5 min".
//!
//! Such words say the answer alone; what it is about stands in the question, which is their context.
//!
//! Such an answer is a fact, although its words have no cue: "how many stations are there?", "23 in 19 shops".
//!
//! Not here: the choice of one of the agent's options (`choices`).

use std::sync::LazyLock;

use daybook_domain::{ObservationKind as Kind, Origin};
use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

use super::choices::offers_options;
use super::context::mark_as_agent;
use super::lexicon::{Cue, english, lexicon_of};
use super::scored_draft::ScoredDraft;
use super::sentences::{agent_sentences, one_line};
use super::turns::{HumanTurn, WindowConversation};
use super::words::{content_words, is_concrete};

/// Score of an answer without a cue.
const ANSWER: i32 = 55;
/// Most bytes of an answer that needs its question.
const SHORT_ANSWER: usize = 80;
/// Words of a sentence before the answer that says nothing: "hmm.", "no."
const NOTHING: usize = 2;
/// Fewest content words of a question that says what it is about: "how early?" does not.
const SUBJECT_WORDS: usize = 2;

/// Words that answer nothing.
static NO_ANSWER: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"\b(?:no idea|not sure|unsure|(?:don't|dont|can't|didn't) (?:know|remember|care)|dunno|idk|(?:you|up to you|your) (?:decide|choose|pick|call)|whatever you|keine ahnung|weiß (?:ich )?nicht|nicht sicher|entscheide du|ni idea|no (?:lo )?sé|no estoy segur[oa]|decide tú|lo que quieras)\b|up to you|不知道|不清楚|不确定|随便|你定",
    )
});

/// Answers of people to the agent's open questions, one of each message.
pub(super) fn find_answers(talk: &WindowConversation<'_>) -> Vec<ScoredDraft> {
    talk.new_turns()
        .filter_map(|(_, turn)| find_answer(talk, turn))
        .collect()
}

fn find_answer(talk: &WindowConversation<'_>, turn: &HumanTurn<'_>) -> Option<ScoredDraft> {
    let lexicon = turn.lexicon.filter(|_| !turn.is_closing())?;
    let first = turn
        .prose
        .first()
        .filter(|s| !s.redacted && !s.is_question())?;
    let words = content_words(&first.low, lexicon).len();
    let names = first.text.contains(|c: char| c.is_ascii_digit()) || is_concrete(&first.text);
    // What does not choose from a list speaks of it: "option 2 doesn't work".
    let is_answer = !offers_options(turn)
        && (words >= SUBJECT_WORDS || words > 0 && names)
        && !lexicon.has_cue(Cue::Pointer, &first.low)
        && !lexicon.has_cue(Cue::Momentary, &first.low)
        && !lexicon.has_cue(Cue::Order, &first.low)
        && !NO_ANSWER.is_match(&first.low);
    let question = answered_question(talk, turn, (0, &first.text)).filter(|_| is_answer)?;
    let answer = ScoredDraft::from_quote(Kind::Fact, ANSWER, &[turn.message], &first.text);
    Some(answer.with_context(turn.said_by(Some(mark_as_agent(&question)))))
}

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

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[track_caller]
    fn check_answer(question: &str, answer: &str, expected: &[&str]) {
        let talk = format!(
            "human: build the tide page
call Bash: ls
ok: src
assistant: {question}
human: {answer}
call Edit: page.py
ok: done
assistant: Done."
        );
        check(&talk, expected);
    }

    #[test]
    fn a_short_answer_is_kept_with_its_question() {
        check_answer(
            "The page is there. How often should it refresh?",
            "every 5 min",
            &["fact 5: every 5 min | agent: How often should it refresh?"],
        );
        check_answer(
            "I can alert on the pump. How early?",
            "21 days before it is due, always",
            &[
                "preference 5: 21 days before it is due, always | agent: I can alert on the pump. How early?",
            ],
        );
        check_answer(
            "¿Cada cuánto se actualiza la página?",
            "cada 15 minutos",
            &["fact 5: cada 15 minutos | agent: ¿Cada cuánto se actualiza la página?"],
        );
        check_answer(
            "Welche Datenbank nimmt der Hafen?",
            "SQLite für alles",
            &["fact 5: SQLite für alles | agent: Welche Datenbank nimmt der Hafen?"],
        );
    }

    #[test]
    fn an_offer_a_list_and_a_question_that_nobody_answered_give_no_context() {
        check_answer("Shall I commit the page?", "the tower is grey", &[]);
        check_answer(
            "Which of the two pages?
  1. The tide page
  2. The crew page
  |
  Which one?",
            "option 2 doesn't work",
            &[],
        );
        check_answer("How often should it refresh?", "hm, no idea yet", &[]);
    }
}
