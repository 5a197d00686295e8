//! Separates a person's own prose in a message from pasted text.
//!
//! A message is prose around fences, logs, diffs, stack traces, tables and long pastes. Only the
//! prose is kept: pasted blocks are dropped whole, since half a log reads like a statement.
//!
//! Not here: lists on one line (`inline_list`), splitting prose into sentences (`sentences`), their meaning (`speech_acts`).

use std::sync::LazyLock;

use crate::inline_list;
use crate::pasted::typed;
use regex::RegexSet;

/// Messages at least this long hold a paste; only their opening counts.
const LONG_MESSAGE: usize = 1_500;
/// Most bytes of a long message's opening that count as prose.
const LONG_OPENING: usize = 600;
/// Lists longer than this are pasted.
const LIST_LINES: usize = 6;
/// Most bytes of a message that are read.
const MESSAGE_BYTES: usize = 16 * 1024;
/// Most characters of a line that no share of letters decides about: "no. 5 3 2. so 30".
const SHORT_LINE: usize = 16;
/// Below this share of letters and blanks, in percent, a line counts as machine output.
const LETTER_SHARE: usize = 72;

static MACHINE: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r"^\s*(===|---|\+\+\+|@@|diff --git|index [0-9a-f]{7}|commit [0-9a-f]{7,})",
        r"^\s*(at [\w.$<>]+\(|Traceback|File \x22|Caused by:|goroutine \d|panicked at|thread ')",
        r"^\s*(Error|ERROR|error|WARN(ING)?|INFO|DEBUG|FATAL|fatal|FAIL|PASS|warning|E\d{2,}|npm ERR!)(\[[^\]]*\])?( in [^:]*)?:",
        r"^\s*(\$|%|#!|>>>|❯|➜|\||>) ?\S",
        r"^\s*[+-](//|#|\s{2,}|\s*[\w.]+\(|\s*(import|func|fn|def|let|const|var|return|use|pub)\b)",
        r"^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:",
        r"^\s*\[?\d\d:\d\d:\d\d",
        r"^\s*\S+:\d+(:\d+)?[:,]?\s",
        r#"^\s*"[^"]+"\s*:"#,
        r"^\s*[\]\[{}()]+[,;]?\s*$",
        r"[;{]\s*$",
        r"^\s*(ok|FAIL|PASS|\?)\s+\S+/\S+",
        r"^\s*</?[A-Za-z][\w-]*[^>]*>\s*$",
        r"^\s*\S*([_/\\]|[a-z][A-Z])\S*\s*$",
        r"^\s*(import|package|func|fn|def|class|const|let|var|return|SELECT|INSERT|UPDATE|#include)\s\S+.*[({=;]",
        r"^\s*-{0,2}[A-Z][A-Z0-9_]{3,}=\S",
    ])
    .expect("the patterns are constant")
});

/// The lines of a person's own prose, in order; each list item is a line.
pub fn prose_lines(text: &str) -> Vec<String> {
    let typed = typed(text);
    let head = opening(&typed);
    let unfenced = without_fences(head);
    let mut lines = Vec::new();
    for block in unfenced.split("\n\n") {
        append_lines_of_block(block, &mut lines);
    }
    lines
}

/// The part of a message that is read: all of a short one, the text before the paste of a long one.
fn opening(text: &str) -> &str {
    if text.len() < LONG_MESSAGE {
        return text;
    }
    let fenceless = text.find("```").unwrap_or(text.len());
    let first = text.find("\n\n").unwrap_or(text.len()).min(fenceless);
    prefix_of(text, first.min(LONG_OPENING).min(MESSAGE_BYTES))
}

