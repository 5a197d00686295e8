//! Recognises text that is not worth searching: encoded images, keys, minified data.
//!
//! A blob is a long run of the base-64 alphabet in which letters and digits alternate as no name
//! does, or that has next to no vowels. It gives no tokens at all.
//!
//! Not here: secrets; `ingest` removes those long before.

use std::ops::Range;

/// Letters and digits in a row from which on a run may be a blob. A SHA-256 in hexadecimal has 64
/// and is still something that people look up.
pub(super) const BLOB_CHARS: usize = 80;
/// Share of neighbours, in percent, of which the second opens a hump or a number: by chance 42 in
/// base 64, 47 in hexadecimal, 30 in base 32; below 18 in long paths and camel-case names.
const CHANGES_PERCENT: usize = 25;
/// Share of vowels among the letters, in percent; English has 38.
const VOWELS_PERCENT: usize = 10;

/// The parts of `text` that are no blobs, in order.
pub(super) fn without_blobs(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    let mut blobs = blobs(text);
    std::iter::from_fn(move || {
        if at > text.len() {
            return None;
        }
        let blob = blobs.next().unwrap_or(text.len()..text.len() + 1);
        let between = &text[at..blob.start];
        at = blob.end;
        Some(between)
    })
}

fn blobs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let from = at;
            let run = bytes[from..]
                .iter()
                .take_while(|byte| is_base64(**byte))
                .count();
            at = from + run.max(1);
            if run >= BLOB_CHARS && is_blob(&bytes[from..from + run]) {
                return Some(from..from + run);
            }
        }
        None
    })
}

fn is_blob(run: &[u8]) -> bool {
    let mut signs = 0;
    let mut letters = 0;
    let mut vowels = 0;
    let mut changes = 0;
    let mut before = b'/';
    for &byte in run.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        signs += 1;
        letters += usize::from(byte.is_ascii_alphabetic());
        vowels += usize::from(matches!(
            byte.to_ascii_lowercase(),
            b'a' | b'e' | b'i' | b'o' | b'u'
        ));
        let opens_hump = before.is_ascii_lowercase() && byte.is_ascii_uppercase();
        let opens_number = before.is_ascii_digit() != byte.is_ascii_digit();
        changes += usize::from(opens_hump || opens_number);
        before = byte;
    }
    signs >= BLOB_CHARS
        && (changes * 100 >= signs * CHANGES_PERCENT || vowels * 100 < letters * VOWELS_PERCENT)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}
