//! Places a person's rule first, where a question asks whether something may be done.
//!
//! "May I amend commits?" shares more with an agent's report of an amended commit than with "please don't amend commits".

use std::sync::LazyLock;

use daybook_domain::index::MemoryLayer;
use daybook_domain::{ObservationKind, ObservationOrigin};
use daybook_ranking::lexical::{LexicalQuery, QueryTermCounts};
use daybook_ranking::question_kind::matches_any;
use daybook_text::lazy_pattern::LazyPattern;

use super::newest_first::words_in;
use super::{RankedAnswer, place_first, put_first};
use crate::consolidate::holds_rules;

/// The first answers, among which the rule is looked for.
const COMPARED: usize = 8;
/// Most lines of memory files that name what a question is about, of which one may be the rule.
pub(super) const COMPARED_LINES: usize = 8;
/// Least share of the first answer's score that such a line has.
const LEAST_SCORE_OF_LINE: f64 = 0.5;
/// Verbs that a rule may leave out: "should I use subagents" asks for "prefer subagents".
const UNSAID: [&str; 16] = [
    "use", "used", "do", "done", "make", "made", "put", "go", "have", "get", "keep", "kept",
    "need", "write", "run", "add",
];
/// Least share of the first answer's score that the rule has.
const LEAST_SCORE: f64 = 0.8;
/// Least share of what the question is about that the rule names. Everyday words of the question do not count.
const LEAST_SHARE: f64 = 0.95;

static ASKS: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
    [
        r"^(?:(?:so|and|but),? )?(?:may|can|could|should|shall|must) (?:i|we|agents?|one|it)\b",
        r"^(?:(?:so|and|but),? )?(?:may|can|could|should|shall|must) (?:\S+ ){1,4}be \w+(?:ed|en|un|ne|pt|ut|de|ght|ld)\b",
        r"\b(?:am|are) (?:i|we|agents?) (?:still )?(?:allowed|permitted|supposed)\b",
        r"\b(?:do|does) (?:i|we|agents?|it) (?:still )?(?:have to|need to)\b",
        r"^(?:so |and |but )?why (?:can't|cannot|shouldn't|mustn't|may|don't|should|must) (?:i|we|you|agents?) ",
        r"\bis it (?:still )?(?:ok|okay|fine|allowed|all right|alright)\b",
        r"^(?:darf|d[üu]rfen|soll|sollen|sollte|sollten|muss|m[üu]ssen|kann|k[öo]nnen) (?:ich|wir|man)\b",
        r"^¿?(?:puedo|podemos|se puede|debo|debemos|hay que|tengo que|tenemos que)\b",
        "(?:可以|能|能不能|可不可以|应该|必须).*(?:吗|么|？)",
    ]
    .into_iter()
    .map(LazyPattern::new)
    .collect()
});

/// Whether a question asks if something may, should or must be done.
pub(super) fn asks_for_rule(question: &str) -> bool {
    matches_any(&ASKS, question)
}

/// Whether a text of these words names what a question is about. What a rule may leave out does not count.
pub(super) fn names_all_but_unsaid(words: &QueryTermCounts, lexical: &LexicalQuery<'_>) -> bool {
    lexical.share(words, |concept| concept.is_light_or(&UNSAID)) >= LEAST_SHARE
}

/// Moves the first rule that names what the question is about to the front, where its score is near the first answer's. Where
/// none of the first answers is one, puts the best of the `lines` of memory files there.
pub(super) fn place_rule_first(
    answers: Vec<RankedAnswer>,
    lines: Vec<RankedAnswer>,
    lexical: &LexicalQuery<'_>,
) -> Vec<RankedAnswer> {
    let names_all = |answer: &RankedAnswer| {
        let words = words_in(stated(&answer.text), lexical);
        lexical.share(&words, |concept| concept.is_light) >= LEAST_SHARE
    };
    let is_wanted =
        |answer: &RankedAnswer| answer.replaced.is_none() && is_rule(answer) && names_all(answer);
    let mut answers = place_first(answers, (COMPARED, LEAST_SCORE), is_wanted);
    // A line that is first already is what the person reads in the files, too.
    let is_open = |first: &&RankedAnswer| first.layer != MemoryLayer::Entry && !is_wanted(first);
    let Some(first) = answers.first().filter(is_open) else {
        return answers;
    };
    let least = LEAST_SCORE_OF_LINE * first.parts.total();
    let states_all =
        |line: &RankedAnswer| names_all_but_unsaid(&words_in(stated(&line.text), lexical), lexical);
    let line = lines
        .into_iter()
        .find(|line| is_rule(line) && line.parts.total() >= least && states_all(line));
    if let Some(line) = line {
        put_first(&mut answers, line);
    }
    answers
}

