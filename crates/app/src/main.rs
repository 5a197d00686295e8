//! The command `daybook`: parse, call the engine, render. Thin: what deserves a unit test lives
//! in the engine.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "the binary talks to people, and reads the clock and the environment for the library"
)]

mod background;
mod backup;
mod cli;
mod clock;
mod folders;
mod hooks;
mod http;
mod mcp;
mod models;
mod process;
mod purge;
mod service;
mod settings;
mod setup;
mod terminal;
mod threads;
mod toml_text;
mod window;
mod wiring;

use std::process::ExitCode;

fn main() -> ExitCode {
    process::start_time();
    cli::run()
}
