//! Removes duplicates from answers, and orders entries before what they were made from.

use std::collections::BTreeSet;

use daybook_domain::index::{DocumentKind, IndexedDocument, MemoryLayer};
use daybook_domain::{EventSeq, ObservationId, SessionId};

use super::RankedAnswer;

/// Least score of an entry, as a share of its source's score, at which it comes before that source.
const DIGESTED_SHARE: f64 = 0.9;

/// Moves an entry that rests on several events before answers that rest on some of the same events.
///
/// The entry holds the later state: a value that was replaced is in one line with its replacement.
pub(super) fn order_digested_first(found: &mut [(IndexedDocument, RankedAnswer)]) {
    for at in 0..found.len() {
        let (_, raw) = &found[at];
        if raw.layer == MemoryLayer::Entry || raw.events.is_empty() {
            continue;
        }
        let holds = |(_, entry): &(IndexedDocument, RankedAnswer)| {
            entry.layer == MemoryLayer::Entry
                && entry.session == raw.session
                && entry.score >= DIGESTED_SHARE * raw.score
                && entry.events.len() > raw.events.len()
                && raw.events.iter().all(|event| entry.events.contains(event))
        };
        if let Some(after) = found[at..].iter().position(holds) {
            found[at..=at + after].rotate_right(1);
        }
    }
}

/// Remembers the observations, events and texts of earlier answers, to leave out answers that repeat them.
#[derive(Default)]
pub(super) struct AnswerDeduplicator {
    observations: BTreeSet<ObservationId>,
    events: BTreeSet<(SessionId, EventSeq)>,
    texts: BTreeSet<String>,
}

impl AnswerDeduplicator {
    /// Records an answer. Returns whether it adds anything: a new observation, a new text and, below the layer of
    /// entries, at least one new event.
    pub(super) fn insert_if_new(
        &mut self,
        document: &IndexedDocument,
        answer: &RankedAnswer,
    ) -> bool {
        let observation = match &document.what {
            DocumentKind::Entry { observation, .. } => *observation,
            DocumentKind::Observation { id, .. } => Some(*id),
            DocumentKind::Event { .. } => None,
        };
        let known = observation.is_some_and(|id| !self.observations.insert(id));
        let same_text = !self.texts.insert(answer.text.to_lowercase());
        let events: Vec<(SessionId, EventSeq)> = answer
            .session
            .iter()
            .flat_map(|session| answer.events.iter().map(|seq| (session.clone(), *seq)))
            .collect();
        let is_repeated = answer.layer != MemoryLayer::Entry
            && !events.is_empty()
            && events.iter().all(|event| self.events.contains(event));
        self.events.extend(events);
        !known && !same_text && !is_repeated
    }
}
