//! Renders a difference as Markdown with one fenced unified diff, within a bound.

use std::fmt::Write as _;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use super::{FileVersion, WorkspaceChange, WorkspaceDiff};

/// Lines around a change.
const CONTEXT: usize = 3;
/// Most status lines; more are counted.
const STATUS_LINES: usize = 10_000;
/// Most steps that the search for the shortest difference of a file may take. Above, all of the file is shown as
/// replaced, which is as true and longer.
const SEARCH_STEPS: usize = 200_000_000;

const HEAD: &str = "# Memory Workspace Diff\n\n\
    What has changed in this folder since the last successful consolidation. A change of a file that the\n\
    consolidation wrote is a person's, and holds.\n\n## Status\n";

/// Renders in at most `most` bytes.
pub(super) fn render(diff: &WorkspaceDiff, most: usize) -> String {
    let mut text = HEAD.to_owned();
    for change in diff.changes.iter().take(STATUS_LINES) {
        let (letter, path) = (change.status().letter(), shown(&change.path));
        let _ = writeln!(text, "- {letter} {path}");
    }
    match diff.changes.len().saturating_sub(STATUS_LINES) {
        0 => {}
        more => {
            let _ = writeln!(text, "- and {more} more");
        }
    }
    if diff.changes.is_empty() {
        text.push_str("- none\n");
    }
    for path in diff.unread.iter().take(STATUS_LINES) {
        let _ = writeln!(text, "- not read: {}", shown(&path.to_string_lossy()));
    }
    text.push_str("\n## Diff\n");
    let notice = format!("[workspace diff truncated at {most} bytes]\n");
    let room = most.saturating_sub(text.len() + notice.len());
    let (body, is_cut) = unified(&diff.changes, room);
    let fence = fence_around(&body);
    // The fence is counted last, because it depends on what it encloses.
    let (body, is_cut) = match cut(
        &body,
        room.saturating_sub(2 * fence.len() + "diff\n\n\n".len()),
    ) {
        Some(short) => (short.to_owned(), true),
        None => (body, is_cut),
    };
    let _ = writeln!(text, "{fence}diff");
    text.push_str(&body);
    if !body.is_empty() && !body.ends_with('\n') {
        text.push('\n');
    }
    if is_cut {
        text.push_str(&notice);
    }
    let _ = writeln!(text, "{fence}");
    text
}

/// The diffs of all files, up to the first one that exceeds `most` bytes. Returns whether any is missing.
fn unified(changes: &[WorkspaceChange], most: usize) -> (String, bool) {
    let mut text = String::new();
    for change in changes {
        if text.len() > most {
            return (text, true);
        }
        add_file(&mut text, change);
    }
    (text, false)
}

/// The first `most` bytes, cut between characters; `None` if there are no more.
fn cut(text: &str, most: usize) -> Option<&str> {
    if text.len() <= most {
        return None;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Some(&text[..end])
}

/// A fence that no line of the text can close.
fn fence_around(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max();
    "`".repeat((longest.unwrap_or(0) + 1).max(3))
}

/// The path in one line; control characters are escaped.
fn shown(path: &str) -> String {
    let escaped = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    path.chars().map(escaped).collect()
}

fn add_file(text: &mut String, change: &WorkspaceChange) {
    let path = shown(&change.path);
    let _ = writeln!(text, "diff --git a/{path} b/{path}");
    let (old, new) = match (&change.before, &change.after) {
        (None, Some(after)) => {
            let _ = writeln!(text, "new file mode {}", after.mode);
            ("/dev/null".to_owned(), format!("b/{path}"))
        }
        (Some(before), None) => {
            let _ = writeln!(text, "deleted file mode {}", before.mode);
            (format!("a/{path}"), "/dev/null".to_owned())
        }
        (Some(before), Some(after)) => {
            if before.mode != after.mode {
                let (old, new) = (before.mode, after.mode);
                let _ = writeln!(text, "old mode {old}\nnew mode {new}");
            }
            (format!("a/{path}"), format!("b/{path}"))
        }
        (None, None) => return,
    };
    let bytes = |version: &Option<FileVersion>| version.as_ref().map(|it| it.bytes.clone());
    let before = bytes(&change.before).unwrap_or_default();
    let after = bytes(&change.after).unwrap_or_default();
    if before == after {
        return;
    }
    let (Some(before), Some(after)) = (as_text(&before), as_text(&after)) else {
        let _ = writeln!(text, "Binary files {old} and {new} differ");
        return;
    };
    let _ = writeln!(text, "--- {old}\n+++ {new}");
    add_hunks(text, before, after);
}

/// Bytes as text, unless they hold what no text does.
fn as_text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}

