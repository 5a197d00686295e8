//! A change of a text as people read it: lines that go, lines that come, and two around them.

use std::fmt::Write as _;

/// Lines shown around a change.
const AROUND: usize = 2;

/// Longest line that is shown whole.
const WIDEST: usize = 160;

/// Above this many pairs of lines, what changed is shown as one block.
const MOST_PAIRS: usize = 4_000_000;

/// One line of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
    /// Unchanged lines that are not shown.
    Skipped,
}

/// The lines to show of a change from `old` to `new`.
pub(crate) fn lines<'a>(old: &'a str, new: &'a str) -> Vec<Line<'a>> {
    let all = compared(
        &old.lines().collect::<Vec<_>>(),
        &new.lines().collect::<Vec<_>>(),
    );
    let near = |at: usize| {
        let around = at.saturating_sub(AROUND)..(at + AROUND + 1).min(all.len());
        all[around]
            .iter()
            .any(|line| !matches!(line, Line::Same(_)))
    };
    let mut shown = Vec::new();
    for (at, line) in all.iter().enumerate() {
        if near(at) {
            shown.push(*line);
        } else if shown.last() != Some(&Line::Skipped) {
            shown.push(Line::Skipped);
        }
    }
    shown
}

/// The change as plain text, `+` and `-` before what comes and goes.
pub(crate) fn text(lines: &[Line<'_>]) -> String {
    let mut out = String::new();
    for line in lines {
        let _ = match line {
            Line::Same(line) => writeln!(out, "    {}", cut(line)),
            Line::Gone(line) => writeln!(out, "  - {}", cut(line)),
            Line::New(line) => writeln!(out, "  + {}", cut(line)),
            Line::Skipped => writeln!(out, "    …"),
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

fn compared<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = tail.take_while(|(a, b)| a == b).count();
    let (old_middle, old_tail) = old_rest.split_at(old_rest.len() - tail);
    let new_middle = &new_rest[..new_rest.len() - tail];
    let mut lines: Vec<Line<'a>> = old[..head].iter().copied().map(Line::Same).collect();
    lines.extend(middle(old_middle, new_middle));
    lines.extend(old_tail.iter().copied().map(Line::Same));
    lines
}

/// By the longest common run of lines.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        let gone = old.iter().copied().map(Line::Gone);
        return gone.chain(new.iter().copied().map(Line::New)).collect();
    }
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = match old[i] == new[j] {
                true => common[(i + 1) * width + j + 1] + 1,
                false => common[(i + 1) * width + j].max(common[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    while i < old.len() || j < new.len() {
        let same = i < old.len() && j < new.len() && old[i] == new[j];
        if same {
            lines.push(Line::Same(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len()
            && (j == new.len() || common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            lines.push(Line::Gone(old[i]));
            i += 1;
        } else {
            lines.push(Line::New(new[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_what_is_around_it() {
        let old = "a\nb\nc\nd\ne\nf\n";
        let new = "a\nb\nc\nd\nnew\nf\n";
        assert_eq!(
            text(&lines(old, new)),
            "    …\n    c\n    d\n  - e\n  + new\n    f\n"
        );
    }

    #[test]
    fn nothing_changed_shows_nothing_new() {
        assert_eq!(text(&lines("a\n", "a\n")), "    …\n");
    }
}
