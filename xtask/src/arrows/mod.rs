//! Whether crates, stages and modules use only what they may (ARCHITECTURE.md, "Crates").
//!
//! The tables in [`rules`] list what is allowed. [`manifest`] reads `Cargo.toml` files, [`source`] and [`tokens`] read
//! Rust files, [`modules`] gives each module its floor, [`stages`] knows the engine's pipeline. Each finding names the place, the arrow and the reason of the rule. Code that only tests compile is
//! exempt.
//!
//! Not here: calls of clocks, of the environment and of processes, which `clippy.toml` disallows.

mod manifest;
mod modules;
mod rules;
mod source;
mod stages;
mod tokens;

#[cfg(test)]
mod arrows_tests;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::CheckReport;
use modules::Modules;
use rules::CRATES;
use source::Source;

/// Crates that nothing else uses. Their modules have floors, too.
const TOOLS: [&str; 2] = ["bench", "xtask"];

/// Checks the workspace at `root`.
pub(crate) fn check(root: &Path) -> anyhow::Result<CheckReport> {
    let mut broken = Vec::new();
    let mut module_count = 0;
    let mut files = 0;
    let folders = folders(&root.join("crates"))?;
    for folder in &folders {
        let name = file_name(folder);
        let Some(rule) = CRATES.iter().find(|rule| rule.name == name) else {
            broken.push(format!(
                "crates/{name}: not in the table of crates; add it to \
                 xtask/src/arrows/rules.rs and ARCHITECTURE.md"
            ));
            continue;
        };
        broken.extend(manifest::check(root, folder, rule)?);
        let sources = sources(root, folder)?;
        files += sources.len();
        for source in &sources {
            for ban in rule.banned_names {
                broken.extend(source.findings(ban));
            }
            if rule.name == "engine" {
                broken.extend(stages::check(source));
            }
        }
        let modules = Modules::new(&name, &sources);
        module_count += modules.count();
        broken.extend(modules.findings());
    }
    for name in TOOLS {
        let sources = sources(root, &root.join(name))?;
        files += sources.len();
        let modules = Modules::new(name, &sources);
        module_count += modules.count();
        broken.extend(modules.findings());
    }
    Ok(CheckReport {
        summary: format!(
            "{} crates, {files} files, {module_count} modules on their floors, every arrow allowed",
            folders.len()
        ),
        broken,
    })
}

/// Lists the floors of all modules.
pub(crate) fn floors(root: &Path) -> anyhow::Result<CheckReport> {
    let mut lines = vec!["a module uses only siblings on lower floors".to_owned()];
    for folder in folders(&root.join("crates"))? {
        let modules = Modules::new(&file_name(&folder), &sources(root, &folder)?);
        lines.extend(modules.floors());
    }
    Ok(CheckReport {
        summary: lines.join("\n"),
        broken: Vec::new(),
    })
}

/// The files of the crate in `folder`, without those that only tests see.
fn sources(root: &Path, folder: &Path) -> anyhow::Result<Vec<Source>> {
    let src = folder.join("src");
    let files = rust_files(&src)?;
    let sources = files.iter().map(|file| Source::read(root, &src, file));
    sources.collect()
}

fn folders(under: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = entries(under)?;
    found.retain(|path| path.join("Cargo.toml").is_file());
    Ok(found)
}

/// Rust files below `folder`, without those that only tests see.
fn rust_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut test_only = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() {
            found.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|end| end == "rs") && !is_test_file(&path) {
            test_only.extend(source::test_modules(&path)?);
            found.push(path);
        }
    }
    found.retain(|path| !test_only.iter().any(|test| path.starts_with(test)));
    Ok(found)
}

fn is_test_file(path: &Path) -> bool {
    let name = file_name(path);
    name == "tests.rs" || name.ends_with("_tests.rs")
}

/// What is in a folder, by name; nothing when there is no folder.
fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let reading = || format!("cannot read {}", folder.display());
    let mut found = fs::read_dir(folder)
        .with_context(reading)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()
        .with_context(reading)?;
    found.sort();
    Ok(found)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
