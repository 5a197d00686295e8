//! Measures what a memory shows of whole histories: invented people with their sessions, and a key of what a careful
//! colleague would keep of them and ask later.
//!
//! A person is a TOML file; `docs/evaluation.md` has its form. Their sessions are written as transcripts, imported, learned
//! from and consolidated as a person's own are. Then each question is asked, and each line of `MEMORY.md` compared with
//! the key.

mod cases;
mod judge;
mod report;
mod run;
mod steps;
mod transcripts;

pub use cases::{Person, load_people};
pub use report::{MissingLine, PeopleReport, PersonReport, PersonScore, WrongAnswer};
pub use run::run_people;

#[cfg(test)]
mod tests;
