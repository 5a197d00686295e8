//! Working memory on real stores: Team9's examples, the assertions of its own tests, and cases that they leave out.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests use this machine's clock, folders and processes"
)]

mod against_model;
mod blocking;
mod compaction;
mod conformance;
mod faulty_store;
mod life_cycle;
mod simulation;
mod usage_examples;
mod what_matters;
mod working_test_support;
