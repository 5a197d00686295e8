//! Helpers that the tests of this folder share. Secrets are assembled at run time, so that the sources
//! contain nothing that looks like one.

use super::{Redacted, Redactor};

pub(super) const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
pub(super) const HEX: &str = "0123456789abcdef";
pub(super) const UPPER: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
pub(super) const LOWER: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
pub(super) const DIGITS: &str = "0123456789";

/// `len` characters that look randomly drawn from `alphabet`, the same ones every time.
pub(super) fn random_chars(alphabet: &str, len: usize) -> String {
    Random {
        state: 0x2545_f491_u64 + len as u64,
    }
    .chars(alphabet, len)
}

/// A source of characters that depends on its seed alone.
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            state: (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        }
    }

    /// The next `len` characters of `alphabet`.
    pub(super) fn chars(&mut self, alphabet: &str, len: usize) -> String {
        let alphabet = alphabet.as_bytes();
        (0..len)
            .map(|_| {
                self.state = self
                    .state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                char::from(alphabet[(self.state >> 33) as usize % alphabet.len()])
            })
            .collect()
    }
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
        .map(|finding| &*finding.rule)
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