/// The longest start of `text` of at most `most` bytes.
pub fn prefix_of(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn without_fences(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for (i, part) in text.replace('\r', "").split("```").enumerate() {
        match i % 2 {
            0 => kept.push_str(part),
            // A fence inside one line is a word, not a paste.
            _ if !part.contains('\n') => kept.push_str(part.trim()),
            _ => kept.push_str("\n\n"),
        }
    }
    kept
}

/// Appends the lines of one block up to the first machine line: the rest is its paste.
fn append_lines_of_block(block: &str, lines: &mut Vec<String>) {
    let raw: Vec<&str> = block.lines().filter(|l| !l.trim().is_empty()).collect();
    let items = raw.iter().filter(|l| list_item(l).is_some()).count();
    let taken = count_own_lines(&raw);
    let mut joined: Option<String> = None;
    for line in &raw[..taken] {
        let parts = inline_list::parts(line.trim());
        match list_item(line) {
            Some(_) if items > LIST_LINES => {}
            _ if parts.len() > 1 => {
                lines.extend(joined.take());
                lines.extend(parts.into_iter().map(str::to_owned));
            }
            Some(said) => {
                lines.extend(joined.take());
                lines.push(said.to_owned());
            }
            None => match &mut joined {
                Some(open) if continues_sentence(open, line) => {
                    open.push(' ');
                    open.push_str(line.trim());
                }
                _ => {
                    lines.extend(joined.take());
                    joined = Some(line.trim().trim_start_matches(['#', '>', ' ']).to_owned());
                }
            },
        }
    }
    lines.extend(joined);
}

/// The number of lines before the first machine line, without a terse one directly before it: its command.
fn count_own_lines(raw: &[&str]) -> usize {
    let taken = raw.iter().take_while(|l| !is_machine(l)).count();
    let terse = |line: &&str| {
        line.split_whitespace().count() < 6 && !line.trim_end().ends_with(['.', '!', '?', ':', ','])
    };
    match taken.checked_sub(1) {
        Some(last) if taken < raw.len() && terse(&raw[last]) => last,
        _ => taken,
    }
}

/// Whether `line` continues the last sentence of `open`.
fn continues_sentence(open: &str, line: &str) -> bool {
    open.len() > 60
        && !open.ends_with(['.', '!', '?', ':'])
        && line.trim_start().starts_with(char::is_lowercase)
}

/// The text of a list item; `None` if the line is none.
pub fn list_item(line: &str) -> Option<&str> {
    let line = line.trim();
    let rest = ["- ", "* ", "• ", "– ", "+ "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark));
    rest.or_else(|| {
        let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let marked = (1..=2).contains(&digits).then(|| &line[digits..])?;
        marked
            .strip_prefix(". ")
            .or_else(|| marked.strip_prefix(") "))
    })
    .map(str::trim)
}

/// Whether the line looks like machine output.
pub fn is_machine(line: &str) -> bool {
    let bare = list_item(line).unwrap_or(line);
    if MACHINE.is_match(line) || bare.matches('|').count() > 2 {
        return true;
    }
    let (mut all, mut letters) = (0, 0);
    for c in bare.chars().filter(|c| *c != '`') {
        all += 1;
        letters +=
            usize::from(c.is_alphabetic() || c == ' ' || ",.?!'\u{2019}，。？！：；、".contains(c));
    }
    all > SHORT_LINE && letters * 100 < all * LETTER_SHARE
}

#[cfg(test)]
mod tests {
    use super::prose_lines;

    fn check(message: &str, prose: &[&str]) {
        assert_eq!(prose_lines(message), prose);
    }

    #[test]
    fn fences_and_what_is_in_them_are_not_the_persons() {
        check(
            "see here\n```\nalways win\n```\nis that right?",
            &["see here", "is that right?"],
        );
    }

    #[test]
    fn each_item_of_a_list_is_a_line() {
        check(
            "two rules\n- no emoji\n1) no tabs, 2) no \"fix:\" prefixes",
            &["two rules", "no emoji", "no tabs,", "no \"fix:\" prefixes"],
        );
    }

    #[test]
    fn a_log_ends_the_block_that_it_begins_in() {
        check(
            "it prints this:\nERROR: no such host\nWe never use hosts\n\nplease fix",
            &["it prints this:", "please fix"],
        );
    }

    #[test]
    fn list_items_stand_alone_unless_there_are_many() {
        check("- one thing\n- another", &["one thing", "another"]);
        check("all:\n- a\n- b\n- c\n- d\n- e\n- f\n- g", &["all:"]);
    }

    #[test]
    fn a_long_message_counts_by_its_opening() {
        let plan = format!("do this plan:\n\n{}", "We always win. ".repeat(200));
        check(&plan, &["do this plan:"]);
    }

    #[test]
    fn a_wrapped_line_is_one_sentence() {
        let first = "a sentence that goes on for so long that it has been wrapped by";
        check(
            &format!("{first}\nan editor"),
            &[&format!("{first} an editor")],
        );
    }
}
