//! What tools answered, and the words that people hide in it.
//!
//! A person who refuses a call may say why, and an agent may ask a person instead of a machine.
//! Both arrive as a tool's answer. The words become events of their own and are left out of the
//! answer, so that they count once. The host writes these answers; text that a tool wrote and that
//! looks alike counts only where the host leaves no trace to tell them apart.
//!
//! Not here: what was called.

use std::borrow::Cow;

use daybook_domain::{Origin, ToolStatus};
use serde::Deserialize;

use super::line::{Block, plain};
use super::{ClaudeReader, Here, Said};
use crate::ingest::lenient::{Content, Object, Pairs, Part, Text};
use crate::ingest::parsed::Parsed;
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

/// The tool that asks a person.
const ASK: &str = "AskUserQuestion";
/// How its answer begins.
const ANSWERED: &str = "User has answered your questions:";

/// The structured form of a person's answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked<'j> {
    #[serde(borrow)]
    answers: Pairs<'j, Answer<'j>>,
    annotations: Pairs<'j, Object<Annotation<'j>>>,
}

/// One answer: a text, or several choices.
type Answer<'j> = Content<'j, Annotation<'j>>;

/// What a person added to an answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Annotation<'j> {
    #[serde(borrow)]
    notes: Text<'j>,
}

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
        };
        self.say(here, &said, out);
        for (number, words) in outcome.words.iter().enumerate() {
            let mut said = Said::plain(index, Origin::Human, words.as_str());
            said.part = PARTS[number.min(PARTS.len() - 1)];
            self.say(here, &said, out);
        }
    }
}

/// A person's words within one answer are told apart by these.
const PARTS: [&str; 8] = [
    "words", "words 2", "words 3", "words 4", "words 5", "words 6", "words 7", "words 8",
];

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
            words: words.into_iter().collect(),
        };
    }
    if block.is_error.0 {
        return Outcome {
            status: ToolStatus::Failed,
            text,
            words: Vec::new(),
        };
    }
    let words = answers(here, tool, text);
    Outcome {
        status: ToolStatus::Succeeded,
        text: if words.is_empty() {
            text
        } else {
            ANSWERED.trim_end_matches(':')
        },
        words,
    }
}

/// A refusal without the person's words, and those words.
fn reason(text: &str) -> (&str, Option<String>) {
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
    (rest, (!words.is_empty()).then(|| words.to_owned()))
}

/// A person's answers to an agent's questions, each as `Q: …` and `A: …` on a line of its own.
fn answers(here: &Here<'_>, tool: Option<&str>, text: &str) -> Vec<String> {
    if tool.is_some_and(|tool| tool != ASK) || !text.starts_with(ANSWERED) {
        return Vec::new();
    }
    let structured = here
        .line
        .tool_use_result
        .and_then(|asked| serde_json::from_str::<Object<Asked<'_>>>(asked.get()).ok())
        .and_then(|asked| asked.0);
    let pairs = match &structured {
        Some(asked) if !asked.answers.0.is_empty() => from_structure(asked),
        // An unknown tool may have written anything.
        Some(_) | None if tool.is_none() => Vec::new(),
        Some(_) | None => from_text(text),
    };
    pairs
        .into_iter()
        .filter(|(_, answer)| !answer.trim().is_empty())
        .take(PARTS.len())
        .map(|(question, answer)| format!("Q: {}\nA: {}", question.trim(), answer.trim()))
        .collect()
}

fn from_structure(asked: &Asked<'_>) -> Vec<(String, String)> {
    let notes = |question: &str| {
        let annotations = asked.annotations.0.iter();
        let of_question = annotations.filter(|(about, _)| about == question);
        of_question
            .filter_map(|(_, annotation)| annotation.0.as_ref()?.notes.get())
            .next()
    };
    let answer = |answer: &Answer<'_>| match answer {
        Content::Nothing => String::new(),
        Content::Text(text) => text.to_string(),
        Content::Parts(parts) => {
            let chosen = parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(&**text),
                Part::Object(_) | Part::Other => None,
            });
            chosen.collect::<Vec<_>>().join(", ")
        }
    };
    let pairs = asked.answers.0.iter();
    pairs
        .map(|(question, given)| {
            let given = answer(given);
            let given = match notes(question) {
                Some(notes) => format!("{given} ({notes})"),
                None => given,
            };
            (question.to_string(), given)
        })
        .collect()
}

/// `"question"="answer", "question"="answer". You can now continue …`
fn from_text(text: &str) -> Vec<(String, String)> {
    let text = text[ANSWERED.len()..].trim();
    let text = text
        .split("\". You can now continue")
        .next()
        .unwrap_or(text);
    let mut pairs = Vec::new();
    let mut rest = text.strip_prefix('"').unwrap_or(text);
    while let Some((question, after)) = rest.split_once("\"=\"") {
        // The answer ends before the next question, which is the last thing quoted before the
        // next `"="`.
        let end = match after.find("\"=\"") {
            Some(next) => after[..next].rfind("\", \"").unwrap_or(next),
            None => after.trim_end_matches(['.', '"']).len(),
        };
        pairs.push((question.to_owned(), after[..end].to_owned()));
        rest = after[end..].strip_prefix("\", \"").unwrap_or_default();
    }
    pairs
}
