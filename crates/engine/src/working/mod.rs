//! Working memory: the live context stays small, true and fast (seed 003; spec/working-memory.md).
//!
//! A thread is the live state of one session. Its log is the session's log; its state is a fold of that log
//! (`fold`), in which reducers (`reduce`) turn events into chunks and compactions (`compact`) put a summary
//! in the place of many. The `manager` keeps threads apart, in order and loaded; `context` makes a state
//! into the messages that a model reads.
//!
//! Not here: which store keeps the log, how a model is asked over a wire.

mod clean;
pub mod compact;
pub mod context;
pub mod fold;
mod log;
pub mod manager;
mod reader;
pub mod reduce;
