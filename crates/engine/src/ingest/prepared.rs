//! The last step of every event before the log, whatever door it came in by.
//!
//! Not here: who said it, and where it came from.

use std::borrow::Cow;

use daybook_domain::NewEvent;

use super::indexed::indexed_tokens;
use super::kept::event_text;
use super::raw::RawEvent;
use super::redact::{Finding, Redactor};

/// The event for the log: without secrets, no longer than an event may be, cut into tokens. Says
/// what was hidden.
#[must_use]
pub fn prepared(redactor: &Redactor, mut raw: RawEvent) -> (NewEvent, Vec<Finding>) {
    let said = std::mem::take(&mut raw.text);
    let redacted = redactor.redact(&said);
    // Hidden first and cut afterwards: half of a secret is one that no rule knows.
    let text = event_text(Cow::Borrowed(&redacted.text));
    let tokens = indexed_tokens(raw.origin, &text);
    (raw.with(text, tokens), redacted.findings)
}
