//! An event on its way into the log, from a transcript or from a program.
//!
//! Not here: how transcripts are read, and which secrets are hidden.

use daybook_domain::{EventId, NewEvent, Origin, Place, Timestamp, ToolStatus};

use super::mentions::Mention;

/// An event as it was read: not yet redacted, without tokens. Otherwise a [`NewEvent`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawEvent {
    /// Its identity.
    pub id: EventId,
    /// Line of the file, or number of the array element, counted from 1.
    pub line: u32,
    /// The role that produced it.
    pub origin: Origin,
    /// When; a line without a readable time inherits the previous one's.
    pub at: Timestamp,
    /// Its text, at most [`daybook_domain::limits::EVENT_TEXT`] bytes.
    pub text: String,
    /// The tool's name, for calls and results.
    pub tool: Option<String>,
    /// The host's id of the call.
    pub call: Option<String>,
    /// How the call ended, for results, if the transcript records it.
    pub status: Option<ToolStatus>,
    /// Whether it is part of a side conversation with a sub-agent.
    pub sidechain: bool,
    /// Whether its host states that it brings text from outside.
    pub reports_external: bool,
    /// Where it happened, when known.
    pub place: Option<Place>,
    /// The way in which it came into the transcript.
    pub via: Via,
    /// The memories that it cites; Daybook's element, which cites most, is no longer in the text.
    pub mentions: Vec<Mention>,
    /// The events that an event of [`Origin::Retraction`] retracts: a reader has no positions. The caller
    /// resolves them within the session: a fork retracts nothing of its parent's.
    pub retracts: Vec<EventId>,
}

/// The way in which a message came into a transcript. A person's messages come in several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Via {
    /// A message of their own.
    #[default]
    Message,
    /// The reason for refusing a tool's call.
    Refusal,
    /// The answer to an agent's question.
    Answer,
    /// Typed while the agent worked.
    Queue,
}

impl RawEvent {
    /// The event for the log, with its redacted text and what the index keeps of it. The caller resolves
    /// what it retracts.
    #[must_use]
    pub fn with(self, text: String, tokens: String) -> NewEvent {
        NewEvent {
            id: self.id,
            line: self.line,
            origin: self.origin,
            at: self.at,
            text,
            tool: self.tool,
            call: self.call,
            status: self.status,
            sidechain: self.sidechain,
            reports_external: self.reports_external,
            place: self.place,
            tokens,
            retracts: Vec::new(),
        }
    }
}
