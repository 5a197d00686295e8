//! Working memory keeps an agent's live context small and accurate (after Team9's memory manager).
//!
//! A thread is the live state of one session. Its log is the session's log; its state is a fold of that log
//! (`fold`), in which reducers (`reduce`) turn events into chunks and compactions (`compact`) replace many
//! chunks by a summary. The `manager` is the public API; `thread` loads threads and serves each with one task;
//! `context` turns a state into the messages that a model reads. `tool_loop` runs a task that a model performs with
//! tools, within bounds.
//!
//! Not here: the store of the log, requests to models over a wire.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests use this machine's clock, folders and processes"
    )
)]

pub mod compact;
pub mod context;
mod event_groups;
pub mod fold;
mod log_reader;
pub mod manager;
mod record;
pub mod reduce;
mod sanitize;
mod thread;
pub mod tool_loop;

pub use record::{mentions_of, thread_event};
