//! What every interface (the command line, HTTP, MCP) can request from an open memory.
//!
//! Answers are values; each interface renders them in its own way. What is rendered alike by more than one
//! interface, JSON and the compact text for agents, is rendered here.
//!
//! Not here: threads (`threads`), background work (`background`).

pub(crate) mod activity;
pub(crate) mod agent_answer;
pub(crate) mod agent_failures;
pub(crate) mod agent_memory;
pub(crate) mod append_api;
pub(crate) mod caller;
pub(crate) mod context;
pub(crate) mod current_place;
pub(crate) mod damage;
pub(crate) mod entities;
pub(crate) mod event_checks;
pub(crate) mod file_changes;
pub(crate) mod graph;
pub(crate) mod hidden_secrets;
pub(crate) mod history;
pub(crate) mod host_files;
pub(crate) mod job_list;
pub(crate) mod line_origin;
pub(crate) mod mem0;
pub(crate) mod memories;
pub(crate) mod memory_changes;
pub(crate) mod memory_files;
pub(crate) mod memory_history;
pub(crate) mod memory_tool;
pub(crate) mod moment;
pub(crate) mod notes;
pub(crate) mod overview;
pub(crate) mod persons_secrets;
pub(crate) mod projects;
pub(crate) mod recall;
pub(crate) mod refusals;
pub(crate) mod scope_choice;
pub(crate) mod search_result;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod shown_uses;
pub(crate) mod spending;
pub(crate) mod troubles;
pub(crate) mod waits;

use std::fmt;

use daybook_domain::{Scope, Timestamp};

use crate::wiring::Daybook;

/// A request that cannot be served. The message names what to change.
#[derive(Debug)]
pub(crate) enum RequestError {
    /// The request is malformed, or contradicts itself.
    Invalid(String),
    /// What it names does not exist, or no longer.
    NotFound(String),
    /// The current state of the memory forbids it.
    Conflict(String),
    /// A server that holds what it names does not answer. Safe to repeat, later.
    Unavailable(String),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Invalid(message)
        | Self::NotFound(message)
        | Self::Conflict(message)
        | Self::Unavailable(message)) = self;
        f.write_str(message)
    }
}

impl std::error::Error for RequestError {}

/// The scope of the person whose data folder this is.
pub(crate) fn person_scope(daybook: &Daybook) -> Scope {
    daybook.settings.person_scope()
}

/// Formats a time in the person's zone; `None` when it is unknown.
pub(crate) fn format_time(daybook: &Daybook, at: Timestamp, format: &str) -> Option<String> {
    let known = (at != Timestamp::ZERO).then_some(at.0)?;
    let at = jiff::Timestamp::from_millisecond(known).ok()?;
    let zoned = at.to_zoned(daybook.settings.zone.clone());
    Some(zoned.strftime(format).to_string())
}
