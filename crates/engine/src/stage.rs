//! Records each pipeline stage as one tracing span, from entry to exit.
//!
//! The engine only emits spans. It installs no subscriber and reads no clock: the subscriber measures how
//! long a stage took, and a span without a subscriber costs one comparison.
//!
//! Fields hold ids, numbers and fixed words, never text of transcripts, questions or observations. A field
//! has the same name in every stage; docs/operating.md lists them. A path appears only in spans of level
//! debug.

use tracing::{Instrument, Span};

/// The outcome of a stage that failed. The caller that gets the error reports the reason.
const BROKE_OFF: &str = "error";

/// Runs `work` within `span`, and calls `note` to record its result there. The span declares the recorded
/// fields, `outcome` among them.
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

/// Like [`within`], for synchronous work.
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

// Recorded on the span itself: where this span is disabled, the current span would be another one.
fn ended<T, E>(span: &Span, done: Result<T, E>, note: impl FnOnce(&Span, &T)) -> Result<T, E> {
    match &done {
        Ok(done) => note(span, done),
        Err(_) => {
            span.record("outcome", BROKE_OFF);
        }
    }
    done
}
