//! Events: the entries of a session's log, and who said each of them.

use serde::{Deserialize, Serialize};

use crate::ids::EventSeq;
use crate::place::Place;
use crate::time::Timestamp;

/// Who said it (DESIGN.md, "Who said it"). Only the right kinds become memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// Takes back earlier events: `text` lists their sequence numbers, blank-separated.
    Retraction,
}

impl Origin {
    /// All origins.
    pub const ALL: [Self; 8] = [
        Self::Human,
        Self::Assistant,
        Self::ToolCall,
        Self::ToolResult,
        Self::Harness,
        Self::Synthetic,
        Self::Recalled,
        Self::Retraction,
    ];

    /// The word that stands for it in columns and listings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Assistant => "assistant",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::Harness => "harness",
            Self::Synthetic => "synthetic",
            Self::Recalled => "recalled",
            Self::Retraction => "retraction",
        }
    }

    /// The origin that [`Origin::word`] names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.word() == word)
    }
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It did what was asked.
    Succeeded,
    /// It ran and failed.
    Failed,
    /// A person refused it: it never ran, so it did not fail.
    Refused,
}

impl ToolStatus {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Succeeded, Self::Failed, Self::Refused];

    /// The word that stands for it in columns and listings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Refused => "refused",
        }
    }

    /// The status that [`ToolStatus::word`] names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }
}

/// An event's own identity within its session, whatever file it came from: a fingerprint of the
/// host's event id, or of the content where the host gives none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId(pub u128);

impl EventId {
    /// The identity that `parts` spell; parts are kept apart, so `["a", "b"]` is not `["ab"]`.
    #[must_use]
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut half = [0; 16];
        half.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(u128::from_le_bytes(half))
    }
}

/// An event on its way into the log. Its text is already redacted and bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Its identity: the same event seen twice is one event.
    pub id: EventId,
    /// Line of the file it was read from, counted from 1; 0 when it came from no file.
    pub line: u32,
    /// Who said it.
    pub origin: Origin,
    /// When; [`Timestamp::ZERO`] when the transcript does not say.
    pub at: Timestamp,
    /// What was said, at most [`crate::limits::EVENT_TEXT`] bytes.
    pub text: String,
    /// The tool's name, for calls and results.
    pub tool: Option<String>,
    /// The host's id of the call, which joins a result to its call.
    pub call: Option<String>,
    /// How the call ended, for results.
    pub status: Option<ToolStatus>,
    /// Said in a side conversation with a sub-agent, not with the person.
    pub sidechain: bool,
    /// Where it happened, when known.
    pub place: Option<Place>,
    /// What the index keeps of it: tokens joined by one blank; empty keeps it out of the index.
    pub tokens: String,
}

/// An event of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its place in the session.
    pub seq: EventSeq,
    /// The number that citations give it: its line in the file that holds the session, made
    /// increasing where a session was joined from several files.
    pub line: u32,
    /// Who said it.
    pub origin: Origin,
    /// When; [`Timestamp::ZERO`] when unknown.
    pub at: Timestamp,
    /// What was said.
    pub text: String,
    /// The tool's name, for calls and results.
    pub tool: Option<String>,
    /// The host's id of the call.
    pub call: Option<String>,
    /// How the call ended, for results.
    pub status: Option<ToolStatus>,
    /// Said in a side conversation with a sub-agent.
    pub sidechain: bool,
    /// Where it happened, when known.
    pub place: Option<Place>,
}
