//! The command `daybook`: parse, call the engine, render. Thin: what deserves a unit test lives
//! in the engine.

#![allow(clippy::print_stdout, clippy::print_stderr)] // This is the one place that talks to people.

mod backup;
mod briefing;
mod cli;
mod clock;
mod common;
mod damage;
mod desk;
mod discover;
mod embedding;
mod extracting;
mod found;
mod here;
mod hooks;
mod http;
mod keeper;
mod keys;
mod logging;
mod mcp;
mod models;
mod moving;
mod outage;
mod output;
mod overview;
mod progress;
mod refusals;
mod root;
mod sample;
mod settings;
mod setup;
mod sharing;
mod suggest;
mod telling;
mod threads;
mod turns;
mod waiting;
mod wiring;
mod working;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
