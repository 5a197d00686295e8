//! What one pass over one window of a session yields.
//!
//! An extractor reads a [`Window`] and says what is worth keeping, as [`Draft`]s: self-contained,
//! each with the events that it rests on. It decides what and why, never whose: filing a draft in a
//! scope is the caller's, since only the caller knows projects.
//!
//! Not here: reading the log, storing results, files.

pub mod barred;
mod dropped;
pub mod entity_tools;
pub mod extractive;
pub mod model;
pub mod stand_in;
pub mod window;

use async_trait::async_trait;
pub use dropped::{DropReason, Dropped};

use daybook_domain::model::Usage;
use daybook_domain::{
    Digest, EntityWrite, Event, EventSeq, FailureClass, ObservationKind, Session, Timestamp, Wait,
};

/// What an extractor is shown.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// The session.
    pub session: &'a Session,
    /// Events just before the window, for understanding only: nothing may rest on them alone.
    pub before: &'a [Event],
    /// The window's events, in order, without those that were taken back. Whole turns, but for a
    /// turn that is longer than a window.
    pub events: &'a [Event],
    /// What is known already; an extractor that quotes needs none of it.
    pub known: Known<'a>,
    /// It was read before, and what that taught holds until the whole session is read anew: nothing is lost
    /// by waiting.
    pub is_redone: bool,
}

impl<'a> Window<'a> {
    /// With no more before it than an extractor looks back.
    #[must_use]
    pub fn shown(self, look_back: LookBack) -> Self {
        Self {
            before: look_back.of(self.before),
            ..self
        }
    }
}

/// How much before a window an extractor is shown: the newest events, without the oldest that exceed the
/// bytes. More lets it understand more, and takes longer to read.
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
    /// As much as both show.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            events: self.events.max(other.events),
            bytes: self.bytes.max(other.bytes),
        }
    }

    /// The part of `before`, which ends where a window begins, that this much shows.
    #[must_use]
    pub fn of<'e>(&self, before: &'e [Event]) -> &'e [Event] {
        let most = usize::try_from(self.events).unwrap_or(usize::MAX);
        let mut bytes = 0_usize;
        let shown = before.iter().rev().take(most).enumerate();
        let fits = shown.take_while(|(n, event)| {
            bytes = bytes.saturating_add(event.text.len());
            *n == 0 || bytes <= self.bytes
        });
        &before[before.len() - fits.count()..]
    }
}

/// What is known already, so that it is not told again. All of it is redacted, and bounded by whoever
/// shows it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// Lines of the diary, oldest first; the last 80 count.
    pub recent: &'a [String],
    /// What memory holds on the window's matters, best first; the first 5 count, 400 characters each.
    pub relevant: &'a [String],
    /// What the windows before came to, as the session's summary.
    pub summary: Option<&'a str>,
}

/// Something worth keeping, before it is filed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// What sort of thing.
    pub kind: ObservationKind,
    /// It holds beyond the project that it was said in: the person said so.
    pub general: bool,
    /// What is to be known.
    pub text: String,
    /// The text is what the person said, word for word.
    pub quoted: bool,
    /// What makes it understandable: the question it answers, the command that failed.
    pub context: Option<String>,
    /// What a value is of.
    pub subject: Option<String>,
    /// A person said it; otherwise it follows from what happened.
    pub stated: bool,
    /// The events of the window that it rests on, ascending. Never empty.
    pub events: Vec<EventSeq>,
    /// Their numbers in citations, one per event.
    pub lines: Vec<u32>,
    /// When the first of them was said.
    pub at: Timestamp,
}

/// What a window came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extracted {
    /// What is to be known.
    pub drafts: Vec<Draft>,
    /// The window's own account; `None` together with no drafts is the outcome Nothing.
    pub digest: Option<Digest>,
    /// What its tools would write of the person's entities.
    pub writes: Vec<EntityWrite>,
    /// What was told and not believed. Counts alone, no content.
    pub dropped: Dropped,
    /// Events with words that the extractor had no room for.
    pub left_out: u32,
    /// Who made it, where that is not the extractor that was asked: a stand-in
    /// ([`stand_in::StoodIn`]).
    pub made_by: Option<String>,
}

/// Why an extraction failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ExtractError {
    /// Decides what happens next.
    pub class: FailureClass,
    /// What a person is told. Holds no content of events.
    pub message: String,
    /// When trying again makes sense.
    pub wait: Wait,
}

/// What asking a model about a window is expected to cost, in tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Which model.
    pub model: String,
    /// Of the first question: what the model would read, and the longest answer.
    pub question: Usage,
    /// The most that it can come to.
    pub worst: Usage,
}

/// Something that can tell what is worth keeping.
#[async_trait]
pub trait Extractor: Send + Sync {
    /// Name and version, which is stored with what it yields: `extractive/1`.
    fn name(&self) -> &str;

    /// Whether it makes use of [`Window::known`], as whoever asks a model does; gathering it takes time.
    fn wants_known(&self) -> bool {
        false
    }

    /// How much before a window it is shown.
    fn look_back(&self) -> LookBack {
        LookBack::default()
    }

    /// What the window yields. The same window always yields the same when no model is asked.
    async fn extract(&self, window: Window<'_>) -> Result<Extracted, ExtractError>;

    /// What extracting the window is expected to cost; nothing where no model would be asked. Asks nobody.
    fn forecast(&self, _window: Window<'_>) -> Option<Expected> {
        None
    }
}
