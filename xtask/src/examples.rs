//! Whether the library shows how each of its items is used.
//!
//! What is looked at: working memory, the seams of models and clocks, and the crate `daybook`. A public type,
//! trait or function needs an example in its own docs. A method needs one too, unless an example at its type
//! or at another of its methods calls it. Fields, variants, constants and the methods of traits are shown by
//! the example of what they belong to. Only examples that run or compile count.
//!
//! It also counts the lines of the agent in the docs of `daybook`.
//!
//! Not here: whether an example is right. The tests run them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::Report;

/// Whose items are shown.
const SHOWN: &[&str] = &[
    "crates/daybook/src",
    "crates/domain/src/model.rs",
    "crates/domain/src/time.rs",
    "crates/domain/src/working",
    "crates/engine/src/working",
];
/// Where the agent is, below which heading.
const AGENT: (&str, &str) = ("crates/daybook/src/lib.rs", "//! # A complete agent");
/// The agent has fewer lines.
const AGENT_LINES: usize = 40;
/// What begins or ends an example that is compiled.
const FENCES: &[&str] = &["```", "```no_run", "```rust"];

/// Checks the workspace at `root`.
pub(crate) fn check(root: &Path) -> anyhow::Result<Report> {
    let mut broken = Vec::new();
    let mut items = 0;
    for place in SHOWN {
        let mut found = Vec::new();
        for file in rust_files(&root.join(place))? {
            let name = file
                .strip_prefix(root)
                .unwrap_or(&file)
                .display()
                .to_string();
            found.extend(scan(&name.replace('\\', "/"), &text(&file)?));
        }
        items += found.len();
        broken.extend(not_shown(&found));
    }
    let (file, heading) = AGENT;
    let lines = lines_below(&text(&root.join(file))?, heading);
    if !(1..AGENT_LINES).contains(&lines) {
        broken.push(format!(
            "{file}: the agent has {lines} lines; it must have at least one and fewer than {AGENT_LINES}"
        ));
    }
    Ok(Report {
        looked_at: format!("{items} items, each with an example; the agent has {lines} lines"),
        broken,
    })
}

/// A public item.
#[derive(Debug, PartialEq, Eq)]
struct Item {
    /// File and line.
    place: String,
    name: String,
    /// Its type, for methods.
    of: Option<String>,
    /// The examples in its docs; empty without any.
    example: String,
}

fn not_shown(items: &[Item]) -> Vec<String> {
    let is_called = |item: &Item| {
        let (dot, path) = (format!(".{}(", item.name), format!("::{}(", item.name));
        items
            .iter()
            .filter(|other| {
                item.of.is_some() && (other.of == item.of || Some(&other.name) == item.of.as_ref())
            })
            .any(|other| other.example.contains(&dot) || other.example.contains(&path))
    };
    let missing = items
        .iter()
        .filter(|item| item.example.is_empty() && !is_called(item));
    missing
        .map(|item| {
            let owner = item
                .of
                .as_ref()
                .map(|of| format!("{of}::"))
                .unwrap_or_default();
            format!(
                "{}: {owner}{} has no example in its docs",
                item.place, item.name
            )
        })
        .collect()
}

/// The public items of one file.
fn scan(file: &str, source: &str) -> Vec<Item> {
    let (mut items, mut docs, mut of) = (Vec::new(), Vec::new(), None);
    let mut open_attribute = false;
    for (number, line) in source.lines().enumerate() {
        let bare = line.trim();
        if line == "#[cfg(test)]" {
            break;
        }
        if let Some(doc) = bare.strip_prefix("///") {
            docs.push(doc.strip_prefix(' ').unwrap_or(doc));
            continue;
        }
        if bare.starts_with("#[") || open_attribute {
            open_attribute = !bare.ends_with(']');
            continue;
        }
        if bare.starts_with("impl") {
            of = implemented(bare);
        } else if line.starts_with("pub ") {
            of = None;
        }
        if let Some(name) = public_name(bare) {
            items.push(Item {
                place: format!("{file}:{}", number + 1),
                of: of
                    .clone()
                    .filter(|_| line.starts_with(' ') && is_function(bare)),
                example: examples(&docs),
                name,
            });
        }
        docs.clear();
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

fn is_function(line: &str) -> bool {
    line.split('(')
        .next()
        .is_some_and(|before| before.contains("fn "))
}

/// The name of what a line begins to define for everybody.
fn public_name(line: &str) -> Option<String> {
    let mut rest = line.strip_prefix("pub ")?;
    for qualifier in ["const ", "async ", "unsafe "] {
        let is_function = |rest: &&str| rest.contains("fn ");
        rest = rest
            .strip_prefix(qualifier)
            .filter(is_function)
            .unwrap_or(rest);
    }
    let name = ["fn ", "struct ", "enum ", "trait ", "type "]
        .into_iter()
        .find_map(|kind| rest.strip_prefix(kind))?;
    Some(word(name)).filter(|name| !name.is_empty())
}

fn word(text: &str) -> String {
    let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
    text.chars().take_while(is_word).collect()
}

/// The code of the examples in docs.
fn examples(docs: &[&str]) -> String {
    let (mut code, mut fence) = (String::new(), None);
    for line in docs {
        match fence {
            None if line.starts_with("```") => fence = Some(FENCES.contains(line)),
            Some(_) if *line == "```" => fence = None,
            Some(true) => {
                code.push_str(line);
                code.push('\n');
            }
            _ => {}
        }
    }
    code
}

/// How many lines readers see of the first example below a heading of a crate's docs.
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

/// Rust files at or below `place`, without those of tests.
fn rust_files(place: &Path) -> anyhow::Result<Vec<PathBuf>> {
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
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            found.extend(rust_files(&path)?);
        } else if name.ends_with(".rs") && name != "tests.rs" && !name.ends_with("_tests.rs") {
            found.push(path);
        }
    }
    Ok(found)
}

fn text(file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let missing = not_shown(&scan("a.rs", source));
        assert_eq!(missing, expected);
    }

    #[test]
    fn an_item_without_an_example_is_named() {
        check(
            "/// One.\npub struct One;\n",
            &["a.rs:2: One has no example in its docs"],
        );
        check(
            "/// One.\n///\n/// ```\n/// let _ = One;\n/// ```\npub struct One;\n",
            &[],
        );
        check("pub(crate) struct One;\nfn two() {}\n", &[]);
        check(
            "/// Two.\n///\n/// ```text\n/// two\n/// ```\n#[must_use]\npub const fn two() {}\n",
            &["a.rs:7: two has no example in its docs"],
        );
    }

    #[test]
    fn a_method_may_be_shown_by_its_type() {
        let one = "/// ```\n/// One.new().go();\n/// ```\npub struct One;\nimpl One {\n    /// Goes.\n    pub async fn go(&self) {}\n}\n";
        check(one, &[]);
        let other = "impl Other {\n    pub fn go(&self) {}\n}\n";
        check(
            &format!("{one}{other}"),
            &["a.rs:10: Other::go has no example in its docs"],
        );
    }

    #[test]
    fn the_methods_of_traits_and_tests_are_let_off() {
        check(
            "impl Clone for One {\n    fn clone(&self) -> Self {}\n}\n#[cfg(test)]\nmod tests {\n    pub struct Two;\n}\n",
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
