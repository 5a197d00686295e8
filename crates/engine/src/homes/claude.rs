//! Memory of Claude Code: a person's `CLAUDE.md`, and the folders in which the agent keeps memory of each project.
//!
//! A person's file holds rules and facts in Markdown. The agent's `MEMORY.md` lists files, each of which holds one memory
//! behind a head of fields.

use std::path::Path;

use daybook_domain::ObservationKind;
use daybook_text::instruction::is_instruction;

use super::entry::{EntryAuthor, HomeEntry};
use super::head::Head;
use super::markdown::{context, passages};

/// Where the folders of projects lie below Claude Code's own.
const PROJECTS: &str = "projects/";
/// The folder of a project's memory.
const MEMORY: &str = "memory";
/// Words with which rules begin.
const RULES: [&str; 8] = [
    "always ", "never ", "use ", "run ", "do not ", "don't ", "prefer ", "avoid ",
];

/// Whether a file is one that people write for Claude Code.
pub(super) fn is_persons_file(path: &str) -> bool {
    matches!(path, "CLAUDE.md" | "CLAUDE.local.md")
}

/// Whether a file below Claude Code's folder, or below a folder of memory, is one of memory.
pub(super) fn is_memory_file(root: &Path, path: &str) -> bool {
    let of_project = path
        .strip_prefix(PROJECTS)
        .and_then(|rest| rest.split_once('/'));
    let of_project = of_project.is_some_and(|(_, below)| below.starts_with("memory/"));
    path.ends_with(".md") && (of_project || is_persons_file(path) || root.ends_with(MEMORY))
}

/// The folder of the project that a file is about, as far as its path names it.
pub(super) fn folder(root: &Path, path: &str) -> Option<String> {
    if is_persons_file(path) {
        let is_own = root.file_name().is_some_and(|name| name == ".claude");
        return (!is_own).then(|| root.to_string_lossy().into_owned());
    }
    // A folder's name is its project's path with `-` in place of what is no letter or digit.
    let encoded = match path.strip_prefix(PROJECTS) {
        Some(rest) => rest.split('/').next()?.to_owned(),
        None => root.parent()?.file_name()?.to_string_lossy().into_owned(),
    };
    encoded.starts_with('-').then(|| encoded.replace('-', "/"))
}

/// The entries of a file.
pub(super) fn entries(path: &str, text: &str) -> Vec<HomeEntry> {
    match is_persons_file(path) {
        true => persons_entries(text),
        false => agents_entries(text),
    }
}

fn persons_entries(text: &str) -> Vec<HomeEntry> {
    let stated = passages(text, 0).into_iter().filter(|passage| {
        let words = &passage.entry.text;
        // A file that is included states what it holds elsewhere, and a comment nothing.
        !(words.starts_with('@') && !words.contains(' ') || words.starts_with("<!--"))
    });
    let entries = stated.map(|passage| {
        let words = passage.entry.text.to_lowercase();
        let is_rule = RULES.iter().any(|rule| words.starts_with(rule)) || is_instruction(&words);
        HomeEntry {
            kind: match is_rule {
                true => ObservationKind::Preference,
                false => ObservationKind::Fact,
            },
            author: EntryAuthor::Person,
            context: context(&passage, None),
            ..passage.entry
        }
    });
    entries.collect()
}

fn agents_entries(text: &str) -> Vec<HomeEntry> {
    let head = Head::of(text);
    let name = head.field("description").or(head.field("name"));
    let is_feedback = matches!(head.field("type"), Some("feedback" | "user"));
    let stated = passages(text, head.end).into_iter().filter(|passage| {
        // A line of the list of memories points to a file that states it.
        let words = &passage.entry.text;
        !(words.starts_with('[') && words.contains("](") && words.contains(".md)"))
    });
    let entries = stated.map(|passage| HomeEntry {
        kind: match is_feedback {
            true => ObservationKind::Preference,
            false => ObservationKind::Fact,
        },
        context: context(&passage, name),
        ..passage.entry
    });
    entries.collect()
}
