//! Places the line that tells where work stands first, where a question asks for that.
//!
//! "Where was I on the importer?" shares its words with earlier questions of that sort, and few with the line that answers it.
//!
//! Not here: what that line says (`consolidate::left_off`).

use std::sync::LazyLock;

use daybook_domain::index::MemoryLayer;
use daybook_ranking::lexical::LexicalQuery;
use daybook_ranking::query::Concept;
use daybook_ranking::question_kind::matches_any;
use daybook_text::lazy_pattern::LazyPattern;

use super::asked_forms::ASKS_FOR_OPEN;
use super::newest_first::{words_in, words_of};
use super::{RankedAnswer, place_first, put_first};
use crate::consolidate::{LEFT_OFF, names_open_end};
use crate::files::layout::BRANCHES;

/// The lines of memory files, of which the best is chosen.
pub(super) const COMPARED_LINES: usize = 40;
/// The first answers, among which the line is looked for where no line names enough.
const COMPARED: usize = 6;
/// Least share of the first answer's score that it has then.
const LEAST_SCORE: f64 = 0.5;
/// Least share of what the question is about that the line names. Everyday words of the question do not count.
const LEAST_SHARE: f64 = 0.6;
/// A line that names this share of what the best one does is as good.
const SAME_SHARE: f64 = 0.8;

static ASKS: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| {
    [
        r"\bwhere (?:was|were|am|are|had|did) (?:i|we|you)(?: (?:up to|at|on|with|in|leave|left|stop|get to)\b|[^[:alnum:]]*$)",
        r"\bwhere (?:i|we) (?:was|were|left off|stopped|got to)\b",
        r"\bwhat (?:was|were) (?:i|we) (?:doing|working on)\b",
        r"\bwhat(?:'s| is| was) (?:still )?(?:open|unfinished|left to do)\b",
        r"\b(?:how far|where) (?:is|are|did) (?:the|we|i|my|our) (?:work|branch|get)\b",
        r"^(?:so |and |but )?(?:is|are|was|were) (?:the |our |my |that |this )?(?:\S+ ){1,6}(?:finished|done|completed?|merged|ready|shipped|pushed|released|landed|deployed)(?: (?:yet|already|now))?[^[:alnum:]]*$",
        r"^(?:so |and |but )?(?:did|have|has) (?:i|we|you|the agents?) (?:already |ever |really )?(?:finish|complete|merge|push|ship|land|release|deploy)(?:e?d)?\b",
        r"\b(?:status|state|progress) (?:of|on|with) ",
        r"\bwo (?:war|waren|bin|sind|stehe|stehen|blieb|blieben) (?:ich|wir)\b",
        r"\bwas ist (?:noch )?offen\b",
        r"\bwie weit (?:bin|sind|war|waren) (?:ich|wir)\b",
        r"\bd[óo]nde (?:estaba|est[áa]bamos|qued[ée]|quedamos|[íi]bamos)\b",
        r"\bqu[ée] queda (?:abierto|pendiente)\b",
        "做到哪|进行到哪|还有什么没做|上次(?:做|停)",
    ]
    .into_iter()
    .map(LazyPattern::new)
    .collect()
});

/// Words of such a question that the line says otherwise.
const UNSAID: [&str; 16] = [
    "branch",
    "finished",
    "done",
    "complete",
    "completed",
    "merge",
    "merged",
    "ready",
    "shipped",
    "pushed",
    "push",
    "released",
    "landed",
    "status",
    "state",
    "progress",
];

/// Whether a question asks where work stands.
pub(super) fn asks_where_left_off(question: &str) -> bool {
    matches_any(&ASKS, question)
}

/// Puts the line that tells where work stands before the answers: of the lines that memory files have and that name most of what
/// the question is about, one with something open if that is what the question asks for, one that `MEMORY.md` shows, and the
/// latest.
pub(super) fn place_left_off_first(
    mut answers: Vec<RankedAnswer>,
    lines: Vec<RankedAnswer>,
    question: &str,
    lexical: &LexicalQuery<'_>,
) -> Vec<RankedAnswer> {
    let asks_for_open = matches_any(&ASKS_FOR_OPEN, question);
    let is_unsaid = |concept: &Concept| concept.is_light_or(&UNSAID);
    let is_of_anything = lexical.query().concepts().iter().all(is_unsaid);
    let share = |line: &RankedAnswer| match is_of_anything {
        true => 1.0,
        false => lexical.share(&words_of(line, lexical), is_unsaid),
    };
    let lines = lines.into_iter().filter(tells_left_off);
    let lines: Vec<(f64, RankedAnswer)> = lines.map(|line| (share(&line), line)).collect();
    let most = lines.iter().map(|(share, _)| *share).fold(0.0, f64::max);
    let least = LEAST_SHARE.max(most * SAME_SHARE);
    let fitting = lines.into_iter().filter(|(share, _)| *share >= least);
    let of_section = |line: &RankedAnswer| line.context.as_deref() == Some(LEFT_OFF);
    // What a branch is called says more than what was once asked on it.
    let is_of_branch = |line: &RankedAnswer| {
        let branch = line.text.split(" · ").next().unwrap_or_default();
        !is_of_anything && lexical.share(&words_in(branch, lexical), is_unsaid) >= LEAST_SHARE
    };
    let holds_it = |line: &RankedAnswer| !asks_for_open || names_open_end(&line.text);
    let best = fitting.max_by_key(|(_, line)| {
        let fits_best = (is_of_branch(line), holds_it(line), of_section(line));
        (fits_best, line.time)
    });
    let Some((_, line)) = best else {
        return place_first(answers, (COMPARED, LEAST_SCORE), tells_left_off);
    };
    put_first(&mut answers, line);
    answers
}

/// Whether it is a line of the section, or the first line of a branch, which begins with the branch's name.
fn tells_left_off(answer: &RankedAnswer) -> bool {
    let heading = answer.context.as_deref().unwrap_or_default();
    let is_of_branch = answer.file.as_deref() == Some(BRANCHES)
        && !heading.is_empty()
        && answer.text.starts_with(heading);
    answer.layer == MemoryLayer::Entry && (heading == LEFT_OFF || is_of_branch)
}

#[cfg(test)]
mod tests {
    use super::asks_where_left_off;

    #[test]
    fn a_question_for_where_work_stands_is_told_from_others() {
        for question in [
            "where was I on ent-109?",
            "Where did we leave off with the importer?",
            "where are we?",
            "what was I working on yesterday",
            "what's still open on the tides branch?",
            "Wo waren wir beim Importer?",
            "was ist noch offen",
            "¿dónde quedamos con el importador?",
            "导入做到哪了",
            "is the importer branch finished?",
            "did we already merge the dependency update?",
            "what is the status of the importer?",
        ] {
            assert!(asks_where_left_off(question), "{question}");
        }
        for question in [
            "where are you storing the token?",
            "where was the harbour built?",
            "where did we put the fixtures?",
            "what is the port?",
            "what is an open end?",
            "where is the setting read?",
            "is it done when the tests pass?",
            "how do we merge?",
            "what is a pushed commit?",
        ] {
            assert!(!asks_where_left_off(question), "{question}");
        }
    }
}
