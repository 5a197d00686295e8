//! Checks the dependencies in a crate's `Cargo.toml`.
//!
//! Tests may use every crate of ours, so `dev-dependencies` are exempt. Dependencies of build scripts and of single
//! platforms count like ordinary ones.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use toml::{Table, Value};

use super::rules::{CRATES, CrateRule, LIBRARY_PACKAGES};

/// Findings in the manifest of the crate in `folder`, in the workspace at `root`.
pub(super) fn check(root: &Path, folder: &Path, rule: &CrateRule) -> anyhow::Result<Vec<String>> {
    let workspace = read(root)?;
    let manifest = read(folder)?;
    let place = format!("crates/{}/Cargo.toml", rule.name);
    let mut broken = Vec::new();
    let named = manifest
        .get("package")
        .and_then(|package| package.get("name"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    if named != rule.package() {
        broken.push(format!(
            "{place}: the package is called {named:?}, not {:?}",
            rule.package()
        ));
    }
    for package in dependencies(&manifest, &workspace) {
        broken.extend(forbidden_arrow(&place, rule, &package));
    }
    Ok(broken)
}

fn read(folder: &Path) -> anyhow::Result<Table> {
    let path = folder.join("Cargo.toml");
    let reading = || format!("cannot read {}", path.display());
    fs::read_to_string(&path)
        .with_context(reading)?
        .parse()
        .with_context(reading)
}

fn forbidden_arrow(place: &str, rule: &CrateRule, package: &str) -> Option<String> {
    let finding = |reason: &str| {
        Some(format!(
            "{place}: {} may not depend on {package}: {reason}",
            rule.name
        ))
    };
    if let Some(ours) = CRATES.iter().find(|other| other.package() == package) {
        return match ours.name {
            name if rule.may_use.contains(&name) => None,
            "testkit" => finding("testkit is for tests; make it a dev-dependency"),
            _ if rule.may_use.is_empty() => finding("it uses nothing of ours"),
            _ => finding(&format!("of ours, it uses {}", rule.may_use.join(", "))),
        };
    }
    let host_only = LIBRARY_PACKAGES
        .iter()
        .filter(|ban| !ban.allowed_in.contains(&rule.name));
    let ban = rule
        .banned_packages
        .iter()
        .chain(host_only)
        .find(|ban| ban.item == package)?;
    finding(ban.reason)
}

/// Names of the packages that a manifest depends on outside tests, without repeats.
fn dependencies(manifest: &Table, workspace: &Table) -> Vec<String> {
    let shared = workspace
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"));
    let mut sections: Vec<&Table> = sections_of(manifest);
    let targets = manifest.get("target").and_then(Value::as_table);
    for target in targets.into_iter().flat_map(Table::values) {
        sections.extend(target.as_table().map(sections_of).unwrap_or_default());
    }
    let mut names: Vec<String> = sections
        .into_iter()
        .flatten()
        .map(|(key, value)| package_of(key, value, shared))
        .collect();
    names.sort();
    names.dedup();
    names
}

fn sections_of(table: &Table) -> Vec<&Table> {
    ["dependencies", "build-dependencies"]
        .iter()
        .filter_map(|section| table.get(*section)?.as_table())
        .collect()
}

/// The package of a dependency. It may be renamed, here or in the workspace; then `package` holds its real name.
fn package_of(key: &str, value: &Value, shared: Option<&Value>) -> String {
    let real = |value: &Value| Some(value.get("package")?.as_str()?.to_owned());
    let inherited = || real(shared?.get(key)?);
    real(value)
        .or_else(inherited)
        .unwrap_or_else(|| key.to_owned())
}
