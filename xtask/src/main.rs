//! Checks of the repository itself: arrows between crates, licences, what the library brings and shows, the
//! size of the binary.
//!
//! Each check is also a test or a step of `.ci/run`, so a broken rule fails there and not in review.
//!
//! Not here: anything that the binary or the library needs.

// A tool talks to whoever runs it; the workspace's ban on printing is for the library.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod arrows;
mod binary;
mod dependencies;
mod examples;
mod licences;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask arrows         checks that crates and stages use only what they may
cargo xtask binary         checks that the release binary, built before, is no larger than it may be
cargo xtask dependencies   counts what comes with the library, and checks that SQLite comes only when asked for
cargo xtask examples       checks that the library shows how each of its items is used
cargo xtask licences       checks that every dependency has a permissive licence";

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    let checked = match task.as_str() {
        "arrows" => arrows::check(&root()),
        "binary" => binary::check(&root()),
        "dependencies" => dependencies::check(&root()),
        "examples" => examples::check(&root()),
        "licences" => licences::check(&root()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match checked {
        Ok(report) if report.broken.is_empty() => {
            println!("{task}: {}", report.looked_at);
            ExitCode::SUCCESS
        }
        Ok(report) => {
            for broken in &report.broken {
                eprintln!("{broken}");
            }
            eprintln!("{task}: {} broken", report.broken.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{task}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// What a check found.
#[derive(Debug)]
struct Report {
    /// What was looked at, for whoever wants to see that it was.
    looked_at: String,
    /// One line for each broken rule, in a fixed order.
    broken: Vec<String>,
}

/// The workspace. Cargo says where it is when it runs this tool, also from a moved target folder.
fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map(Path::to_owned).unwrap_or(here)
}
