//! A reader's state as it may be stored: only without secrets.
//!
//! A state repeats ids, folders and tools of the transcript. Redacting it would make the reader resume with other names
//! than those in the file, so a state with a secret is not stored, and the next import reads the file from its beginning.
//!
//! Not here: what a reader's state holds.

use daybook_text::redact::Redactor;
use serde_json::Value;

/// The state, or an empty text, which no reader resumes from, if it holds a secret.
pub(crate) fn storable_state(redactor: &Redactor, state: String) -> String {
    let is_plain = |text: &str| redactor.redact(text).findings.is_empty();
    match serde_json::from_str(&state) {
        Ok(value) if is_plain_value(&value, &is_plain) => state,
        Ok(_) | Err(_) => String::new(),
    }
}

/// Checks each text on its own: the names of a state's fields tell nothing about their values.
fn is_plain_value(value: &Value, is_plain: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is_plain(text),
        Value::Array(values) => values.iter().all(|value| is_plain_value(value, is_plain)),
        Value::Object(fields) => fields
            .iter()
            .all(|(name, value)| is_plain(name) && is_plain_value(value, is_plain)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}
