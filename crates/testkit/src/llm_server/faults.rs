//! How a scripted provider turns a request away, in the shape of each wire.

use std::time::{Duration, SystemTime};

use serde_json::json;

use super::asked::{Asked, AskedForm, Spoken};
use super::script::RetryAfter;
use super::told::{Told, fault, raw};

/// An error in the shape of each wire.
pub(super) fn named(status: u16, asked: &Asked, code: &str, message: &str) -> Told {
    let body = match asked.wire {
        Spoken::OpenAi => json!({"error": {"message": message, "type": code, "code": code}}),
        Spoken::Anthropic => {
            json!({"type": "error", "error": {"type": code, "message": message}})
        }
        Spoken::Ollama => json!({"error": message}),
    };
    fault(status, body)
}

pub(super) fn rate_limit(retry_after: Option<RetryAfter>, asked: &Asked) -> Told {
    let mut told = named(429, asked, "rate_limit_error", "too many requests");
    match retry_after {
        Some(RetryAfter::Seconds(seconds)) => {
            told.headers.push(("retry-after", seconds.to_string()));
        }
        Some(RetryAfter::Millis(ms)) => told.headers.push(("retry-after-ms", ms.to_string())),
        Some(RetryAfter::Date(after)) => {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
            told.headers.push(("date", httpdate::fmt_http_date(now)));
            told.headers
                .push(("retry-after", httpdate::fmt_http_date(now + after)));
        }
        None => {}
    }
    told
}

pub(super) fn denied(asked: &Asked) -> Told {
    let key = asked.header("authorization").or(asked.header("x-api-key"));
    let message = format!("the key {} is not known", key.unwrap_or_default());
    named(401, asked, "authentication_error", &message)
}

pub(super) fn too_long(asked: &Asked) -> Told {
    let (code, message) = match asked.wire {
        Spoken::OpenAi => (
            "context_length_exceeded",
            "This model reads 8 tokens; there are 9.",
        ),
        Spoken::Anthropic => (
            "invalid_request_error",
            "prompt is too long: 9 tokens > 8 maximum",
        ),
        Spoken::Ollama => ("", "the input length exceeds the context length"),
    };
    named(400, asked, code, message)
}

pub(super) fn rejects_schema(asked: &Asked) -> Told {
    let form = match asked.form {
        AskedForm::Schema(_) => "json_schema",
        AskedForm::Json => "json_object",
        AskedForm::Free => "text",
    };
    let message = match asked.wire {
        Spoken::OpenAi => format!("response_format of type {form} is not supported"),
        Spoken::Anthropic => "tool_choice: this model does not support it".to_owned(),
        Spoken::Ollama => "invalid format: this model does not support it".to_owned(),
    };
    named(400, asked, "invalid_request_error", &message)
}

pub(super) fn page(status: u16) -> Told {
    let rows = "<p>The page cannot be shown. Ask whoever runs this server.</p>".repeat(100);
    let page = format!("<!doctype html><html><style>p {{}}</style><h1>Oops</h1>{rows}</html>");
    Told {
        headers: vec![("content-type", "text/html".to_owned())],
        ..raw(status, page.into_bytes())
    }
}
