//! What hosts tell through their hooks: that a session began, that a turn ended, that the context is
//! about to be compacted. Never what was said: the words are in the host's transcript, and reach
//! memory through ingest alone, where secrets are hidden.
//!
//! - [`spool`] keeps notices as files until somebody takes them in: a hook opens no database;
//! - [`aside`] keeps those that could not be taken in, with the reason, out of the others' way;
//! - [`take`] takes them in: reads the transcripts on and makes finished sessions due;
//! - [`election`] finds one updater among many;
//! - [`whereabouts`] tells a hook, from one small file, which project a folder belongs to.
//!
//! Not here: the shape of any host's hooks (the binary knows that), extraction.

pub mod aside;
pub mod election;
pub mod spool;
pub mod take;
pub mod whereabouts;

use daybook_domain::Timestamp;
use serde::{Deserialize, Serialize};

/// What a host told at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The agent, as in session ids: `claude-code`, `codex`.
    pub agent: String,
    /// The host's id of the session.
    pub session: String,
    /// What happened.
    pub moment: Moment,
    /// The session's transcript, when the host named it.
    pub transcript: Option<String>,
    /// The folder that the agent works in.
    pub folder: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// What can happen in a session, as far as memory cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// It began, or goes on.
    Start,
    /// A person prompted it.
    Prompt,
    /// The agent has nothing more to say for now.
    Stop,
    /// What was said is about to be replaced by a summary.
    Compact,
    /// It ended.
    End,
}
