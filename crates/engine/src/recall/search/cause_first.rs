//! Places the trap that tells a cause first, where a question asks why.
//!
//! "Why did the import fail?" shares most words with those who asked the same, and with an agent that sets out to look: "I'll
//! find out why the import fails".

use std::sync::LazyLock;

use daybook_domain::ObservationKind;
use daybook_domain::index::MemoryLayer;
use daybook_text::lazy_pattern::LazyPattern;

use super::newest_first::words_of;
use super::{RankedAnswer, place_first};
use crate::consolidate::FAILED;
use crate::recall::lexical::LexicalQuery;
use crate::recall::question_kind::matches_any;

/// The first answers, among which the cause is looked for.
const COMPARED: usize = 6;
/// Least share of the first answer's score that it has.
const LEAST_SCORE: f64 = 0.8;
/// Least share of what the question is about that it names. Everyday words of the question do not count.
const LEAST_SHARE: f64 = 0.5;

static ASKS: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
    [
        r"^(?:so |and |but )?(?:why|how come)\b",
        r"^(?:so |and |but )?what (?:caused|causes|was wrong|went wrong|broke)\b",
        r"^(?:so |and |but )?what(?:'s| is| was) (?:the |our )?(?:\S+ ){0,2}(?:cause|reason|bug|culprit|explanation)\b",
        r"\bwhat was (?:the (?:cause|reason|bug|problem)|it) in the end\b",
        r"^(?:warum|wieso|weshalb|woran (?:lag|liegt))\b",
        r"^¿?(?:por qué|a qué se deb)",
        "为什么|为何|原因是什么",
    ]
    .into_iter()
    .map(LazyPattern::new)
    .collect()
});

/// Whether a question asks for a cause.
pub(super) fn asks_for_cause(question: &str) -> bool {
    matches_any(&ASKS, question)
}

/// Moves the first line of a trap, or what such a line is made of, to the front, where it names what the question is about
/// and its score is near the first answer's. Messages stay where they are: most that say "because" tell another cause.
pub(super) fn place_cause_first(
    answers: Vec<RankedAnswer>,
    lexical: &LexicalQuery<'_>,
) -> Vec<RankedAnswer> {
    let names_it = |answer: &RankedAnswer| {
        let words = words_of(answer, lexical);
        lexical.share(&words, |concept| concept.is_light) >= LEAST_SHARE
    };
    place_first(answers, (COMPARED, LEAST_SCORE), |answer| {
        answer.replaced.is_none() && tells_cause(answer) && names_it(answer)
    })
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
        ] {
            assert!(asks_for_cause(question), "{question}");
        }
        for question in ["what is the limit?", "which bug did we fix?", "say why not"] {
            assert!(!asks_for_cause(question), "{question}");
        }
    }
}
