//! The command as its users run it: a process, a data folder, and what they read.

mod cli;
mod fixture;
mod kill;
mod mcp;
