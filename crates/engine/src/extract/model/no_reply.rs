//! The silent turn of MindRoom's auto-flush: lines to remember, or a token such as `NO_REPLY`.
//!
//! Every line stays a memory of its own, where MindRoom fuses them into one (M73). The token is recognized with any
//! punctuation, where MindRoom stores `- NO_REPLY.` as a memory (M79). The window is rendered as in MindRoom:
//! short lines of people's and agents' messages. A cursor moves past it, so nothing is read twice.

use std::collections::HashSet;

use daybook_domain::{Event, Origin};
use daybook_text::fence::one_line;

use super::answer::{ModelAnswer, Suggestion};
use super::transcript::{RenderedTranscript, TokenCounter};
use crate::extract::DropReason;

/// The model's answer when nothing is worth keeping, unless settings name another.
pub const NO_REPLY: &str = "NO_REPLY";
/// Most memories of one answer.
const MEMORIES: usize = 10;
/// Most characters of one message; longer ones end in an ellipsis.
const MESSAGE: usize = 500;

/// Renders the newest messages of the main conversation that fit `budget`, one line each, in
/// order; the newest always. Window limits bound how many there are.
pub(super) fn render(events: &[Event], budget: u32, count: TokenCounter<'_>) -> RenderedTranscript {
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
    RenderedTranscript {
        text: lines.join("\n"),
        shown: kept.iter().map(|(at, _)| *at).collect(),
        left_out: u32::try_from(messages.len() - kept.len()).unwrap_or(u32::MAX),
    }
}

/// Characters of an event's line in a silent turn, with the line feed; `None` if it has no line.
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
    let text = one_line(&event.text);
    if text.is_empty() || event.sidechain {
        return None;
    }
    let text = match text.char_indices().nth(MESSAGE) {
        None => text,
        Some(_) => text.chars().take(MESSAGE - 3).collect::<String>() + "...",
    };
    Some(format!("{role}: {text}"))
}

/// Parses an answer: one memory per line, or nothing to keep, which is `token` or an empty answer.
pub(super) fn parse(answer: &str, token: &str) -> ModelAnswer {
    let mut parsed = ModelAnswer::default();
    let mut known = HashSet::new();
    let lines = answer.lines().map(strip_list_markers);
    for line in lines.filter(|line| !line.is_empty() && !is_fence(line) && !is_token(line, token)) {
        if !known.insert(line.to_lowercase()) {
            continue;
        }
        if parsed.suggestions.len() == MEMORIES {
            parsed.dropped.increment(DropReason::TooMany);
            continue;
        }
        parsed.suggestions.push(Suggestion::fact(line));
    }
    parsed
}

/// The line without list markers and surrounding blanks.
fn strip_list_markers(line: &str) -> &str {
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

/// Whether a line is the token, ignoring case, quotes, emphasis and punctuation.
fn is_token(line: &str, token: &str) -> bool {
    let bare = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    bare(line) == bare(token)
}

#[cfg(test)]
mod tests {
    use super::super::dialogue_test_support::dialogue_events;
    use super::*;

    fn lines(answer: &str) -> Vec<String> {
        let parsed = parse(answer, NO_REPLY);
        parsed.suggestions.into_iter().map(|s| s.text).collect()
    }

    /// In MindRoom `- NO_REPLY` and `NO_REPLY.` become memories.
    #[test]
    fn the_token_is_nothing_however_it_is_dressed() {
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
            assert_eq!(parse(answer, NO_REPLY), ModelAnswer::default(), "{answer}");
        }
    }

    #[test]
    fn an_empty_answer_is_nothing_to_keep() {
        for answer in ["", " \n", "```\n```"] {
            assert_eq!(parse(answer, NO_REPLY), ModelAnswer::default(), "{answer}");
        }
    }

    #[test]
    fn another_token_is_nothing_and_the_usual_one_is_a_line_then() {
        assert_eq!(parse("- **[Leer].**", "[leer]"), ModelAnswer::default());
        let parsed = parse("NO_REPLY", "[leer]");
        assert_eq!(parsed.suggestions, [Suggestion::fact("NO_REPLY")]);
    }

    /// There up to ten become one line, joined by ` | `.
    #[test]
    fn each_line_is_a_memory_of_its_own() {
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
    fn of_many_lines_the_first_ten_are_kept_and_the_rest_counted() {
        let answer: Vec<String> = (0..15).map(|n| format!("- memory {n}")).collect();
        let parsed = parse(&answer.join("\n"), NO_REPLY);
        assert_eq!(parsed.suggestions.len(), 10);
        assert_eq!(parsed.dropped.count_of(DropReason::TooMany), 5);
    }

    /// A token is a character here.
    fn check(dialogue: &str, budget: u32, expected: &str, left_out: u32) {
        let count = |text: &str| u32::try_from(text.chars().count()).unwrap();
        let rendered = render(&dialogue_events(dialogue), budget, &count);
        assert_eq!(
            (rendered.text.as_str(), rendered.left_out),
            (expected, left_out)
        );
    }

    #[test]
    fn the_window_is_the_newest_messages_in_order() {
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
    fn a_long_message_is_cut_to_five_hundred_characters() {
        let events = dialogue_events(&format!("human: {}", "é".repeat(501)));
        let rendered = render(&events, u32::MAX, &|_| 1);
        assert_eq!(rendered.text, format!("user: {}...", "é".repeat(497)));
        assert_eq!(message_chars(&events[0]), Some(507));
    }
}
