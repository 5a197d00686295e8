//! Places the line of a value first, where a question names all that the value is of.
//!
//! "Which Go version do we use?" shares more with a long message about versions than with `go version in mise.toml: 1.25.6`,
//! which answers it.

use daybook_domain::index::MemoryLayer;

use super::newest_first::words_of;
use super::{RankedAnswer, place_first};
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
    answers: Vec<RankedAnswer>,
    lexical: &LexicalQuery<'_>,
) -> Vec<RankedAnswer> {
    let names_all = |answer: &RankedAnswer| {
        let words = words_of(answer, lexical);
        lexical.share(&words, |concept| concept.is_light) >= LEAST_SHARE
    };
    place_first(answers, (COMPARED, LEAST_SCORE), |answer| {
        is_value(answer) && names_all(answer)
    })
}

fn is_value(answer: &RankedAnswer) -> bool {
    answer.layer == MemoryLayer::Entry && answer.context.as_deref() == Some(VALUES)
}
