//! A memory in a data folder, and every interface to it. Thin: what deserves a unit test lives in the engine.
//!
//! With the feature `interfaces` (default) it is the program `daybook`: parse, call the engine, render. Without it, what
//! remains is what all interfaces share, for the library `daybook`, which opens a data folder in its host's process.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "the program talks to people, and reads the clock and the environment for the engine"
)]
#![cfg_attr(
    not(feature = "interfaces"),
    allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "each interface uses another part of what they share"
    )
)]
#![cfg_attr(
    not(feature = "postgres"),
    allow(
        irrefutable_let_patterns,
        reason = "a server is another place for memory"
    )
)]

mod background;
#[cfg(feature = "interfaces")]
mod backup;
#[cfg(feature = "interfaces")]
mod cli;
mod clock;
mod compressed;
mod folders;
#[cfg(feature = "interfaces")]
mod hooks;
#[cfg(feature = "interfaces")]
mod http;
pub mod library;
#[cfg(feature = "interfaces")]
mod mcp;
mod models;
mod process;
#[cfg(feature = "interfaces")]
mod purge;
#[cfg(feature = "interfaces")]
mod remote;
mod service;
mod settings;
#[cfg(feature = "interfaces")]
mod setup;
mod terminal;
mod threads;
mod toml_text;
#[cfg(feature = "interfaces")]
mod window;
mod wiring;

/// Runs the program `daybook` with the arguments of this process.
#[cfg(feature = "interfaces")]
#[must_use]
pub fn run() -> std::process::ExitCode {
    process::start_time();
    cli::run()
}
