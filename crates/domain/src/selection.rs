//! Which sessions' extractions a consolidation reads, and how that differs from its last success.
//!
//! The ranking is by citations, then by the last of them, then by when the extraction was made. A session that
//! was not used for long is not selected; it is never deleted, and a use brings it back. The result is ordered by
//! session, so that another ranking alone changes no file.
//!
//! Not here: which chunks of a thread a compaction may take (`working::selection`), what a session teaches.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ids::{EventSeq, SessionId};
use crate::time::Timestamp;

/// Bounds of a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectionLimits {
    /// Most sessions: 1 to 4,096.
    pub most: usize,
    /// A session that was not used for longer is left out; one that never was counts from its extraction. 0 d to
    /// 365 d.
    pub unused: Duration,
}

impl Default for SelectionLimits {
    /// Codex's: 256 sessions, 30 days.
    fn default() -> Self {
        Self {
            most: 256,
            unused: Duration::from_secs(30 * 86_400),
        }
    }
}

/// The exact state of a session's extractions: another pass over the session gives another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ExtractionSnapshot {
    /// The last event that was extracted.
    pub upto: EventSeq,
    /// When the newest extraction was made.
    pub generated_at: Timestamp,
}

/// A session that can be selected, with what decides about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCandidate {
    /// The session.
    pub session: SessionId,
    /// Its extractions.
    pub snapshot: ExtractionSnapshot,
    /// Number of sessions, and of days of interfaces, that cited one of its events.
    pub cited: usize,
    /// The last time that one was cited.
    pub cited_at: Option<Timestamp>,
    /// The last time that one was shown. It keeps the session from lapsing, and does not raise it: what is in
    /// the files is shown in every session, and would otherwise stay there for that alone.
    pub shown_at: Option<Timestamp>,
    /// Its extractions taught something.
    pub has_content: bool,
    /// Memory may be made from it.
    pub is_eligible: bool,
}

impl SessionCandidate {
    /// The time from which its disuse counts.
    fn used_at(&self) -> Timestamp {
        let used = self.cited_at.max(self.shown_at);
        used.unwrap_or(self.snapshot.generated_at)
    }

    fn can_be_selected(&self, limits: &SelectionLimits, now: Timestamp) -> bool {
        let is_unused = now.since(self.used_at()) > limits.unused;
        self.has_content && self.is_eligible && !is_unused
    }

    fn rank(&self) -> impl Ord {
        let generated_at = self.snapshot.generated_at;
        let cited_at = self.cited_at.unwrap_or(generated_at);
        Reverse((self.cited, cited_at, generated_at, self.session.clone()))
    }
}

/// A selected session, with its extractions at that moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectedSession {
    /// The session.
    pub session: SessionId,
    /// Its extractions.
    pub snapshot: ExtractionSnapshot,
}

/// What a successful consolidation of a scope selected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectionRecord {
    /// When it succeeded.
    pub at: Timestamp,
    /// The sessions, in their order.
    pub sessions: Vec<SelectedSession>,
    /// The commit of the memory files then: what differs from it has changed since. `None` without files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Selects the best candidates within the limits, in the order of their sessions.
#[must_use]
pub fn select(
    candidates: &[SessionCandidate],
    limits: &SelectionLimits,
    now: Timestamp,
) -> Vec<SelectedSession> {
    let mut ranked: Vec<&SessionCandidate> = candidates
        .iter()
        .filter(|candidate| candidate.can_be_selected(limits, now))
        .collect();
    ranked.sort_by_cached_key(|candidate| candidate.rank());
    ranked.truncate(limits.most);
    ranked.sort_by(|a, b| a.session.cmp(&b.session));
    let selected = ranked.into_iter().map(|candidate| SelectedSession {
        session: candidate.session.clone(),
        snapshot: candidate.snapshot,
    });
    selected.collect()
}

/// How a selection differs from the one of the last success.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SelectionDiff {
    /// Sessions that were not selected then, or have been extracted anew since.
    pub added: BTreeSet<SessionId>,
    /// Sessions that were selected then exactly as they are now.
    pub retained: BTreeSet<SessionId>,
    /// Sessions that were selected then and no longer are: what rests on them alone is to be forgotten.
    pub removed: BTreeSet<SessionId>,
}

impl SelectionDiff {
    /// The difference between what was selected `last` and what is selected now.
    #[must_use]
    pub fn between(last: &[SelectedSession], now: &[SelectedSession]) -> Self {
        let mut before: BTreeMap<&SessionId, ExtractionSnapshot> = last
            .iter()
            .map(|selected| (&selected.session, selected.snapshot))
            .collect();
        let mut diff = Self::default();
        for selected in now {
            let is_same = before.remove(&selected.session) == Some(selected.snapshot);
            let kind = match is_same {
                true => &mut diff.retained,
                false => &mut diff.added,
            };
            kind.insert(selected.session.clone());
        }
        diff.removed = before.into_keys().cloned().collect();
        diff
    }

    /// Whether nothing was added or removed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

#[cfg(test)]
#[path = "selection_tests.rs"]
mod tests;
