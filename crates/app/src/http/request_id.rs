//! Gives each request an id, by which its answer and its lines in the log are found together.
//!
//! A client may choose the id, in the header `x-request-id`; it is returned in the same header.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use daybook_text::redact::Redactor;

use crate::process::random_bytes;

/// The header of a request's id, in the request and in its answer.
pub(super) const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// Longest id of a client that is taken over, in bytes.
const MAX_ID: usize = 128;

/// The id of a request.
#[derive(Debug, Clone)]
pub(super) struct RequestId(pub(super) String);

/// Forwards a request with its id, and returns the id with the answer.
pub(super) async fn identify(mut request: Request, next: Next) -> Response {
    let given = request.headers().get(&HEADER);
    let given = given.and_then(|id| id.to_str().ok()).filter(|id| fits(id));
    let id = given.map_or_else(made, str::to_owned);
    request.extensions_mut().insert(RequestId(id.clone()));
    let mut response = next.run(request).await;
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HEADER, id);
    }
    response
}

/// Whether an id of a client can stand in a log as it is: it is short and plain, and no secret.
fn fits(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    let is_short = (1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_plain);
    is_short && Redactor::current().redact(id).findings.is_empty()
}

/// A new id. Without random numbers all ids are alike, which keeps no request from being answered.
fn made() -> String {
    let bytes: [u8; 16] = random_bytes().unwrap_or_default();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_a_log_cannot_show_as_they_are_are_not_taken_over() {
        for id in ["a", "2026-03-02:tides_1.2", &"x".repeat(MAX_ID)] {
            assert!(fits(id), "{id}");
        }
        let secret = format!("gh{}_{}", 'p', "1aB3dE5gH7jK9".repeat(3));
        assert!(!fits(&secret));
        for id in ["", "a b", "a\"b", "ä", &"x".repeat(MAX_ID + 1)] {
            assert!(!fits(id), "{id}");
        }
        assert_eq!(made().len(), 32);
    }
}
