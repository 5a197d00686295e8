//! Checks of the repository itself: arrows between crates, the conformance page, licences, what the library brings and
//! shows, the size of the binary.
//!
//! Each check is also a test or a step of `.ci/run`, so a broken rule fails there and not in review.
//!
//! Not here: anything that the binary or the library needs.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool of the repository prints its report, runs cargo and reads its environment"
)]

mod arrows;
mod binary;
mod conformance;
mod dependencies;
mod examples;
mod licences;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask arrows         checks that crates, stages and modules use only what they may
cargo xtask binary         checks that the release binary, built before, is no larger than it may be
cargo xtask conformance    checks that docs/conformance.md is complete, and that all that cites it or stands in it exists
cargo xtask dependencies   counts what comes with the library, and checks that SQLite comes only when asked for
cargo xtask examples       checks that an example uses each item of the library with behaviour
cargo xtask floors         lists the modules of each crate, each above those that it uses
cargo xtask licences       checks that every dependency has a permissive licence
cargo xtask words          checks that comments name what they are about";

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    let checked = match task.as_str() {
        "arrows" => arrows::check(&root()),
        "binary" => binary::check(&root()),
        "conformance" => conformance::check(&root()),
        "dependencies" => dependencies::check(&root()),
        "examples" => examples::check(&root()),
        "floors" => arrows::floors(&root()),
        "licences" => licences::check(&root()),
        "words" => words::check(&root()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match checked {
        Ok(report) if report.broken.is_empty() => {
            println!("{task}: {}", report.summary);
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

/// The outcome of a check.
#[derive(Debug)]
struct CheckReport {
    /// What was checked, in one line.
    summary: String,
    /// One line for each broken rule, in a fixed order.
    broken: Vec<String>,
}

/// The workspace's folder. Cargo names it when it runs this tool, also from a moved target folder.
fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map(Path::to_owned).unwrap_or(here)
}
