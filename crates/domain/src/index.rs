//! What an index keeps and answers. Stores fetch bounded candidates; the engine ranks them.

use serde::{Deserialize, Serialize};

use crate::event::Origin;
use crate::ids::{EventSeq, Scope, SessionId};
use crate::observation::{ObservationId, ObservationKind};
use crate::time::Timestamp;

/// Which layer of memory something is found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Lines and sections of memory files.
    Entry,
    /// Observations.
    Observation,
    /// Raw events.
    Event,
}

impl Layer {
    /// All layers, the most digested first.
    pub const ALL: [Self; 3] = [Self::Entry, Self::Observation, Self::Event];

    /// The word that stands for it in options and output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Observation => "observation",
            Self::Event => "event",
        }
    }
}

/// An entry of a memory file, on its way into the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// First line of the entry in its file, counted from 1.
    pub line: u32,
    /// What it says, without markup of ours.
    pub text: String,
    /// The heading that it stands under.
    pub heading: String,
    /// The observation that it shows, when it is ours and unaltered.
    pub observation: Option<ObservationId>,
    /// The citation that it carries, as printed.
    pub citation: Option<String>,
    /// Tokens for the index.
    pub tokens: String,
}

/// A conjunction of tokens to fetch candidates for, and how many at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// All of these occur. Bare tokens; never empty.
    pub all_of: Vec<String>,
    /// Newest first, at most so many.
    pub limit: usize,
}

/// What a search may see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only these scopes; `None` for all of the tenant.
    pub scopes: Option<Vec<Scope>>,
    /// Only these layers; empty for all.
    pub layers: Vec<Layer>,
    /// Only events of these origins; empty for all.
    pub origins: Vec<Origin>,
}

/// How often tokens occur.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TermStats {
    /// Documents in the index.
    pub documents: u64,
    /// Documents that hold each asked token, in the order asked; at most
    /// [`crate::limits::COUNTED`] each.
    pub frequencies: Vec<u64>,
}

/// What was found, whole enough to rank and to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What it is.
    pub what: Found,
    /// Whose memory it is in; for events, the project's scope when known.
    pub scope: Option<Scope>,
    /// What it says.
    pub text: String,
    /// What makes it understandable.
    pub context: Option<String>,
    /// When; of an entry, when its file was last indexed.
    pub at: Timestamp,
    /// The session, with its label.
    pub session: Option<(SessionId, String)>,
    /// Events that it rests on.
    pub events: Vec<EventSeq>,
    /// Their numbers in citations.
    pub lines: Vec<u32>,
}

/// What a document is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Found {
    /// A line or section of a memory file.
    Entry {
        /// The file, relative to its scope's memory folder.
        file: String,
        /// Its first line.
        line: u32,
        /// The observation that it shows.
        observation: Option<ObservationId>,
        /// The citation that it carries, as printed.
        citation: Option<String>,
    },
    /// An observation.
    Observation {
        /// Its identity.
        id: ObservationId,
        /// What sort of thing.
        kind: ObservationKind,
    },
    /// A raw event.
    Event {
        /// Who said it.
        origin: Origin,
    },
}
