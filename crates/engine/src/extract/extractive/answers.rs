//! Answers to the agent's open questions: "how often should it refresh?", "every 5 min".
//!
//! Such an answer is a fact, although its words have no cue.
//!
//! Not here: which question it answers (`context`), the choice of one of the agent's options (`choices`).

use std::sync::LazyLock;

use daybook_domain::ObservationKind as Kind;
use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

use super::choices::offers_options;
use super::context::{answered_question, mark_as_agent};
use super::lexicon::Cue;
use super::scored_draft::ScoredDraft;
use super::sentences::lowered;
use super::turns::{HumanTurn, WindowConversation};
use super::words::{content_words, is_concrete};

/// Score of an answer without a cue.
const ANSWER: i32 = 55;
/// Fewest content words of an answer that names nothing.
const ANSWER_WORDS: usize = 2;

/// Words that answer nothing.
static NO_ANSWER: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"\b(?:no idea|not sure|unsure|(?:don't|dont|can't|didn't) (?:know|remember|care)|dunno|idk|(?:you|up to you|your) (?:decide|choose|pick|call)|whatever you|keine ahnung|weiß (?:ich )?nicht|nicht sicher|entscheide du|ni idea|no (?:lo )?sé|no estoy segur[oa]|decide tú|lo que quieras)\b|up to you|不知道|不清楚|不确定|随便|你定",
    )
});

/// A question for what the agent is to do: "which PR should I review?" Its answer is an order.
static FOR_ORDERS: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"\b(?:should|shall|can|could|may|do|did) (?:i|we)\b|\b(?:would|do) you (?:like|want|prefer|mean|need)\b|\byou'd like\b|\b(?:soll|kann|darf) ich\b|\b(?:möchtest|willst|meinst) du\b|\b(?:quieres|prefieres|te refieres|debo|puedo|te gustaría)\b|要我|需要我|我要|你想|你是说",
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
        && (words >= ANSWER_WORDS || words > 0 && names)
        && !lexicon.has_cue(Cue::Pointer, &first.low)
        && !lexicon.has_cue(Cue::Momentary, &first.low)
        && !lexicon.has_cue(Cue::Order, &first.low)
        && !NO_ANSWER.is_match(&first.low);
    let question = answered_question(talk, turn, (0, &first.text)).filter(|_| is_answer)?;
    if FOR_ORDERS.is_match(&lowered(&question)) {
        return None;
    }
    let answer = ScoredDraft::from_quote(Kind::Fact, ANSWER, &[turn.message], &first.text);
    Some(answer.with_context(turn.said_by(Some(mark_as_agent(&question)))))
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
        check_answer("Which page number should I review?", "181", &[]);
    }
}
