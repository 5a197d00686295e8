//! Writes of entities by an agent's tools, before they reach a file.
//!
//! A memory agent's writes are staged: stored by the finish of the extraction that they belong to, and
//! written to files by the scope's consolidation. In between a person may have edited the same place,
//! so each write carries a fingerprint of the text that it would replace.
//!
//! Not here: what makes a good name, how a file looks.

use serde::{Deserialize, Serialize};

use crate::ids::{EventSeq, SessionId};
use crate::time::Timestamp;

/// A change of one entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityChange {
    /// The entity's name and description; creates the entity if it does not exist.
    Card {
        /// Its name for people.
        name: String,
        /// What it is, in one line.
        description: String,
    },
    /// A section about it; replaces the one of that name.
    Record {
        /// The section's name.
        record: String,
        /// The section's text.
        content: String,
    },
}

/// A staged write. Redacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityWrite {
    /// The entity's key.
    pub entity: String,
    /// What is written.
    pub change: EntityChange,
    /// Fingerprint of the text in its place when it was staged; `None` if there was none. Text that
    /// differs by now was written since, and wins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<u64>,
}

impl EntityWrite {
    /// The record that is written; `None` for the card.
    #[must_use]
    pub fn record(&self) -> Option<&str> {
        match &self.change {
            EntityChange::Card { .. } => None,
            EntityChange::Record { record, .. } => Some(record),
        }
    }

    /// Whether both write the same place.
    #[must_use]
    pub fn is_for(&self, other: &Self) -> bool {
        self.entity == other.entity && self.record() == other.record()
    }
}

/// The writes of one extraction that no file holds yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedEntityWrite {
    /// The session whose window they come from.
    pub session: SessionId,
    /// Its label in citations.
    pub label: String,
    /// First event of the window.
    pub from: EventSeq,
    /// Last event of the window.
    pub to: EventSeq,
    /// When they were stored.
    pub at: Timestamp,
    /// The writes, in the order in which they are made.
    pub writes: Vec<EntityWrite>,
}
