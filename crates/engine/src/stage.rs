//! How a stage tells whoever listens what it does: one span, from its door in to its door out.
//!
//! The engine only tells. It installs no listener and reads no clock: how long a stage took is the
//! listener's to measure, and a span that nobody listens to costs one comparison.
//!
//! Fields hold ids, numbers and words of our own, never what was said, asked or learned. One field
//! is called alike in every stage; docs/operating.md lists them. A path stands on spans of level
//! debug alone.

use tracing::{Instrument, Span};

/// The outcome of a stage that broke off. Whoever gets the error says why.
const BROKE_OFF: &str = "error";

/// Does `work` within `span`, and has `note` say there how it ended. The span declares the fields
/// that are noted, `outcome` among them.
///
/// # Errors
/// Those of `work`.
pub async fn within<T, E>(
    span: Span,
    work: impl Future<Output = Result<T, E>>,
    note: impl FnOnce(&Span, &T),
) -> Result<T, E> {
    let done = work.instrument(span.clone()).await;
    ended(&span, done, note)
}

/// As [`within`], for work that awaits nothing.
///
/// # Errors
/// Those of `work`.
pub fn inside<T, E>(
    span: Span,
    work: impl FnOnce() -> Result<T, E>,
    note: impl FnOnce(&Span, &T),
) -> Result<T, E> {
    let done = span.in_scope(work);
    ended(&span, done, note)
}

// Noted on the span itself: the current span would be another one where this one is not listened to.
fn ended<T, E>(span: &Span, done: Result<T, E>, note: impl FnOnce(&Span, &T)) -> Result<T, E> {
    match &done {
        Ok(done) => note(span, done),
        Err(_) => {
            span.record("outcome", BROKE_OFF);
        }
    }
    done
}
