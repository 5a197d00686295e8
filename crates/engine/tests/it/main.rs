//! The engine on all stores.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests use this machine's clock, folders and processes"
)]

mod caps;
mod consolidation_agent;
mod fences;
mod folder_without_project;
mod forecast;
mod identity;
mod machines;
mod memory_agents;
mod names;
mod origins;
mod proposals;
mod quarantine;
mod recall;
mod rescans;
mod restored_states;
mod silent_progress;
mod simulation;
mod spend;
mod stores;
mod tenant_isolation;
mod uses;
