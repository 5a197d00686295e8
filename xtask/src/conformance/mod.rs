//! Whether docs/conformance.md is complete, and whether everything that cites it can be looked up.
//!
//! The page lists, by number, what the systems do that Daybook takes after, and what Daybook does about it. This
//! check fails when a number is missing or stands twice, when a status has another form than the page's head
//! describes, when a named test does not exist, when a test's name or a comment cites a number that the page does
//! not have, when a comment cites a source that readers do not have, and when something is not built that is part of no
//! plan. It prints what each of the five systems has, and how much of it is here.
//!
//! Not here: whether a test shows what its row claims. Reviewers read it.

mod citations;
mod page;
#[cfg(test)]
mod page_tests;
mod systems;
mod test_index;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::CheckReport;
use page::Page;
use test_index::TestIndex;

/// The page, from the root of the workspace.
const PAGE: &str = "docs/conformance.md";
/// Folders whose sources and pages may cite the page.
const FOLDERS: &[&str] = &["bench", "crates", "docs", "xtask/src"];
/// Folders within these that hold nothing written here.
const SKIPPED: &[&str] = &["target", "node_modules", "data", "sample", "snapshots"];
/// Files that hold what is searched for.
const OWN: &[&str] = &["xtask/src/conformance/", PAGE];

/// A source or a page, read.
#[derive(Debug)]
struct SourceFile {
    /// Where it is, relative to the workspace, with `/`.
    place: String,
    text: String,
}

impl SourceFile {
    fn is_rust(&self) -> bool {
        self.place.ends_with(".rs")
    }
}

/// Checks the workspace at `root`.
pub(crate) fn check(root: &Path) -> anyhow::Result<CheckReport> {
    let text =
        fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let mut files = Vec::new();
    for folder in FOLDERS {
        read_folder(root, &root.join(folder), &mut files)?;
    }
    for page in fs::read_dir(root).context("cannot list the workspace")? {
        read_file(root, &page?.path(), &mut files)?;
    }
    files.sort_by(|a, b| a.place.cmp(&b.place));
    let mut report = report(&text, &files);
    let page = page::parse(&text);
    for (number, why) in systems::broken(&page) {
        let line = page.rows[&number].line;
        report
            .broken
            .push(format!("{PAGE}:{line}: {number}: {why}"));
    }
    Ok(report)
}

fn report(text: &str, files: &[SourceFile]) -> CheckReport {
    let is_own = |file: &&SourceFile| OWN.iter().any(|own| file.place.starts_with(own));
    let others = || files.iter().filter(|file| !is_own(file));
    let page = page::parse(text);
    let tests = TestIndex::of(others());
    let mut broken: Vec<String> = (page.broken.iter())
        .map(|(line, why)| format!("{PAGE}:{line}: {why}"))
        .collect();
    broken.extend(unknown_tests(&page, &tests));
    broken.extend(others().flat_map(|file| citations::unresolved(file, &page)));
    broken.extend(citations::missing_in_rows(&page, &tests));
    CheckReport {
        summary: systems::summary(&page),
        broken,
    }
}

fn unknown_tests(page: &Page, tests: &TestIndex) -> Vec<String> {
    let mut broken = Vec::new();
    for (number, row) in &page.rows {
        for name in &row.tests {
            let why = match tests.matches(name) {
                0 => "no test has that name",
                1 => continue,
                _ => {
                    "several tests have that name; write a module's name before it, as in `module::name`"
                }
            };
            broken.push(format!("{PAGE}:{}: {number}: `{name}`: {why}", row.line));
        }
    }
    broken
}

fn read_folder(root: &Path, folder: &Path, files: &mut Vec<SourceFile>) -> anyhow::Result<()> {
    let listed =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in listed {
        let entry = entry?;
        let path = entry.path();
        let name = entry.file_name();
        if !entry.file_type()?.is_dir() {
            read_file(root, &path, files)?;
        } else if !SKIPPED.iter().any(|skipped| name == *skipped) {
            read_folder(root, &path, files)?;
        }
    }
    Ok(())
}

/// Reads a Rust source or a Markdown page; passes over everything else.
fn read_file(root: &Path, path: &PathBuf, files: &mut Vec<SourceFile>) -> anyhow::Result<()> {
    let is_read = path.extension().is_some_and(|it| it == "rs" || it == "md");
    if !is_read || !path.is_file() {
        return Ok(());
    }
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let place = path.strip_prefix(root).unwrap_or(path).display();
    files.push(SourceFile {
        place: place.to_string().replace('\\', "/"),
        text,
    });
    Ok(())
}
