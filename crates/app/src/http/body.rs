//! Reads a request's whole body before its handler runs, within a time and a size.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

use super::BODY;
use super::fault::HttpFault;

/// Longest time from a request's headers to the end of its body. It bounds a body that arrives slowly, too.
pub(super) const BODY_TIME: Duration = Duration::from_secs(10);

/// Forwards a request once its whole body has arrived.
pub(super) async fn read(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    match timeout(BODY_TIME, to_bytes(body, BODY)).await {
        Ok(Ok(bytes)) => {
            next.run(Request::from_parts(parts, Body::from(bytes)))
                .await
        }
        Ok(Err(error)) => unread(&error).into_response(),
        Err(_) => slow().into_response(),
    }
}

fn unread(error: &axum::Error) -> HttpFault {
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        if inner.to_string().contains("length limit") {
            return HttpFault::too_large();
        }
        cause = inner.source();
    }
    let message = "the body broke off before its end; nothing was changed, send the request again";
    HttpFault::new(StatusCode::BAD_REQUEST, "malformed", message)
}

fn slow() -> HttpFault {
    let message = format!(
        "the body did not arrive within {} seconds; nothing was changed, send the request again",
        BODY_TIME.as_secs()
    );
    HttpFault::new(StatusCode::REQUEST_TIMEOUT, "slow_request", message)
}
