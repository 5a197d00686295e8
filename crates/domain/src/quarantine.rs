//! Observations that wait for a person's decision, because what they rest on is not trusted.
//!
//! They are stored with the extraction that yielded them, and are neither filed nor indexed nor shown to an agent before
//! a person accepts them.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::observation::Observation;

/// Why an observation waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum QuarantineReason {
    /// It repeats an instruction, a decision or a statement that came from outside: a tool, a page, a pasted mail.
    FromOutside,
    /// It is a wish or a decision, and no person of the session has typed it.
    NotAPersons,
}

impl QuarantineReason {
    /// The variant's name in listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a person decided about a quarantined observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuarantineDecision {
    /// It was filed as a statement of the person.
    Accepted,
    /// It stays out, also when its session is read again.
    Rejected,
}

/// An observation that waits, or was decided about.
///
/// ```
/// use daybook_domain::quarantine::QuarantineReason;
///
/// assert_eq!(QuarantineReason::FromOutside.as_str(), "from_outside");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuarantinedObservation {
    /// The observation as it would be filed, with one piece of evidence for each event that it cites.
    pub observation: Observation,
    /// Why it waits.
    pub reason: QuarantineReason,
    /// `None` while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<QuarantineDecision>,
}
