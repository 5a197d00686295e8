//! Observations: one self-contained thing worth keeping each.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::ids::{EventId, EventSeq, Scope, SessionId};
use crate::time::Timestamp;

/// What sort of thing it is; decides where it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ObservationKind {
    /// What a person corrected, forbade or insisted on.
    Correction,
    /// How a person wants things done, beyond the moment.
    Preference,
    /// A standing fact that a person stated.
    Fact,
    /// Something decided.
    Decision,
    /// A value that was set, and perhaps changed.
    Value,
    /// What failed, and what then worked.
    Fix,
    /// A question or piece of work left open.
    OpenEnd,
    /// A person asked Daybook to remember it.
    Note,
}

impl ObservationKind {
    /// All kinds, in the order in which a memory file shows them.
    pub const ALL: [Self; 8] = [
        Self::OpenEnd,
        Self::Note,
        Self::Correction,
        Self::Preference,
        Self::Decision,
        Self::Value,
        Self::Fix,
        Self::Fact,
    ];

    /// The variant's name in columns and listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Identity of an observation: a fingerprint of its scope, kind and text, so that the same thing
/// learned twice, in any order, is one observation with more evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObservationId(pub u64);

impl ObservationId {
    /// The identity of `text` in `scope`. Case, punctuation and white space do not count.
    #[must_use]
    pub fn of(scope: &Scope, kind: ObservationKind, text: &str) -> Self {
        let said: Vec<String> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let owner = scope.to_string();
        let id = EventId::of(&[
            scope.tenant.0.as_bytes(),
            owner.as_bytes(),
            kind.as_str().as_bytes(),
            said.join(" ").as_bytes(),
        ]);
        Self((id.0 & u128::from(u64::MAX)) as u64)
    }
}

impl fmt::Display for ObservationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Events that an observation rests on: within one session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Evidence {
    /// The session.
    pub session: SessionId,
    /// Its label in citations.
    pub label: String,
    /// The events, ascending.
    pub events: Vec<EventSeq>,
    /// Their numbers in citations, ascending, one per event.
    pub lines: Vec<u32>,
    /// The time of the first of them.
    pub at: Timestamp,
    /// The branch that was worked on.
    pub branch: Option<String>,
    /// The place's root, for observations of a project.
    pub root: Option<String>,
}

/// One self-contained thing worth keeping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Its identity.
    pub id: ObservationId,
    /// Whose memory it is in.
    pub scope: Scope,
    /// What sort of thing.
    pub kind: ObservationKind,
    /// What is to be known.
    pub text: String,
    /// What makes it understandable: the question it answers, the command that failed.
    pub context: Option<String>,
    /// What the value is of, for [`ObservationKind::Value`]: values of one subject replace each other.
    pub subject: Option<String>,
    /// A person stated it; otherwise it follows from what happened.
    pub stated: bool,
    /// The text quotes the person word for word; otherwise it is a paraphrase.
    pub quoted: bool,
    /// What it rests on, ordered by time, session, events. Never empty.
    pub evidence: Vec<Evidence>,
    /// What the index keeps of it: tokens joined by one blank.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tokens: String,
}

impl Observation {
    /// The time of its earliest evidence.
    #[must_use]
    pub fn first_at(&self) -> Timestamp {
        self.evidence
            .iter()
            .map(|e| e.at)
            .min()
            .unwrap_or(Timestamp::ZERO)
    }

    /// The time of its latest evidence.
    #[must_use]
    pub fn last_at(&self) -> Timestamp {
        self.evidence
            .iter()
            .map(|e| e.at)
            .max()
            .unwrap_or(Timestamp::ZERO)
    }
}
