//! How long observations hold, and what stands beside them for that reason: their past, what they contradict, and
//! whether what they rest on has changed.
//!
//! Not here: which statement ends another's validity (`supersede`), and noting it (`note_changes`).

use std::sync::Arc;

use daybook_domain::{Evidence, ObservationId, SupersessionReason, Timestamp};
use jiff::tz::TimeZone;

use super::phrase::day;

/// Most past statements in one line, the latest.
const PAST_SHOWN: usize = 2;

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
    /// Its words as a line shows them; `None` in a past of which the line shows later ones alone.
    pub words: Option<String>,
    /// When it ended.
    pub until: Timestamp,
    pub reason: SupersessionReason,
    pub observations: Vec<ObservationId>,
    pub evidence: Arc<Vec<Evidence>>,
}

impl Validity {
    /// Whether it holds.
    pub(super) fn holds(&self) -> bool {
        self.ended.is_none()
    }

    /// Whether the line has room for one more statement of the past.
    pub(super) fn shows_more_past(&self) -> bool {
        self.shown_past().count() < PAST_SHOWN
    }

    /// The statements of the past that the line shows, with their words.
    fn shown_past(&self) -> impl Iterator<Item = (&PastStatement, &String)> {
        let past = self.past.iter();
        let past = past.filter(|past| past.reason != SupersessionReason::Closed);
        let shown = past.take(PAST_SHOWN);
        shown.filter_map(|past| Some((past, past.words.as_ref()?)))
    }

    /// ` (before 4 Feb: "use tabs")`, and what else a reader must know; empty for most.
    pub(super) fn suffix(&self, zone: &TimeZone) -> String {
        let mut suffix = String::new();
        let past: Vec<String> = self
            .shown_past()
            .map(|(past, words)| format!("before {}: {words}", day(past.until, zone)))
            .collect();
        if !past.is_empty() {
            suffix.push_str(&format!(" ({})", past.join("; ")));
        }
        if let Some(review) = &self.review
            && let Some(words) = &review.words
        {
            let since = day(review.until, zone);
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
