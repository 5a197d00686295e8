//! The numbers of documents, derived from the numbers of their rows, and the ranges that a filter admits.

use daybook_domain::Origin;
use daybook_domain::index::{DocumentNo, MemoryLayer, SearchFilter, is_said};
use strum::VariantArray;

/// First number of events that people and agents wrote; all other events have lower numbers.
pub(crate) const SAID: i64 = DocumentNo::SAID;
/// First number of observations.
pub(crate) const OBSERVATIONS: i64 = DocumentNo::OBSERVATIONS;
/// First number of entries.
pub(crate) const ENTRIES: i64 = DocumentNo::ENTRIES;

/// The document number of an observation.
pub(crate) fn observation_doc(observation: i64) -> i64 {
    OBSERVATIONS | observation
}

/// The document number of the event in row `no`.
pub(crate) fn event_doc(no: i64, origin: Origin) -> i64 {
    if is_said(origin) { SAID | no } else { no }
}

/// A range of documents that a search goes through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentRange {
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// Searches only events of these origins; empty for all.
    pub(crate) origins: Vec<Origin>,
}

/// The ranges that a filter's layers and origins admit, from the greatest documents down. Adjacent ranges with
/// the same origins are merged, except messages and other events: each of these two has its own newest
/// document, so each range is searched for its newest.
pub(crate) fn document_ranges(filter: &SearchFilter) -> Vec<DocumentRange> {
    let mut document_ranges: Vec<DocumentRange> = Vec::new();
    for (layer, from, to) in [
        (MemoryLayer::Entry, ENTRIES, i64::MAX),
        (MemoryLayer::Observation, OBSERVATIONS, ENTRIES - 1),
        (MemoryLayer::Event, SAID, OBSERVATIONS - 1),
        (MemoryLayer::Event, 0, SAID - 1),
    ] {
        if !filter.layers.is_empty() && !filter.layers.contains(&layer) {
            continue;
        }
        let mut origins = Vec::new();
        if layer == MemoryLayer::Event && !filter.origins.is_empty() {
            let lying = Origin::VARIANTS
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
        match document_ranges.last_mut() {
            Some(above) if above.from == to + 1 && to >= SAID && above.origins == origins => {
                above.from = from;
            }
            _ => document_ranges.push(DocumentRange { from, to, origins }),
        }
    }
    document_ranges
}
