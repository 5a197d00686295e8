//! Places the line of a value first, where a question names all that the value is of.
//!
//! "Which Go version do we use?" shares more with a long message about versions than with `go version in mise.toml: 1.25.6`,
//! which answers it.

use daybook_domain::index::MemoryLayer;
use daybook_ranking::lexical::{LexicalQuery, QueryTermCounts};
use daybook_ranking::query::Concept;

use super::newest_first::words_of;
use super::{RankedAnswer, place_first, put_first};
use crate::consolidate::VALUES;

/// The first answers, among which the line is looked for.
pub(super) const COMPARED: usize = 16;
/// Least share of the first answer's score that the line has.
const LEAST_SCORE: f64 = 0.8;
/// The same of a line that names every word of the question.
const LEAST_SCORE_OF_LINE: f64 = 0.5;
/// Least share of what the question is about that the line names. Everyday words of the question do not count.
const LEAST_SHARE: f64 = 0.95;
/// Words of questions for a value that its line leaves out. Others count, however common: "go" of "which go version".
const UNSAID: [&str; 28] = [
    "use", "set", "have", "get", "many", "much", "long", "big", "large", "high", "low", "often",
    "most", "least", "allow", "allowed", "show", "shown", "list", "listed", "display", "print",
    "take", "keep", "kept", "run", "now", "current",
];

/// Whether a text of these words names every word of a question for a value.
pub(super) fn names_every_word(words: &QueryTermCounts, lexical: &LexicalQuery<'_>) -> bool {
    let is_unsaid = |concept: &Concept| {
        let word = concept.word.as_deref();
        word.is_some_and(|word| UNSAID.contains(&word))
    };
    lexical.share(words, is_unsaid) >= LEAST_SHARE
}

/// Moves the first line of a value that names what the question asks for to the front. Where none of the first answers is
/// one, puts the best of the `lines` there, which name every word of the question.
pub(super) fn place_value_first(
    answers: Vec<RankedAnswer>,
    lines: Vec<RankedAnswer>,
    lexical: &LexicalQuery<'_>,
) -> Vec<RankedAnswer> {
    let names_all = |answer: &RankedAnswer| {
        let words = words_of(answer, lexical);
        lexical.share(&words, |concept| concept.is_light) >= LEAST_SHARE
    };
    let is_wanted = |answer: &RankedAnswer| is_value(answer) && names_all(answer);
    let mut answers = place_first(answers, (COMPARED, LEAST_SCORE), is_wanted);
    let Some(first) = answers.first().filter(|first| !is_value(first)) else {
        return answers;
    };
    let least = LEAST_SCORE_OF_LINE * first.parts.total();
    let mut lines = lines.into_iter();
    if let Some(line) = lines.find(|line| is_value(line) && line.parts.total() >= least) {
        put_first(&mut answers, line);
    }
    answers
}

fn is_value(answer: &RankedAnswer) -> bool {
    answer.layer == MemoryLayer::Entry && answer.context.as_deref() == Some(VALUES)
}
