//! Measures what a thread keeps of what a person insisted on: whether it is in the context, or found by recall, when a
//! long session ends.
//!
//! A file of insisted things is TOML. Each names a transcript, a line of it, and a few words that tell the thing:
//!
//! ```toml
//! [[session]]
//! file = "april.jsonl"
//! split = "tune"
//!
//! [[session.insisted]]
//! line = 12
//! about = "no deploys on Fridays"
//! words = "never deploy on Fridays"
//! question = "When must nothing be deployed?"
//! ```
//!
//! Each session is fed event by event into a thread with automatic compaction and no model. Then its context is built, and
//! the question is asked in the memory that holds this session alone.

mod cases;
mod run;

pub use cases::{InsistedCases, load_insisted};
pub use run::{
    FreshThreads, InsistedCount, InsistedRecord, SessionRecord, ThreadMemory, ThreadsReport,
    run_threads,
};

#[cfg(test)]
mod tests;
