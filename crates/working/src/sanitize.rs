//! Sanitizes events: hides secrets, replaces blobs, and bounds texts.
//!
//! Each text is redacted together with the name of its field, since a name such as `password` can reveal a secret.
//! Names are redacted, too.
//!
//! Not here: which texts are secrets (`daybook_text::redact`).

use std::borrow::Cow;

use daybook_domain::StoreError;
use daybook_domain::limits::EVENT_TEXT;
use daybook_domain::working::{Chunk, EventType, ThreadEvent};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use daybook_text::citation_block;
use daybook_text::cut::{blob, shorten};
use daybook_text::names::redact_key;
use daybook_text::redact::Redactor;

/// Most bytes of one text of an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds(usize);

impl Bounds {
    /// The bound to try first.
    pub(super) fn first() -> Self {
        Self(EVENT_TEXT)
    }

    /// The tighter bound to try when the event is still too large; `None` after the tightest.
    pub(super) fn next(self) -> Option<Self> {
        (self.0 > 1_024).then_some(Self(self.0 / 16))
    }
}

/// Longest text, in bytes, that is not examined as a possible blob.
const NO_BLOB: usize = 4 * 1024;

/// Longest text, in bytes, that may be a secret by the name of its field alone.
const NAMED: usize = 512;

/// Returns the event as it may be stored.
pub(super) fn clean(
    redactor: &Redactor,
    event: &ThreadEvent,
    bounds: Bounds,
) -> Result<ThreadEvent, StoreError> {
    let shown = without_citation_block(event);
    let event = shown.as_ref().unwrap_or(event);
    let cleaning = Cleaning { redactor, bounds };
    let plain = event.metadata.is_empty();
    // Most events have a text alone.
    if let EventType::UserMessage {
        content,
        attachments,
    } = &event.kind
        && plain
        && attachments.is_empty()
    {
        let kind = EventType::UserMessage {
            content: cleaning.text(content),
            attachments: Vec::new(),
        };
        return Ok(ThreadEvent::new(kind, event.timestamp));
    }
    if let EventType::LlmTextResponse {
        content,
        model: None,
        usage: None,
    } = &event.kind
        && plain
    {
        let kind = EventType::LlmTextResponse {
            content: cleaning.text(content),
            model: None,
            usage: None,
        };
        return Ok(ThreadEvent::new(kind, event.timestamp));
    }
    cleaning.whole(event)
}

/// An agent's answer without the block that names the memories it used, which is for programs; `None` for an event
/// without one.
fn without_citation_block(event: &ThreadEvent) -> Option<ThreadEvent> {
    let EventType::LlmTextResponse {
        content,
        model,
        usage,
    } = &event.kind
    else {
        return None;
    };
    let (Cow::Owned(visible), _) = citation_block::split(content) else {
        return None;
    };
    let kind = EventType::LlmTextResponse {
        content: visible.trim_end().to_owned(),
        model: model.clone(),
        usage: *usage,
    };
    Some(ThreadEvent {
        kind,
        ..event.clone()
    })
}

/// Returns a chunk from outside as it may be stored.
pub(super) fn clean_chunk(redactor: &Redactor, mut chunk: Chunk) -> Result<Chunk, StoreError> {
    let bounds = Bounds::first();
    let cleaning = Cleaning { redactor, bounds };
    chunk.content = cleaning.whole(&chunk.content)?;
    cleaning.fields(&mut chunk.metadata.custom);
    Ok(chunk)
}

/// Cleans data that a host keeps with a thread or a chunk.
pub(super) fn clean_custom(redactor: &Redactor, custom: &mut Map<String, Value>) {
    let bounds = Bounds::first();
    Cleaning { redactor, bounds }.fields(custom);
}

struct Cleaning<'a> {
    redactor: &'a Redactor,
    bounds: Bounds,
}

