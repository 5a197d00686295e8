//! What answers tell: each thing once, and as it was digested.

use std::collections::BTreeSet;

use daybook_domain::index::{Document, Found, Layer};
use daybook_domain::{EventSeq, ObservationId, SessionId};

use super::search::Answer;

/// How much less than what it was made from an entry may score to stand in its place.
const NEARLY: f64 = 0.9;

/// Puts an entry that was made from several things before each of them: it says what became of it. A value that
/// was replaced stands in the line with the one that replaced it.
pub(super) fn digested_first(found: &mut [(Document, Answer)]) {
    for at in 0..found.len() {
        let (_, raw) = &found[at];
        if raw.layer == Layer::Entry || raw.events.is_empty() {
            continue;
        }
        let holds = |(_, entry): &(Document, Answer)| {
            entry.layer == Layer::Entry
                && entry.session == raw.session
                && entry.score >= NEARLY * raw.score
                && entry.events.len() > raw.events.len()
                && raw.events.iter().all(|event| entry.events.contains(event))
        };
        if let Some(after) = found[at..].iter().position(holds) {
            found[at..=at + after].rotate_right(1);
        }
    }
}

/// What the answers so far have told: the same thing is not told again by a lesser layer.
#[derive(Default)]
pub(super) struct Told {
    observations: BTreeSet<ObservationId>,
    events: BTreeSet<(SessionId, EventSeq)>,
    texts: BTreeSet<String>,
}

impl Told {
    pub(super) fn is_new(&mut self, document: &Document, answer: &Answer) -> bool {
        let observation = match &document.what {
            Found::Entry { observation, .. } => *observation,
            Found::Observation { id, .. } => Some(*id),
            Found::Event { .. } => None,
        };
        let known = observation.is_some_and(|id| !self.observations.insert(id));
        let same_text = !self.texts.insert(answer.text.to_lowercase());
        let events: Vec<(SessionId, EventSeq)> = answer
            .session
            .iter()
            .flat_map(|session| answer.events.iter().map(|seq| (session.clone(), *seq)))
            .collect();
        let told_already = answer.layer != Layer::Entry
            && !events.is_empty()
            && events.iter().all(|event| self.events.contains(event));
        self.events.extend(events);
        !known && !same_text && !told_already
    }
}
