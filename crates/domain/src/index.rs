//! What an index keeps and answers. Stores fetch bounded candidates; the engine ranks them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::event::Origin;
use crate::ids::{EventSeq, Scope, SessionId};
use crate::observation::{ObservationId, ObservationKind};
use crate::time::Timestamp;
use crate::trust::ObservationOrigin;

/// Which layer of memory something is found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum MemoryLayer {
    /// Lines and sections of memory files.
    Entry,
    /// Observations.
    Observation,
    /// Raw events.
    Event,
}

impl MemoryLayer {
    /// The variant's name in options and output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// An entry of a memory file, on its way into the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// First line of the entry in its file, counted from 1.
    pub line: u32,
    /// Its text, without our markup.
    pub text: String,
    /// The heading above it.
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
pub struct CandidateQuery {
    /// All of these occur. Bare tokens; never empty.
    pub all_of: Vec<String>,
    /// Newest first, at most so many.
    pub limit: usize,
}

/// What a search may see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchFilter {
    /// Only these scopes; `None` for all of the tenant.
    pub scopes: Option<Vec<Scope>>,
    /// None of these scopes.
    pub except: Vec<Scope>,
    /// Only these layers; empty for all.
    pub layers: Vec<MemoryLayer>,
    /// Only events of these origins; empty for all.
    pub origins: Vec<Origin>,
}

impl SearchFilter {
    /// Whether its layers and origins admit a document; its scopes are not looked at.
    #[must_use]
    pub fn admits(&self, doc: DocumentNo, origin: Option<Origin>) -> bool {
        let layer_fits = self.layers.is_empty() || self.layers.contains(&doc.layer());
        let origin_fits =
            self.origins.is_empty() || origin.is_none_or(|origin| self.origins.contains(&origin));
        layer_fits && origin_fits
    }
}

/// How often tokens occur.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TermStats {
    /// Documents in the index.
    pub documents: u64,
    /// Documents that hold each requested token, in the order of the request; at most
    /// [`crate::limits::COUNTED`] each.
    pub frequencies: Vec<u64>,
}

/// Identifies a document in an index. Ranges of numbers separate the layers, and words of people and agents
/// from other events, and numbers grow with time inside each range; so "newest first" is "greatest first", and
/// a search of words reads no other event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DocumentNo(pub i64);

impl DocumentNo {
    /// First number of the words of people and agents; all other events lie below.
    pub const SAID: i64 = 1 << 60;
    /// Where the numbers of observations begin.
    pub const OBSERVATIONS: i64 = 1 << 61;
    /// Where the numbers of entries begin.
    pub const ENTRIES: i64 = 1 << 62;

    /// An event, by the number of its session in the store, its place in it, and its origin.
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
    pub fn layer(self) -> MemoryLayer {
        if self.0 >= Self::ENTRIES {
            MemoryLayer::Entry
        } else if self.0 >= Self::OBSERVATIONS {
            MemoryLayer::Observation
        } else {
            MemoryLayer::Event
        }
    }

    /// The number of its row in the table of its layer.
    #[must_use]
    pub fn row(self) -> i64 {
        match self.layer() {
            MemoryLayer::Entry => self.0 & !Self::ENTRIES,
            MemoryLayer::Observation => self.0 & !Self::OBSERVATIONS,
            MemoryLayer::Event => self.0 & !Self::SAID,
        }
    }

    /// Whether it is an event with words of a person or an agent.
    #[must_use]
    pub fn is_said(self) -> bool {
        (Self::SAID..Self::OBSERVATIONS).contains(&self.0)
    }

    /// Of an event, the number of its session in the store.
    #[must_use]
    pub fn session(self) -> Option<i64> {
        (self.layer() == MemoryLayer::Event).then(|| self.row() >> 32)
    }

    /// What puts documents in their order: layer by layer, and the newest greatest.
    #[must_use]
    pub fn age(self) -> i64 {
        match self.layer() {
            MemoryLayer::Event => self.row(),
            MemoryLayer::Entry | MemoryLayer::Observation => self.0,
        }
    }
}

/// Whether events of this origin are words of people or agents.
#[must_use]
pub fn is_said(origin: Origin) -> bool {
    matches!(origin, Origin::Human | Origin::Assistant)
}

