//! What is worth a place when there are more beliefs than places.

use std::cmp::Reverse;

use super::merge::Belief;

/// The best `most` of `beliefs`, in the order in which they are shown: said in more sessions first,
/// then more often, then more recently. The last ties are broken by the words.
pub(super) fn best(beliefs: &[&Belief], most: usize) -> Vec<Belief> {
    let mut ranked: Vec<&Belief> = beliefs.to_vec();
    ranked.sort_by(|a, b| {
        let rank = |belief: &Belief| {
            (
                Reverse(belief.sessions()),
                Reverse(belief.times().min(5)),
                Reverse(belief.last_at()),
            )
        };
        rank(a).cmp(&rank(b)).then_with(|| a.text.cmp(&b.text))
    });
    ranked.into_iter().take(most).cloned().collect()
}
