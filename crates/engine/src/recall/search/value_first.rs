//! Places the line of a value first, where a question names all that the value is of.
//!
//! "Which Go version do we use?" shares more with a long message about versions than with `go version in mise.toml: 1.25.6`,
//! which answers it.

use daybook_domain::index::MemoryLayer;

use super::RankedAnswer;
use super::newest_first::words_of;
use crate::consolidate::VALUES;
use crate::recall::lexical::LexicalQuery;

/// The first answers, among which the line is looked for.
pub(super) const COMPARED: usize = 16;
/// Least share of the first answer's score that the line has.
const LEAST_SCORE: f64 = 0.8;
/// Least share of what the question is about that the line names. Everyday words of the question do not count.
const LEAST_SHARE: f64 = 0.95;

/// Moves the first line of a value that names what the question asks for to the front.
pub(super) fn place_value_first(
    mut answers: Vec<RankedAnswer>,
    lexical: &LexicalQuery<'_>,
) -> Vec<RankedAnswer> {
    let Some(best) = answers.first().map(|first| first.parts.total()) else {
        return answers;
    };
    let found = answers.iter().take(COMPARED).position(|answer| {
        is_value(answer)
            && answer.parts.total() >= LEAST_SCORE * best
            && lexical.share(&words_of(answer, lexical), |concept| concept.is_light) >= LEAST_SHARE
    });
    if let Some(at) = found {
        let line = answers.remove(at);
        answers.insert(0, line);
    }
    answers
}

fn is_value(answer: &RankedAnswer) -> bool {
    answer.layer == MemoryLayer::Entry && answer.context.as_deref() == Some(VALUES)
}
