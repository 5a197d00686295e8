//! Checks that the library's examples show each item with behaviour.
//!
//! Checked are working memory, the seams of models and clocks, and the crate `daybook`. Each public trait, each public
//! function and each public type with public methods must occur in the visible lines of an example, wherever that
//! example is. Plain data, single methods, variants and constants need no example. Only examples that run or compile
//! count.
//!
//! It also counts the lines of the complete agent in the docs of `daybook`.
//!
//! Not here: whether an example is right. The tests run them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::CheckReport;

/// Folders and files whose items are checked.
const SHOWN: &[&str] = &[
    "crates/daybook/src",
    "crates/domain/src/model.rs",
    "crates/domain/src/time.rs",
    "crates/domain/src/working",
    "crates/working/src",
];
/// The file of the complete agent, and the heading above it.
const AGENT: (&str, &str) = ("crates/daybook/src/lib.rs", "//! # A complete agent");
/// The agent must have fewer lines.
const AGENT_LINES: usize = 40;
/// Fences of examples that are compiled.
const FENCES: &[&str] = &["```", "```no_run", "```rust"];

/// Checks the workspace at `root`.
pub(crate) fn check(root: &Path) -> anyhow::Result<CheckReport> {
    let mut files = Vec::new();
    for place in SHOWN {
        for file in rust_files(&root.join(place))? {
            if is_test_file(&file) {
                continue;
            }
            let name = file.strip_prefix(root).unwrap_or(&file).display();
            files.push((name.to_string().replace('\\', "/"), text(&file)?));
        }
    }
    let (items, mut broken) = not_shown(&files);
    let (file, heading) = AGENT;
    let lines = lines_below(&text(&root.join(file))?, heading);
    if !(1..AGENT_LINES).contains(&lines) {
        broken.push(format!(
            "{file}: the agent has {lines} lines; it must have at least one and fewer than {AGENT_LINES}"
        ));
    }
    Ok(CheckReport {
        summary: format!("{items} items, each in an example; the agent has {lines} lines"),
        broken,
    })
}

/// A public item.
#[derive(Debug, PartialEq, Eq)]
struct Item {
    /// File and line.
    place: String,
    name: String,
    kind: ItemKind,
}

#[derive(Debug, PartialEq, Eq)]
enum ItemKind {
    Trait,
    Function,
    Type,
    /// A method of the named type.
    MethodOf(String),
}

/// The number of items that an example must show, and a finding for each one that none shows.
fn not_shown(files: &[(String, String)]) -> (usize, Vec<String>) {
    let items: Vec<Item> = files
        .iter()
        .flat_map(|(file, text)| scan(file, text))
        .collect();
    let examples: String = files
        .iter()
        .map(|(_, text)| visible_examples(text))
        .collect();
    let shown: BTreeSet<&str> = examples.split(|c: char| !is_word(c)).collect();
    let has_methods = |item: &Item| {
        items.iter().any(|other| match &other.kind {
            ItemKind::MethodOf(owner) => *owner == item.name,
            ItemKind::Trait | ItemKind::Function | ItemKind::Type => false,
        })
    };
    let required = |item: &&Item| match &item.kind {
        ItemKind::Trait | ItemKind::Function => true,
        ItemKind::Type => has_methods(item),
        ItemKind::MethodOf(_) => false,
    };
    let required: Vec<&Item> = items.iter().filter(required).collect();
    let missing = required.iter().filter(|item| !shown.contains(&*item.name));
    let missing = missing.map(|item| format!("{}: no example uses {}", item.place, item.name));
    (required.len(), missing.collect())
}

/// The public items of one file.
fn scan(file: &str, source: &str) -> Vec<Item> {
    let (mut items, mut owner) = (Vec::new(), None);
    for (number, line) in source.lines().enumerate() {
        let bare = line.trim();
        if line == "#[cfg(test)]" {
            break;
        }
        if bare.starts_with("impl") {
            owner = implemented(bare);
        } else if line.starts_with("pub ") {
            owner = None;
        }
        if let Some((name, kind)) = public_item(bare) {
            let kind = match (&owner, kind) {
                (Some(owner), ItemKind::Function) if line.starts_with(' ') => {
                    ItemKind::MethodOf(owner.clone())
                }
                (_, kind) => kind,
            };
            items.push(Item {
                place: format!("{file}:{}", number + 1),
                name,
                kind,
            });
        }
    }
    items
}

/// The type of `impl Type {` or `impl<T> Type<T> {`; none for a trait's methods.
fn implemented(line: &str) -> Option<String> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(generic) => generic.split_once("> ")?.1,
        None => rest.trim_start(),
    };
    (!rest.contains(" for ")).then(|| word(rest))
}

