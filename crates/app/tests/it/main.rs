//! The command as its users run it: a process, a data folder, and what they read.

mod agents;
mod backup;
mod cli;
mod config;
mod doctor;
mod eval;
mod failing;
#[cfg(unix)]
mod first_run;
mod fixture;
mod hooks;
mod kill;
mod kill_beside;
mod logs;
mod mcp;
mod metrics;
mod models;
#[cfg(all(unix, feature = "postgres"))]
mod move_store;
mod projects;
mod reach;
mod recall;
mod serve;
mod server;
mod servers;
mod setup;
mod spend;
mod strange_files;
mod tenants;
mod threads;
mod worker;
