//! Measures whether memory keeps up with what changes: what people update, replace, reverse, take back and close; what
//! they say again in other words; and what only resembles an earlier statement.
//!
//! A file of cases is TOML. A `[[change]]` has sessions, each with its day and its messages, the agent's marked with
//! `agent: `; the words of what holds, and those of what no longer does:
//!
//! ```toml
//! [[change]]
//! name = "ledger-database"
//! split = "tune"
//! sessions = [
//!     ["2026-01-05", "let's use Postgres for the ledger"],
//!     ["2026-02-01", "let's use SQLite for the ledger instead"],
//! ]
//! question = "which database does the ledger use?"
//! current = "sqlite"
//! outdated = "postgres"
//!
//! [[keep]]
//! name = "tests-and-linter"
//! split = "tune"
//! sessions = [["2026-01-05", "always run the linter first"], ["2026-01-06", "always run the tests first"]]
//! both = ["linter", "tests"]
//!
//! [[pair]]
//! split = "report"
//! one = "never amend commits"
//! other = "please don't amend any commits"
//! same = true
//!
//! [[relation]]
//! split = "report"
//! earlier = "standup is at 9:30"
//! later = "standup moved to 10 from next week"
//! relation = "ends"
//! ```
//!
//! A relation compares two statements alone: the later one `ends` the earlier one, both hold (`holds`), both say the `same`, or
//! they are about `other` things.

mod cases;
mod judge;
mod relations;
mod report;
mod run;

pub use cases::{ChangeCases, load_changes};
pub use report::{CaseRecord, ChangesReport, ChangesScore};
pub use run::{CaseMemory, FreshWorker, run_changes};

#[cfg(test)]
mod tests;