/// The name and kind of the public item that a line begins to define.
fn public_item(line: &str) -> Option<(String, ItemKind)> {
    let mut rest = line.strip_prefix("pub ")?;
    for qualifier in ["const ", "async ", "unsafe "] {
        let is_function = |rest: &&str| rest.contains("fn ");
        rest = rest
            .strip_prefix(qualifier)
            .filter(is_function)
            .unwrap_or(rest);
    }
    let (keyword, name) = rest.split_once(' ')?;
    let kind = match keyword {
        "fn" => ItemKind::Function,
        "trait" => ItemKind::Trait,
        "struct" | "enum" | "type" => ItemKind::Type,
        _ => return None,
    };
    let name = word(name);
    (!name.is_empty()).then_some((name, kind))
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| is_word(*c)).collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The lines of a file's compiled examples that readers see.
fn visible_examples(source: &str) -> String {
    let (mut code, mut is_compiled) = (String::new(), None);
    for line in source.lines().map(str::trim) {
        let doc = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"));
        // A shared preamble of hidden lines is part of the example around it.
        if line.starts_with("#[doc = include_str!") {
            continue;
        }
        let Some(doc) = doc.map(str::trim) else {
            is_compiled = None;
            continue;
        };
        match is_compiled {
            None if doc.starts_with("```") => is_compiled = Some(FENCES.contains(&doc)),
            Some(_) if doc == "```" => is_compiled = None,
            Some(true) if doc != "#" && !doc.starts_with("# ") => {
                code.push_str(doc);
                code.push('\n');
            }
            None | Some(_) => {}
        }
    }
    code
}

/// Counts the visible lines of the first example below a heading of a crate's docs.
fn lines_below(source: &str, heading: &str) -> usize {
    let docs = source.lines().skip_while(|line| *line != heading);
    let example = docs.skip_while(|line| *line != "//! ```").skip(1);
    let shown = example
        .take_while(|line| *line != "//! ```")
        .map(|line| line.trim_start_matches("//!").trim());
    shown
        .filter(|line| !line.starts_with("# ") && *line != "#")
        .count()
}

/// Rust files at or below `place`.
pub(crate) fn rust_files(place: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if place.is_file() {
        return Ok(vec![place.to_owned()]);
    }
    let reading = || format!("cannot read {}", place.display());
    let mut found = Vec::new();
    let mut entries = fs::read_dir(place)
        .with_context(reading)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()
        .with_context(reading)?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}

fn is_test_file(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name == "tests.rs" || name.ends_with("_tests.rs")
}

fn text(file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let files = [("a.rs".to_owned(), source.to_owned())];
        assert_eq!(not_shown(&files).1, expected);
    }

    #[test]
    fn a_function_or_trait_without_an_example_is_named() {
        check(
            "/// One.\npub fn one() {}\n",
            &["a.rs:2: no example uses one"],
        );
        check(
            "/// One.\n///\n/// ```\n/// one();\n/// ```\npub fn one() {}\n",
            &[],
        );
        check(
            "pub trait One {\n    fn go(&self);\n}\n",
            &["a.rs:1: no example uses One"],
        );
        check("pub(crate) fn one() {}\nfn two() {}\n", &[]);
        check(
            "/// Two.\n///\n/// ```text\n/// two\n/// ```\n#[must_use]\npub const fn two() {}\n",
            &["a.rs:7: no example uses two"],
        );
        check(
            "/// ```\n/// # two();\n/// ```\npub fn two() {}\n",
            &["a.rs:4: no example uses two"],
        );
    }

    #[test]
    fn an_example_may_begin_with_a_shared_preamble() {
        check(
            "/// ```\n#[doc = include_str!(\"a.txt\")]\n/// one();\n/// ```\npub fn one() {}\n",
            &[],
        );
    }

    #[test]
    fn a_type_needs_an_example_for_its_methods_alone() {
        let methods = "impl One {\n    /// Goes.\n    pub async fn go(&self) {}\n}\n";
        check("pub struct One;\n", &[]);
        check(
            &format!("pub struct One;\n{methods}"),
            &["a.rs:1: no example uses One"],
        );
        let elsewhere = "/// ```\n/// One.go();\n/// ```\npub struct Two;\n";
        check(&format!("pub struct One;\n{methods}{elsewhere}"), &[]);
    }

    #[test]
    fn the_methods_of_traits_and_tests_are_exempt() {
        check(
            "pub struct One;\nimpl Clone for One {\n    fn clone(&self) -> Self {}\n}\n#[cfg(test)]\nmod tests {\n    pub fn two() {}\n}\n",
            &[],
        );
    }

    #[test]
    fn hidden_lines_do_not_count() {
        let docs = "//! # Agent\n//!\n//! ```\n//! # use a;\n//! let b = 1;\n//!     # hidden();\n//! #\n//!\n//! #[test]\n//! ```\n//! more\n";
        assert_eq!(lines_below(docs, "//! # Agent"), 3);
        assert_eq!(lines_below(docs, "//! # Other"), 0);
    }

    #[test]
    fn every_item_of_the_library_is_shown() {
        let report = super::check(&crate::root()).expect("it can be read");
        assert_eq!(report.broken, [""; 0]);
    }
}
