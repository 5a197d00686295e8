//! The silent turn of MindRoom's auto-flush (seed 004; spec M.4): lines to remember, or `NO_REPLY`.
//!
//! Every line stays a memory of its own, where the seed fuses them into one; and the token is known
//! however it is dressed, where the seed stores `- NO_REPLY.` as a memory. The window is rendered as
//! there: short lines of what people and agents said. A cursor moves past it, so nothing is read twice.

use std::collections::HashSet;

use daybook_domain::{Event, Origin};

use super::answer::{Answer, Suggestion, Unusable};
use super::transcript::{Count, Rendered};
use crate::extract::DropReason;

/// What a model answers when nothing is worth keeping.
pub(super) const TOKEN: &str = "NO_REPLY";
/// Most memories of one answer.
const MEMORIES: usize = 10;
/// Most characters of one message; longer ones end in an ellipsis.
const MESSAGE: usize = 500;

/// Renders the newest messages of the main conversation that `budget` has room for, one line each, in
/// order; the newest always. How many a window holds at all is for its limits to say.
pub(super) fn render(events: &[Event], budget: u32, count: Count<'_>) -> Rendered {
    let messages: Vec<(usize, String)> = (events.iter().enumerate())
        .filter_map(|(at, event)| Some((at, line(event)?)))
        .collect();
    let mut kept: Vec<&(usize, String)> = Vec::new();
    let mut tokens = 0_u32;
    for message in messages.iter().rev() {
        tokens = tokens.saturating_add(count(&message.1)).saturating_add(1);
        if tokens > budget && !kept.is_empty() {
            break;
        }
        kept.push(message);
    }
    kept.reverse();
    let lines: Vec<&str> = kept.iter().map(|(_, line)| line.as_str()).collect();
    Rendered {
        text: lines.join("\n"),
        shown: kept.iter().map(|(at, _)| *at).collect(),
        left_out: u32::try_from(messages.len() - kept.len()).unwrap_or(u32::MAX),
    }
}

/// Characters of the line that a silent turn shows of an event, its end included; nothing if it shows none.
pub(in crate::extract) fn message_chars(event: &Event) -> Option<usize> {
    Some(line(event)?.chars().count() + 1)
}

fn line(event: &Event) -> Option<String> {
    let role = match event.origin {
        Origin::Human => "user",
        Origin::Assistant => "assistant",
        Origin::ToolCall
        | Origin::ToolResult
        | Origin::Harness
        | Origin::Synthetic
        | Origin::Recalled
        | Origin::Retraction => return None,
    };
    let words: Vec<&str> = event.text.split_whitespace().collect();
    let text = words.join(" ");
    if text.is_empty() || event.sidechain {
        return None;
    }
    let text = match text.char_indices().nth(MESSAGE) {
        None => text,
        Some(_) => text.chars().take(MESSAGE - 3).collect::<String>() + "...",
    };
    Some(format!("{role}: {text}"))
}

/// Reads an answer: nothing, or one memory per line.
pub(super) fn read(answer: &str) -> Result<Answer, Unusable> {
    if answer.trim().is_empty() {
        return Err(Unusable("is empty"));
    }
    let mut read = Answer::default();
    let mut known = HashSet::new();
    let lines = answer.lines().map(unmarked);
    for line in lines.filter(|line| !line.is_empty() && !is_fence(line) && !is_token(line)) {
        if !known.insert(line.to_lowercase()) {
            continue;
        }
        if read.suggestions.len() == MEMORIES {
            read.dropped.count(DropReason::TooMany);
            continue;
        }
        read.suggestions.push(Suggestion::fact(line));
    }
    Ok(read)
}

/// The line without its list markers and the blanks around it.
fn unmarked(line: &str) -> &str {
    let mut line = line.trim();
    loop {
        let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = (digits.len() < line.len()).then_some(digits);
        let rest = numbered
            .and_then(|rest| rest.strip_prefix(". ").or(rest.strip_prefix(") ")))
            .or_else(|| {
                ["- ", "* ", "• ", "+ "]
                    .iter()
                    .find_map(|m| line.strip_prefix(m))
            });
        match rest {
            Some(rest) => line = rest.trim_start(),
            None => return line,
        }
    }
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```")
}

/// Whether a line is the token, however it is dressed: case, quotes, emphasis, punctuation.
fn is_token(line: &str) -> bool {
    let bare = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    bare(line) == bare(TOKEN)
}

#[cfg(test)]
mod tests {
    use super::super::scene::scene;
    use super::*;

    fn lines(answer: &str) -> Vec<String> {
        let read = read(answer).expect("it is readable");
        read.suggestions.into_iter().map(|s| s.text).collect()
    }

    /// There `- NO_REPLY` and `NO_REPLY.` become memories.
    #[test]
    fn m4_the_token_is_nothing_however_it_is_dressed() {
        for answer in [
            "NO_REPLY",
            "no_reply",
            " NO_REPLY.\n",
            "- NO_REPLY",
            "* **NO_REPLY**",
            "1. NO_REPLY",
            "\"NO_REPLY\"",
            "`NO_REPLY`",
            "```\nNO_REPLY\n```",
            "“NO_REPLY”!",
            "NO-REPLY",
            "NO_REPLY\nNO_REPLY",
            "- - NO_REPLY",
        ] {
            assert_eq!(read(answer), Ok(Answer::default()), "{answer}");
        }
        assert_eq!(read(" \n"), Err(Unusable("is empty")));
    }

    /// There up to ten become one line, joined by ` | `.
    #[test]
    fn m4_each_line_is_a_memory_of_its_own() {
        assert_eq!(
            lines("- ada likes tea\n2. Release is on Friday\n\nNO_REPLY\n* ADA likes tea"),
            ["ada likes tea", "Release is on Friday"]
        );
        assert_eq!(
            lines("The token NO_REPLY means silence"),
            ["The token NO_REPLY means silence"]
        );
        assert_eq!(lines("3.5 litres are left"), ["3.5 litres are left"]);
    }

    #[test]
    fn m4_of_many_lines_the_first_ten_are_kept_and_the_rest_counted() {
        let answer: Vec<String> = (0..15).map(|n| format!("- memory {n}")).collect();
        let read = read(&answer.join("\n")).expect("it is readable");
        assert_eq!(read.suggestions.len(), 10);
        assert_eq!(read.dropped.of(DropReason::TooMany), 5);
    }

    /// A token is a character here.
    fn check(dialogue: &str, budget: u32, expected: &str, left_out: u32) {
        let count = |text: &str| u32::try_from(text.chars().count()).unwrap();
        let rendered = render(&scene(dialogue), budget, &count);
        assert_eq!(
            (rendered.text.as_str(), rendered.left_out),
            (expected, left_out)
        );
    }

    #[test]
    fn m4_the_window_is_the_newest_messages_in_order() {
        check(
            "human: a  b\n  [user: x]\ncall Bash: ls\nok: c\nassistant: d",
            u32::MAX,
            "user: a b [user: x]\nassistant: d",
            0,
        );
        check(
            "human: a\nassistant: b\nhuman: c",
            24,
            "assistant: b\nuser: c",
            1,
        );
        check(
            "human: a\nassistant: b\nhuman: much longer than that",
            9,
            "user: much longer than that",
            2,
        );
    }

    #[test]
    fn m4_a_long_message_is_cut_to_five_hundred_characters() {
        let events = scene(&format!("human: {}", "é".repeat(501)));
        let rendered = render(&events, u32::MAX, &|_| 1);
        assert_eq!(rendered.text, format!("user: {}...", "é".repeat(497)));
        assert_eq!(message_chars(&events[0]), Some(507));
    }
}
