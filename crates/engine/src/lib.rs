//! The road from transcript to recall, one folder per stage.
//!
//! Hosts tell through `notices` that there is something to read; `triggers` say when it is due. Data goes one way: `ingest` → session log → `extract` → `consolidate` → `files` → `recall`;
//! `jobs` drives it. A stage uses earlier stages only through values it is handed; only `files`
//! builds memory files; `recall` writes nothing but usage.
//!
//! Not here: SQL, HTTP, a vendor's name (but for the transcript formats that `ingest` reads).

pub mod consolidate;
pub mod extract;
pub mod files;
pub mod ingest;
pub mod jobs;
pub mod notices;
pub mod profile;
pub mod recall;
pub mod spend;
pub mod stage;
pub mod stop;
pub mod triggers;
pub mod working;
