//! How much comes with the library, and that it brings no SQLite where none was asked for.
//!
//! Only one package of a build may link SQLite's C library. A host that has `sqlx`, or another `rusqlite`,
//! builds beside Daybook as long as Daybook without `sqlite` names no such package.
//!
//! Not here: whether a dependency may be used at all (`licences`).

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::Report;

/// Most packages of others that the library brings without its features. A runtime, JSON, a hash, regular
/// expressions for secrets and stemming are 39 of them; what a new one brings has to be worth this line.
const MOST: usize = 40;
/// What binds SQLite's C library.
const SQLITE: &str = "libsqlite3-sys";

/// Checks the library in the workspace at `root`, without the network.
pub(crate) fn check(root: &Path) -> anyhow::Result<Report> {
    let bare = packages(root, "")?;
    let servers = packages(root, "postgres,models")?;
    let whole = packages(root, "sqlite")?;
    let mut broken = Vec::new();
    if bare.len() > MOST {
        let names: Vec<_> = bare.iter().map(String::as_str).collect();
        broken.push(format!(
            "daybook without features brings {} packages, and {MOST} are allowed: {}",
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
            "daybook with sqlite has no {SQLITE}: this check looks for the wrong name"
        ));
    }
    Ok(Report {
        looked_at: format!(
            "{} packages of others without features, {} with sqlite, {} with postgres and models, which link no SQLite",
            bare.len(),
            whole.len(),
            servers.len()
        ),
        broken,
    })
}

/// Names of the packages, not ours, that `daybook` with those features is built from on this system.
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
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("cargo tree failed; cargo fetch may help: {}", said.trim());
    }
    let told = String::from_utf8(output.stdout).context("cargo tree did not print text")?;
    Ok(foreign(&told))
}

fn foreign(told: &str) -> BTreeSet<String> {
    let names = told
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
        let told = "daybook v0.1.0 (/x)\nserde v1.0.0\nserde v1.0.0 (*)\ndaybook-domain v0.1.0\nsyn v3.0.0\n";
        let names: Vec<_> = foreign(told).into_iter().collect();
        assert_eq!(names, ["serde", "syn"]);
    }

    #[test]
    fn the_library_brings_no_more_than_it_may() {
        let report = check(&crate::root()).expect("cargo can be asked");
        assert_eq!(report.broken, [""; 0]);
    }
}
