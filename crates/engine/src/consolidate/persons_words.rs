//! Gives merged observations the words that a person put in their place, and marks those that a person pinned.
//!
//! It happens after the merge: what has the same content is decided by what was observed, so that a later statement
//! of it adds evidence to the person's line instead of a line of its own.
//!
//! Not here: reading a person's lines (`files`).

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{EventSeq, ObservationId, SessionId};
use daybook_text::fence::without_citations;

use super::merge::MergedObservation;

/// What a person decided about observations in their memory files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersonsWords {
    /// Words in place of an observation's own.
    pub reworded: BTreeMap<ObservationId, String>,
    /// Observations that stay shown, whatever ranks higher.
    pub pinned: BTreeSet<ObservationId>,
    /// Events whose observations were withdrawn: no page quotes them as highlights instead.
    pub forgotten: BTreeSet<(SessionId, EventSeq)>,
}

/// Applies them, and returns the words of every observation that is shown with a person's.
pub(super) fn apply(
    words: &PersonsWords,
    merged: &mut [MergedObservation],
) -> BTreeMap<ObservationId, String> {
    let mut shown = BTreeMap::new();
    if *words == PersonsWords::default() {
        return shown;
    }
    for one in merged {
        one.pinned = one.observations.iter().any(|id| words.pinned.contains(id));
        let mut theirs = one.observations.iter();
        let Some(theirs) = theirs.find_map(|id| words.reworded.get(id)) else {
            continue;
        };
        one.text = without_citations(theirs).into_owned();
        one.quoted = false;
        one.context = None;
        let ids = one.observations.iter().copied();
        shown.extend(ids.map(|id| (id, theirs.clone())));
    }
    shown
}
