//! Compares two states of a memory folder, line by line, as a person reads them.
//!
//! Markers and blank lines do not count: a line that only got another marker has not changed.
//!
//! Not here: finding the states (`states`), rendering the result.

use std::collections::{BTreeMap, BTreeSet};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::entry::without_marker;
use super::error::FilesError;
use super::folder::Folder;
use super::history::{BlobId, CommitHash};
use super::path::FilePath;

/// The difference of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// The file.
    pub path: FilePath,
    /// Whether it exists in the first state, and in the second.
    pub exists: (bool, bool),
    /// The removed and added lines, in the order of the file.
    pub lines: Vec<DiffLine>,
}

/// A line that only one of two states has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// Whether the second state has it; otherwise the first.
    pub is_added: bool,
    /// The `##` heading above it, without `##`; empty above the first.
    pub section: String,
    /// The line, without its marker.
    pub text: String,
}

impl Folder {
    /// The files that differ between two states, by path; `None` is the state without files.
    ///
    /// # Errors
    /// [`FilesError::NoSuchCommit`]; otherwise if the history is damaged.
    pub fn diff(
        &self,
        from: Option<CommitHash>,
        to: Option<CommitHash>,
    ) -> Result<Vec<FileDiff>, FilesError> {
        let files = |commit: Option<CommitHash>| -> Result<BTreeMap<FilePath, BlobId>, FilesError> {
            commit.map_or(Ok(BTreeMap::new()), |commit| self.files_at(commit))
        };
        let (before, after) = (files(from)?, files(to)?);
        let text = |commit: Option<CommitHash>, path: &FilePath| -> Result<String, FilesError> {
            let bytes = match commit {
                Some(commit) => self.read_at(commit, path)?.unwrap_or_default(),
                None => Vec::new(),
            };
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let paths: BTreeSet<&FilePath> = before.keys().chain(after.keys()).collect();
        let mut diffs = Vec::new();
        for path in paths {
            if before.get(path) == after.get(path) {
                continue;
            }
            diffs.push(FileDiff {
                path: path.clone(),
                exists: (before.contains_key(path), after.contains_key(path)),
                lines: compare(&text(from, path)?, &text(to, path)?),
            });
        }
        Ok(diffs)
    }
}

/// The lines that only one of two texts has.
#[must_use]
pub fn compare(before: &str, after: &str) -> Vec<DiffLine> {
    let (before, after) = (SectionedLines::of(before), SectionedLines::of(after));
    let mut lines = Vec::new();
    for operation in capture_diff_slices(Algorithm::Patience, &before.texts, &after.texts) {
        if matches!(operation, DiffOp::Equal { .. }) {
            continue;
        }
        lines.extend(operation.old_range().map(|n| before.line(n, false)));
        lines.extend(operation.new_range().map(|n| after.line(n, true)));
    }
    lines
}

/// The lines of a text that are not blank, without markers, each with its section.
#[derive(Default)]
struct SectionedLines<'a> {
    texts: Vec<&'a str>,
    sections: Vec<&'a str>,
}

impl<'a> SectionedLines<'a> {
    fn of(text: &'a str) -> Self {
        let mut lines = Self::default();
        let mut section = "";
        for line in text.lines().map(|line| without_marker(line).trim_end()) {
            if let Some(title) = line.strip_prefix("## ") {
                section = title.trim();
            }
            if !line.is_empty() {
                lines.texts.push(line);
                lines.sections.push(section);
            }
        }
        lines
    }

    fn line(&self, n: usize, is_added: bool) -> DiffLine {
        DiffLine {
            is_added,
            section: self.sections[n].to_owned(),
            text: self.texts[n].to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, expected: &[&str]) {
        let shown: Vec<String> = compare(before, after)
            .iter()
            .map(|line| {
                let sign = if line.is_added { '+' } else { '-' };
                format!("{sign}{}|{}", line.section, line.text)
            })
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_line_that_only_got_another_marker_or_another_place_among_blanks_has_not_changed() {
        check(
            "# Tides ^abcdefghij\n\n- test first ^abcdefghij\n",
            "# Tides\n- test first ^abcdefghik\n\n\n",
            &[],
        );
    }

    #[test]
    fn removed_and_added_lines_come_with_the_section_that_they_stand_in() {
        check(
            "## Rules\n- test first ^abcdefghij\n## Decisions\n- cache: 20\n",
            "## Rules\n- test first ^abcdefghij\n- größer\n## Decisions\n- cache: 50\n",
            &[
                "+Rules|- größer",
                "-Decisions|- cache: 20",
                "+Decisions|- cache: 50",
            ],
        );
        check("", "mine\n", &["+|mine"]);
        check("## Rules\nmine\n", "", &["-Rules|## Rules", "-Rules|mine"]);
    }
}
