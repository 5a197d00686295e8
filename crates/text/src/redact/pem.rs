//! Private keys in their armour: `-----BEGIN … PRIVATE KEY-----` and what follows.
//!
//! Keys occur with real line breaks, with `\n` of JSON, indented, quoted, with the line numbers or
//! `+` of a listing, without an end because the text was cut, or without a beginning. So the
//! body is read as runs of base 64 with other text between them. It ends at the closing line,
//! or after the last long run when prose follows.

use std::ops::Range;

use super::cursor::Cursor;
use super::finding::FindingReason;
use super::span::{RuleRank, Span};

/// Texts of which every header and footer of a private key contains one.
pub(super) const KEYWORDS: [&str; 2] = ["private key-----", "private key block-----"];

/// Bytes of one key. The largest in use, RSA with 16,384 bits, takes thirteen thousand.
const MAX_KEY: usize = 32 * 1024;
/// Bytes of the words between the dashes.
const MAX_LABEL: usize = 40;
/// A run of base 64 this long is a key's line and not a word.
const LONG_RUN: usize = 32;
/// A run this long after the header is the start of a key that was cut off, or a short key.
const SHORT_KEY: usize = 12;
/// Most bytes between two lines of a key: headers, line numbers, a short last line.
const MAX_BETWEEN: usize = 240;
/// Bytes between two lines of a key that has no headers: line break, indentation, line number.
const MAX_LINE_START: usize = 16;

/// The key whose header or footer has its last words at `hit`.
pub(super) fn find(text: &[u8], hit: Range<usize>) -> Option<Span> {
    let label = hit.start.saturating_sub(MAX_LABEL);
    let before = &text[label..hit.start];
    let start = label + last_dashes(before)?;
    let range = match &text[start..hit.start] {
        line if line.starts_with(b"-----BEGIN ") => start..body_end(text, hit.end)?,
        line if line.starts_with(b"-----END ") => body_start(text, start)?..hit.end,
        _ => return None,
    };
    let reason = FindingReason::PrivateKey;
    Some(Span::new(range, "private-key", RuleRank::Issuer, reason).in_row(0))
}

/// Where the dashes of the line start whose label ends `before`.
fn last_dashes(before: &[u8]) -> Option<usize> {
    before.windows(5).rposition(|window| window == b"-----")
}

/// Where the key ends whose header ends at `header_end`; nothing if no key follows.
fn body_end(text: &[u8], header_end: usize) -> Option<usize> {
    let mut cursor = Cursor::new(text, header_end);
    let mut end = None;
    let limit = header_end + MAX_KEY;
    let mut longest = 0;
    while cursor.at < text.len().min(limit) && cursor.at <= end.unwrap_or(header_end) + MAX_BETWEEN
    {
        if let Some(footer_end) = footer_at(cursor) {
            return (longest >= SHORT_KEY).then_some(footer_end);
        }
        if cursor.rest().starts_with(b"-----BEGIN ") {
            break;
        }
        skip_escapes(&mut cursor);
        let run = cursor.eat_while(MAX_KEY, is_base64);
        longest = longest.max(run.len());
        let opens_key = end.is_none() && run.len() >= SHORT_KEY && is_mixed(run);
        let gap = cursor.at - run.len() - end.unwrap_or(header_end);
        let ends_text = end.is_some() && cursor.at == text.len() && gap <= MAX_LINE_START;
        if opens_key || ends_text || (run.len() >= LONG_RUN && is_mixed(run)) {
            end = Some(cursor.at);
        }
        if run.is_empty() {
            cursor.at += 1;
        }
    }
    end
}

/// Where the key starts whose footer starts at `footer`, if its header is missing.
fn body_start(text: &[u8], footer: usize) -> Option<usize> {
    let mut at = footer;
    let mut start = None;
    let floor = footer.saturating_sub(MAX_KEY);
    while at > floor && at + MAX_BETWEEN >= start.unwrap_or(footer) {
        if text[..at].ends_with(b"-----") {
            break;
        }
        let len = text[floor..at]
            .iter()
            .rev()
            .take_while(|byte| is_base64(**byte))
            .count();
        let run = &text[at - len..at];
        if run.len() >= LONG_RUN && is_mixed(run) {
            start = Some(without_escape(text, at - len));
        }
        at -= len.max(1);
    }
    start
}

/// Leaves the `n` of `\n` outside when a run is read backwards.
fn without_escape(text: &[u8], start: usize) -> usize {
    let escaped =
        start > 0 && text[start - 1] == b'\\' && matches!(text[start], b'n' | b'r' | b't');
    start + usize::from(escaped)
}

/// The end of the footer at the cursor, if there is one.
fn footer_at(mut cursor: Cursor<'_>) -> Option<usize> {
    if !cursor.eat(b"-----END ") {
        return None;
    }
    cursor.eat_while(MAX_LABEL, |byte| {
        byte.is_ascii_alphanumeric() || byte == b' '
    });
    cursor.eat(b"-----");
    Some(cursor.at)
}

/// Steps over `\n`, `\r` and `\t` as JSON writes them, so that no letter of theirs joins a run.
fn skip_escapes(cursor: &mut Cursor<'_>) {
    while cursor.peek() == Some(b'\\') {
        cursor.eat_while(usize::MAX, |byte| byte == b'\\');
        cursor.eat_while(1, |byte| matches!(byte, b'n' | b'r' | b't'));
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Whether a run has letters of both cases, or capitals with digits, as a key's base 64 has and a word or a ruled
/// line has not.
fn is_mixed(run: &[u8]) -> bool {
    let has = |wanted: fn(&u8) -> bool| run.iter().any(wanted);
    has(u8::is_ascii_uppercase) && (has(u8::is_ascii_lowercase) || has(u8::is_ascii_digit))
}
