//! The road from transcript to recall, one folder per stage.
//!
//! Hosts tell through `notices` that there is something to read; `triggers` say when it is due. Data goes one way: `ingest` → session log → `extract` → `consolidate` → `files` → `recall`;
//! `jobs` drives it. A stage uses earlier stages only through values it is handed; only `files`
//! builds memory files; `recall` writes nothing but usage.
//!
//! The feature `pipeline`, on by default, is the road. Without it working memory stands alone: `working`, and of
//! `ingest` and `recall` what it rests on.
//!
//! Not here: SQL, HTTP, a vendor's name (but for the transcript formats that `ingest` reads).

pub mod asked;
#[cfg(feature = "pipeline")]
pub mod bounded;
#[cfg(feature = "pipeline")]
pub mod consolidate;
#[cfg(feature = "pipeline")]
pub mod extract;
#[cfg(feature = "pipeline")]
pub mod files;
#[cfg(feature = "pipeline")]
mod guard;
pub mod ingest;
#[cfg(feature = "pipeline")]
pub mod jobs;
#[cfg(feature = "pipeline")]
pub mod notices;
#[cfg(feature = "pipeline")]
pub mod profile;
pub mod prompt;
pub mod recall;
#[cfg(feature = "pipeline")]
pub mod spend;
#[cfg(feature = "pipeline")]
pub mod stage;
#[cfg(feature = "pipeline")]
pub mod stop;
#[cfg(all(test, feature = "pipeline", target_os = "linux"))]
mod strange_files_test_support;
#[cfg(feature = "pipeline")]
pub mod triggers;
pub mod working;