impl Cleaning<'_> {
    /// Cleans any value that is a JSON object.
    fn whole<T: Serialize + DeserializeOwned>(&self, whole: &T) -> Result<T, StoreError> {
        let unreadable =
            |error: serde_json::Error| StoreError::Refused(format!("it cannot be kept: {error}"));
        let mut value = serde_json::to_value(whole).map_err(unreadable)?;
        if let Value::Object(fields) = &mut value {
            self.fields(fields);
        }
        serde_json::from_value(value).map_err(unreadable)
    }

    fn fields(&self, fields: &mut Map<String, Value>) {
        for (name, value) in fields.iter_mut() {
            match value {
                Value::String(text) => *text = self.clean_named(name, text),
                value => self.value(value),
            }
        }
        let has_secret = |name: &String| matches!(redact_key(self.redactor, name), Cow::Owned(_));
        if fields.keys().any(has_secret) {
            let named = std::mem::take(fields).into_iter();
            // Two names that differ in their secrets alone stay two.
            *fields = named
                .map(|(name, value)| (redact_key(self.redactor, &name).into_owned(), value))
                .collect();
        }
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(fields) => self.fields(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&self, text: &str) -> String {
        if text.len() > NO_BLOB && is_blob(text) {
            return blob("data", "application/octet-stream", text);
        }
        let hidden = self.redactor.redact(text).text;
        shorten(&hidden, self.bounds.0).into_owned()
    }

    /// Cleans a text that may be a secret by the name of its field.
    fn clean_named(&self, name: &str, text: &str) -> String {
        let text = self.text(text);
        if text.len() > NAMED {
            return text;
        }
        let before = format!("{name}: \"");
        let assigned = format!("{before}{text}\"");
        let hidden = self.redactor.redact(&assigned);
        if hidden.findings.is_empty() {
            return text;
        }
        let value = hidden.text.strip_prefix(&before);
        match value.and_then(|value| value.strip_suffix('"')) {
            Some(value) => value.to_owned(),
            None => hidden.text.into_owned(),
        }
    }
}

/// Whether a text is the encoded data of a picture or a file.
fn is_blob(text: &str) -> bool {
    let body = match text.strip_prefix("data:") {
        Some(url) => url.split_once(',').map_or("", |(_, body)| body),
        None => text,
    };
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-_\r\n".contains(&byte);
    !body.is_empty() && body.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_fields_are_redacted_on_every_level_and_stay_apart() {
        let redactor = Redactor::standard();
        let secret = |nth: u8| format!("gh{}_{}", 'p', format!("{nth}aB3dE5gH7jK9").repeat(3));
        let mut custom = Map::new();
        custom.insert(secret(1), json!("one"));
        custom.insert(secret(2), json!([{ secret(3): { "plain": secret(4) } }]));
        clean_custom(&redactor, &mut custom);
        let once = custom.clone();
        let text = Value::Object(once.clone()).to_string();
        assert!((1..5).all(|nth| !text.contains(&secret(nth))), "{text}");
        assert_eq!(custom.len(), 2);
        clean_custom(&redactor, &mut custom);
        assert_eq!(custom, once);
    }

    #[test]
    fn c110_the_block_of_cited_memories_is_no_part_of_a_threads_answer() {
        let block = "<oai-mem-citation>\n<rollout_ids>\n</rollout_ids>\n</oai-mem-citation>";
        let answer = |content: String, model: Option<String>| EventType::LlmTextResponse {
            content,
            model,
            usage: None,
        };
        for model in [None, Some("small-1".to_owned())] {
            let given = answer(format!("The limit is 50.\n{block}\n"), model.clone());
            let event = ThreadEvent::new(given, daybook_domain::Timestamp(7));
            let cleaned = clean(&Redactor::standard(), &event, Bounds::first());
            let expected = answer("The limit is 50.".to_owned(), model);
            assert_eq!(cleaned.expect("it is kept").kind, expected);
            // What it cites is read off the event as it was given.
            let uuid = "0194f5a6-89ab-7cde-8123-456789abcdef";
            let cited = block.replace("<rollout_ids>", &format!("<rollout_ids>\n{uuid}"));
            let event = ThreadEvent::new(answer(cited, None), daybook_domain::Timestamp(7));
            let mentions = crate::record::mentions_of(&event);
            assert_eq!(mentions[0].citation.session, uuid);
        }
    }
}
