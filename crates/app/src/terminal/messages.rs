//! Messages for the person who runs the program. In the process of another program they are events of `tracing`, and nothing
//! is printed.

#[cfg(not(feature = "interfaces"))]
use daybook_text::redact::Redactor;

#[cfg(feature = "interfaces")]
pub(crate) use super::logging::{print_error, print_notice};

/// Reports an error to the subscriber of the host.
#[cfg(not(feature = "interfaces"))]
pub(crate) fn print_error(message: &str) {
    tracing::error!(message = &*Redactor::current().redact(message).text);
}

/// [`print_error`] for a message that is no error.
#[cfg(not(feature = "interfaces"))]
pub(crate) fn print_notice(message: &str) {
    tracing::info!(message = &*Redactor::current().redact(message).text);
}
