//! Models over all wires, against a scripted provider.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests use this machine's clock, folders and processes"
)]

mod cassettes;
mod embeddings;
mod forms;
mod keys;
mod limits;
mod llm_test_support;
mod outcomes;
mod promises;
mod retries;
mod tools;
