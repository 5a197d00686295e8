//! Decodes MessagePack into JSON, as far as JSON can hold it.
//!
//! Bytes become null, keys that are no texts are dropped. An extension becomes what `extension` makes of its bytes.
//!
//! Not here: what a value means.

use serde_json::{Map, Number, Value};

/// Deepest nesting that is decoded.
const DEPTH: usize = 64;

/// What an extension's code and bytes stand for, at a depth.
pub(super) type Extension = fn(i8, &[u8], usize) -> Value;

/// The value that `bytes` begin with; `None` where they break off or nest too deeply.
pub(super) fn decode(bytes: &[u8], extension: Extension) -> Option<Value> {
    decode_at(bytes, extension, 0)
}

/// As [`decode`], within a value at `depth`.
pub(super) fn decode_at(bytes: &[u8], extension: Extension, depth: usize) -> Option<Value> {
    Decoder { bytes, extension }.value(depth)
}

struct Decoder<'b> {
    bytes: &'b [u8],
    extension: Extension,
}

impl<'b> Decoder<'b> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEPTH {
            return None;
        }
        let marker = self.take(1)?[0];
        Some(match marker {
            0x00..=0x7f => marker.into(),
            0x80..=0x8f => self.map(u64::from(marker & 0x0f), depth)?,
            0x90..=0x9f => self.list(u64::from(marker & 0x0f), depth)?,
            0xa0..=0xbf => self.text(u64::from(marker & 0x1f))?,
            0xc2 | 0xc3 => (marker == 0xc3).into(),
            0xc4..=0xc6 => {
                let length = self.number(1 << (marker - 0xc4))?;
                self.take(usize::try_from(length).ok()?)?;
                Value::Null
            }
            0xc7..=0xc9 => {
                let length = self.number(1 << (marker - 0xc7))?;
                self.extended(length, depth)?
            }
            0xca => f32::from_be_bytes(self.take(4)?.try_into().ok()?).into(),
            0xcb => f64::from_be_bytes(self.take(8)?.try_into().ok()?).into(),
            0xcc..=0xcf => self.number(1 << (marker - 0xcc))?.into(),
            0xd0..=0xd3 => self.signed(1 << (marker - 0xd0))?,
            0xd4..=0xd8 => self.extended(1 << (marker - 0xd4), depth)?,
            0xd9..=0xdb => {
                let length = self.number(1 << (marker - 0xd9))?;
                self.text(length)?
            }
            0xdc | 0xdd => {
                let length = self.number(2 << (marker - 0xdc))?;
                self.list(length, depth)?
            }
            0xde | 0xdf => {
                let length = self.number(2 << (marker - 0xde))?;
                self.map(length, depth)?
            }
            0xe0..=0xff => i8::from_be_bytes([marker]).into(),
            0xc0 | 0xc1 => Value::Null,
        })
    }

    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    /// An unsigned number of as many bytes.
    fn number(&mut self, bytes: usize) -> Option<u64> {
        let digits = self.take(bytes)?.iter();
        Some(digits.fold(0, |number, digit| number << 8 | u64::from(*digit)))
    }

    fn signed(&mut self, bytes: usize) -> Option<Value> {
        let unused = 64 - 8 * u32::try_from(bytes).ok()?;
        let number = (self.number(bytes)? << unused).cast_signed() >> unused;
        Some(Value::Number(Number::from(number)))
    }

    fn text(&mut self, length: u64) -> Option<Value> {
        let bytes = self.take(usize::try_from(length).ok()?)?;
        Some(String::from_utf8_lossy(bytes).into())
    }

    fn list(&mut self, length: u64, depth: usize) -> Option<Value> {
        // Each member takes a byte at least, so that a length alone asks for no memory.
        let mut members = Vec::new();
        for _ in 0..length {
            members.push(self.value(depth + 1)?);
        }
        Some(Value::Array(members))
    }

    fn map(&mut self, length: u64, depth: usize) -> Option<Value> {
        let mut members = Map::new();
        for _ in 0..length {
            let (key, value) = (self.value(depth + 1)?, self.value(depth + 1)?);
            if let Value::String(key) = key {
                members.insert(key, value);
            }
        }
        Some(Value::Object(members))
    }

    fn extended(&mut self, length: u64, depth: usize) -> Option<Value> {
        let code = i8::from_be_bytes([self.take(1)?[0]]);
        let bytes = self.take(usize::try_from(length).ok()?)?;
        Some((self.extension)(code, bytes, depth + 1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn inner(code: i8, bytes: &[u8], depth: usize) -> Value {
        json!([code, decode_at(bytes, inner, depth)])
    }

    #[test]
    fn every_kind_of_value_is_decoded() {
        let check = |bytes: &[u8], expected: Value| {
            assert_eq!(decode(bytes, inner), Some(expected), "{bytes:02x?}");
        };
        check(&[0x07], json!(7));
        check(&[0xff], json!(-1));
        check(&[0xcd, 0x01, 0x00], json!(256));
        check(&[0xd0, 0x80], json!(-128));
        check(
            &[0xd3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe],
            json!(-2),
        );
        check(&[0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0], json!(1.5));
        check(&[0xc0], json!(null));
        check(&[0xc3], json!(true));
        check(&[0xa2, b'h', b'i'], json!("hi"));
        check(&[0xd9, 2, b'h', b'i'], json!("hi"));
        check(&[0xc4, 2, 1, 2], json!(null));
        check(&[0x92, 0x01, 0xa1, b'x'], json!([1, "x"]));
        check(&[0xdc, 0, 1, 0x05], json!([5]));
        check(&[0x82, 0xa1, b'k', 0x01, 0x02, 0x03], json!({"k": 1}));
        check(&[0xd4, 5, 0x09], json!([5, 9]));
        check(&[0xc7, 2, 5, 0xa1, b'x'], json!([5, "x"]));
    }

    #[test]
    fn what_breaks_off_or_nests_too_deeply_is_no_value() {
        assert_eq!(decode(&[0x92, 0x01], inner), None);
        assert_eq!(decode(&[0xdd, 0xff, 0xff, 0xff, 0xff], inner), None);
        assert_eq!(decode(&[0x91; 100], inner), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes, inner);
        }
    }
}
