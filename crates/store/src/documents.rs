//! How a store numbers what can be found, so that "newest first" is "greatest first".
//!
//! Numbers tell the layers apart, and what was said from what tools did, and grow with age inside
//! each; so a search of what was said walks past nothing else.

use daybook_domain::Origin;
use daybook_domain::index::{Filter, Layer};

/// Where the numbers begin of events that people and agents said; all other events lie below.
pub(crate) const SAID: i64 = 1 << 60;
/// Where the numbers of observations begin.
pub(crate) const OBSERVATIONS: i64 = 1 << 61;
/// Where the numbers of entries begin.
pub(crate) const ENTRIES: i64 = 1 << 62;

/// The document that an observation is.
pub(crate) fn observation_doc(observation: i64) -> i64 {
    OBSERVATIONS | observation
}

/// The document that an event is.
pub(crate) fn event_doc(no: i64, origin: Origin) -> i64 {
    if is_said(origin) { SAID | no } else { no }
}

/// Whether an event of this origin lies among what was said.
pub(crate) fn is_said(origin: Origin) -> bool {
    matches!(origin, Origin::Human | Origin::Assistant)
}

/// What puts documents in their order: layer by layer, and the newest first.
pub(crate) fn age(doc: i64) -> i64 {
    if doc < OBSERVATIONS { doc & !SAID } else { doc }
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
