//! The command as its users run it: a process, a data folder, and what they read.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests use this machine's clock, folders and processes"
)]

mod access;
mod agent_databases;
mod agent_memory;
mod agents;
mod agents_history;
mod archive;
mod backup;
mod cli;
mod codex_files;
mod codex_tools;
mod config;
mod curation;
mod doctor;
mod entities;
mod eval;
mod failing;
mod fences;
#[cfg(unix)]
mod first_run;
mod fixture;
mod graph;
mod homes;
mod hooks;
mod http_memories;
mod http_routes;

mod kill;
mod kill_beside;
mod layouts;
mod logs;
mod manners;
mod mcp;
mod mcp_http;
mod mem0;
mod metrics;
mod models;
mod monitoring;
#[cfg(all(unix, feature = "postgres"))]
mod move_store;
mod other_agents;
mod peers;
mod persons_word;
#[cfg(unix)]
mod picture;
mod projects;
mod prompts;
mod purge;
mod purge_doors;
mod purge_places;
mod purge_restores;
mod reach;
#[cfg(unix)]
mod readme;
mod rebuild;
mod recall;
mod redaction;
mod rescans;
mod reset;
mod scopes;
mod secret_names;
mod serve;
mod server;
mod servers;
mod setup;
mod setup_hosts;
mod spend;
mod strange_files;
mod support_bundle;
mod switches;
mod sync;
mod tenants;
mod threads;
mod top;
#[cfg(feature = "otlp")]
mod traces;
mod uses;
mod vault;
mod venues;
#[cfg(unix)]
mod window;
mod worker;
