//! Finds the values in manifests of Kubernetes secrets, which no name and no format reveals.
//!
//! A hit on `kind: Secret` makes its document a secret's, up to the `---` lines around it. In its `data` and
//! `stringData` each value is hidden; names stay readable.
//!
//! Not here: other resources. `assign` finds what they hold.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::Regex;

use super::finding::FindingReason;
use super::placeholder::is_placeholder;
use super::span::{RuleRank, Span};

/// What such a manifest says of itself, in lower case.
pub(super) const KEYWORDS: [&str; 3] = [
    "kind: secret",
    "\"kind\": \"secret\"",
    "\"kind\":\"secret\"",
];

/// Bytes of a document on either side of the keyword.
const MAX_DOCUMENT: usize = 8 * 1024;
/// Bytes below which a value is left alone.
const SHORTEST: usize = 4;

/// The values of the manifest that has its kind at `hit`, and where the manifest ends.
pub(super) fn find(text: &[u8], hit: Range<usize>) -> (Vec<Span>, usize) {
    let ends_kind = text
        .get(hit.end)
        .is_none_or(|byte| !byte.is_ascii_alphanumeric());
    if !ends_kind {
        return (Vec::new(), hit.end);
    }
    let document = document(text, hit);
    let bytes = &text[document.clone()];
    let mut spans = Vec::new();
    for section in sections().captures_iter(bytes) {
        let Some(entries) = section.get(1).or_else(|| section.get(2)) else {
            continue;
        };
        let values = values().captures_iter(entries.as_bytes());
        let values = values.filter_map(|entry| entry.get(1));
        let secrets =
            values.filter(|value| value.len() >= SHORTEST && !is_placeholder(value.as_bytes()));
        spans.extend(secrets.map(|value| {
            let start = document.start + entries.start() + value.start();
            let range = start..start + value.len();
            let reason = FindingReason::Manifest;
            Span::new(range, "kubernetes-secret", RuleRank::Named, reason).in_row(0)
        }));
    }
    (spans, document.end)
}

/// The range between the separators around the hit.
fn document(text: &[u8], hit: Range<usize>) -> Range<usize> {
    const SEPARATOR: &[u8] = b"---";
    let from = hit.start.saturating_sub(MAX_DOCUMENT);
    let to = text.len().min(hit.end + MAX_DOCUMENT);
    let before = text[from..hit.start]
        .windows(3)
        .rposition(|window| window == SEPARATOR);
    let after = text[hit.end..to]
        .windows(3)
        .position(|window| window == SEPARATOR);
    let start = before.map_or(from, |at| from + at);
    let end = after.map_or(to, |at| hit.end + at);
    start..end
}

/// `data:` with the indented lines below it, or `"data": {…}`.
fn sections() -> &'static Regex {
    static SECTIONS: OnceLock<Regex> = OnceLock::new();
    const BREAK: &str = r"(?:\r?\n|\\+n)";
    SECTIONS.get_or_init(|| {
        compile(&format!(
            r#"(?:{BREAK}|\A)(?:data|stringData):[ ]*((?:{BREAK}[ ]+[A-Za-z0-9._-]+:[^\n\\]*)+)|"(?:data|stringData)\\*":\s*\{{([^{{}}]*)\}}"#
        ))
    })
}

/// `name: value`, `"name": "value"`.
fn values() -> &'static Regex {
    static VALUES: OnceLock<Regex> = OnceLock::new();
    VALUES.get_or_init(|| compile(r#"[A-Za-z0-9._-]+\\*"?:[ ]*\\*["']?([^\s"'\\|>{}]+)"#))
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a test compiles every pattern")
}
