//! Whether every dependency may be used and passed on under a permissive licence.
//!
//! `cargo metadata` says what each package states of itself; here it is read as an SPDX expression
//! and compared with a list. Copyleft of any strength, and a package that states nothing, fail.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};
use serde::Deserialize;

use crate::Report;

/// Licences that ask for no more than keeping a notice.
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

/// Packages under another licence that could not be avoided: name, licence, why it is bearable.
const EXCEPTIONS: &[(&str, &str, &str)] = &[(
    "webpki-root-certs",
    "CDLA-Permissive-2.0",
    "a list of authorities, which asks for no more than its notice, and which a dependency of reqwest \
     uses on WebAssembly alone: it is in no binary of ours",
)];

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    version: String,
    /// Where it comes from; `None` for our own.
    source: Option<String>,
    license: Option<String>,
}

/// Checks the dependencies of the workspace at `root`, without the network.
pub(crate) fn check(root: &Path) -> anyhow::Result<Report> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("cannot run cargo metadata")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            "cargo metadata failed; cargo fetch may help: {}",
            said.trim()
        );
    }
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("cannot read what cargo metadata said")?;
    Ok(judge(&metadata))
}

fn judge(metadata: &Metadata) -> Report {
    let foreign: Vec<&Package> = metadata
        .packages
        .iter()
        .filter(|package| package.source.is_some())
        .collect();
    let mut broken: Vec<String> = foreign
        .iter()
        .filter_map(|package| complaint(package))
        .collect();
    broken.sort();
    Report {
        looked_at: format!("{} dependencies, every licence permissive", foreign.len()),
        broken,
    }
}

fn complaint(package: &Package) -> Option<String> {
    let Package { name, version, .. } = package;
    let Some(stated) = &package.license else {
        return Some(format!("{name} {version} states no licence"));
    };
    let borne = |(known, licence, _): &(&str, &str, &str)| known == name && licence == stated;
    if is_permissive(stated) || EXCEPTIONS.iter().any(borne) {
        return None;
    }
    Some(format!(
        "{name} {version} is under {stated}; avoid it, or add it to EXCEPTIONS in \
         xtask/src/licences.rs with the reason"
    ))
}

/// Whether what an SPDX expression allows includes a choice that is permissive throughout.
fn is_permissive(expression: &str) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let permissive = any_of(&mut words);
    permissive && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(words: &mut Words<'_>) -> bool {
    let mut permissive = all_of(words);
    while words.next_if_eq(&"OR").is_some() {
        permissive |= all_of(words);
    }
    permissive
}

fn all_of(words: &mut Words<'_>) -> bool {
    let mut permissive = one(words);
    while words.next_if_eq(&"AND").is_some() {
        permissive &= one(words);
    }
    permissive
}

fn one(words: &mut Words<'_>) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let permissive = any_of(words);
        return words.next() == Some(")") && permissive;
    }
    let Some(licence) = words.next() else {
        return false;
    };
    if words.next_if_eq(&"WITH").is_none() {
        return PERMISSIVE.contains(&licence);
    }
    let exception = words.next().unwrap_or_default();
    PERMISSIVE.contains(&format!("{licence} WITH {exception}").as_str())
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
    fn a_package_that_states_nothing_is_named() {
        let package = |name: &str, license: Option<&str>, source: Option<&str>| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            source: source.map(str::to_owned),
            license: license.map(str::to_owned),
        };
        let report = judge(&Metadata {
            packages: vec![
                package("ours", None, None),
                package("fine", Some("MIT"), Some("registry")),
                package("mute", None, Some("registry")),
            ],
        });
        assert_eq!(report.broken, ["mute 1.0.0 states no licence"]);
        assert_eq!(report.looked_at, "2 dependencies, every licence permissive");
    }
}