/// What opens a remark behind a line that the line does not state: a call that was refused, an agent's words, the past.
const BEHIND: [&str; 3] = [" (refused ", " (agent: ", " (before "];

/// What a line states: a refused `git push origin tide-cache` is no rule for caches.
fn stated(text: &str) -> &str {
    let ends = BEHIND.iter().filter_map(|opening| text.find(opening));
    ends.min().map_or(text, |end| &text[..end])
}

/// Whether it is a line of memory below a heading of rules, or a person's rule that such a line may be made of.
fn is_rule(answer: &RankedAnswer) -> bool {
    let heading = answer.context.as_deref().unwrap_or_default();
    let is_typed = answer.learned_from == Some(ObservationOrigin::Typed);
    match answer.kind {
        None => answer.layer == MemoryLayer::Entry && holds_rules(heading),
        Some(
            ObservationKind::Correction
            | ObservationKind::Preference
            | ObservationKind::Decision
            | ObservationKind::Note,
        ) => is_typed,
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use daybook_domain::index::MemoryLayer;
    use daybook_domain::{ObservationKind, ObservationOrigin};

    use super::{asks_for_rule, is_rule, stated};
    use crate::recall::search::RankedAnswer;

    #[track_caller]
    fn check_observation(kind: ObservationKind, from: ObservationOrigin, expected: bool) {
        let text = "please don't amend commits".to_owned();
        let answer = RankedAnswer {
            kind: Some(kind),
            learned_from: Some(from),
            ..RankedAnswer::of_text(text, MemoryLayer::Observation)
        };
        assert_eq!(is_rule(&answer), expected, "{kind:?} {from:?}");
    }

    #[test]
    fn what_stands_behind_a_line_is_not_stated() {
        for (line, expected) in [
            ("\"never push\" (refused `git push`)", "\"never push\""),
            (
                "\"one file each\" (agent: I lean to one)",
                "\"one file each\"",
            ),
            (
                "\"US English\" (before 4 Feb: \"British\")",
                "\"US English\"",
            ),
            (
                "B: this branch (accepted: “B, and 20”)",
                "B: this branch (accepted: “B, and 20”)",
            ),
        ] {
            assert_eq!(stated(line), expected);
        }
    }

    #[test]
    fn a_rule_that_a_person_typed_is_one_before_a_file_shows_it() {
        let typed = ObservationOrigin::Typed;
        check_observation(ObservationKind::Correction, typed, true);
        check_observation(ObservationKind::Note, typed, true);
        check_observation(ObservationKind::Fact, typed, false);
        check_observation(ObservationKind::Value, typed, false);
        let concluded = ObservationOrigin::Concluded;
        check_observation(ObservationKind::Decision, concluded, false);
    }

    #[test]
    fn a_question_for_a_rule_is_told_from_others() {
        for question in [
            "may I amend commits?",
            "Should we squash before merging?",
            "are agents allowed to push?",
            "do we have to sign commits",
            "is it still ok to deploy on Fridays?",
            "why can't I amend commits?",
            "should subagents be used?",
            "Darf ich direkt auf main pushen?",
            "¿puedo borrar la rama?",
            "可以直接推送到主分支吗",
        ] {
            assert!(asks_for_rule(question), "{question}");
        }
        for question in [
            "why can we not connect?",
            "what should the limit be?",
            "where must the file be?",
            "when did it become allowed?",
            "how can I run the tests?",
        ] {
            assert!(!asks_for_rule(question), "{question}");
        }
    }
}
