//! Reads lines of JSON whose writers we do not control.
//!
//! Only a line that is no JSON object at all is bad, after an attempt to repair what programs are
//! known to get wrong. The error does not quote the line.
//!
//! Not here: fields, see `lenient.rs`.

use std::borrow::Cow;

use daybook_domain::EventId;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::item::BadLine;
use daybook_text::lenient::{Object, Text};

/// The objects of a line, each with the bytes that it was read from: nearly always one, more where
/// a line's end was lost.
pub(crate) fn objects<'j, T: Deserialize<'j>>(
    bytes: &'j [u8],
) -> Result<Vec<(T, &'j [u8])>, BadLine> {
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<Object<T>>();
    let mut objects = Vec::new();
    loop {
        let from = stream.byte_offset();
        match stream.next() {
            None => return Ok(objects),
            Some(Ok(Object(Some(object)))) => {
                objects.push((object, &bytes[from..stream.byte_offset()]));
            }
            Some(Ok(Object(None))) => return Err(BadLine("not a JSON object".to_owned())),
            Some(Err(error)) => return Err(bad(&error)),
        }
    }
}

/// A value as text: a string's content, and any other value as it is written.
pub(crate) fn as_text(value: Option<&RawValue>) -> Cow<'_, str> {
    let Some(value) = value.map(RawValue::get) else {
        return Cow::Borrowed("");
    };
    if value.starts_with('"')
        && let Ok(Text(text)) = serde_json::from_str(value)
    {
        return text;
    }
    match value {
        "null" => Cow::Borrowed(""),
        value => Cow::Borrowed(value),
    }
}

/// Describes an error without quoting the line, which may hold secrets.
pub(crate) fn bad(error: &serde_json::Error) -> BadLine {
    let place = error.column();
    BadLine(match error.classify() {
        serde_json::error::Category::Eof => "the JSON ends too soon".to_owned(),
        serde_json::error::Category::Data => format!("unexpected JSON, at column {place}"),
        serde_json::error::Category::Io | serde_json::error::Category::Syntax => {
            format!("not JSON, at column {place}")
        }
    })
}

/// The line with the known mistakes of its writers put right: bytes that are no UTF-8, halves of
/// surrogate pairs, zeros that a crash left behind. `None` when it has none of them.
pub(crate) fn repaired(bytes: &[u8]) -> Option<Vec<u8>> {
    let zeros = |byte: &u8| *byte == 0;
    let from = bytes.iter().take_while(|byte| zeros(byte)).count();
    let upto = bytes.len()
        - bytes[from..]
            .iter()
            .rev()
            .take_while(|byte| zeros(byte))
            .count();
    let text = String::from_utf8_lossy(&bytes[from..upto]);
    let paired = pair_surrogates(&text);
    let changed = paired.is_some() || matches!(text, Cow::Owned(_)) || upto - from < bytes.len();
    changed.then(|| paired.unwrap_or_else(|| text.into_owned()).into_bytes())
}

/// Replaces escapes of lone surrogates; `None` when there is none.
fn pair_surrogates(text: &str) -> Option<String> {
    let mut fixed = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
        at += found;
        let low = unit(text, at + 6).is_some_and(|unit| (0xDC00..0xE000).contains(&unit));
        at += match unit(text, at) {
            None => 2,
            Some(0xD800..0xDC00) if low => 12,
            Some(0xD800..0xE000) => {
                fixed.push_str(&text[copied..at]);
                fixed.push_str("\\ufffd");
                copied = at + 6;
                6
            }
            Some(_) => 6,
        };
        if at >= text.len() {
            break;
        }
    }
    (copied > 0).then(|| {
        fixed.push_str(&text[copied..]);
        fixed
    })
}

/// The unit that a `\uXXXX` at `at` stands for.
fn unit(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u32::from_str_radix(digits, 16).ok()
}

/// An event's identity in hexadecimal digits, as readers' states write it.
pub(crate) fn hex(id: EventId) -> String {
    format!("{:032x}", id.0)
}

/// An event's identity in a reader's state, where it is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HexEventId(pub(crate) EventId);

impl Serialize for HexEventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(self.0))
    }
}

impl<'de> Deserialize<'de> for HexEventId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = Cow::<str>::deserialize(deserializer)?;
        let id = u128::from_str_radix(&digits, 16);
        id.map(|id| Self(EventId(id))).map_err(D::Error::custom)
    }
}

/// The identity of an event that may not exist; then the text is empty.
pub(crate) mod optional_hex {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        id: &Option<EventId>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&id.map(hex).unwrap_or_default())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<EventId>, D::Error> {
        let digits = Cow::<str>::deserialize(deserializer)?;
        if digits.is_empty() {
            return Ok(None);
        }
        let id = u128::from_str_radix(&digits, 16);
        id.map(|id| Some(EventId(id))).map_err(D::Error::custom)
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
