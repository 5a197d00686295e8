//! Places answers that hold what a question asks for before others: a number, a time, a cause, what is open; and later
//! answers before earlier ones.
//!
//! Words and vectors tell what a text is about. "How many uploads are allowed?" shares as much with the complaint as with the
//! message that sets the number, and with the number that was set first as with the one that holds. The weights were fitted to
//! the people to tune on of `evaluation/people`, and made smaller until the other questions of `evaluation` lost little
//! (`DESIGN.md` has the figures).
//!
//! Not here: statements that end each other (`outdated`, `newest_first`).

use daybook_domain::Timestamp;
use daybook_ranking::dates::Dates;
use daybook_ranking::question_kind::matches_any;
use daybook_text::digits::digit_runs;

use super::RankedAnswer;
use super::asked_forms::{
    ASKS_FOR_CAUSE, ASKS_FOR_NUMBER, ASKS_FOR_OPEN, ASKS_FOR_TIME, CAUSE_IN_TEXT, FOUND_IN_TEXT,
    NUMBER_IN_WORDS, OPEN_IN_TEXT, TIME_IN_TEXT,
};
use super::cause_first::asks_for_cause;
use super::newest_first::asks_for_past;

/// The first answers, which are compared.
pub(super) const COMPARED: usize = 20;
/// Bonus of an answer with a number, a time, a cause or something open, where the question asks for one.
const NUMBER: f64 = 0.2;
const TIME: f64 = 0.15;
const CAUSE: f64 = 0.1;
/// The same of an answer that begins with what was wrong, where the question is why something went wrong.
const FOUND: f64 = 0.2;
/// The first bytes of an answer, in which it names what was wrong: further down it may be of something else.
const FINDING_BEGINS: usize = 120;
const OPEN: f64 = 0.2;
/// Bonus of the latest of the answers, and more of it where a number is asked for or what is open; the earliest gets none.
/// Questions about the past and about a date give none.
const LATEST: f64 = 0.05;
const LATEST_NUMBER: f64 = 0.2;
const LATEST_OPEN: f64 = 0.2;
/// Those who ask, in a question; in Spanish the verb says it.
const ASKERS: [&str; 12] = [
    "i", "we", "our", "my", "wir", "ich", "unser", "unsere", "usamos", "hacemos", "nuestro", "nous",
];

/// What a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AskedFor {
    number: bool,
    time: bool,
    cause: bool,
    /// Why something went wrong, rather than why it was chosen.
    fault: bool,
    /// What is not done yet.
    open: bool,
    /// What holds now, rather than what was.
    present: bool,
}

impl AskedFor {
    fn of(question: &str, dates: &Dates) -> Self {
        let time = matches_any(&ASKS_FOR_TIME, question);
        let open = matches_any(&ASKS_FOR_OPEN, question);
        let cause = matches_any(&ASKS_FOR_CAUSE, question) || asks_for_cause(question);
        Self {
            number: time || matches_any(&ASKS_FOR_NUMBER, question),
            time,
            cause,
            open,
            fault: cause && !names_asker(question),
            present: dates.is_empty() && (open || !asks_for_past(question)),
        }
    }

    /// The bonus of an answer; `late` is 0 for the earliest of those compared, and 1 for the latest.
    fn bonus(self, answer: &RankedAnswer, late: f64, own_numbers: &[&str]) -> f64 {
        let text = answer.text.as_str();
        let holds_number = || {
            digit_runs(text).any(|it| !own_numbers.contains(&it)) || NUMBER_IN_WORDS.is_match(text)
        };
        let mut bonus = 0.0;
        if self.number && holds_number() {
            bonus += NUMBER;
        }
        if self.time && TIME_IN_TEXT.is_match(text) {
            bonus += TIME;
        }
        if self.cause && CAUSE_IN_TEXT.is_match(text) {
            bonus += CAUSE;
        }
        if self.fault && begins_with_finding(text) {
            bonus += FOUND;
        }
        if self.open && OPEN_IN_TEXT.is_match(text) {
            bonus += OPEN;
        }
        if self.present {
            bonus += late * self.lateness();
        }
        bonus
    }

    /// The bonus of the latest answer.
    fn lateness(self) -> f64 {
        let number = if self.number { LATEST_NUMBER } else { 0.0 };
        let open = if self.open { LATEST_OPEN } else { 0.0 };
        LATEST + number + open
    }
}

/// Whether a question is about what those who ask do: "why do we squash?" asks for a choice.
fn names_asker(question: &str) -> bool {
    let small = question.to_lowercase();
    let mut words = small.split(|c: char| !c.is_alphanumeric());
    words.any(|word| ASKERS.contains(&word)) || small.contains('我')
}

/// Whether a text begins with what was wrong: "Found it. The issue is …".
fn begins_with_finding(text: &str) -> bool {
    FOUND_IN_TEXT.is_match(&text[..text.floor_char_boundary(FINDING_BEGINS)])
}

