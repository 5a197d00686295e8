//! Notes in observations what their statements say of each other.
//!
//! Not here: what they say (`supersede`), and how it is shown (`validity`).

use std::collections::HashMap;
use std::sync::Arc;

use daybook_domain::Supersession;

use super::merge::MergedObservation;
use super::phrase::{quoted, shorten};
use super::supersede::{Change, StatementChanges};
use super::validity::PastStatement;

/// Most characters of a past statement.
const PAST_CHARS: usize = 100;

/// Notes in each observation how long it holds, and returns what no longer does.
pub(super) fn note_validity(
    observations: &mut [MergedObservation],
    found: &StatementChanges,
) -> Vec<Supersession> {
    let mut supersessions = Vec::new();
    // The statement that holds at the end of each chain of changes.
    let mut holding: HashMap<usize, usize> = HashMap::new();
    // The latest change first, so that the past of what holds is in that order, and the chain behind it is known.
    for change in found.changes.iter().rev() {
        let holds = holding.get(&change.later).copied();
        let holds = holds.unwrap_or(change.later);
        let is_shown = observations[holds].validity.shows_more_past();
        let past = past_statement(&observations[change.earlier], change, is_shown);
        let later = observations[change.later].observations[0];
        supersessions.extend(past.observations.iter().map(|earlier| Supersession {
            earlier: *earlier,
            later,
            reason: change.reason,
            until: change.until,
        }));
        observations[change.earlier].validity.ended = Some(change.until);
        holding.insert(change.earlier, holds);
        observations[holds].validity.past.push(past);
    }
    for (at, change) in &found.reviews {
        let ended = past_statement(&observations[change.earlier], change, true);
        observations[*at].validity.review = Some(ended);
    }
    for (one, other) in &found.contradictions {
        let words = |at: usize| shorten(&observations[at].words(), PAST_CHARS);
        let (of_one, of_other) = (words(*one), words(*other));
        observations[*one].validity.contradicted_by = Some(of_other);
        observations[*other].validity.contradicted_by = Some(of_one);
    }
    supersessions.sort_unstable();
    supersessions
}

fn past_statement(earlier: &MergedObservation, change: &Change, is_shown: bool) -> PastStatement {
    PastStatement {
        words: is_shown.then(|| past_words(earlier)),
        until: change.until,
        reason: change.reason,
        observations: earlier.observations.clone(),
        evidence: Arc::clone(&earlier.evidence),
    }
}

fn past_words(earlier: &MergedObservation) -> String {
    match &earlier.subject {
        Some(subject) => format!("{subject} {}", earlier.text),
        None if earlier.quoted => quoted(&shorten(&earlier.text, PAST_CHARS)),
        None => shorten(&earlier.text, PAST_CHARS),
    }
}
