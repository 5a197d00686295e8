//! A chunk's content as text.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::chunk::{ChunkContent, ContentPart};

/// Fields that repeat what the text beside them holds.
const SILENT: [&str; 3] = ["role", "status", "source"];

impl ChunkContent {
    /// The whole content as text, payloads included: what is counted, summarised and read. A picture is
    /// its description.
    #[must_use]
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text { text, fields } => with_fields(text.as_deref().unwrap_or_default(), fields),
            Self::Image { alt_text, .. } => picture(alt_text.as_deref()).into(),
            Self::Mixed { parts } => {
                let parts: Vec<_> = parts.iter().map(part).collect();
                parts.join("\n").into()
            }
            Self::ChunkRef { chunk_id } => format!("[see {chunk_id}]").into(),
        }
    }
}

fn part(part: &ContentPart) -> String {
    match part {
        ContentPart::Text { text } => text.clone(),
        ContentPart::Image { alt_text, .. } => picture(alt_text.as_deref()),
    }
}

fn picture(alt_text: Option<&str>) -> String {
    match alt_text {
        Some(text) => format!("[picture: {text}]"),
        None => "[picture]".to_owned(),
    }
}

fn with_fields<'a>(text: &'a str, fields: &Map<String, Value>) -> Cow<'a, str> {
    let mut told = Cow::Borrowed(text);
    for (name, value) in fields {
        if SILENT.contains(&name.as_str()) || value.is_null() {
            continue;
        }
        let told = told.to_mut();
        if !told.is_empty() {
            told.push('\n');
        }
        told.push_str(name);
        told.push_str(": ");
        match value {
            Value::String(value) => told.push_str(value),
            value => told.push_str(&value.to_string()),
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(content: Value, expected: &str) {
        let content: ChunkContent = serde_json::from_value(content).expect("content");
        assert_eq!(content.to_text(), expected);
    }

    #[test]
    fn words_are_told_as_they_are() {
        check(
            json!({"type": "TEXT", "text": "Hello world"}),
            "Hello world",
        );
    }

    #[test]
    fn payloads_are_told_with_the_words() {
        let call = json!({"type": "TEXT", "text": "Tool call: grep", "callId": "c1",
            "arguments": {"pattern": "fn main"}, "status": "pending"});
        check(
            call,
            "Tool call: grep\narguments: {\"pattern\":\"fn main\"}\ncallId: c1",
        );
    }

    #[test]
    fn parts_stand_on_lines_of_their_own_and_pictures_are_described() {
        let mixed = json!({"type": "MIXED", "parts": [
            {"type": "TEXT", "text": "Part 1"},
            {"type": "IMAGE", "data": "aGk=", "mimeType": "image/png", "altText": "a chart"},
        ]});
        check(mixed, "Part 1\n[picture: a chart]");
    }
}
