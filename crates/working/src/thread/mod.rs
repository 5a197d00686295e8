//! The implementation of the manager: loaded threads, and the one task that serves each of them.
//!
//! One dispatch goes through these files in order: [`queue`] takes the events, [`worker`] takes what has queued and
//! drives the rest, [`appender`] stores a group with one append, [`folder`] folds what was stored, [`compaction`]
//! starts when the state has grown. [`live`] is the data that they share, behind the thread's gate.
//!
//! Not here: the public API (`manager`), what events do (`reduce`), what a compaction makes of chunks (`compact`).

pub(crate) mod appender;
pub(crate) mod batch;
pub(crate) mod blocks;
mod command;
pub(crate) mod compaction;
mod compaction_due;
pub(crate) mod config;
pub(crate) mod error;
pub(crate) mod folder;
pub(crate) mod history;
pub(crate) mod live;
pub(crate) mod loader;
pub(crate) mod observer;
mod pending;
pub(crate) mod queue;
pub(crate) mod results;
mod table;
pub(crate) mod worker;
