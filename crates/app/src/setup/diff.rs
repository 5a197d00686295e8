//! A line diff of two texts, with two lines of context.

use std::fmt::Write as _;

use similar::ChangeTag;

/// Lines of context around a change.
const AROUND: usize = 2;

/// Longest line that is shown completely.
const WIDEST: usize = 160;

/// One line of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffLine<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
    /// Unchanged lines that are not shown.
    Skipped,
}

/// The lines of a diff from `old` to `new`.
pub(crate) fn diff_lines<'a>(old: &'a str, new: &'a str) -> Vec<DiffLine<'a>> {
    let all = compared(
        &old.lines().collect::<Vec<_>>(),
        &new.lines().collect::<Vec<_>>(),
    );
    let near = |at: usize| {
        let around = at.saturating_sub(AROUND)..(at + AROUND + 1).min(all.len());
        all[around]
            .iter()
            .any(|line| !matches!(line, DiffLine::Same(_)))
    };
    let mut shown = Vec::new();
    for (at, line) in all.iter().enumerate() {
        if near(at) {
            shown.push(*line);
        } else if shown.last() != Some(&DiffLine::Skipped) {
            shown.push(DiffLine::Skipped);
        }
    }
    shown
}

/// The diff as plain text, with `+` before added and `-` before removed lines.
pub(crate) fn diff_text(lines: &[DiffLine<'_>]) -> String {
    let mut out = String::new();
    for line in lines {
        let _ = match line {
            DiffLine::Same(line) => writeln!(out, "    {}", cut(line)),
            DiffLine::Gone(line) => writeln!(out, "  - {}", cut(line)),
            DiffLine::New(line) => writeln!(out, "  + {}", cut(line)),
            DiffLine::Skipped => writeln!(out, "    …"),
        };
    }
    out
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.trim_end_matches('\r').to_owned(),
    }
}

/// Each line of both texts once, in order: what is the same, and what one of them alone has.
fn compared<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<DiffLine<'a>> {
    let ops = similar::capture_diff_slices(similar::Algorithm::Myers, old, new);
    let changes = ops.iter().flat_map(|op| op.iter_changes(old, new));
    changes
        .map(|change| match change.tag() {
            ChangeTag::Equal => DiffLine::Same(change.value()),
            ChangeTag::Delete => DiffLine::Gone(change.value()),
            ChangeTag::Insert => DiffLine::New(change.value()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_what_is_around_it() {
        let old = "a\nb\nc\nd\ne\nf\n";
        let new = "a\nb\nc\nd\nnew\nf\n";
        assert_eq!(
            diff_text(&diff_lines(old, new)),
            "    …\n    c\n    d\n  - e\n  + new\n    f\n"
        );
    }

    #[test]
    fn nothing_changed_shows_nothing_new() {
        assert_eq!(diff_text(&diff_lines("a\n", "a\n")), "    …\n");
    }
}