fn add_hunks(text: &mut String, before: &str, after: &str) {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    for hunk in group_diff_ops(operations(&old, &new), CONTEXT) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
            continue;
        };
        let old_lines = first.old_range().start..last.old_range().end;
        let new_lines = first.new_range().start..last.new_range().end;
        let _ = writeln!(text, "@@ -{} +{} @@", range(&old_lines), range(&new_lines));
        for operation in &hunk {
            let (removed, added) = match operation {
                DiffOp::Equal { .. } => {
                    old[operation.old_range()]
                        .iter()
                        .for_each(|line| add_line(text, ' ', line));
                    continue;
                }
                DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                    (operation.old_range(), operation.new_range())
                }
            };
            old[removed]
                .iter()
                .for_each(|line| add_line(text, '-', line));
            new[added].iter().for_each(|line| add_line(text, '+', line));
        }
    }
}

/// `3,2`; `3` for one line. An empty range names the line before it.
fn range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        n => format!("{},{n}", lines.start + 1),
    }
}

fn add_line(text: &mut String, sign: char, line: &str) {
    text.push(sign);
    text.push_str(line);
    if !line.ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
}

/// How the lines of one version become those of the other.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let is_equal = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(new).take_while(is_equal).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = tail.take_while(is_equal).count();
    let (old_len, new_len) = (old_rest.len() - tail, new_rest.len() - tail);
    if search_steps(&old_rest[..old_len], &new_rest[..new_len]) <= SEARCH_STEPS {
        let found = capture_diff_slices(Algorithm::Patience, old, new);
        let equal = found.iter().filter(|it| matches!(it, DiffOp::Equal { .. }));
        let equal = equal.map(|it| (it.old_range(), it.new_range()));
        return from_equal_runs(equal, (old.len(), new.len()));
    }
    let head = (0..head, 0..head);
    let tail = (old.len() - tail..old.len(), new.len() - tail..new.len());
    from_equal_runs([head, tail].into_iter(), (old.len(), new.len()))
}

/// Equal runs, and what is replaced between them. The places of insertions and deletions are computed here, because
/// the library leaves them behind when it moves runs.
fn from_equal_runs(
    runs: impl Iterator<Item = (Range<usize>, Range<usize>)>,
    ends: (usize, usize),
) -> Vec<DiffOp> {
    let mut operations = Vec::new();
    let (mut old_index, mut new_index) = (0, 0);
    for (old, new) in runs.chain([(ends.0..ends.0, ends.1..ends.1)]) {
        let (old_len, new_len) = (old.start - old_index, new.start - new_index);
        if old_len + new_len > 0 {
            operations.push(DiffOp::Replace {
                old_index,
                old_len,
                new_index,
                new_len,
            });
        }
        if !old.is_empty() {
            operations.push(DiffOp::Equal {
                old_index: old.start,
                new_index: new.start,
                len: old.len(),
            });
        }
        (old_index, new_index) = (old.end, new.end);
    }
    operations
}

/// A lower bound of the steps of a search: the number of lines, times those that cannot be common.
fn search_steps(old: &[&str], new: &[&str]) -> usize {
    let mut left = std::collections::HashMap::new();
    for line in old {
        *left.entry(*line).or_insert(0_usize) += 1;
    }
    let mut common = 0;
    for line in new {
        if let Some(n) = left.get_mut(line).filter(|n| **n > 0) {
            *n -= 1;
            common += 1;
        }
    }
    let all = old.len() + new.len();
    all.saturating_mul(all - 2 * common)
}
