//! Measures what extraction without a model keeps of people's messages: the lasting things in them, and nothing else.
//!
//! A file of statements is TOML, in any language. Each has a message and what of it is worth keeping, as words of the
//! message; none for a message of which nothing is:
//!
//! ```toml
//! [[statement]]
//! split = "tune"
//! language = "en"
//! text = "we're on Node 22 everywhere. can you fix the flaky test?"
//! keep = ["Node 22"]
//! ```
//!
//! `in_chat = true` before all of them says that people talk, and no work is done after a message.

mod cases;
mod learn;
mod notes;
mod run;

pub use cases::{StatementCases, load_statements};
pub use learn::{WorthShare, learn_worth, worth_shares};
pub use notes::{NotesReport, run_notes};
pub use run::{LanguageScore, StatementRecord, StatementsReport, run_statements};

#[cfg(test)]
mod tests;
