//! The pipeline from transcript to recall, one folder per stage.
//!
//! Hosts report activity through `hook_events`; `triggers` decide when a session is due. Data flows one way:
//! `import` and `append` → session log → `extract` → `consolidate` → `files` → `recall`; `jobs` runs the stages
//! in the background. A stage uses earlier stages only through values passed to it; only `files` writes memory
//! files; `recall` writes nothing but usage.
//!
//! Not here: SQL, HTTP, names of vendors (except the transcript formats that `transcripts` reads).

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests use this machine's clock, folders and processes"
    )
)]

pub mod append;
pub mod bounded;
pub mod consolidate;
pub mod extract;
pub mod files;
mod guard;
pub mod homes;
pub mod hook_events;
pub mod import;
pub mod jobs;
pub mod places;
pub mod profile;
pub mod projects;
pub mod recall;
pub mod spend;
pub mod stage;
pub mod stop;
#[cfg(all(test, target_os = "linux"))]
mod strange_files_test_support;
pub mod transcripts;
pub mod triggers;
mod uses;
