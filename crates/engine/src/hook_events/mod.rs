//! Events that hosts report through hooks: a session began, a turn ended, the context will be compacted.
//!
//! They never hold the conversation: its text is in the host's transcript, and reaches memory through
//! import alone, where secrets are hidden.
//!
//! - [`spool`] queues hook events as files: a hook opens no database;
//! - [`process`] drains the spool: imports the transcripts and makes finished sessions due;
//! - [`failed`] sets aside the events that could not be processed, with the reason;
//! - [`update_lock`] lets one process at a time update;
//! - [`shown_lines`] records what each session was shown, so that nothing is shown twice;
//! - [`project_cache`] shows a hook, from one small file, which project a folder belongs to.
//!
//! Not here: the shape of any host's hooks (the binary knows that), extraction.

pub mod failed;
pub mod process;
pub mod project_cache;
pub mod shown_lines;
pub mod spool;
pub mod update_lock;

use std::path::Path;

use daybook_domain::{Timestamp, Venue};
use daybook_text::names::{redact_id, redact_name, redact_venue};
use daybook_text::redact::Redactor;
use serde::{Deserialize, Serialize};

use crate::places::stored_path::stored_path;

/// One event of a session, as its host's hook reported it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookEvent {
    /// The agent, as in session ids: `claude-code`, `codex`.
    pub agent: String,
    /// The host's id of the session.
    pub session: String,
    /// What happened.
    #[serde(rename = "moment")]
    pub kind: HookEventKind,
    /// The session's transcript, when the host named it.
    pub transcript: Option<String>,
    /// The folder that the agent works in.
    pub folder: Option<String>,
    /// The room, the thread and the team that it is held in, as they were named.
    #[serde(default, skip_serializing_if = "Venue::is_empty")]
    pub venue: Venue,
    /// When.
    pub at: Timestamp,
}

impl HookEvent {
    /// The event without secrets, as it may be queued. Its transcript is found again by
    /// [`path_on_disk`](crate::places::stored_path::path_on_disk).
    #[must_use]
    pub fn redacted(&self) -> Self {
        let redactor = Redactor::current();
        let path = |path: &String| stored_path(Path::new(path));
        Self {
            agent: redact_name(&redactor, &self.agent).into_owned(),
            session: redact_id(&redactor, &self.session).into_owned(),
            kind: self.kind,
            transcript: self.transcript.as_ref().map(path),
            folder: self.folder.as_ref().map(path),
            venue: redact_venue(&redactor, self.venue.clone()),
            at: self.at,
        }
    }
}

/// What can happen in a session, as far as memory cares. Ordered by urgency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookEventKind {
    /// It began, or was resumed.
    Start,
    /// A person prompted it.
    Prompt,
    /// The agent ended its turn.
    Stop,
    /// The conversation is about to be replaced by a summary.
    Compact,
    /// It ended.
    End,
}