/// What ranking uses of a document without reading its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentOutline {
    /// Which document.
    pub doc: DocumentNo,
    /// Its origin, for events.
    pub origin: Option<Origin>,
    /// The time of its event; unknown is [`Timestamp::ZERO`].
    pub at: Timestamp,
    /// Its tokens, in order.
    pub terms: Terms,
    /// Its vectors, one after the other: of the whole, then of each passage where there are several.
    /// Empty while it has none.
    pub vectors: Arc<[i8]>,
}

/// The tokens of a text as numbers, in order, with marks between its passages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms(pub Arc<[u32]>);

/// What joins the passages of a text in its tokens.
pub const PASSAGE_END: char = '\n';
/// Follows the name of a speaker in the tokens of a text.
pub const SPEAKER_END: char = '\t';
/// Encloses open sentences in the tokens of a text: those that ask, or announce what comes.
pub const OPEN: char = '\u{b}';
/// What parts the tokens of a text.
pub const BETWEEN_TOKENS: [char; 4] = [' ', PASSAGE_END, SPEAKER_END, OPEN];

impl Terms {
    /// Follows a passage.
    pub const PASSAGE: u32 = 0;
    /// Follows the name of the speaker, which is no passage.
    pub const SPEAKER: u32 = 1;
    /// Encloses open sentences, which ask or announce.
    pub const OPEN: u32 = 2;

    /// The terms of tokens that are joined by [`BETWEEN_TOKENS`].
    #[must_use]
    pub fn of(tokens: &str) -> Self {
        let mut terms = Vec::with_capacity(tokens.len() / 6 + 1);
        for piece in tokens.split_inclusive(BETWEEN_TOKENS) {
            let token = piece.trim_end_matches(BETWEEN_TOKENS);
            if !token.is_empty() {
                terms.push(Self::of_token(token));
            }
            match piece.chars().next_back() {
                Some(PASSAGE_END) => terms.push(Self::PASSAGE),
                Some(SPEAKER_END) => terms.push(Self::SPEAKER),
                Some(OPEN) => terms.push(Self::OPEN),
                _ => {}
            }
        }
        Self(terms.into())
    }

    /// The number of a token: FNV-1a, beyond the marks. Two tokens of four thousand million
    /// have the same, which costs a place in the order and no more.
    #[must_use]
    pub const fn of_token(token: &str) -> u32 {
        let bytes = token.as_bytes();
        let (mut hash, mut at) = (0x811c_9dc5_u32, 0);
        while at < bytes.len() {
            hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
            at += 1;
        }
        if hash <= Self::OPEN { hash + 3 } else { hash }
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
pub struct EmbeddingInput {
    /// Which document.
    pub doc: DocumentNo,
    /// Its text, as it is shown.
    pub text: String,
    /// What makes it understandable.
    pub context: Option<String>,
}

impl EmbeddingInput {
    /// Identifies the words that a model is given.
    #[must_use]
    pub fn digest(&self) -> WordsDigest {
        WordsDigest::of(&self.text, self.context.as_deref())
    }
}

/// Identifies the words that vectors were made of, so that vectors of words that have changed since are
/// not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordsDigest([u8; 16]);

impl WordsDigest {
    /// The digest of a document's text and its context.
    #[must_use]
    pub fn of(text: &str, context: Option<&str>) -> Self {
        let mut hasher = blake3::Hasher::new();
        // The length separates the two.
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
        if let Some(context) = context {
            hasher.update(b"\n");
            hasher.update(context.as_bytes());
        }
        let mut digest = [0; 16];
        hasher.finalize_xof().fill(&mut digest);
        Self(digest)
    }
}

/// The vectors of a document, as [`DocumentOutline::vectors`] has them, and the signs of the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentVectors {
    /// Which document.
    pub doc: DocumentNo,
    /// Of the words that the vectors were made of, see [`EmbeddingInput::digest`].
    pub digest: WordsDigest,
    /// Its vectors; empty for a text that a model makes nothing of.
    pub vectors: Vec<i8>,
    /// One bit for each dimension.
    pub signs: Vec<u64>,
    /// Its tokens, for what was indexed before there were outlines.
    pub tokens: String,
}

/// What was found, whole enough to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedDocument {
    /// What it is.
    pub what: DocumentKind,
    /// Whose memory it is in; for events, the project's scope when known.
    pub scope: Option<Scope>,
    /// Its text.
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
pub enum DocumentKind {
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
        /// Where it comes from.
        origin: ObservationOrigin,
    },
    /// A raw event.
    Event {
        /// Its origin.
        origin: Origin,
    },
}
