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

/// What an index knows a document by. Numbers tell the layers apart, and what was said from what tools did,
/// and grow with age inside each; so "newest first" is "greatest first", and a search of what was said walks
/// past nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DocumentNo(pub i64);

impl DocumentNo {
    /// Where the numbers begin of events that people and agents said; all other events lie below.
    pub const SAID: i64 = 1 << 60;
    /// Where the numbers of observations begin.
    pub const OBSERVATIONS: i64 = 1 << 61;
    /// Where the numbers of entries begin.
    pub const ENTRIES: i64 = 1 << 62;

    /// An event, by the number of its session in the store, its place in it, and who said it.
    #[must_use]
    pub fn event(session: i64, seq: EventSeq, origin: Origin) -> Self {
        let seq = i64::from(u32::try_from(seq.0).unwrap_or(u32::MAX));
        let said = if is_said(origin) { Self::SAID } else { 0 };
        Self(said | (session << 32) | seq)
    }

    /// An observation, by its number in the store.
    #[must_use]
    pub fn observation(no: i64) -> Self {
        Self(Self::OBSERVATIONS | no)
    }

    /// An entry of a memory file, by its number in the store.
    #[must_use]
    pub fn entry(no: i64) -> Self {
        Self(Self::ENTRIES | no)
    }

    /// Which layer it is in.
    #[must_use]
    pub fn layer(self) -> Layer {
        if self.0 >= Self::ENTRIES {
            Layer::Entry
        } else if self.0 >= Self::OBSERVATIONS {
            Layer::Observation
        } else {
            Layer::Event
        }
    }

    /// The number of its row in the table of its layer.
    #[must_use]
    pub fn row(self) -> i64 {
        match self.layer() {
            Layer::Entry => self.0 & !Self::ENTRIES,
            Layer::Observation => self.0 & !Self::OBSERVATIONS,
            Layer::Event => self.0 & !Self::SAID,
        }
    }

    /// Whether it is an event that a person or an agent said.
    #[must_use]
    pub fn is_said(self) -> bool {
        (Self::SAID..Self::OBSERVATIONS).contains(&self.0)
    }

    /// Of an event, the number of its session in the store.
    #[must_use]
    pub fn session(self) -> Option<i64> {
        (self.layer() == Layer::Event).then(|| self.row() >> 32)
    }

    /// What puts documents in their order: layer by layer, and the newest greatest.
    #[must_use]
    pub fn age(self) -> i64 {
        match self.layer() {
            Layer::Event => self.row(),
            Layer::Entry | Layer::Observation => self.0,
        }
    }
}

/// Whether an event of this origin lies among what was said.
#[must_use]
pub fn is_said(origin: Origin) -> bool {
    matches!(origin, Origin::Human | Origin::Assistant)
}

/// What ranking knows of a document without reading its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// Which document.
    pub doc: DocumentNo,
    /// Who said it, for events.
    pub origin: Option<Origin>,
    /// When it was said; unknown is [`Timestamp::ZERO`].
    pub at: Timestamp,
    /// Its tokens, in order.
    pub terms: Terms,
    /// Its vectors, one after the other: of the whole, then of each passage where there are several.
    /// Empty while it has none.
    pub vectors: Vec<i8>,
}

/// The tokens of a text as numbers, in order, with marks between its passages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms(pub Vec<u32>);

/// What joins the passages of a text in its tokens.
pub const PASSAGE_END: char = '\n';
/// What stands behind the name of a speaker in the tokens of a text.
pub const SPEAKER_END: char = '\t';

impl Terms {
    /// Stands behind a passage.
    pub const PASSAGE: u32 = 0;
    /// Stands behind the name of the speaker, which is no passage.
    pub const SPEAKER: u32 = 1;

    /// The terms of tokens that are joined by a blank, or by [`PASSAGE_END`] or [`SPEAKER_END`].
    #[must_use]
    pub fn of(tokens: &str) -> Self {
        let mut terms = Vec::with_capacity(tokens.len() / 6 + 1);
        for piece in tokens.split_inclusive([' ', PASSAGE_END, SPEAKER_END]) {
            let token = piece.trim_end_matches([' ', PASSAGE_END, SPEAKER_END]);
            if !token.is_empty() {
                terms.push(Self::of_token(token));
            }
            if piece.ends_with(PASSAGE_END) {
                terms.push(Self::PASSAGE);
            } else if piece.ends_with(SPEAKER_END) {
                terms.push(Self::SPEAKER);
            }
        }
        Self(terms)
    }

    /// The number that stands for a token: FNV-1a, beyond the marks. Two tokens of four thousand million
    /// have the same, which costs a place in the order and no more.
    #[must_use]
    pub const fn of_token(token: &str) -> u32 {
        let bytes = token.as_bytes();
        let (mut hash, mut at) = (0x811c_9dc5_u32, 0);
        while at < bytes.len() {
            hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
            at += 1;
        }
        if hash <= Self::SPEAKER {
            hash + 2
        } else {
            hash
        }
    }

    /// As bytes, little end first.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|term| term.to_le_bytes()).collect()
    }

    /// Out of such bytes; a rest that fills no number is left out.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let (numbers, _) = bytes.as_chunks();
        Self(
            numbers
                .iter()
                .map(|four| u32::from_le_bytes(*four))
                .collect(),
        )
    }
}

/// A document without vectors, on its way to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    /// Which document.
    pub doc: DocumentNo,
    /// What it says, as it is shown.
    pub text: String,
    /// What makes it understandable.
    pub context: Option<String>,
}

/// The vectors of a document, as [`Outline::vectors`] has them, and the signs of the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedded {
    /// Which document.
    pub doc: DocumentNo,
    /// Its vectors; empty for a text that a model makes nothing of.
    pub vectors: Vec<i8>,
    /// One bit for each dimension.
    pub signs: Vec<u64>,
    /// Its tokens, for what was indexed before there were outlines.
    pub tokens: String,
}

/// What was found, whole enough to show.
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
