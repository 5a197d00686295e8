//! Counts the packages that the library brings, and checks that it links SQLite only with the features
//! `sqlite` and `memory`.
//!
//! Only one package of a build may link SQLite's C library. A host with `sqlx`, or with another `rusqlite`, can build with
//! Daybook only while Daybook without `sqlite` depends on no such package.
//!
//! Not here: whether a dependency may be used at all (`licences`).

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::CheckReport;

/// Most third-party packages that the library brings without its features. A runtime, JSON, a hash, regular
/// expressions for secrets, stemming and the words of enums are 43, and 2 decompress the word lists, which take 77 KB less of a
/// program that has no room for them; a new one must be worth raising this number.
const MOST: usize = 45;
/// The package that links SQLite's C library.
const SQLITE: &str = "libsqlite3-sys";
/// Packages by which the program talks to people and other programs; the library's memory needs none of them.
const OF_INTERFACES: &[&str] = &[
    "anstream",
    "axum",
    "clap",
    "ctrlc",
    "indicatif",
    "rmcp",
    "tracing-subscriber",
];

/// Checks the library in the workspace at `root`, without the network.
pub(crate) fn check(root: &Path) -> anyhow::Result<CheckReport> {
    let bare = packages(root, "")?;
    let servers = packages(root, "postgres,models")?;
    let whole = packages(root, "sqlite")?;
    let memory = packages(root, "memory")?;
    let mut broken = Vec::new();
    for package in OF_INTERFACES {
        if memory.contains(*package) {
            broken.push(format!(
                "daybook with memory brings {package}, which only interfaces of the program need"
            ));
        }
    }
    if bare.len() > MOST {
        let names: Vec<_> = bare.iter().map(String::as_str).collect();
        broken.push(format!(
            "daybook without features brings {} packages; at most {MOST} are allowed: {}",
            bare.len(),
            names.join(", ")
        ));
    }
    for (features, packages) in [("no features", &bare), ("postgres,models", &servers)] {
        if packages.contains(SQLITE) {
            broken.push(format!("daybook with {features} links SQLite ({SQLITE})"));
        }
    }
    if !whole.contains(SQLITE) {
        broken.push(format!(
            "daybook with sqlite has no {SQLITE}: this check uses the wrong name"
        ));
    }
    Ok(CheckReport {
        summary: format!(
            "{} third-party packages without features, {} with sqlite, {} with memory, {} with postgres and models, \
             which link no SQLite",
            bare.len(),
            whole.len(),
            memory.len(),
            servers.len()
        ),
        broken,
    })
}

/// Names of the third-party packages that `daybook` with these features is built from on this system.
fn packages(root: &Path, features: &str) -> anyhow::Result<BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--offline", "--locked", "--package", "daybook"])
        .args(["--no-default-features", "--features", features])
        .args([
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .current_dir(root)
        .output()
        .context("cannot run cargo tree")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("cargo tree failed; run cargo fetch: {}", message.trim());
    }
    let tree = String::from_utf8(output.stdout).context("cargo tree did not print text")?;
    Ok(third_party(&tree))
}

fn third_party(tree: &str) -> BTreeSet<String> {
    let names = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "daybook" && !name.starts_with("daybook-"))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_others_are_counted_once() {
        let tree = "daybook v0.1.0 (/x)\nserde v1.0.0\nserde v1.0.0 (*)\ndaybook-domain v0.1.0\nsyn v3.0.0\n";
        let names: Vec<_> = third_party(tree).into_iter().collect();
        assert_eq!(names, ["serde", "syn"]);
    }

    #[test]
    fn the_library_brings_no_more_than_it_may() {
        let report = check(&crate::root()).expect("cargo runs");
        assert_eq!(report.broken, [""; 0]);
    }
}
