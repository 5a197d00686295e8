//! Shortens text for a model: keeps head and tail, and the error lines of a tool's output.
//!
//! Not here: the bounds for each event.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Most error lines that are kept from the removed middle.
const ERROR_LINES: usize = 3;
/// Most bytes of such a line.
const ERROR_LINE: usize = 160;

static ERRORS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build([
            "error:",
            "error[",
            "failed",
            "failure",
            "panicked",
            "exception",
            "fatal:",
            "not found",
            "denied",
        ])
        .expect("the words are constant")
});

/// At most about `head + tail` bytes of `text`, with a mark where the middle was. Returned as it is
/// when cutting would save nothing.
pub(super) fn keep_ends(text: &str, head: usize, tail: usize) -> String {
    match middle(text, head, tail) {
        None => text.to_owned(),
        Some((from, to)) => format!("{} … {}", text[..from].trim_end(), text[to..].trim_start()),
    }
}

/// Like [`keep_ends`], with the first error lines of the middle.
pub(super) fn keep_ends_and_errors(text: &str, head: usize, tail: usize) -> String {
    let Some((from, to)) = middle(text, head, tail) else {
        return text.to_owned();
    };
    let mut errors: Vec<&str> = Vec::new();
    let mut at = from;
    while let Some(found) = ERRORS
        .find(&text[at..to])
        .filter(|_| errors.len() < ERROR_LINES)
    {
        let hit = at + found.start();
        let begin = text[from..hit].rfind('\n').map_or(from, |n| from + n + 1);
        let end = text[hit..to].find('\n').map_or(to, |n| hit + n);
        let line = text[begin..end].trim();
        errors.push(&line[..line.floor_char_boundary(ERROR_LINE)]);
        at = end;
    }
    let (head, tail) = (text[..from].trim_end(), text[to..].trim_start());
    match errors.is_empty() {
        true => format!("{head} … {tail}"),
        false => format!("{head} …\n{}\n… {tail}", errors.join("\n")),
    }
}

/// The byte range to remove; `None` if removing it would save nothing.
fn middle(text: &str, head: usize, tail: usize) -> Option<(usize, usize)> {
    const WORTH: usize = 24;
    if text.len() <= head + tail + WORTH {
        return None;
    }
    let from = text.floor_char_boundary(head);
    let to = text.ceil_char_boundary(text.len() - tail);
    Some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_ends_and_a_short_one_all() {
        assert_eq!(keep_ends("short", 2, 2), "short");
        let long = format!("head{}täil", "é".repeat(60));
        assert_eq!(keep_ends(&long, 5, 5), "head … täil");
    }

    #[test]
    fn an_error_in_the_middle_of_what_a_tool_printed_stays() {
        let log = format!(
            "start\n{}\nError: no such host\n{}\nend",
            "ok\n".repeat(40),
            "ok\n".repeat(40)
        );
        assert_eq!(
            keep_ends_and_errors(&log, 5, 3),
            "start …\nError: no such host\n… end"
        );
    }
}
