//! Reads results of tools, and the person's words within them.
//!
//! A person who refuses a call may give a reason, and an agent may ask a person through a tool. Both
//! arrive as a tool's result. The words become events of their own and are left out of the result, so
//! that they count once. They are taken from shapes that the host alone writes: a tool that prints the
//! host's words has not made a person speak, and what could be either is the tool's.
//!
//! Not here: answers to questions, see `answers.rs`.

use std::borrow::Cow;

use daybook_domain::{Origin, ToolStatus};
use daybook_text::lenient::Content;

use super::line::{Block, plain};
use super::{ClaudeContent, ClaudeReader, LineContext, answers};
use crate::transcripts::item::{TranscriptItem, Via};
use crate::transcripts::wrappers::without_trailing;

/// How the host's result begins when a person refused the call, or stopped it.
const REFUSALS: &[&str] = &[
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "[Request interrupted by user",
];
/// The host's own result of a call that a person refused, beside the text for the model.
const REFUSED: &str = "User rejected tool use";
/// The text before the person's words in a refusal, newest wording first.
const REASONS: &[&str] = &[
    "the user said:",
    "The user provided the following reason for the rejection:",
];
/// The text that newer hosts add after them.
const AFTERTHOUGHT: &str = "\n\nNote: The user's next message may contain";

impl ClaudeReader<'_> {
    /// Reads the result of a call.
    pub(super) fn result(
        &mut self,
        here: &LineContext<'_>,
        index: usize,
        block: &Block<'_>,
        out: &mut Vec<TranscriptItem>,
    ) {
        let tool = self.state.calls.close(&block.tool_use_id);
        let inner = block.inner();
        let text = plain(&inner);
        let text = without_trailing(&text, "system-reminder");
        let plain_text = matches!(inner, Content::Text(_));
        let outcome = outcome(here, block, tool.as_deref(), text, plain_text);
        let content = ClaudeContent {
            index,
            part: "",
            origin: Origin::ToolResult,
            text: Cow::Borrowed(outcome.text),
            tool: tool.as_deref(),
            call: block.tool_use_id.get(),
            status: Some(outcome.status),
            via: Via::Message,
            retracts: &[],
        };
        self.push_event(here, &content, out);
        for (words, number) in outcome.words.iter().zip(1..) {
            let part = format!("words {number}");
            let content = ClaudeContent {
                part: &part,
                via: match outcome.status {
                    ToolStatus::Refused => Via::Refusal,
                    ToolStatus::Succeeded | ToolStatus::Failed => Via::Answer,
                },
                ..ClaudeContent::plain(index, Origin::Human, words.as_str())
            };
            self.push_event(here, &content, out);
        }
    }
}

/// The result of a call.
struct Outcome<'t> {
    status: ToolStatus,
    /// The text of the tool, or of the host in its place.
    text: &'t str,
    /// A person's words in it.
    words: Vec<String>,
}

fn outcome<'t>(
    here: &LineContext<'_>,
    block: &Block<'_>,
    tool: Option<&str>,
    text: &'t str,
    is_plain: bool,
) -> Outcome<'t> {
    let refused = match &*here.line.tool_denial_kind {
        "" => block.is_error.0 && is_plain && begins_as_refusal(text) && is_host_result(here, tool),
        "user-rejected" | "interrupted" => true,
        _ => false,
    };
    if refused {
        let (text, words) = match is_plain && begins_as_refusal(text) {
            true => reason(text),
            false => (text, None),
        };
        return Outcome {
            status: ToolStatus::Refused,
            text,
            words: match words {
                Some(words) => answers::clarified(words).unwrap_or(vec![words.to_owned()]),
                None => Vec::new(),
            },
        };
    }
    if block.is_error.0 {
        return Outcome {
            status: ToolStatus::Failed,
            text,
            words: Vec::new(),
        };
    }
    let words = answers::given(here.line, tool, text);
    Outcome {
        status: ToolStatus::Succeeded,
        text: if words.is_empty() {
            text
        } else {
            answers::GIVEN
        },
        words,
    }
}

fn begins_as_refusal(text: &str) -> bool {
    REFUSALS.iter().any(|refusal| text.starts_with(refusal))
}

/// Whether the line's own result is one that only the host writes for a refused call. It repeats a refusal as an error,
/// and so it does with an error of an MCP tool; a built-in tool's error begins with words of its own.
fn is_host_result(here: &LineContext<'_>, tool: Option<&str>) -> bool {
    let result = here.line.tool_use_result;
    let result = result.and_then(|json| serde_json::from_str::<Cow<'_, str>>(json.get()).ok());
    let Some(result) = result else {
        return false;
    };
    let is_built_in = tool.is_some_and(|tool| !tool.starts_with("mcp__"));
    let repeated = result.strip_prefix("Error: ");
    result == REFUSED || (is_built_in && repeated.is_some_and(begins_as_refusal))
}

/// A refusal without the person's words, and those words.
fn reason(text: &str) -> (&str, Option<&str>) {
    let found = REASONS
        .iter()
        .filter_map(|reason| Some((text.find(reason)?, reason.len())))
        .min();
    let Some((at, length)) = found else {
        return (text, None);
    };
    let words = &text[at + length..];
    let words = words.split(AFTERTHOUGHT).next().unwrap_or(words).trim();
    // The rest is the host's sentence that the tool was not run.
    let rest = text[..at]
        .trim_end()
        .trim_end_matches("To tell you how to proceed,")
        .trim_end();
    (rest, (!words.is_empty()).then_some(words))
}
