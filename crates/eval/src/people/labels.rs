//! What people's keys teach of single sentences: which of what they said a memory should have.

use super::cases::{KeyQuestion, Person};
use super::steps::Step;
use crate::dataset::Split;
use crate::statements::{StatementCase, StatementCases};
use daybook_text::sentences::sentences;

/// Most sentences that say one line of the key together.
const TOGETHER: usize = 2;

/// The messages of the people of `split` who work with an agent, or of the others, with the sentences worth keeping.
/// Messages that say what no longer holds teach nothing: only what came later made them so.
#[must_use]
pub fn labelled_messages(people: &[Person], split: Split, works: bool) -> StatementCases {
    let own = people
        .iter()
        .filter(|person| person.split == split && person.works() == works);
    let statements = own.flat_map(|person| {
        let messages = person.sessions.iter().flat_map(|session| &session.steps);
        messages.filter_map(|step| labelled(person, step))
    });
    StatementCases::of(statements.collect())
}

fn labelled(person: &Person, step: &Step) -> Option<StatementCase> {
    let text = match step {
        Step::Said(by, text) if by != "agent" => text,
        Step::Refused(_, reason) if !reason.is_empty() => reason,
        _ => return None,
    };
    let said: Vec<String> = sentences(text, None)
        .into_iter()
        .map(|sentence| sentence.text)
        .collect();
    let mut keep: Vec<String> = Vec::new();
    for length in 1..=TOGETHER {
        for together in said.windows(length) {
            let whole = together.join(" ");
            let is_new = !together.iter().any(|one| keep.contains(one));
            if is_new && person.lines.iter().any(|line| line.is_said_by(&whole)) {
                keep.extend(together.iter().cloned());
            }
        }
    }
    let is_past = |question: &KeyQuestion| question.is_outdated(text);
    let misleads = person.misleading.iter().any(|line| line.is_said_by(text));
    if keep.is_empty() && (misleads || person.questions.iter().any(is_past)) {
        return None;
    }
    Some(StatementCase {
        split: person.split,
        language: "any".to_owned(),
        text: text.clone(),
        keep,
    })
}
