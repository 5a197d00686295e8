//! Places the trap that tells a cause first, where a question asks why.
//!
//! "Why did the import fail?" shares most words with those who asked the same, and with an agent that sets out to look: "I'll
//! find out why the import fails".

use std::sync::LazyLock;

use daybook_domain::ObservationKind;
use daybook_domain::index::MemoryLayer;
use daybook_ranking::lexical::{LexicalQuery, QueryTermCounts};
use daybook_ranking::question_kind::matches_any;
use daybook_text::lazy_pattern::LazyPattern;

use super::newest_first::words_of;
use super::{RankedAnswer, place_first, put_first};
use crate::consolidate::FAILED;

/// The first answers, among which the cause is looked for.
const COMPARED: usize = 6;
/// Least share of the first answer's score that it has.
const LEAST_SCORE: f64 = 0.8;
/// Least share of what the question is about that it names. Everyday words of the question do not count.
const LEAST_SHARE: f64 = 0.5;
/// Least share of the first answer's score that a line has which is not among the first answers, and names all.
const LEAST_SCORE_OF_LINE: f64 = 0.5;
/// Least share of what the question is about that such a line names.
const NAMES_ALL: f64 = 0.95;
/// Words for a trap, which its line may leave out.
const UNSAID: [&str; 14] = [
    "bug", "bugs", "cause", "caused", "reason", "problem", "issue", "error", "failure", "fail",
    "failed", "failing", "wrong", "broke",
];

static ASKS: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
    [
        r"^(?:so |and |but )?(?:why|how come)\b",
        r"^(?:so |and |but )?what (?:caused|causes|was wrong|went wrong|broke)\b",
        r"^(?:so |and |but )?what(?:'s| is| was) (?:the |our )?(?:\S+ ){0,2}(?:cause|reason|bug|culprit|explanation)\b",
        r"^(?:so |and |but )?what(?:'s| is| was) (?:the |our )?(?:\S+ ){0,2}(?:problem|issue|trouble)(?: with| in| when| behind| here|\W*$)",
        r"\bwhat was (?:the (?:cause|reason|bug|problem)|it) in the end\b",
        r"^(?:warum|wieso|weshalb|woran (?:lag|liegt))\b|^was (?:war|ist) (?:denn )?das problem\b",
        r"^¿?(?:por qué|a qué se deb)|^¿?cuál (?:era|es|fue) el problema\b",
        "为什么|为何|原因是什么|问题(?:是什么|出在哪)|什么问题",
    ]
    .into_iter()
    .map(LazyPattern::new)
    .collect()
});

/// Words of which each form has one: without any, no form is parsed.
const ASKING: [&str; 22] = [
    "why",
    "how come",
    "caus",
    "wrong",
    "broke",
    "reason",
    "bug",
    "culprit",
    "explanation",
    "problem",
    "issue",
    "trouble",
    "in the end",
    "warum",
    "wieso",
    "weshalb",
    "woran",
    "por qu",
    "a qu",
    "为",
    "原因",
    "问题",
];

/// Whether a question asks for a cause.
pub(super) fn asks_for_cause(question: &str) -> bool {
    let small = question.to_lowercase();
    ASKING.iter().any(|word| small.contains(word)) && matches_any(&ASKS, question)
}

/// Whether a text of these words names what a question is about. What a trap may leave out does not count.
pub(super) fn names_all_but_unsaid(words: &QueryTermCounts, lexical: &LexicalQuery<'_>) -> bool {
    lexical.share(words, |concept| concept.is_light_or(&UNSAID)) >= NAMES_ALL
}

/// Moves the first line of a trap, or what such a line is made of, to the front, where it names what the question is about
/// and its score is near the first answer's. Where none of the first answers is one, puts the best of the `lines` of memory
/// files there. Messages stay where they are: most that say "because" tell another cause.
pub(super) fn place_cause_first(
    answers: Vec<RankedAnswer>,
    lines: Vec<RankedAnswer>,
    lexical: &LexicalQuery<'_>,
) -> Vec<RankedAnswer> {
    let names_it = |answer: &RankedAnswer| {
        let words = words_of(answer, lexical);
        lexical.share(&words, |concept| concept.is_light_or(&UNSAID)) >= LEAST_SHARE
    };
    let is_wanted = |answer: &RankedAnswer| {
        answer.replaced.is_none() && tells_cause(answer) && names_it(answer)
    };
    let mut answers = place_first(answers, (COMPARED, LEAST_SCORE), is_wanted);
    let Some(first) = answers.first().filter(|first| !is_wanted(first)) else {
        return answers;
    };
    let least = LEAST_SCORE_OF_LINE * first.parts.total();
    let fits = |line: &RankedAnswer| tells_cause(line) && line.parts.total() >= least;
    if let Some(line) = lines.into_iter().find(fits) {
        put_first(&mut answers, line);
    }
    answers
}

fn tells_cause(answer: &RankedAnswer) -> bool {
    match answer.layer {
        MemoryLayer::Entry => answer.context.as_deref() == Some(FAILED),
        MemoryLayer::Observation => answer.kind == Some(ObservationKind::Fix),
        MemoryLayer::Event => false,
    }
}

#[cfg(test)]
mod tests {
    use super::asks_for_cause;

    #[test]
    fn a_question_for_a_cause_is_told_from_others() {
        for question in [
            "why were the stop hooks slow?",
            "So why did it fail",
            "how come the limit is 20?",
            "what was the reason for the crash?",
            "what's the root cause of the leak",
            "Warum ist der Import langsam?",
            "¿por qué falla el build?",
            "为什么导入很慢",
            "what was the problem with the tide import?",
            "what's the issue here",
            "Was war das Problem mit dem Import?",
            "¿cuál era el problema del build?",
            "导入的问题出在哪",
        ] {
            assert!(asks_for_cause(question), "{question}");
        }
        for question in [
            "what is the limit?",
            "which bug did we fix?",
            "say why not",
            "what is the issue tracker called?",
        ] {
            assert!(!asks_for_cause(question), "{question}");
        }
    }
}
