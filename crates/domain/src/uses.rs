//! Uses: which session was shown an event of another session, or cited one.
//!
//! A use names events and not memories: events survive another extraction, a person's edits and a lost
//! database's rebuilding, and each memory names the events it rests on. Uses are a set, so that noting
//! one again after a crash changes nothing.
//!
//! Not here: finding citations in messages, which `ingest` does, and what a use is worth, which
//! `consolidate` decides.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::ids::{EventId, EventSeq, SessionId};
use crate::time::Timestamp;

/// What became of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum UseKind {
    /// It was named in what Daybook put before an agent or a person.
    Shown,
    /// An agent cited it in its own words, or a person opened it.
    Cited,
}

impl UseKind {
    /// The variant's name in columns and listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Who used an event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum UsedBy {
    /// Another session of the same tenant.
    Session {
        /// The session.
        session: SessionId,
        /// The first of its events that was seen to use it.
        event: EventId,
    },
    /// An interface that leaves no transcript, and the day: `cli/2026-11-22`.
    Interface(String),
}

/// One use of one event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Use {
    /// The session of the event that was used.
    pub session: SessionId,
    /// The event that was used.
    pub event: EventSeq,
    /// What became of it.
    pub kind: UseKind,
    /// Who used it.
    pub by: UsedBy,
    /// When it was last used so.
    pub at: Timestamp,
}

impl Use {
    /// Whether a session used an event of its own, which shows nothing about the event's worth.
    #[must_use]
    pub fn is_by_itself(&self) -> bool {
        matches!(&self.by, UsedBy::Session { session, .. } if *session == self.session)
    }
}