/// Orders the first answers again, those with what the question asks for before others of nearly their score.
pub(super) fn place_asked_for_first(
    mut answers: Vec<RankedAnswer>,
    question: &str,
    dates: &Dates,
) -> Vec<RankedAnswer> {
    let asked = AskedFor::of(question, dates);
    let compared = answers.len().min(COMPARED);
    let first = &mut answers[..compared];
    let times = || first.iter().map(|answer| answer.time);
    let (Some(earliest), Some(latest)) = (times().min(), times().max()) else {
        return answers;
    };
    let own: Vec<&str> = digit_runs(question).collect();
    for answer in first.iter_mut() {
        answer.parts.asked =
            asked.bonus(answer, share_of_time(answer.time, earliest, latest), &own);
        let total = answer.parts.total().max(0.0);
        answer.score = total / (1.0 + total);
    }
    first.sort_by(|one, other| other.parts.total().total_cmp(&one.parts.total()));
    answers
}

/// Where a time lies between two: 0 at the earlier, 1 at the later.
fn share_of_time(at: Timestamp, earliest: Timestamp, latest: Timestamp) -> f64 {
    let whole = latest.0.saturating_sub(earliest.0);
    match whole {
        0 => 0.0,
        whole => at.0.saturating_sub(earliest.0) as f64 / whole as f64,
    }
}

#[cfg(test)]
mod tests {
    use daybook_domain::index::MemoryLayer;

    use super::*;

    fn asked_for(question: &str) -> AskedFor {
        AskedFor::of(question, &Dates::of(question, Timestamp::ZERO))
    }

    #[test]
    fn what_a_question_asks_for_is_told_by_its_words() {
        for (question, number, time, cause, fault, present) in [
            (
                "how many uploads are allowed?",
                true,
                false,
                false,
                false,
                true,
            ),
            (
                "when is choir practice these days",
                true,
                true,
                false,
                false,
                true,
            ),
            ("why did the pipes freeze?", false, false, true, true, false),
            (
                "wie lange behalten wir die Protokolle?",
                true,
                false,
                false,
                false,
                true,
            ),
            (
                "por qué no usamos el orquestador",
                false,
                false,
                true,
                false,
                true,
            ),
            ("why do we squash?", false, false, true, false, true),
            ("为什么我们用主干？", false, false, true, false, true),
            ("年费现在多少钱？", true, false, false, false, true),
            (
                "which spelling do we use?",
                false,
                false,
                false,
                false,
                true,
            ),
        ] {
            let expected = AskedFor {
                number,
                time,
                cause,
                fault,
                open: false,
                present,
            };
            assert_eq!(asked_for(question), expected, "{question}");
        }
    }

    #[test]
    fn what_is_open_is_asked_for_in_many_ways() {
        for question in [
            "how far did we get with the vouchers?",
            "which cron jobs still aren't moved over?",
            "what's still missing for the release?",
            "was fehlt da noch",
            "qué falta para abrir?",
            "导入还差什么？",
        ] {
            let asked = asked_for(question);
            assert!(asked.open && asked.present, "{question}");
        }
        assert!(!asked_for("how far is it to the pier?").cause);
    }

    fn answer(text: &str, day: i64) -> RankedAnswer {
        RankedAnswer {
            time: Timestamp(86_400_000 * day),
            ..RankedAnswer::of_text(text.to_owned(), MemoryLayer::Event)
        }
    }

    #[track_caller]
    fn check(question: &str, answers: &[(&str, i64)], first: &str) {
        let answers = answers.iter().map(|(text, day)| answer(text, *day));
        let dates = Dates::of(question, Timestamp::ZERO);
        let placed = place_asked_for_first(answers.collect(), question, &dates);
        assert_eq!(placed[0].text, first, "{question}");
    }

    #[test]
    fn the_latest_number_answers_how_many() {
        let answers = [
            ("uploads fail again", 3),
            ("make it 8 uploads", 1),
            ("make it twenty", 2),
        ];
        check("how many uploads?", &answers, "make it twenty");
        check(
            "how many uploads were allowed in 2020?",
            &answers,
            "make it 8 uploads",
        );
    }

    #[test]
    fn a_cause_answers_why() {
        let answers = [("the pipes froze", 1), ("because the heater was off", 1)];
        check(
            "why did the pipes freeze?",
            &answers,
            "because the heater was off",
        );
        check("what froze?", &answers, "the pipes froze");
    }

    #[test]
    fn what_was_found_answers_why_something_went_wrong() {
        let asked = "the pipes froze since it was cold, why did the pipes freeze?";
        for found in [
            "Found the culprit: the heater was off.",
            "Good catch. The actual issue is that the heater was off.",
            "Done. The cause was a heater that was off.",
            "Die Ursache war der Heizlüfter.",
            "Encontré algo: el problema era la calefacción.",
            "根本原因是暖气没开。",
        ] {
            let answers = [(asked, 1), (found, 1)];
            check("why did the pipes freeze?", &answers, found);
            check("what was the bug in the pipes?", &answers, found);
            check("which pipes froze?", &answers, asked);
        }
        // A choice has a reason, and no fault; and what is named far down may be of something else.
        let found = "Found the problem: the heater was off.";
        check(
            "why do we drain the pipes?",
            &[(asked, 1), (found, 1)],
            asked,
        );
        let late = format!(
            "{}The issue is the heater.",
            "We looked at all pipes. ".repeat(8)
        );
        check(
            "why did the pipes freeze?",
            &[(asked, 1), (&late, 1)],
            asked,
        );
    }
}
