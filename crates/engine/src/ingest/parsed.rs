//! What readers yield: sessions, events and titles as a transcript states them.
//!
//! An item belongs to the newest [`Parsed::Session`] before it. The same event always gets the
//! same [`EventId`], whichever file it is read from and wherever reading was interrupted: the
//! store passes over what it has already seen.
//!
//! Not here: how any one format is read.

use daybook_domain::{EventId, SessionKind};

pub use super::raw::{RawEvent, Via};

/// One thing that a transcript says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// Whose events follow. Comes before the first of them, also from a reader that goes on from a
    /// state, and again when anything of it changed.
    Session(SessionHint),
    /// An event of that session.
    Event(RawEvent),
    /// A title that the host gave to a session, often to another one.
    Title(Title),
    /// The session's work became a pull request.
    PullRequest(PullRequest),
}

/// What a transcript says of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHint {
    /// The host's id. For a sub-agent's file this is the parent's id where the file states it:
    /// a sub-agent's events belong to its parent.
    pub host_id: String,
    /// The agent: `codex`, `claude-code` or `chat`.
    pub agent: &'static str,
    /// [`SessionKind::SubAgent`] means that only a sub-agent's part has been seen in this file.
    pub kind: SessionKind,
    /// Memory was switched off for it in its host.
    pub memory_off: bool,
    /// The session it was forked from, by host id.
    pub forked_from: Option<String>,
    /// Where it was held, as its host names it.
    pub surface: Option<String>,
    /// The session that called this sub-agent, by host id, when the file says so.
    pub parent: Option<String>,
    /// The working directory, as the host wrote it.
    pub cwd: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// The repository's remote, normalised (`github.com/ada/engine`).
    pub remote: Option<String>,
}

/// A session's title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// Which session.
    pub of: TitleOf,
    /// The title.
    pub text: String,
}

/// How a transcript names the session that a title is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TitleOf {
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

/// A stored state that this reader did not write. Read the file from its beginning instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the reader's state cannot be understood")]
pub struct BadState;

/// Turns the pieces of one transcript into what they say. Keeps bounded state, whatever it is fed,
/// and never panics.
pub trait Reader: Send {
    /// Reads one piece and appends what it says to `out`, in order. A piece that says nothing
    /// worth keeping appends nothing. A bad line may have appended something before it broke off.
    fn line(&mut self, number: u32, bytes: &[u8], out: &mut Vec<Parsed>) -> Result<(), BadLine>;

    /// What a later line needs to know of earlier ones, for [`reader`](super::reader) to go on from.
    fn state(&self) -> String;
}
