//! Checks that every dependency may be used and passed on under a permissive licence.
//!
//! `cargo metadata` lists the licence of each package, an SPDX expression, which is evaluated against a list. Copyleft of
//! any strength fails, and so does a package without a licence.
//!
//! Not `cargo-deny`, for CI's sake: DESIGN.md has the figures.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use spdx::{Expression, ParseMode};

use crate::CheckReport;

/// Licences that require no more than keeping a notice.
const PERMISSIVE: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Packages under another licence that could not be avoided: name, licence, and why it is acceptable.
const EXCEPTIONS: &[(&str, &str, &str)] = &[(
    "webpki-root-certs",
    "CDLA-Permissive-2.0",
    "a list of authorities that requires no more than its notice; a dependency of reqwest uses it on \
     WebAssembly alone, so it is in no binary of ours",
)];

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    version: String,
    /// The registry or repository; `None` for our own packages.
    source: Option<String>,
    license: Option<String>,
}

/// Checks the dependencies of the workspace at `root`, without the network.
pub(crate) fn check(root: &Path) -> anyhow::Result<CheckReport> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("cannot run cargo metadata")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("cargo metadata failed; run cargo fetch: {}", message.trim());
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)
        .context("cannot read the output of cargo metadata")?;
    Ok(report(&metadata))
}

fn report(metadata: &Metadata) -> CheckReport {
    let third_party: Vec<&Package> = metadata
        .packages
        .iter()
        .filter(|package| package.source.is_some())
        .collect();
    let mut broken: Vec<String> = third_party
        .iter()
        .filter_map(|package| finding(package))
        .collect();
    broken.sort();
    CheckReport {
        summary: format!(
            "{} dependencies, every licence permissive",
            third_party.len()
        ),
        broken,
    }
}

fn finding(package: &Package) -> Option<String> {
    let Package { name, version, .. } = package;
    let Some(stated) = &package.license else {
        return Some(format!("{name} {version} states no licence"));
    };
    let is_exception =
        |(known, licence, _): &(&str, &str, &str)| known == name && licence == stated;
    if is_permissive(stated) || EXCEPTIONS.iter().any(is_exception) {
        return None;
    }
    Some(format!(
        "{name} {version} is under {stated}; avoid it, or add it to EXCEPTIONS in \
         xtask/src/licences.rs with the reason"
    ))
}

/// Whether an SPDX expression offers a choice that is permissive throughout.
fn is_permissive(expression: &str) -> bool {
    // Old manifests write `MIT/Apache-2.0`.
    let parsed = Expression::parse_mode(expression, ParseMode::LAX);
    parsed.is_ok_and(|parsed| {
        parsed.evaluate(|licence| PERMISSIVE.contains(&licence.to_string().as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, permissive: bool) {
        assert_eq!(is_permissive(expression), permissive, "{expression}");
    }

    #[test]
    fn one_permissive_choice_is_enough() {
        check("MIT", true);
        check("MIT OR Apache-2.0", true);
        check("MIT/Apache-2.0", true);
        check("MIT OR Apache-2.0 OR LGPL-2.1-or-later", true);
        check("GPL-3.0-only OR AGPL-3.0-only", false);
    }

    #[test]
    fn every_part_of_a_conjunction_counts() {
        check("(MIT OR Apache-2.0) AND Unicode-3.0", true);
        check("(MIT OR Apache-2.0) AND GPL-3.0-only", false);
        check("MIT AND (GPL-3.0-only OR BSD-3-Clause)", true);
    }

    #[test]
    fn an_exception_belongs_to_its_licence() {
        check("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only", true);
        check("GPL-3.0-only WITH Classpath-exception-2.0", false);
    }

    #[test]
    fn what_cannot_be_read_is_not_permissive() {
        for expression in ["", "MPL-2.0", "(MIT", "MIT)", "MIT MIT", "proprietary"] {
            check(expression, false);
        }
    }

    #[test]
    fn a_package_without_a_licence_is_named() {
        let package = |name: &str, license: Option<&str>, source: Option<&str>| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            source: source.map(str::to_owned),
            license: license.map(str::to_owned),
        };
        let report = report(&Metadata {
            packages: vec![
                package("ours", None, None),
                package("fine", Some("MIT"), Some("registry")),
                package("mute", None, Some("registry")),
            ],
        });
        assert_eq!(report.broken, ["mute 1.0.0 states no licence"]);
        assert_eq!(report.summary, "2 dependencies, every licence permissive");
    }
}
