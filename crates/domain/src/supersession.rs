//! How one observation ends another's validity: both stay, and only the later one holds.
//!
//! An observation is valid from its first evidence until the evidence of the one that supersedes it. It is known from the
//! moment at which its session was extracted.
//!
//! Not here: which observations supersede which (`consolidate::supersede` of the engine).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::ids::{EventSeq, Scope, SessionId};
use crate::observation::{Observation, ObservationId};
use crate::time::Timestamp;

/// Why an observation no longer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum SupersessionReason {
    /// The same thing has another value.
    Updated,
    /// Another choice took its place.
    Replaced,
    /// The opposite holds.
    Reversed,
    /// It was taken back, and nothing took its place.
    Withdrawn,
    /// What was open is done, or was given up.
    Closed,
}

impl SupersessionReason {
    /// The variant's name in columns and listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One observation that no longer holds, within its scope.
///
/// ```
/// use daybook_domain::SupersessionReason;
///
/// assert_eq!(SupersessionReason::Replaced.as_str(), "replaced");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Supersession {
    /// What no longer holds.
    pub earlier: ObservationId,
    /// What ended its validity.
    pub later: ObservationId,
    /// Why.
    pub reason: SupersessionReason,
    /// Valid until: the time of the later one's evidence.
    pub until: Timestamp,
}

/// An observation, with what ended it, if anything did. Shared, because recall looks up the same ones again and again.
pub type KnownObservation = Arc<(Observation, Option<Supersession>)>;

/// An observation that no longer holds, found by an event that it rests on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SupersededObservation {
    /// The event.
    pub event: (SessionId, EventSeq),
    /// The scope of both observations.
    pub scope: Scope,
    /// What no longer holds, and since when.
    pub supersession: Supersession,
}
