//! What the tests of this folder share. Secrets are put together at run time, so that the sources
//! hold nothing that looks like one.

use super::{Redacted, Redactor};

pub(super) const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
pub(super) const HEX: &str = "0123456789abcdef";
pub(super) const UPPER: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
pub(super) const LOWER: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
pub(super) const DIGITS: &str = "0123456789";

/// `len` characters that look drawn from `alphabet`, the same ones every time.
pub(super) fn drawn(alphabet: &str, len: usize) -> String {
    let alphabet = alphabet.as_bytes();
    let mut state = 0x2545_f491_u64 + len as u64;
    (0..len)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            char::from(alphabet[(state >> 33) as usize % alphabet.len()])
        })
        .collect()
}

/// Asserts that of `before`, `secret` and `after` only the secret is replaced.
#[track_caller]
pub(super) fn check_hidden(rule: &'static str, before: &str, secret: &str, after: &str) {
    let text = format!("{before}{secret}{after}");
    let redacted = Redactor::standard().redact(&text);
    assert_eq!(
        redacted.text,
        format!("{before}[REDACTED:{rule}]{after}"),
        "from {text}"
    );
    let found: Vec<_> = redacted
        .findings
        .iter()
        .map(|finding| finding.rule)
        .collect();
    assert_eq!(found, [rule]);
}

#[track_caller]
pub(super) fn check_untouched(text: &str) {
    let redacted = Redactor::standard().redact(text);
    assert_eq!(
        redacted,
        Redacted {
            text: text.into(),
            findings: Vec::new()
        }
    );
}
