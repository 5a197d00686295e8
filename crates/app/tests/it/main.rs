//! The command as its users run it: a process, a data folder, and what they read.

mod agents;
mod cli;
mod config;
mod fixture;
mod hooks;
mod kill;
mod logs;
mod mcp;
mod metrics;
mod projects;
mod serve;
mod servers;
mod setup;
mod worker;
