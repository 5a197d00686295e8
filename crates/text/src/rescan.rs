//! Redacts what was stored by other rules: events, and values beside them.
//!
//! Each field gets what the present rules would have stored in the first place. A result gives itself, so a rescan
//! that was interrupted may begin again. Functions return `None` where nothing is to be hidden.
//!
//! Not here: where the values come from and go to.

use std::borrow::Cow;

use daybook_domain::rescan::{EventRewrite, StoredEvent};
use daybook_domain::{Event, Place};
use serde_json::{Map, Value};

use super::cut::event_text;
use super::indexed::indexed_tokens;
use super::names::{redact_id, redact_key, redact_name, redact_place};
use super::redact::Redactor;

/// Longest text, in bytes, that may be a secret by the name of its field alone.
const NAMED: usize = 512;
/// Fields of stored JSON that hold the path of a folder.
const PATHS: [&str; 1] = ["root"];

/// A text without its secrets.
#[must_use]
pub fn rescan_text(redactor: &Redactor, text: &str) -> Option<String> {
    owned(redactor.redact(text).text)
}

/// A name that identifies nothing.
#[must_use]
pub fn rescan_name(redactor: &Redactor, name: &str) -> Option<String> {
    owned(redact_name(redactor, name))
}

/// A name that something is found by.
#[must_use]
pub fn rescan_key(redactor: &Redactor, key: &str) -> Option<String> {
    owned(redact_key(redactor, key))
}

/// An id of a host.
#[must_use]
pub fn rescan_id(redactor: &Redactor, id: &str) -> Option<String> {
    owned(redact_id(redactor, id))
}

