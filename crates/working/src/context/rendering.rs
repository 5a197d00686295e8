//! Renders chunks as the texts, names and arguments that providers accept.

use std::borrow::Cow;

use daybook_domain::working::{Chunk, ChunkContent};
use serde_json::{Value, json};

/// The outcome of a call without one right behind it. Providers refuse a call without an outcome. The text stays
/// true when the outcome comes after the agent has continued, so that no earlier message changes.
pub(super) const NO_OUTCOME: &str =
    "No result was recorded here. If one came later, it stands further down.";

/// The text of a message without one: providers refuse empty messages.
pub(super) const NO_WORDS: &str = "(no text)";

/// Longest name of a tool that all providers accept, in characters.
const NAME: usize = 64;
/// A string of an attachment from this length on is its data, not its description.
const DATA: usize = 200;

/// The text of a person's or the agent's message, with its attachments.
pub(super) fn message_text(content: &ChunkContent) -> String {
    let mut said = match content {
        ChunkContent::Text {
            text: Some(text), ..
        } => text.clone(),
        other => return other.to_text().into_owned(),
    };
    let attachments = content.field("attachments").and_then(Value::as_array);
    for attachment in attachments.into_iter().flatten() {
        let described = format!("[attachment: {}]", without_data(attachment));
        said.push_str(if said.is_empty() { "" } else { "\n" });
        said.push_str(&described);
    }
    said
}

/// An attachment without its bytes.
fn without_data(attachment: &Value) -> Value {
    match attachment {
        Value::String(text) if text.len() > DATA => {
            format!("({} characters)", text.chars().count()).into()
        }
        Value::Array(items) => items.iter().map(without_data).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| (name.clone(), without_data(value)));
            Value::Object(fields.collect())
        }
        plain => plain.clone(),
    }
}

/// The name of a call: that of a tool or skill; of another agent, the action on it.
pub(super) fn call_name(content: &ChunkContent) -> String {
    let name = ["toolName", "skillName", "action"]
        .into_iter()
        .find_map(|field| content.str_field(field));
    let name = to_call_name(name.unwrap_or_default(), NAME);
    if name.is_empty() {
        return "unnamed".to_owned();
    }
    name
}

/// The first `most` characters, with `_` in the place of those that names of calls may not have.
pub(super) fn to_call_name(name: &str, most: usize) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name = name.chars().take(most);
    name.map(|c| if allowed(c) { c } else { '_' }).collect()
}

/// The arguments of a call, as JSON.
pub(super) fn arguments(content: &ChunkContent) -> String {
    let given = ["arguments", "input"]
        .into_iter()
        .find_map(|field| content.field(field));
    match given {
        Some(Value::Null) => return "{}".to_owned(),
        Some(given) => return value_text(given).into_owned(),
        None => {}
    }
    let agent = ["agentType", "subAgentId", "task", "content", "config"];
    let mut fields: serde_json::Map<_, _> = agent
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), content.field(name)?.clone())))
        .collect();
    let is_told = fields.contains_key("task") || fields.contains_key("content");
    if let (
        false,
        ChunkContent::Text {
            text: Some(text), ..
        },
    ) = (is_told, content)
    {
        fields.insert("content".to_owned(), json!(text));
    }
    Value::Object(fields).to_string()
}

/// Whether a call failed.
pub(super) fn is_failed(content: &ChunkContent) -> bool {
    let has_error = content.field("error").is_some_and(|error| !error.is_null());
    has_error || content.field("success") == Some(&Value::Bool(false))
}

/// The text of a call's outcome.
pub(super) fn outcome(content: &ChunkContent) -> String {
    let told = ["error", "errorDetails", "result"];
    let told = told.into_iter().filter_map(|name| content.field(name));
    let told: Vec<_> = told
        .map(value_text)
        .filter(|told| !told.is_empty())
        .collect();
    let recorded = content.field("result").is_some() || !told.is_empty();
    let told = match recorded {
        true => told.join("\n"),
        false => content.to_text().into_owned(),
    };
    match is_failed(content) {
        true => format!("Error: {told}"),
        false => told,
    }
}

fn value_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// The number of the event that a chunk was made from, where that is known.
pub(super) fn seq(chunk: &Chunk) -> Option<u64> {
    chunk.metadata.custom.get("seq").and_then(Value::as_u64)
}
