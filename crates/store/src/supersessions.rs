//! Which rows change when a scope's supersessions are replaced.

use std::collections::BTreeMap;

use daybook_domain::{ObservationId, Supersession};

/// Most rows of one transaction, so that it stays short.
pub(crate) const WRITTEN_AT_ONCE: usize = 200;

/// What to write, given what is noted: supersessions that are new or different, and `None` for observations that hold
/// again.
pub(crate) fn changed(
    noted: &BTreeMap<ObservationId, Supersession>,
    wanted: &[Supersession],
) -> Vec<(ObservationId, Option<Supersession>)> {
    let wanted: BTreeMap<ObservationId, Supersession> =
        wanted.iter().map(|one| (one.earlier, *one)).collect();
    let ended = wanted
        .iter()
        .filter(|(id, one)| noted.get(id) != Some(*one))
        .map(|(id, one)| (*id, Some(*one)));
    let held = noted.keys().filter(|id| !wanted.contains_key(id));
    ended.chain(held.map(|id| (*id, None))).collect()
}
