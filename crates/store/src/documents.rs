//! How a store numbers what can be found, so that "newest first" is "greatest first".
//!
//! Numbers tell the layers apart, and what was said from what tools did, and grow with age inside
//! each; so a search of what was said walks past nothing else.

use daybook_domain::Origin;

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
