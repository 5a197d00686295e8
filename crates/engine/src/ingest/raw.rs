//! An event on its way into the log, whoever reads or tells it.
//!
//! Not here: how transcripts are read, and what is hidden of them.

use daybook_domain::{EventId, NewEvent, Origin, Place, Timestamp, ToolStatus};

/// An event as it was read: not yet redacted, without tokens. Otherwise a [`NewEvent`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawEvent {
    /// Its identity.
    pub id: EventId,
    /// Line of the file, or number of the array element, counted from 1.
    pub line: u32,
    /// Who said it.
    pub origin: Origin,
    /// When; a line without a readable time inherits the previous one's.
    pub at: Timestamp,
    /// What was said, at most [`daybook_domain::limits::EVENT_TEXT`] bytes.
    ///
    /// A [`Origin::Retraction`] lists the [`EventId`]s that it takes back, as 32 hexadecimal
    /// digits each, blank-separated: a reader knows no sequence numbers. The caller resolves them
    /// within the session: a fork takes back nothing that its parent keeps.
    pub text: String,
    /// The tool's name, for calls and results.
    pub tool: Option<String>,
    /// The host's id of the call.
    pub call: Option<String>,
    /// How the call ended, for results, where the transcript tells.
    pub status: Option<ToolStatus>,
    /// Said in a side conversation with a sub-agent.
    pub sidechain: bool,
    /// Where it happened, when known.
    pub place: Option<Place>,
    /// By which way it came.
    pub via: Via,
}

/// By which way words came into a transcript. A person's hide in more places than one.
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
    /// The event for the log, with its redacted text and what the index keeps of it.
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
            place: self.place,
            tokens,
        }
    }
}
