//! Extraction: what one pass over one window of a session yields.
//!
//! An extractor reads a [`Window`] and returns what is worth keeping as [`ObservationDraft`]s: self-contained,
//! each with the events that it rests on. It decides what and why, never whose: filing a draft in a
//! scope is the caller's part, since only the caller has the projects.
//!
//! Not here: reading the log, storing results, files.

pub(crate) mod draft_origin;
mod drop_counts;
pub mod entity_tools;
pub mod extractive;
pub mod fallback;
pub mod model;
pub mod per_agent;
pub mod tenant_denylist;
pub mod time_limit;
pub mod window;

use async_trait::async_trait;
pub use drop_counts::{DropCounts, DropReason};

use daybook_domain::model::Usage;
use daybook_domain::quarantine::QuarantineReason;
use daybook_domain::{
    Digest, EntityWrite, Event, EventSeq, FailureClass, ObservationKind, Provenance, RetryWait,
    Session, SessionId, Timestamp,
};

/// What stands before the person's words in the context of a decision that is in the agent's words.
pub(crate) const ACCEPTED: &str = "accepted: ";

/// What stands before the speaker in an observation's context, where several people speak.
pub(crate) const BY: &str = "by ";

/// The input of an extractor: part of a session, and what memory holds already.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// The session.
    pub session: &'a Session,
    /// Events just before the window, for understanding only: nothing may rest on them alone.
    pub before: &'a [Event],
    /// The window's events, in order, without retracted ones. Whole turns, except where one
    /// turn is longer than a window.
    pub events: &'a [Event],
    /// What memory holds already. Empty for an extractor that does not want it ([`Extractor::wants_known`]).
    pub known: KnownMemory<'a>,
    /// The session is being redone. Its old results hold until the redo is complete, so that waiting loses
    /// nothing.
    pub is_redone: bool,
}

impl<'a> Window<'a> {
    /// This window with `before` limited to `look_back`.
    #[must_use]
    pub fn with_look_back(self, look_back: LookBack) -> Self {
        Self {
            before: look_back.newest_of(self.before),
            ..self
        }
    }
}

/// How many events before a window an extractor gets: the newest, as far as they fit the bytes. More gives more
/// context, and takes longer to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookBack {
    /// Most events.
    pub events: u64,
    /// Most bytes of their text, which one event may exceed.
    pub bytes: usize,
}

impl Default for LookBack {
    fn default() -> Self {
        Self {
            events: 40,
            bytes: 64 * 1024,
        }
    }
}

impl LookBack {
    /// The larger bound of both, field by field.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            events: self.events.max(other.events),
            bytes: self.bytes.max(other.bytes),
        }
    }

    /// The newest events of `before` within these bounds; `before` ends where the window begins.
    #[must_use]
    pub fn newest_of<'e>(&self, before: &'e [Event]) -> &'e [Event] {
        let most = usize::try_from(self.events).unwrap_or(usize::MAX);
        let mut bytes = 0_usize;
        let newest = before.iter().rev().take(most).enumerate();
        let fits = newest.take_while(|(n, event)| {
            bytes = bytes.saturating_add(event.text.len());
            *n == 0 || bytes <= self.bytes
        });
        &before[before.len() - fits.count()..]
    }
}

/// What memory holds already, so that an extractor does not repeat it. All of it is redacted, and within
/// [`KnownLimits`]; the extractor shows as much of it as its request has room for.
#[derive(Debug, Clone, Copy, Default)]
pub struct KnownMemory<'a> {
    /// The last lines of the diary, oldest first.
    pub recent: &'a [String],
    /// Memory entries about the window's topics, best first.
    pub relevant: &'a [String],
    /// The session's summary up to this window.
    pub summary: Option<&'a str>,
}

/// How much of what memory holds already an extractor is given. More has less learned twice, and costs more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownLimits {
    /// Most lines of the diary (MindRoom's `daily_tail_lines`): 0 to 1,000.
    pub diary_lines: usize,
    /// Most memories on the window's topics (MindRoom's `memory_snippets`): 0 to 50.
    pub snippets: usize,
    /// Most characters of one of them, and of a line of the diary (MindRoom's `snippet_max_chars`): 1 to 10,000.
    pub snippet_chars: usize,
}

impl Default for KnownLimits {
    fn default() -> Self {
        Self {
            diary_lines: 80,
            snippets: 5,
            snippet_chars: 400,
        }
    }
}

/// An observation before it is filed in a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservationDraft {
    /// Its kind.
    pub kind: ObservationKind,
    /// It holds beyond the project of its session, by the person's own words.
    pub general: bool,
    /// Its text.
    pub text: String,
    /// The text is a person's message, word for word.
    pub quoted: bool,
    /// What makes it understandable: the question it answers, the command that failed.
    pub context: Option<String>,
    /// The thing whose value it is, of a value.
    pub subject: Option<String>,
    /// A person stated it; otherwise it was inferred from events.
    pub stated: bool,
    /// The events of the window that it rests on, ascending. Never empty.
    pub events: Vec<EventSeq>,
    /// The events' line numbers in citations, one per event.
    pub lines: Vec<u32>,
    /// When the first of these events happened.
    pub at: Timestamp,
}

/// The result of extracting one window.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExtractorOutput {
    /// The observations to file.
    pub drafts: Vec<ObservationDraft>,
    /// Observations that wait for a person's decision.
    pub quarantined: Vec<(ObservationDraft, QuarantineReason)>,
    /// The window's account of the work; `None` together with no drafts is the outcome Nothing.
    pub digest: Option<Digest>,
    /// Writes that its tools staged for the person's entities.
    pub writes: Vec<EntityWrite>,
    /// How many suggestions were dropped, by reason. Counts alone, no content.
    pub dropped: DropCounts,
    /// Number of events with text that did not fit the extractor's input.
    pub left_out: u32,
    /// Which extractor made it, where that is not the one that was called (see [`fallback`]).
    pub provenance: Option<Provenance>,
}

/// Why an extraction failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ExtractError {
    /// Decides what happens next.
    pub class: FailureClass,
    /// The message for people. Holds no content of events.
    pub message: String,
    /// When a retry makes sense.
    pub wait: RetryWait,
}

/// The expected cost of asking a model about a window, in tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenForecast {
    /// The model's name.
    pub model: String,
    /// Of the first request: its input, and the longest answer.
    pub question: Usage,
    /// The worst case over all requests and tries.
    pub worst: Usage,
}

/// Finds what in a window is worth keeping.
#[async_trait]
pub trait Extractor: Send + Sync {
    /// Name and version, stored with each result: `extractive/1`.
    fn name(&self) -> &str;

    /// The same of the extractor that reads this session, where different sessions have different ones.
    fn name_for(&self, _session: &SessionId) -> &str {
        self.name()
    }

    /// Whether it uses [`Window::known`], as extractors with a model do. Gathering it takes time.
    fn wants_known(&self) -> bool {
        false
    }

    /// How much before a window it needs.
    fn look_back(&self) -> LookBack {
        LookBack::default()
    }

    /// Extracts the window. Without a model, the same window always yields the same result.
    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError>;

    /// Estimates the cost of extracting the window; `None` where no model would be asked. Sends no request.
    fn forecast(&self, _window: Window<'_>) -> Option<TokenForecast> {
        None
    }
}
