//! Reads calls of tools with their results, and a person's words in these.
//!
//! A person's answer to `ask_user` and feedback on a plan reach the agent as a tool's result; they are the person's.

use std::borrow::Cow;

use daybook_domain::{Origin, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::line::ToolCall;
use crate::transcripts::item::Via;
use crate::transcripts::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use crate::transcripts::{genai, json};
use daybook_text::lenient::{Content, ContentMember, Pairs, Text};

/// The tool that asks a person.
const ASK: &str = "ask_user";
/// The tool that shows a plan to a person, and how the result begins and ends when the person wants another one.
const PLAN: &str = "exit_plan_mode";
const FEEDBACK: &str = "Plan rejected. User feedback: ";
const BEHIND_FEEDBACK: &str = "\n\nThe plan is stored at:";

#[derive(Default, Deserialize)]
#[serde(default)]
struct Questions<'j> {
    #[serde(borrow)]
    questions: Content<'j, Question<'j>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Question<'j> {
    #[serde(borrow)]
    question: Text<'j>,
}

/// The answers, by the number of their question.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answers<'j> {
    #[serde(borrow)]
    answers: Pairs<'j, Text<'j>>,
}

/// Reads one call.
pub(super) fn read(call: &ToolCall<'_>, out: &mut ItemWriter<'_>) {
    out.set_time(&call.timestamp);
    let key = call.id.get().map_or(EventKey::Content, EventKey::InSession);
    out.call(key, &call.id, &call.name, &json::as_text(call.args));
    let result = result(call);
    let words = match result.status {
        Some(ToolStatus::Refused) => {
            feedback(&result.text).map(|words| (words.to_owned(), Via::Refusal))
        }
        _ if &*call.name == ASK => {
            answers(call.args, &result.text).map(|words| (words, Via::Answer))
        }
        _ => None,
    };
    let result = match words {
        // The person's words are an event of their own.
        Some(_) => CallResult {
            text: Cow::Borrowed(""),
            ..result
        },
        None => result,
    };
    out.result(key, &call.id, result);
    if let Some((words, via)) = words {
        out.push(EventContent {
            part: "words",
            via,
            ..EventContent::plain(key, Origin::Human, words)
        });
    }
}

fn result<'c>(call: &'c ToolCall<'_>) -> CallResult<'c> {
    let response = genai::objects(&call.result).find_map(|part| part.function_response.0.as_ref());
    let shown = genai::texts(&call.result).join("\n");
    let result = match response {
        Some(response) => response.result(),
        None => CallResult {
            tool: None,
            text: match shown.is_empty() {
                true => Cow::Borrowed(&*call.result_display),
                false => Cow::Owned(shown),
            },
            status: None,
        },
    };
    let is_refused_plan = &*call.name == PLAN && result.text.starts_with("Plan rejected.");
    CallResult {
        tool: call.name.get(),
        status: match is_refused_plan {
            true => Some(ToolStatus::Refused),
            false => genai::status(&call.status, &result),
        },
        text: result.text,
    }
}

/// What a person wrote about a plan that they refused.
fn feedback(result: &str) -> Option<&str> {
    let words = result.strip_prefix(FEEDBACK)?;
    let end = words.rfind(BEHIND_FEEDBACK).unwrap_or(words.len());
    Some(words[..end].trim()).filter(|words| !words.is_empty())
}

/// A person's answers, each behind its question.
fn answers(arguments: Option<&RawValue>, result: &str) -> Option<String> {
    let answers: Answers<'_> = serde_json::from_str(result).ok()?;
    let asked: Questions<'_> = arguments
        .and_then(|arguments| serde_json::from_str(arguments.get()).ok())
        .unwrap_or_default();
    let questions = match &asked.questions {
        Content::Parts(questions) => questions.as_slice(),
        Content::Nothing | Content::Text(_) => &[],
    };
    let pairs = answers
        .answers
        .0
        .iter()
        .filter(|(_, answer)| !answer.trim().is_empty());
    let shown = pairs.map(|(number, answer)| {
        let question = number
            .parse()
            .ok()
            .and_then(|number: usize| questions.get(number));
        match question {
            Some(ContentMember::Object(asked)) => {
                format!("Q: {}\nA: {}", asked.question.trim(), answer.trim())
            }
            Some(ContentMember::Text(_) | ContentMember::Other) | None => answer.trim().to_owned(),
        }
    });
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| shown.join("\n"))
}
