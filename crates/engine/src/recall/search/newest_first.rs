//! Places the newest of several statements that answer the same words of a question first.
//!
//! Of two statements about the thing that a question names, the later one is more often what holds, whether or not its
//! words say that it changes anything: "the import runs on Mondays", then "because of the new times the import runs on
//! Wednesdays". The longer one has the lower score, although it answers no less.
//!
//! Not here: statements that are known to have ended others (`outdated`).

use std::sync::LazyLock;

use daybook_domain::index::{MemoryLayer, Terms};
use daybook_domain::{ObservationOrigin, Origin};
use daybook_ranking::lexical::{LexicalQuery, QueryTermCounts};
use daybook_ranking::query::Concept;
use daybook_ranking::question_kind::matches_any;
use daybook_text::lazy_pattern::LazyPattern;
use daybook_text::tokens::index_text;

use super::RankedAnswer;
use crate::consolidate::says_change;

/// The first answers, which are compared.
pub(super) const COMPARED: usize = 6;
/// Least share of the earlier answer's score that the later one has.
const LEAST_SCORE: f64 = 0.3;
/// Least share of the weight of the earlier answer's words that the later one has, too.
const LEAST_SHARE: f64 = 0.6;
/// Least share of a question's weight that both answer.
const LEAST_ANSWERED: f64 = 0.2;

static ASKS_FOR_PAST: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
    [
        r"\b(?:did|was|were|had|has|have been|first|original(?:ly)?|initial(?:ly)?|at first|previous(?:ly)?|formerly|used to|earlier|before|back then|history|old)\b",
        r"\b(?:war|waren|wurde|wurden|hatte|hatten|anfangs|ursprünglich|zuerst|früher|vorher|damals)\b",
        r"\b(?:fue|era|eran|antes|primero|originalmente|était|avant|au début)\b",
        "最初|以前|之前|原来|当初",
    ]
    .into_iter()
    .map(LazyPattern::new)
    .collect()
});

/// Whether a question asks for the past.
pub(super) fn asks_for_past(question: &str) -> bool {
    matches_any(&ASKS_FOR_PAST, question)
}

/// Places before each of the first answers the newest one that answers the same words.
pub(super) fn place_newest_first(
    mut answers: Vec<RankedAnswer>,
    lexical: &LexicalQuery<'_>,
) -> Vec<RankedAnswer> {
    let compared = answers.len().min(COMPARED);
    for at in 0..compared {
        let newer = (at + 1..compared)
            .filter(|later| takes_place_of(&answers[*later], &answers[at], lexical))
            .max_by_key(|later| answers[*later].time);
        if let Some(newer) = newer {
            let newer = answers.remove(newer);
            answers.insert(at, newer);
        }
    }
    answers
}

/// Whether an answer is a later statement that answers no less of the question.
fn takes_place_of(
    later: &RankedAnswer,
    earlier: &RankedAnswer,
    lexical: &LexicalQuery<'_>,
) -> bool {
    let may = is_stated(later) && is_stated(earlier) && later.scope == earlier.scope;
    let is_near = later.parts.total() >= LEAST_SCORE * earlier.parts.total();
    if !may || !is_near || !is_later(later, earlier) {
        return false;
    }
    let (new, old) = (words_of(later, lexical), words_of(earlier, lexical));
    let both = lexical.common_share(&new, &old, |_| false);
    let about_one_thing =
        lexical.common_share(&new, &old, is_number) >= LEAST_SHARE * lexical.share(&old, is_number);
    if both < LEAST_ANSWERED
        || both < LEAST_SHARE * lexical.share(&old, |_| false)
        || !about_one_thing
    {
        return false;
    }
    // Of mere talk that nothing was learned from, the latest is not what holds, unless it says so. Taking a statement
    // apart costs most, so it comes last.
    !is_talk(later) || !is_talk(earlier) || says_change(&later.text)
}

/// Numbers tell which one, and not of what: the limit of 64 is not about bay 64.
fn is_number(concept: &Concept) -> bool {
    let word = concept.word.as_deref();
    word.is_some_and(|word| word.chars().all(char::is_numeric))
}

/// Whether it was stated later. A page of a session names its beginning and its end: only what it does not share with
/// the other is later.
fn is_later(later: &RankedAnswer, earlier: &RankedAnswer) -> bool {
    if later.session.is_some() && later.session == earlier.session {
        return later.events.first() > earlier.events.last();
    }
    later.time > earlier.time
}

/// Whether it is a person's words, or a line of memory that rests on them. A page of a name states nothing.
fn is_stated(answer: &RankedAnswer) -> bool {
    let of_name = |file: &str| file.split('/').any(|folder| folder == "entities");
    let is_line =
        answer.layer == MemoryLayer::Entry && !answer.file.as_deref().is_some_and(of_name);
    answer.origin == Some(Origin::Human)
        || answer.learned_from == Some(ObservationOrigin::Typed)
        || is_line
}

fn is_talk(answer: &RankedAnswer) -> bool {
    answer.layer == MemoryLayer::Event
}

pub(super) fn words_of(answer: &RankedAnswer, lexical: &LexicalQuery<'_>) -> QueryTermCounts {
    words_in(&answer.text, lexical)
}

/// The words of the question that a text has.
pub(super) fn words_in(text: &str, lexical: &LexicalQuery<'_>) -> QueryTermCounts {
    lexical.text_stats(&Terms::of(&index_text(text))).whole
}

#[cfg(test)]
mod tests {
    use super::asks_for_past;

    #[test]
    fn a_question_for_the_past_is_told_from_one_for_what_holds() {
        for question in [
            "what was the limit at first?",
            "where did we host the demo?",
            "welche Datenbank hatten wir?",
            "¿qué formato usamos antes?",
            "之前用什么框架?",
        ] {
            assert!(asks_for_past(question), "{question}");
        }
        for question in [
            "where is the demo instance hosted?",
            "wann läuft der warenimport?",
            "后台前端用什么框架?",
        ] {
            assert!(!asks_for_past(question), "{question}");
        }
    }
}
