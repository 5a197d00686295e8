//! What a chunk says, in the words and names that providers accept.

use std::borrow::Cow;

use daybook_domain::working::{Chunk, Content};
use serde_json::{Value, json};

/// Stands for the outcome of a call that has none behind it. Providers refuse a call without one. It stays
/// true when the outcome comes after the agent has gone on, so that nothing before that changes.
pub(super) const NO_OUTCOME: &str =
    "No result was recorded here. If one came later, it stands further down.";

/// Stands for a message without words, which providers refuse.
pub(super) const NO_WORDS: &str = "(no text)";

/// Characters of a tool's name that all providers accept.
const NAME: usize = 64;
/// From here on a string of an attachment is its data, not its description.
const DATA: usize = 200;

/// The words of a person or of the agent, and what came with them.
pub(super) fn words(content: &Content) -> String {
    let mut said = match content {
        Content::Text {
            text: Some(text), ..
        } => text.clone(),
        other => return other.told().into_owned(),
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

/// What is called: a tool or a skill by its name, another agent by what is done with it.
pub(super) fn called(content: &Content) -> String {
    let name = ["toolName", "skillName", "action"]
        .into_iter()
        .find_map(|field| content.word(field));
    let name = allowed(name.unwrap_or_default(), NAME);
    if name.is_empty() {
        return "unnamed".to_owned();
    }
    name
}

/// The first `most` characters, with `_` for whatever names of calls may not hold.
pub(super) fn allowed(name: &str, most: usize) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name = name.chars().take(most);
    name.map(|c| if allowed(c) { c } else { '_' }).collect()
}

/// With what it is called, as JSON.
pub(super) fn arguments(content: &Content) -> String {
    let given = ["arguments", "input"]
        .into_iter()
        .find_map(|field| content.field(field));
    match given {
        Some(Value::Null) => return "{}".to_owned(),
        Some(given) => return shown(given).into_owned(),
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
        Content::Text {
            text: Some(text), ..
        },
    ) = (is_told, content)
    {
        fields.insert("content".to_owned(), json!(text));
    }
    Value::Object(fields).to_string()
}

/// Whether a call did not do what was asked.
pub(super) fn failed(content: &Content) -> bool {
    let has_error = content.field("error").is_some_and(|error| !error.is_null());
    has_error || content.field("success") == Some(&Value::Bool(false))
}

/// The outcome of a call.
pub(super) fn outcome(content: &Content) -> String {
    let told = ["error", "errorDetails", "result"];
    let told = told.into_iter().filter_map(|name| content.field(name));
    let told: Vec<_> = told.map(shown).filter(|told| !told.is_empty()).collect();
    let recorded = content.field("result").is_some() || !told.is_empty();
    let told = match recorded {
        true => told.join("\n"),
        false => content.told().into_owned(),
    };
    match failed(content) {
        true => format!("Error: {told}"),
        false => told,
    }
}

fn shown(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// The event that a chunk was made from, where that is known.
pub(super) fn seq(chunk: &Chunk) -> Option<u64> {
    chunk.metadata.custom.get("seq").and_then(Value::as_u64)
}
