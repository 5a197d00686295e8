//! Observations: one self-contained thing worth keeping each.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::ids::{EventId, EventSeq, Scope, SessionId};
use crate::time::Timestamp;
use crate::trust::ObservationOrigin;

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

    /// Whether an observation of this kind may come from `origin` alone, and be stated as a person's.
    #[must_use]
    pub fn may_come_from(self, origin: ObservationOrigin, stated: bool) -> bool {
        let is_instruction = match self {
            Self::Correction | Self::Preference | Self::Decision | Self::Note => true,
            Self::Fact | Self::Value | Self::Fix | Self::OpenEnd => false,
        };
        match origin {
            ObservationOrigin::Typed => true,
            ObservationOrigin::Concluded | ObservationOrigin::Unknown => !stated,
            ObservationOrigin::External | ObservationOrigin::Tool | ObservationOrigin::Pasted => {
                !stated && !is_instruction
            }
        }
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
    /// Where it comes from: the most trusted origin of its evidence. Trust follows from it.
    #[serde(default)]
    pub origin: ObservationOrigin,
    /// The text quotes the person word for word; otherwise it is a paraphrase.
    pub quoted: bool,
    /// What it rests on, ordered by time, session, events. Never empty.
    pub evidence: Vec<Evidence>,
    /// What the index keeps of it: tokens joined by one blank.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tokens: String,
}

impl Observation {
    /// What it states, in words that are understood alone: a value together with what it is of.
    ///
    /// ```
    /// # use daybook_domain::Observation;
    /// assert_eq!(Observation::statement_of(Some("limit in explain.go"), "100"), "limit in explain.go: 100");
    /// assert_eq!(Observation::statement_of(None, "Tests come first."), "Tests come first.");
    /// ```
    #[must_use]
    pub fn statement_of(subject: Option<&str>, text: &str) -> String {
        match subject {
            Some(subject) => format!("{subject}: {text}"),
            None => text.to_owned(),
        }
    }

    /// What this observation states, as [`Observation::statement_of`] words it.
    #[must_use]
    pub fn statement(&self) -> String {
        Self::statement_of(self.subject.as_deref(), &self.text)
    }

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

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;
    use crate::trust::Trust;

    /// Every pair of origins with every kind, stated or not: there are few enough to try them all.
    #[test]
    fn trust_follows_from_the_origin_and_never_falls_as_it_rises() {
        let known = &ObservationOrigin::VARIANTS[1..];
        let pairs = known
            .iter()
            .flat_map(|one| known.iter().map(move |other| (*one, *other)));
        for (one, other) in pairs.filter(|(one, other)| one <= other) {
            assert!(one.trust() <= other.trust(), "{one:?} {other:?}");
            for kind in ObservationKind::ALL {
                for stated in [false, true] {
                    let may = (
                        kind.may_come_from(one, stated),
                        kind.may_come_from(other, stated),
                    );
                    assert!(!may.0 || may.1, "{one:?} {other:?} {kind:?} {stated}");
                }
            }
        }
    }

    #[test]
    fn what_came_from_outside_alone_is_no_instruction_and_nobodys_word() {
        use ObservationKind::{Correction, Decision, Fact, Fix, Note, OpenEnd, Preference, Value};
        for origin in ObservationOrigin::VARIANTS {
            for kind in ObservationKind::ALL {
                let is_full = origin.trust() == Trust::Full;
                assert_eq!(
                    kind.may_come_from(*origin, true),
                    is_full,
                    "{origin:?} {kind:?}"
                );
            }
        }
        for origin in &[
            ObservationOrigin::External,
            ObservationOrigin::Tool,
            ObservationOrigin::Pasted,
        ] {
            for kind in [Correction, Decision, Note, Preference] {
                assert!(!kind.may_come_from(*origin, false), "{origin:?} {kind:?}");
            }
            for kind in [Fact, Fix, OpenEnd, Value] {
                assert!(kind.may_come_from(*origin, false), "{origin:?} {kind:?}");
            }
        }
    }
}
