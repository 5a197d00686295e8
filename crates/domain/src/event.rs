//! Events: the entries of a session's log, and who wrote each of them.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::ids::{EventId, EventSeq};
use crate::place::Place;
use crate::time::Timestamp;

/// Who wrote an event (DESIGN.md, "Origins of events"). Only the right kinds become memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Origin {
    /// A person's own words, wherever they were found.
    Human,
    /// The agent's prose.
    Assistant,
    /// The agent's call of a tool.
    ToolCall,
    /// What a tool answered.
    ToolResult,
    /// Wrappers, instructions, skills, reminders, hook output.
    Harness,
    /// Text that a machine wrote in a person's place, such as a compaction summary.
    Synthetic,
    /// Memory that Daybook itself put into the conversation.
    Recalled,
    /// Retracts earlier events of its session: [`NewEvent::retracts`].
    Retraction,
}

impl Origin {
    /// The variant's name in columns and listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The text of an event whose words are lost with a database, while its place in the log is known from the record.
/// It is a [`Origin::Harness`] event, which nothing is learned from; an append of the same event replaces it.
pub const EXPIRED_EVENT: &str = "[source expired: these words were lost with the database, and their transcript was not read again]";

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ToolStatus {
    /// The call did its work.
    Succeeded,
    /// It ran and failed.
    Failed,
    /// A person refused it: it never ran, so it did not fail.
    Refused,
}

impl ToolStatus {
    /// The variant's name in columns and listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// An event on its way into the log. Its text is already redacted and bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Its identity: the same event seen twice is one event.
    pub id: EventId,
    /// Line of the file it was read from, counted from 1; 0 when it came from no file.
    pub line: u32,
    /// Who wrote it.
    pub origin: Origin,
    /// When; [`Timestamp::ZERO`] if the transcript gives no time.
    pub at: Timestamp,
    /// The text, at most [`crate::limits::EVENT_TEXT`] bytes.
    pub text: String,
    /// The tool's name, for calls and results.
    pub tool: Option<String>,
    /// The host's id of the call, which joins a result to its call.
    pub call: Option<String>,
    /// How the call ended, for results.
    pub status: Option<ToolStatus>,
    /// Whether it is part of a side conversation with a sub-agent, and not with the person.
    pub sidechain: bool,
    /// Whether its host states that it brings text from outside: a completed search of the web, an output marked so.
    pub reports_external: bool,
    /// Where it happened, when known.
    pub place: Option<Place>,
    /// What the index keeps of it: tokens joined by one blank; empty keeps it out of the index.
    pub tokens: String,
    /// The session's events that an event of [`Origin::Retraction`] retracts; at most
    /// [`crate::limits::RETRACTED_AT_ONCE`] in all events of one append.
    pub retracts: Vec<EventSeq>,
}

/// An event of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its place in the session.
    pub seq: EventSeq,
    /// The number that citations give it: its line in the file that holds the session, made
    /// increasing where a session was joined from several files.
    pub line: u32,
    /// Who wrote it.
    pub origin: Origin,
    /// When; [`Timestamp::ZERO`] when unknown.
    pub at: Timestamp,
    /// The text.
    pub text: String,
    /// The tool's name, for calls and results.
    pub tool: Option<String>,
    /// The host's id of the call.
    pub call: Option<String>,
    /// How the call ended, for results.
    pub status: Option<ToolStatus>,
    /// Whether it is part of a side conversation with a sub-agent.
    pub sidechain: bool,
    /// Where it happened, when known.
    pub place: Option<Place>,
}
