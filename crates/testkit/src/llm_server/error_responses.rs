//! The errors with which a scripted provider rejects requests, in the shape of each wire.

use std::time::{Duration, SystemTime};

use serde_json::json;

use super::recorded_request::{RecordedRequest, RequestWire, RequestedForm};
use super::script::RetryAfter;
use super::scripted_response::{ScriptedResponse, error_response, json_response};

/// An error in the shape of each wire.
pub(super) fn wire_error(
    status: u16,
    request: &RecordedRequest,
    code: &str,
    message: &str,
) -> ScriptedResponse {
    let body = match request.wire {
        RequestWire::OpenAi => json!({"error": {"message": message, "type": code, "code": code}}),
        RequestWire::Anthropic => {
            json!({"type": "error", "error": {"type": code, "message": message}})
        }
        RequestWire::Ollama => json!({"error": message}),
    };
    error_response(status, body)
}

pub(super) fn rate_limit(
    retry_after: Option<RetryAfter>,
    request: &RecordedRequest,
) -> ScriptedResponse {
    let mut response = wire_error(429, request, "rate_limit_error", "too many requests");
    match retry_after {
        Some(RetryAfter::Seconds(seconds)) => {
            response.headers.push(("retry-after", seconds.to_string()));
        }
        Some(RetryAfter::Millis(ms)) => response.headers.push(("retry-after-ms", ms.to_string())),
        Some(RetryAfter::Date(after)) => {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
            response
                .headers
                .push(("date", httpdate::fmt_http_date(now)));
            response
                .headers
                .push(("retry-after", httpdate::fmt_http_date(now + after)));
        }
        None => {}
    }
    response
}

pub(super) fn denied(request: &RecordedRequest) -> ScriptedResponse {
    let key = request
        .header("authorization")
        .or(request.header("x-api-key"));
    let message = format!("the key {} is not known", key.unwrap_or_default());
    wire_error(401, request, "authentication_error", &message)
}

pub(super) fn too_long(request: &RecordedRequest) -> ScriptedResponse {
    let (code, message) = match request.wire {
        RequestWire::OpenAi => (
            "context_length_exceeded",
            "This model reads 8 tokens; there are 9.",
        ),
        RequestWire::Anthropic => (
            "invalid_request_error",
            "prompt is too long: 9 tokens > 8 maximum",
        ),
        RequestWire::Ollama => ("", "the input length exceeds the context length"),
    };
    wire_error(400, request, code, message)
}

pub(super) fn rejects_schema(request: &RecordedRequest) -> ScriptedResponse {
    let form = match request.form {
        RequestedForm::Schema(_) => "json_schema",
        RequestedForm::Json => "json_object",
        RequestedForm::Free => "text",
    };
    let message = match request.wire {
        RequestWire::OpenAi => format!("response_format of type {form} is not supported"),
        RequestWire::Anthropic => "tool_choice: this model does not support it".to_owned(),
        RequestWire::Ollama => "invalid format: this model does not support it".to_owned(),
    };
    wire_error(400, request, "invalid_request_error", &message)
}

pub(super) fn html_page(status: u16) -> ScriptedResponse {
    let rows = "<p>The page cannot be shown. Ask whoever runs this server.</p>".repeat(100);
    let page = format!("<!doctype html><html><style>p {{}}</style><h1>Oops</h1>{rows}</html>");
    ScriptedResponse {
        headers: vec![("content-type", "text/html".to_owned())],
        ..json_response(status, page.into_bytes())
    }
}
