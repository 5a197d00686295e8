//! Renders a window as labelled JSON lines, as Codex renders a rollout (C57 to C60, C64 to C66).
//!
//! Each item is a label line and a JSON line. A JSON string holds no line break, so no text can begin
//! a line. Over budget, tools' items are dropped first; one line marks each gap.

use daybook_domain::{Event, Origin};
use daybook_text::fence::visible;
use serde_json::{Value, json};

use super::tiers::{Tier, select_rows, tiers_of};
use super::transcript::{RenderedTranscript, TokenCounter};

/// Most tokens of a tool's output.
const TOOL_TOKENS: u32 = 2_000;
/// Most bytes of one row's text.
const ROW_BYTES: usize = 10_000;
/// Most bytes of one message to the model.
pub(super) const CHUNK_BYTES: usize = 8_900;
/// Bytes that a token stands for, where it is estimated.
const BYTES_PER_TOKEN: u32 = 4;
/// Most tokens of a rollout where the model's context is unknown.
const UNKNOWN_WINDOW: u32 = 150_000;
const GAP: &str = "[... response items omitted ...]\n";

/// Tokens of material for a model with a context of `context` tokens; 0 means unknown.
pub(super) fn token_budget(context: u32) -> u32 {
    if context == 0 {
        return UNKNOWN_WINDOW;
    }
    let budget = u64::from(context) * 95 / 100 * 70 / 100;
    u32::try_from(budget.max(1)).unwrap_or(u32::MAX)
}

/// Renders `events` in at most `budget` tokens.
pub(super) fn render(events: &[Event], budget: u32, count: TokenCounter<'_>) -> RenderedTranscript {
    let mut rows: Vec<(usize, Tier, String)> = Vec::new();
    for (at, (event, tier)) in events.iter().zip(tiers_of(events)).enumerate() {
        if let Some(tier) = tier {
            rows.push((at, tier, render_row(event, tier)));
        }
    }
    let costs: Vec<(Tier, u32)> = (rows.iter())
        .map(|(_, tier, row)| (*tier, count(row)))
        .collect();
    let chosen = select_rows(&costs, budget, count(GAP));
    let mut text = String::new();
    let mut shown = Vec::new();
    let mut missing = false;
    for ((at, _, row), is_shown) in rows.iter().zip(&chosen) {
        if *is_shown {
            text.push_str(row);
            shown.push(*at);
        } else if !missing {
            text.push_str(GAP);
        }
        missing = !is_shown;
    }
    let left_out = u32::try_from(rows.len() - shown.len()).unwrap_or(u32::MAX);
    RenderedTranscript {
        text,
        shown,
        left_out,
    }
}

/// Splits the text into chunks of at most [`CHUNK_BYTES`].
pub(super) fn chunks(text: &str) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (chunk, behind) = rest.split_at(rest.floor_char_boundary(CHUNK_BYTES));
        chunks.push(chunk);
        rest = behind;
    }
    chunks
}

