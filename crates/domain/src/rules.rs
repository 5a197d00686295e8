//! Which rules for secrets redacted a text.
//!
//! Not here: the rules (`daybook_text::redact`).

use serde::{Deserialize, Serialize};

use crate::ids::EventId;

/// Identifies rules for secrets: a fingerprint of the standard rules' revision, a user's own rules, and the kinds of
/// personal data that are hidden. Equal rules have equal revisions; revisions have no order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RulesRevision(pub u64);

impl RulesRevision {
    /// Texts of unknown or different rules. No rules have this revision.
    pub const UNKNOWN: Self = Self(0);

    /// The revision of the rules that `parts` describe. It fits into a signed column.
    #[must_use]
    pub fn of(parts: &[&[u8]]) -> Self {
        let half = EventId::of(parts).0 & u128::from(u64::MAX);
        Self(((half as u64) >> 1).max(1))
    }

    /// The revision of texts of which some were redacted by these rules and some by others.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        match self == other {
            true => self,
            false => Self::UNKNOWN,
        }
    }
}
