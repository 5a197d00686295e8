//! Events without secrets, without blobs, and bounded.
//!
//! A secret is looked for beside the name of its field, as `password` beside what it is.
//!
//! Not here: which texts are secrets (`ingest::redact`).

use daybook_domain::StoreError;
use daybook_domain::limits::EVENT_TEXT;
use daybook_domain::working::{Chunk, EventType, ThreadEvent};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::ingest::kept::{blob, shortened};
use crate::ingest::redact::Redactor;

/// Most bytes of one text of an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds(usize);

impl Bounds {
    /// What is tried first.
    pub(super) fn first() -> Self {
        Self(EVENT_TEXT)
    }

    /// What is tried when that is too much.
    pub(super) fn next(self) -> Option<Self> {
        (self.0 > 1_024).then_some(Self(self.0 / 16))
    }
}

/// Longest text, in bytes, that is not looked at as a possible blob.
const NO_BLOB: usize = 4 * 1024;

/// Longest text, in bytes, that may be a secret by the name of its field alone.
const NAMED: usize = 512;

/// The event as it may be kept.
pub(super) fn clean(
    redactor: &Redactor,
    event: &ThreadEvent,
    bounds: Bounds,
) -> Result<ThreadEvent, StoreError> {
    let cleaning = Cleaning { redactor, bounds };
    let plain = event.metadata.is_empty();
    // Most events are words alone.
    match &event.kind {
        EventType::UserMessage {
            content,
            attachments,
        } if plain && attachments.is_empty() => Ok(ThreadEvent::new(
            EventType::UserMessage {
                content: cleaning.text(content),
                attachments: Vec::new(),
            },
            event.timestamp,
        )),
        EventType::LlmTextResponse {
            content,
            model: None,
            usage: None,
        } if plain => Ok(ThreadEvent::new(
            EventType::LlmTextResponse {
                content: cleaning.text(content),
                model: None,
                usage: None,
            },
            event.timestamp,
        )),
        _ => cleaning.whole(event),
    }
}

/// A chunk that comes from outside, as it may be kept.
pub(super) fn clean_chunk(redactor: &Redactor, mut chunk: Chunk) -> Result<Chunk, StoreError> {
    let bounds = Bounds::first();
    let cleaning = Cleaning { redactor, bounds };
    chunk.content = cleaning.whole(&chunk.content)?;
    Ok(chunk)
}

struct Cleaning<'a> {
    redactor: &'a Redactor,
    bounds: Bounds,
}

impl Cleaning<'_> {
    /// Anything that is an object in JSON.
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
        for (name, value) in fields {
            match value {
                Value::String(text) => *text = self.named(name, text),
                value => self.value(value),
            }
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
        shortened(&hidden, self.bounds.0).into_owned()
    }

    /// A text that may be a secret by the name of its field.
    fn named(&self, name: &str, text: &str) -> String {
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

/// Whether a text is data that stands for a picture or a file.
fn is_blob(text: &str) -> bool {
    let body = match text.strip_prefix("data:") {
        Some(url) => url.split_once(',').map_or("", |(_, body)| body),
        None => text,
    };
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-_\r\n".contains(&byte);
    !body.is_empty() && body.bytes().all(is_digit)
}
