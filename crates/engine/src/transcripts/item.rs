//! The items that readers yield: sessions, events and titles, as a transcript states them.
//!
//! An item belongs to the newest [`TranscriptItem::Session`] before it. The same event always gets the
//! same [`EventId`], whichever file it is read from and wherever reading was interrupted: the
//! store skips events that it has already.
//!
//! Not here: how any one format is read.

use std::borrow::Cow;

use daybook_domain::{EventId, SessionKind, Venue};

use daybook_text::names::{redact_id, redact_name, redact_venue};
pub use daybook_text::raw::{RawEvent, Via};
use daybook_text::redact::Redactor;

/// One item of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptItem {
    /// The session of the events that follow. Comes before the first of them, also from a reader that
    /// resumes from a state, and again when anything of it changed.
    Session(SessionHint),
    /// An event of that session.
    Event(RawEvent),
    /// A title that the host gave to a session, often to another one.
    Title(SessionTitle),
    /// The session's work became a pull request.
    PullRequest(PullRequest),
}

/// A session, as its transcript describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHint {
    /// The host's id. For a sub-agent's file this is the parent's id where the file states it:
    /// a sub-agent's events belong to its parent.
    pub host_id: String,
    /// The agent: `codex`, `claude-code` or `chat`, or the one that the transcript names.
    pub agent: Cow<'static, str>,
    /// [`SessionKind::SubAgent`] means that only a sub-agent's part has been seen in this file.
    pub kind: SessionKind,
    /// Whether memory was switched off for it in its host.
    pub memory_off: bool,
    /// The session it was forked from, by host id.
    pub forked_from: Option<String>,
    /// Where it was held, as its host names it.
    pub surface: Option<String>,
    /// Whose words its human events are, where the transcript names a user.
    pub user: Option<String>,
    /// The room, the thread and the team that it was held in. The team is named as the transcript names it.
    pub venue: Venue,
    /// The session that called this sub-agent, by host id, if the file names it.
    pub parent: Option<String>,
    /// The working directory, as the host wrote it.
    pub cwd: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// The repository's remote, normalised (`github.com/ada/engine`).
    pub remote: Option<String>,
}

impl SessionHint {
    /// The hint without secrets, as it may be stored and logged.
    #[must_use]
    pub fn redacted(&self, redactor: &Redactor) -> Self {
        let id = |id: &String| redact_id(redactor, id).into_owned();
        let name = |name: &String| redact_name(redactor, name).into_owned();
        Self {
            host_id: id(&self.host_id),
            agent: Cow::Owned(redact_name(redactor, &self.agent).into_owned()),
            kind: self.kind,
            memory_off: self.memory_off,
            forked_from: self.forked_from.as_ref().map(id),
            surface: self.surface.as_ref().map(name),
            user: self.user.as_ref().map(name),
            venue: redact_venue(redactor, self.venue.clone()),
            parent: self.parent.as_ref().map(id),
            cwd: self.cwd.as_ref().map(name),
            branch: self.branch.as_ref().map(name),
            remote: self.remote.as_ref().map(name),
        }
    }
}

/// A session's title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTitle {
    /// Which session.
    pub of: TitleTarget,
    /// The title.
    pub text: String,
}

/// How a transcript names the session that a title is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TitleTarget {
    /// By host id.
    Session(String),
    /// By one of its events. The event may be of a kind that is never kept.
    Event(EventId),
}

/// A pull request that came out of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// The repository, normalised like a remote.
    pub repository: String,
    /// Its address.
    pub url: String,
}

/// A line that could not be read, and why; lower case, without the line's number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadLine(pub String);

/// A stored state that the reader cannot parse. Read the file from its beginning instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the reader's state cannot be understood")]
pub struct BadState;

/// Turns the pieces of one transcript into items. Keeps bounded state, whatever its input, and never
/// panics.
pub trait TranscriptReader: Send {
    /// Reads one piece and appends its items to `out`, in order. A piece without anything worth keeping
    /// appends nothing. A bad line may have appended items before its error.
    fn line(
        &mut self,
        number: u32,
        bytes: &[u8],
        out: &mut Vec<TranscriptItem>,
    ) -> Result<(), BadLine>;

    /// The state that later lines need of earlier ones, for [`reader`](super::reader) to resume from.
    fn state(&self) -> String;
}
