//! The numbers of documents, by the numbers of the rows that they are, and what a filter leaves of them.

use daybook_domain::Origin;
use daybook_domain::index::{DocumentNo, Filter, Layer, is_said};

/// Where the numbers begin of events that people and agents said; all other events lie below.
pub(crate) const SAID: i64 = DocumentNo::SAID;
/// Where the numbers of observations begin.
pub(crate) const OBSERVATIONS: i64 = DocumentNo::OBSERVATIONS;
/// Where the numbers of entries begin.
pub(crate) const ENTRIES: i64 = DocumentNo::ENTRIES;

/// The document that an observation is.
pub(crate) fn observation_doc(observation: i64) -> i64 {
    OBSERVATIONS | observation
}

/// The document that an event is, whose row has the number `no`.
pub(crate) fn event_doc(no: i64, origin: Origin) -> i64 {
    if is_said(origin) { SAID | no } else { no }
}

/// Neighbouring documents that a search goes through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// Only events of these origins; empty for whatever lies there.
    pub(crate) origins: Vec<Origin>,
}

/// What a filter's layers and origins leave to search, from the greatest documents down. Neighbours
/// that ask the same are one, but for what was said and the other events: among these the newest come
/// first, whoever said them, so each stretch gives its newest.
pub(crate) fn stretches(filter: &Filter) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for (layer, from, to) in [
        (Layer::Entry, ENTRIES, i64::MAX),
        (Layer::Observation, OBSERVATIONS, ENTRIES - 1),
        (Layer::Event, SAID, OBSERVATIONS - 1),
        (Layer::Event, 0, SAID - 1),
    ] {
        if !filter.layers.is_empty() && !filter.layers.contains(&layer) {
            continue;
        }
        let mut origins = Vec::new();
        if layer == Layer::Event && !filter.origins.is_empty() {
            let lying = Origin::ALL
                .iter()
                .filter(|&&o| is_said(o) == (from == SAID));
            let (wanted, others): (Vec<Origin>, Vec<Origin>) =
                lying.partition(|&origin| filter.origins.contains(origin));
            if wanted.is_empty() {
                continue;
            }
            if !others.is_empty() {
                origins = wanted;
            }
        }
        match stretches.last_mut() {
            Some(above) if above.from == to + 1 && to >= SAID && above.origins == origins => {
                above.from = from;
            }
            _ => stretches.push(Stretch { from, to, origins }),
        }
    }
    stretches
}

/// Whether a filter's layers and origins let a document through; its scope is another question.
pub(crate) fn admits(filter: &Filter, doc: DocumentNo, origin: Option<Origin>) -> bool {
    let layer_fits = filter.layers.is_empty() || filter.layers.contains(&doc.layer());
    let origin_fits =
        filter.origins.is_empty() || origin.is_none_or(|origin| filter.origins.contains(&origin));
    layer_fits && origin_fits
}