fn owned(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

/// An event of the log, with what a thread keeps beside it.
#[must_use]
pub fn rescan_event(redactor: &Redactor, before: &StoredEvent) -> Option<EventRewrite> {
    let event = &before.event;
    let text = rescan_text(redactor, &event.text);
    let text = text.map(|text| event_text(Cow::Owned(text)));
    let name = |name: &Option<String>| name.as_deref().and_then(|it| rescan_name(redactor, it));
    let (tool, call) = (name(&event.tool), event.call.as_deref());
    let call = call.and_then(|call| rescan_id(redactor, call));
    let place = event
        .place
        .as_ref()
        .and_then(|it| rescan_place(redactor, it));
    let entry = before.entry.as_deref();
    let entry = entry.and_then(|entry| rescan_json(redactor, entry));
    if text.is_none() && tool.is_none() && call.is_none() && place.is_none() && entry.is_none() {
        return None;
    }
    let kept = event.clone();
    let after = Event {
        text: text.unwrap_or(kept.text),
        tool: tool.or(kept.tool),
        call: call.or(kept.call),
        place: place.or(kept.place),
        ..kept
    };
    Some(EventRewrite {
        tokens: indexed_tokens(after.origin, &after.text),
        after: StoredEvent {
            event: after,
            entry: entry.or_else(|| before.entry.clone()),
        },
        before: before.clone(),
    })
}

fn rescan_place(redactor: &Redactor, place: &Place) -> Option<Place> {
    let after = redact_place(redactor, place.clone());
    (after != *place).then_some(after)
}

/// All texts of a JSON document. A text is redacted together with the name of its field, since a name such as
/// `password` can reveal a secret; names are redacted, too. What is no JSON is redacted as a text.
#[must_use]
pub fn rescan_json(redactor: &Redactor, json: &str) -> Option<String> {
    let Ok(mut value) = serde_json::from_str::<Value>(json) else {
        return rescan_text(redactor, json);
    };
    let mut changed = false;
    rescan_value(redactor, &mut value, &mut changed);
    changed.then(|| value.to_string())
}

fn rescan_value(redactor: &Redactor, value: &mut Value, changed: &mut bool) {
    match value {
        Value::String(text) => replace(text, rescan_text(redactor, text), changed),
        Value::Array(values) => {
            for value in values {
                rescan_value(redactor, value, changed);
            }
        }
        Value::Object(fields) => rescan_fields(redactor, fields, changed),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn rescan_fields(redactor: &Redactor, fields: &mut Map<String, Value>, changed: &mut bool) {
    for (name, value) in fields.iter_mut() {
        match value {
            Value::String(path) if PATHS.contains(&name.as_str()) => {
                replace(path, rescan_key(redactor, path), changed);
            }
            Value::String(text) => replace(text, rescan_named(redactor, name, text), changed),
            value => rescan_value(redactor, value, changed),
        }
    }
    if fields
        .keys()
        .any(|name| rescan_key(redactor, name).is_some())
    {
        *changed = true;
        // Two names that differ in their secrets alone stay two.
        let named = std::mem::take(fields).into_iter();
        let named = named.map(|(name, value)| (redact_key(redactor, &name).into_owned(), value));
        *fields = named.collect();
    }
}

fn replace(text: &mut String, after: Option<String>, changed: &mut bool) {
    if let Some(after) = after {
        *text = after;
        *changed = true;
    }
}

/// A text that may be a secret by the name of its field.
fn rescan_named(redactor: &Redactor, name: &str, text: &str) -> Option<String> {
    let alone = rescan_text(redactor, text);
    let text = alone.as_deref().unwrap_or(text);
    if text.len() > NAMED {
        return alone;
    }
    let before = format!("{name}: \"");
    let assigned = format!("{before}{text}\"");
    let hidden = redactor.redact(&assigned);
    if hidden.findings.is_empty() {
        return alone;
    }
    let value = hidden.text.strip_prefix(&before);
    match value.and_then(|value| value.strip_suffix('"')) {
        Some(value) => Some(value.to_owned()),
        None => Some(hidden.text.into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use daybook_domain::{EventSeq, Origin, Timestamp};

    use super::*;

    /// A secret that no scanner takes for a real one in this file.
    fn secret(nth: u8) -> String {
        format!("gh{}_{}", 'p', format!("{nth}aB3dE5gH7jK9").repeat(3))
    }

    fn entry() -> StoredEvent {
        StoredEvent {
            event: Event {
                seq: EventSeq(7),
                line: 3,
                origin: Origin::ToolCall,
                at: Timestamp(5),
                text: format!("run {} now", secret(1)),
                tool: Some(secret(2)),
                call: Some(secret(3)),
                status: None,
                sidechain: false,
                place: Some(Place {
                    root: format!("/srv/{}", secret(4)),
                    branch: Some(secret(5)),
                }),
            },
            entry: Some(format!(
                r#"{{"args":{{"a":["{}"]}},"{}":1}}"#,
                secret(6),
                secret(7)
            )),
        }
    }

    #[test]
    fn every_field_of_an_event_is_rescanned_and_a_result_gives_itself() {
        let redactor = Redactor::standard();
        let rewrite = rescan_event(&redactor, &entry()).expect("secrets");
        let after = format!("{:?}{}", rewrite.after, rewrite.tokens);
        for nth in 1..8 {
            assert!(!after.contains(&secret(nth)), "{nth} is in {after}");
        }
        assert_eq!(rewrite.after.event.seq, EventSeq(7));
        assert!(rewrite.after.event.text.ends_with(" now"));
        assert_eq!(rescan_event(&redactor, &rewrite.after), None);
    }

    #[test]
    fn an_event_without_secrets_is_left_alone() {
        let mut plain = entry();
        plain.entry = Some(r#"{"kind": "event", "n": 1.50}"#.to_owned());
        plain.event.text = "run it".to_owned();
        (plain.event.tool, plain.event.call, plain.event.place) = (None, None, None);
        assert_eq!(rescan_event(&Redactor::standard(), &plain), None);
    }

    #[test]
    fn a_field_named_like_a_secret_is_one() {
        let redactor = Redactor::standard();
        let json = format!(r#"{{"db_password":"Tr0ub4dor{}3","root":"/srv/app"}}"#, '&');
        let after = rescan_json(&redactor, &json).expect("a secret");
        assert!(!after.contains("Tr0ub4dor"), "{after}");
        assert!(after.contains("/srv/app"));
        assert_eq!(rescan_json(&redactor, &after), None);
    }
}
