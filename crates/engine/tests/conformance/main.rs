//! Conformance with other systems, by the numbers of docs/conformance.md: D of Daycare, C of Codex, M of MindRoom.
//! Covers schema, triggers, workers and requests to models. Event sequence numbers replace their
//! history ids and seconds. A test whose expectation differs, because one of our promises wins, explains it.
//!
//! Each test runs on the memory store, on SQLite and on PostgreSQL.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests use this machine's clock, folders and processes"
)]

mod codex;
mod codex_model;
mod codex_pollution;
mod codex_scope;
mod codex_selection;
mod codex_start;
mod daycare;
mod daycare_worker;
mod defects;
mod mindroom;
mod profile_test_support;
#[path = "../it/stores.rs"]
mod stores;
