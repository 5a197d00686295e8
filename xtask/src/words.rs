//! Checks that comments name a subject: the store, the worker, the caller.
//!
//! A comment with a pronoun for a subject leaves the reader to find out which part of the code it means, and a verb of
//! speech hides a call or a return value. [`VAGUE`] lists the words that did so.
//!
//! Not here: names of items, and messages to people.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::CheckReport;
use crate::examples::rust_files;

/// Folders whose comments are checked.
const FOLDERS: &[&str] = &["bench", "crates", "xtask"];
/// Words that stand for a subject or an action that the comment does not name.
const VAGUE: &[&str] = &[
    "anybody", "nobody", "said", "somebody", "tells of", "told", "whoever",
];

/// Checks the workspace at `root`.
pub(crate) fn check(root: &Path) -> anyhow::Result<CheckReport> {
    let (mut lines, mut broken) = (0, Vec::new());
    for folder in FOLDERS {
        for file in rust_files(&root.join(folder))? {
            let name = file.strip_prefix(root).unwrap_or(&file).display();
            let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            for (number, comment) in comments(&text) {
                lines += 1;
                if let Some(word) = vague_word(comment) {
                    broken.push(format!("{name}:{number}: \"{word}\" names no subject"));
                }
            }
        }
    }
    Ok(CheckReport {
        summary: format!("{lines} lines of comment, and each names what it is about"),
        broken,
    })
}

/// Lines that are comments alone, counted from 1.
fn comments(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().map(str::trim_start).zip(1..);
    lines
        .filter(|(line, _)| line.starts_with("//"))
        .map(|(line, number)| (number, line))
}

/// The first vague word of a comment, examples' strings and code in backticks left out.
fn vague_word(comment: &str) -> Option<&'static str> {
    let prose: String = comment
        .split(['`', '"'])
        .step_by(2)
        .collect::<Vec<_>>()
        .join(" ");
    let words: Vec<&str> = prose
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    let padded = format!(" {} ", words.join(" ").to_lowercase());
    VAGUE
        .iter()
        .copied()
        .find(|word| padded.contains(&format!(" {word} ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_that_names_no_subject_is_found() {
        let text = "let said = 1;\n    /// Whoever waits.\n// The worker waits.\n";
        let found: Vec<_> = comments(text)
            .map(|(number, comment)| (number, vague_word(comment)))
            .collect();
        assert_eq!(found, [(2, Some("whoever")), (3, None)]);
    }

    #[test]
    fn code_and_quotations_are_not_prose() {
        assert_eq!(vague_word("/// Reads \"she said so\" by `told`."), None);
        assert_eq!(vague_word("/// What is told_by a name."), None);
        assert_eq!(
            vague_word("/// A hook tells of an event."),
            Some("tells of")
        );
    }
}
