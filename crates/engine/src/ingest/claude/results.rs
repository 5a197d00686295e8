//! What tools answered, and the words that people hide in it.
//!
//! A person who refuses a call may say why, and an agent may ask a person instead of a machine.
//! Both arrive as a tool's answer. The words become events of their own and are left out of the
//! answer, so that they count once. The host writes these answers; text that a tool wrote and that
//! looks alike counts only where the host leaves no trace to tell them apart.
//!
//! Not here: answers to questions, see `answers.rs`.

use std::borrow::Cow;

use daybook_domain::{Origin, ToolStatus};

use super::line::{Block, plain};
use super::{ClaudeReader, Here, Said, answers};
use crate::ingest::parsed::{Parsed, Via};
use crate::ingest::wrappers::without_trailing;

/// Beginnings of what the host answers when a person refused the call, or stopped it.
const REFUSALS: &[&str] = &[
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "[Request interrupted by user",
];
/// What stands before the person's words in a refusal, newest wording first.
const REASONS: &[&str] = &[
    "the user said:",
    "The user provided the following reason for the rejection:",
];
/// What newer hosts add behind them.
const AFTERTHOUGHT: &str = "\n\nNote: The user's next message may contain";

impl ClaudeReader<'_> {
    /// The answer to a call.
    pub(super) fn result(
        &mut self,
        here: &Here<'_>,
        index: usize,
        block: &Block<'_>,
        out: &mut Vec<Parsed>,
    ) {
        let tool = self.state.calls.answered(&block.tool_use_id);
        let inner = block.inner();
        let text = plain(&inner);
        let text = without_trailing(&text, "system-reminder");
        let outcome = outcome(here, block, tool.as_deref(), text);
        let said = Said {
            index,
            part: "",
            origin: Origin::ToolResult,
            text: Cow::Borrowed(outcome.text),
            tool: tool.as_deref(),
            call: block.tool_use_id.get(),
            status: Some(outcome.status),
            via: Via::Message,
        };
        self.say(here, &said, out);
        for (words, number) in outcome.words.iter().zip(1..) {
            let part = format!("words {number}");
            let said = Said {
                part: &part,
                via: match outcome.status {
                    ToolStatus::Refused => Via::Refusal,
                    ToolStatus::Succeeded | ToolStatus::Failed => Via::Answer,
                },
                ..Said::plain(index, Origin::Human, words.as_str())
            };
            self.say(here, &said, out);
        }
    }
}

/// How a call ended.
struct Outcome<'t> {
    status: ToolStatus,
    /// What the tool, or the host in its place, answered.
    text: &'t str,
    /// What a person said with it.
    words: Vec<String>,
}

fn outcome<'t>(
    here: &Here<'_>,
    block: &Block<'_>,
    tool: Option<&str>,
    text: &'t str,
) -> Outcome<'t> {
    let denial = &*here.line.tool_denial_kind;
    let refused = match denial {
        "" => block.is_error.0 && REFUSALS.iter().any(|refusal| text.starts_with(refusal)),
        "user-rejected" | "interrupted" => true,
        _ => false,
    };
    if refused {
        let (text, words) = reason(text);
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
    // What is left is the host's sentence that the tool was not run.
    let rest = text[..at]
        .trim_end()
        .trim_end_matches("To tell you how to proceed,")
        .trim_end();
    (rest, (!words.is_empty()).then_some(words))
}
