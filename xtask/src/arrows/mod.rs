//! Whether crates and stages use only what they may (ARCHITECTURE.md, "Crates").
//!
//! The tables in [`rules`] say what is allowed; [`manifest`] reads `Cargo.toml` files, [`source`]
//! and [`uses`] read Rust files, and every finding names the place, the arrow and the reason why
//! it may not be there. Code that only tests see is free: a test may stand anywhere.
//!
//! Not here: what a rule is good for. Each rule says that itself.

mod manifest;
mod rules;
mod source;
mod stages;
mod uses;

#[cfg(test)]
mod arrows_tests;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::Report;
use rules::{CRATES, EVERYWHERE};
use source::Source;

/// Checks the workspace at `root`.
pub(crate) fn check(root: &Path) -> anyhow::Result<Report> {
    let mut broken = Vec::new();
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
        for file in rust_files(&folder.join("src"))? {
            files += 1;
            let source = Source::read(root, &folder.join("src"), &file)?;
            for banned in rule.banned_text.iter().chain(EVERYWHERE) {
                let let_off = |place: &&str| *place == rule.name || file.ends_with(place);
                if !banned.but_not_in.iter().any(let_off) {
                    broken.extend(source.findings(banned));
                }
            }
            if rule.name == "engine" {
                broken.extend(stages::check(&source));
            }
        }
    }
    Ok(Report {
        looked_at: format!(
            "{} crates, {files} files, every arrow allowed",
            folders.len()
        ),
        broken,
    })
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
