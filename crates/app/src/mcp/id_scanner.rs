//! Finds the id in a text that is no JSON, or too long to be held: its sender waits for an answer with that id.
//!
//! It reads only strings, braces and commas, and holds nothing but the id. Not here: whether the text is
//! a message.

use serde_json::{Value, json};

/// Longest id that is echoed, in bytes.
const ID: usize = 128;

/// Looks for the member `id` of the outermost object.
#[derive(Debug, Default)]
pub(super) struct IdScanner {
    depth: u64,
    /// The open string, if any.
    string: Option<ScannedText>,
    /// A number, or what might be one, that follows `"id":`.
    number: ScannedText,
    place: ScanPlace,
    id: Option<Value>,
}

/// The position within the outermost object.
#[derive(Debug, Default, PartialEq, Eq)]
enum ScanPlace {
    #[default]
    Outside,
    /// Before or in the name of a member.
    Name,
    /// Behind the name of a member that is called `id`.
    IsId,
    /// Behind any other name.
    Other,
}

#[derive(Debug, Default)]
struct ScannedText {
    bytes: Vec<u8>,
    is_escaped: bool,
    /// It is too long, or has escapes: no id that can be echoed.
    is_strange: bool,
}

impl ScannedText {
    fn push(&mut self, byte: u8) {
        match self.bytes.len() < ID {
            true => self.bytes.push(byte),
            false => self.is_strange = true,
        }
    }

    fn text(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.bytes).ok()?;
        (!self.is_strange).then_some(text)
    }
}

impl IdScanner {
    /// The id in `text`, or null.
    pub(super) fn id_in(text: &[u8]) -> Value {
        let mut scanner = Self::default();
        scanner.feed(text);
        scanner.id()
    }

    /// The id that was found, or null.
    pub(super) fn id(mut self) -> Value {
        self.end_number();
        self.id.unwrap_or(Value::Null)
    }

    /// Looks at the next part of the text.
    pub(super) fn feed(&mut self, part: &[u8]) {
        for byte in part {
            match self.string.take() {
                Some(string) => self.feed_string(string, *byte),
                None => self.feed_structure(*byte),
            }
        }
    }

    fn feed_string(&mut self, mut string: ScannedText, byte: u8) {
        match (string.is_escaped, byte) {
            (true, _) => string.is_escaped = false,
            (false, b'\\') => {
                string.is_escaped = true;
                string.is_strange = true;
            }
            (false, b'"') => return self.end_string(&string),
            // Deeper ones are of no interest.
            (false, _) if self.depth == 1 => string.push(byte),
            (false, _) => {}
        }
        self.string = Some(string);
    }

    fn end_string(&mut self, string: &ScannedText) {
        match (&self.place, self.depth) {
            (ScanPlace::Name, 1) => {
                self.place = match string.text() == Some("id") {
                    true => ScanPlace::IsId,
                    false => ScanPlace::Other,
                };
            }
            (ScanPlace::IsId, 1) => self.id = string.text().map(|id| json!(id)),
            (ScanPlace::Outside | ScanPlace::Name | ScanPlace::IsId | ScanPlace::Other, _) => {}
        }
    }

    fn feed_structure(&mut self, byte: u8) {
        match byte {
            b'"' => self.string = Some(ScannedText::default()),
            b'{' | b'[' => {
                if self.depth == 0 && byte == b'{' && self.place == ScanPlace::Outside {
                    self.place = ScanPlace::Name;
                }
                self.depth += 1;
            }
            b'}' | b']' => {
                self.end_number();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' if self.depth == 1 => {
                self.end_number();
                if self.place != ScanPlace::Outside {
                    self.place = ScanPlace::Name;
                }
            }
            _ if self.depth == 1
                && self.place == ScanPlace::IsId
                && !byte.is_ascii_whitespace()
                && byte != b':' =>
            {
                self.number.push(byte);
            }
            _ => {}
        }
    }

    fn end_number(&mut self) {
        let number = std::mem::take(&mut self.number);
        if self.depth == 1 && self.place == ScanPlace::IsId {
            let known = number.text().and_then(|text| text.parse::<i64>().ok());
            self.id = known.map(|id| json!(id)).or(self.id.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_broken_message_is_found() {
        for (text, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"#, json!(7)),
            (r#"{"params":{"id":1,"x":NaN},"id": -3 }"#, json!(-3)),
            (r#"{"params":{"x":"\ud800"},"id":"a b"}"#, json!("a b")),
            (r#"{"x":"\"id\":1","id":2}"#, json!(2)),
            (r#"{"x":[{"id":1}],"id":2"#, json!(2)),
            (r#"{"id":"9007199254740993x"}"#, json!("9007199254740993x")),
        ] {
            assert_eq!(IdScanner::id_in(text.as_bytes()), id, "{text}");
        }
    }

    #[test]
    fn what_is_no_id_is_null() {
        for text in [
            "",
            "{",
            "]]]}}}",
            "\"id\":1",
            "[{\"id\":1}]",
            r#"{"x":{"id":1}}"#,
            r#"{"id":null}"#,
            r#"{"id":1.5}"#,
            r#"{"id":{"id":1}}"#,
            r#"{"id":"a\u0041"}"#,
            r#"{"id":99999999999999999999}"#,
            r#"{"name":"id","x":1}"#,
        ] {
            assert_eq!(IdScanner::id_in(text.as_bytes()), Value::Null, "{text}");
        }
        let long = format!("{{\"id\":\"{}\"}}", "x".repeat(ID + 1));
        assert_eq!(IdScanner::id_in(long.as_bytes()), Value::Null);
    }
}
