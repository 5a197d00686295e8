//! How long observations hold, and what stands beside them for that reason: their past, what they contradict, and
//! whether what they rest on has changed.
//!
//! Not here: which statement ends another's validity (`supersede`).

use std::collections::BTreeSet;

use daybook_domain::{Evidence, ObservationId, Supersession, SupersessionReason, Timestamp};

use super::MemoryInput;
use super::merge::MergedObservation;
use super::phrase::{day, quoted, shorten};
use super::supersede::{Change, StatementChanges};

/// Most past statements in one line, the latest.
const PAST_SHOWN: usize = 2;
/// Most characters of each.
const PAST_CHARS: usize = 100;

/// How long an observation holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Validity {
    /// Since when it no longer holds.
    pub ended: Option<Timestamp>,
    /// What it took the place of, the latest first.
    pub past: Vec<PastStatement>,
    /// What it rests on and what no longer holds.
    pub review: Option<PastStatement>,
    /// What was stated at the same time and excludes it.
    pub contradicted_by: Option<String>,
}

/// A statement that no longer holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PastStatement {
    /// Its words, as a line shows them.
    pub words: String,
    /// When it ended.
    pub until: Timestamp,
    pub reason: SupersessionReason,
    pub observations: Vec<ObservationId>,
    pub evidence: Vec<Evidence>,
}

/// Notes in each observation how long it holds, and returns what no longer does.
pub(super) fn note_validity(
    observations: &mut [MergedObservation],
    found: &StatementChanges,
) -> Vec<Supersession> {
    let mut supersessions = Vec::new();
    // The latest change first, so that the past of the current statement is in that order.
    for change in found.changes.iter().rev() {
        let past = past_statement(&observations[change.earlier], change);
        let later = observations[change.later].observations[0];
        supersessions.extend(past.observations.iter().map(|earlier| Supersession {
            earlier: *earlier,
            later,
            reason: change.reason,
            until: change.until,
        }));
        observations[change.earlier].validity.ended = Some(change.until);
        let holding = current(found, change.later);
        observations[holding].validity.past.push(past);
    }
    for (at, change) in &found.reviews {
        let ended = past_statement(&observations[change.earlier], change);
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

fn past_statement(earlier: &MergedObservation, change: &Change) -> PastStatement {
    let words = match &earlier.subject {
        Some(subject) => format!("{subject} {}", earlier.text),
        None if earlier.quoted => quoted(&shorten(&earlier.text, PAST_CHARS)),
        None => shorten(&earlier.text, PAST_CHARS),
    };
    PastStatement {
        words,
        until: change.until,
        reason: change.reason,
        observations: earlier.observations.clone(),
        evidence: earlier.evidence.clone(),
    }
}

/// The statement that holds at the end of the chain of changes that begins at `at`.
fn current(found: &StatementChanges, mut at: usize) -> usize {
    let mut seen = BTreeSet::new();
    while let Some(next) = found.changes.iter().find(|change| change.earlier == at) {
        if !seen.insert(at) {
            break;
        }
        at = next.later;
    }
    at
}

impl Validity {
    /// Whether it holds.
    pub(super) fn holds(&self) -> bool {
        self.ended.is_none()
    }

    /// ` (before 4 Feb: "use tabs")`, and what else a reader must know; empty for most.
    pub(super) fn suffix(&self, input: &MemoryInput) -> String {
        let mut suffix = String::new();
        let past: Vec<String> = self
            .past
            .iter()
            .filter(|past| past.reason != SupersessionReason::Closed)
            .take(PAST_SHOWN)
            .map(|past| format!("before {}: {}", day(past.until, &input.zone), past.words))
            .collect();
        if !past.is_empty() {
            suffix.push_str(&format!(" ({})", past.join("; ")));
        }
        if let Some(review) = &self.review {
            let since = day(review.until, &input.zone);
            let words = &review.words;
            suffix.push_str(&format!(
                " · to review: {words} no longer holds since {since}"
            ));
        }
        if let Some(other) = &self.contradicted_by {
            suffix.push_str(&format!(" · open: {other} was stated at the same time"));
        }
        suffix
    }
}