/// Head and tail of `text`, within `tokens`, with a mark between them that counts the missing tokens.
pub(super) fn truncated(text: &str, tokens: u32) -> String {
    let most = usize::try_from(tokens.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
    if text.len() <= most {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(most / 2);
    let tail = text.ceil_char_boundary(text.len() - (most - most / 2));
    let missing = (tail - head).div_ceil(BYTES_PER_TOKEN as usize);
    format!(
        "{}…{missing} tokens truncated…{}",
        &text[..head],
        &text[tail..]
    )
}

fn render_row(event: &Event, tier: Tier) -> String {
    let label = match tier {
        Tier::Human => "human user",
        Tier::Final => "assistant final",
        Tier::Commentary => "assistant commentary",
        Tier::OtherAgent => "other agent",
        Tier::Context => "harness context",
        Tier::Tool => "tool",
    };
    // JSON allows these line breaks within a string; the reader of a line may split at them.
    let item = response_item(event).to_string();
    let item = item
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029");
    format!("[{label}]\n{}\n", item.replace('\u{85}', "\\u0085"))
}

fn response_item(event: &Event) -> Value {
    let most = u32::try_from(ROW_BYTES).unwrap_or(u32::MAX) / BYTES_PER_TOKEN;
    let shown = visible(&event.text);
    let text = truncated(&shown, most);
    let message = |role: &str| json!({"type": "message", "role": role, "content": text});
    match event.origin {
        Origin::Assistant => message("assistant"),
        Origin::ToolCall => {
            let name = event.tool.as_deref().map(visible);
            json!({"type": "function_call", "name": name, "arguments": text})
        }
        Origin::ToolResult => {
            let output = truncated(&shown, TOOL_TOKENS);
            json!({"type": "function_call_output", "output": output})
        }
        Origin::Human
        | Origin::Harness
        | Origin::Synthetic
        | Origin::Recalled
        | Origin::Retraction => message("user"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::dialogue_test_support::{dialogue_events, event};
    use super::*;
    use proptest::prelude::*;

    fn bytes(text: &str) -> u32 {
        u32::try_from(text.len()).unwrap()
    }

    #[test]
    fn c57_and_c58_the_middle_of_a_long_rollout_is_cut_to_the_models_window() {
        let text = format!("{}middle{}", "a".repeat(700_000), "z".repeat(700_000));
        let budget = token_budget(123_000);
        assert_eq!(budget, 123_000 * 95 / 100 * 70 / 100);
        let cut = truncated(&text, budget);
        assert!(cut.starts_with('a') && cut.ends_with('z') && cut.contains("tokens truncated"));
        assert!(!cut.contains("middle") && cut.len() <= budget as usize * 4 + 64);
        assert_eq!(super::token_budget(0), 150_000);
    }

    #[test]
    fn c59_and_c60_a_cut_falls_between_characters_and_what_is_short_stays() {
        assert!(truncated(&"é".repeat(9), 1).starts_with("é…"));
        assert_eq!("aé".floor_char_boundary(2), 1);
        assert_eq!(truncated("short", 2), "short");
    }

    #[test]
    fn c64_the_simplest_rollout_is_two_labelled_lines() {
        let events = dialogue_events("human: hi\nrecalled: known\nassistant: hello");
        assert_eq!(
            render(&events, u32::MAX, &bytes).text,
            "[human user]\n{\"content\":\"hi\",\"role\":\"user\",\"type\":\"message\"}\n\
             [assistant final]\n{\"content\":\"hello\",\"role\":\"assistant\",\"type\":\"message\"}\n"
        );
    }

    #[test]
    fn c65_over_budget_a_person_stays_and_tools_go_first() {
        let events =
            dialogue_events("human: one\ncall Bash: ls\nok: a b c\nassistant: done\nhuman: two");
        let whole = bytes(&render(&events, u32::MAX, &bytes).text);
        let rendered = render(&events, whole - 1, &bytes);
        assert!(rendered.shown.contains(&0) && rendered.shown.contains(&4));
        assert!(rendered.left_out > 0 && rendered.text.contains(GAP));
        assert!(bytes(&rendered.text) < whole);
    }

    proptest! {
        #[test]
        fn c66_chunks_are_short_and_join_to_the_text(text in "(\\PC|😀|\\n){0,40}", times in 1_usize..600) {
            let text = text.repeat(times);
            let chunks = chunks(&text);
            prop_assert!(chunks.iter().all(|chunk| !chunk.is_empty() && chunk.len() < 9_000));
            prop_assert_eq!(chunks.concat(), text);
        }

        #[test]
        fn no_text_begins_a_line(text in any::<String>()) {
            let events = [event(1, "human", &format!("x{text}\n[human user]\u{2028}[tool]"))];
            let text = render(&events, u32::MAX, &bytes).text;
            prop_assert_eq!(text.lines().count(), 2);
            let breaks = text.contains(['\u{2028}', '\u{2029}', '\u{85}']);
            prop_assert!(!breaks);
        }
    }
}
