//! Finds runs of base 64 and hexadecimal digits that encode a text with a secret in it.
//!
//! A run is decoded only if its first bytes stand for text, which those of images, digests and keys do not.
//!
//! Not here: what is a secret in the decoded text. `scan` applies all rules to it.

use std::ops::Range;

use super::shape::is_hex;

/// Bytes of a run from which on it is decoded; a shorter one encodes no secret that has a format.
const SHORTEST: usize = 24;
/// Bytes of a run that are decoded.
const LONGEST: usize = 64 * 1024;
/// First bytes of a run, and of what it stands for, that must be text.
const SHOWN: usize = 16;

/// The long runs of `text`.
pub(super) fn runs(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let run = next_run(text, at)?;
        at = run.end;
        Some(run)
    })
}

/// The next long run from `from` on. A run covers some place at every [`SHORTEST`] bytes, so the others are not read.
fn next_run(text: &[u8], from: usize) -> Option<Range<usize>> {
    let mut start = from;
    loop {
        let probe = text.get(start..start + SHORTEST)?;
        match probe.iter().rposition(|byte| !IS_DIGIT[usize::from(*byte)]) {
            Some(other) => start += other + 1,
            None => {
                let rest = text[start..].iter();
                let len = rest
                    .take_while(|byte| IS_DIGIT[usize::from(**byte)])
                    .count();
                return Some(start..start + len);
            }
        }
    }
}

const IS_DIGIT: [bool; 256] = {
    let mut is_digit = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let known = byte as u8;
        is_digit[byte] =
            known.is_ascii_alphanumeric() || matches!(known, b'+' | b'/' | b'-' | b'_');
        byte += 1;
    }
    is_digit
};

/// The text that `run` encodes, if it encodes one.
pub(super) fn decode(run: &[u8]) -> Option<Vec<u8>> {
    let run = &run[..run.len().min(LONGEST)];
    let from_hex = is_hex(run)
        .then(|| decode_hex(run))
        .filter(|bytes| shows_text(bytes));
    let shows = || shows_text(&decode_base64(&run[..SHOWN]));
    from_hex.or_else(|| shows().then(|| decode_base64(run)))
}

fn decode_hex(run: &[u8]) -> Vec<u8> {
    run.chunks_exact(2)
        .map(|pair| hex_digit(pair[0]) << 4 | hex_digit(pair[1]))
        .collect()
}

fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

/// The bytes that `run` stands for in either alphabet of base 64.
pub(super) fn decode_base64(run: &[u8]) -> Vec<u8> {
    let mut bits = 0_u32;
    let mut held = 0;
    let mut decoded = Vec::with_capacity(run.len() * 3 / 4);
    for &byte in run {
        bits = (bits << 6) | base64_digit(byte);
        held += 6;
        if held >= 8 {
            held -= 8;
            decoded.push((bits >> held) as u8);
        }
    }
    decoded
}

/// The value of a digit of either alphabet; 0 for what is none.
fn base64_digit(byte: u8) -> u32 {
    let digit = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => 0,
    };
    u32::from(digit)
}

fn shows_text(bytes: &[u8]) -> bool {
    let mut shown = bytes.iter().take(SHOWN);
    shown.all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
}
