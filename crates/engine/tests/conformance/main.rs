//! What the seeds' own systems do, by the numbers of the conformance lists: `dc` of Daycare, `codex`,
//! `mr` of MindRoom, as far as they concern schema, triggers, workers and what a model is asked. Event sequence numbers stand
//! where they use history ids or seconds. Where a promise of ours wins over what they do, the test
//! says so.
//!
//! Each runs on the memory store, on SQLite and on PostgreSQL.

mod bed;
mod codex;
mod codex_model;
mod codex_scope;
mod codex_start;
mod daycare;
mod daycare_worker;
mod defects;
mod mindroom;
#[path = "../it/stores.rs"]
mod stores;
