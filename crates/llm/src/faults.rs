//! Reads the error responses of providers.
//!
//! Vendors write their errors in half a dozen shapes, and proxies between put one vendor's into another's;
//! so one reader handles all of them. Messages for people are short, plain and without the key.

use daybook_domain::model::ModelError;
use reqwest::StatusCode;
use serde_json::Value;

use crate::key::Key;

/// Most characters of a provider's message that reach people.
const MESSAGE_CHARACTERS: usize = 300;

/// Phrases of vendors for a question that is too long; in small letters.
const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "max context length",
    "context length",
    "context window",
    "context size",
    "exceed context limit",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "request_too_large",
];

/// Phrases of vendors for an account that has nothing left; in small letters.
const NOTHING_LEFT: &[&str] = &["insufficient_quota", "billing_error", "credit balance"];

/// Phrases of vendors for a question that is not to be answered; in small letters.
const FILTERED: &[&str] = &[
    "content_filter",
    "content_policy_violation",
    "data_inspection_failed",
];

/// An error response of a provider.
#[derive(Debug)]
pub(crate) struct ProviderFault {
    pub(crate) status: StatusCode,
    /// Its message, shortened, with the key covered up.
    message: String,
    /// Its codes and message in small letters, which decide its class.
    search_text: String,
}

/// How the caller handles a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultClass {
    /// Trying again may help.
    Passing,
    /// Trying again would not help the key or the account.
    Denied,
    TooLong,
    Refused,
    BadRequest,
}

impl ProviderFault {
    /// Reads the body of an answer that is no 2xx.
    pub(crate) fn read(status: StatusCode, body: &[u8], key: Option<&Key>) -> Self {
        let text = String::from_utf8_lossy(body);
        let (message, code) = match serde_json::from_str::<Value>(&text) {
            Ok(value) => message_and_codes(&value),
            Err(_) => (strip_markup(&text), String::new()),
        };
        let search_text = format!("{code} {message}").to_lowercase();
        let hidden = match key {
            Some(key) => key.hide(&message),
            None => message,
        };
        Self {
            status,
            message: shorten(&hidden),
            search_text,
        }
    }

    /// An error that came with a 200, as some routers send them.
    pub(crate) fn within(body: &[u8], key: Option<&Key>) -> Option<Self> {
        let value: Value = serde_json::from_slice(body).ok()?;
        let error = value.get("error").filter(|error| !error.is_null())?;
        let code = error.get("code").and_then(Value::as_u64);
        let status = code
            .and_then(|code| StatusCode::from_u16(u16::try_from(code).ok()?).ok())
            .filter(|status| status.is_client_error() || status.is_server_error());
        Some(Self::read(
            status.unwrap_or(StatusCode::BAD_GATEWAY),
            body,
            key,
        ))
    }

    /// Whether its codes or message contain any of `words`.
    pub(crate) fn names(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.search_text.contains(word))
    }

    pub(crate) fn class(&self) -> FaultClass {
        let client = self.status.is_client_error();
        match self.status.as_u16() {
            413 => FaultClass::TooLong,
            400 | 422 | 500 if self.names(TOO_LONG) => FaultClass::TooLong,
            400..500 if self.names(NOTHING_LEFT) => FaultClass::Denied,
            401..=403 => FaultClass::Denied,
            408 | 409 | 429 => FaultClass::Passing,
            _ if client && self.names(FILTERED) => FaultClass::Refused,
            500.. if self.status != StatusCode::NOT_IMPLEMENTED => FaultClass::Passing,
            _ => FaultClass::BadRequest,
        }
    }

    /// Whether it shows that the question was turned away before a model read it.
    ///
    /// A 500, a gateway that lost its server (502) or timed out (504) may have had the answer made; a
    /// server that has no room now (503, 529) or does not support the request (501) has not.
    pub(crate) fn cost_nothing(&self) -> bool {
        match self.class() {
            FaultClass::TooLong | FaultClass::Denied | FaultClass::Refused => true,
            FaultClass::Passing | FaultClass::BadRequest => {
                !self.status.is_server_error() || matches!(self.status.as_u16(), 501 | 503 | 529)
            }
        }
    }

    /// The message for people.
    pub(crate) fn message(&self) -> String {
        if self.status.is_redirection() {
            return format!(
                "{}: it sends requests elsewhere, which are not followed; set its base URL to where \
                 they lead",
                self.status
            );
        }
        if self.message.is_empty() {
            return self.status.to_string();
        }
        format!("{}: {}", self.status, self.message)
    }

    /// The fault as an error of `model`; the caller decides whether to retry passing faults.
    pub(crate) fn error(&self, model: &str) -> ModelError {
        let (model, message) = (model.to_owned(), self.message());
        match self.class() {
            FaultClass::Passing => ModelError::Unavailable {
                model,
                message,
                retry_after: None,
            },
            FaultClass::Denied => ModelError::Denied { model, message },
            FaultClass::TooLong => ModelError::TooLong { model, message },
            FaultClass::Refused => ModelError::Refused { model, message },
            FaultClass::BadRequest => ModelError::BadRequest { model, message },
        }
    }
}

/// The message and the codes of an error in JSON.
fn message_and_codes(value: &Value) -> (String, String) {
    let text = |at: &str| value.pointer(at).and_then(Value::as_str);
    let message = [
        "/error/message",
        "/error",
        "/message",
        "/detail",
        "/error/error",
    ];
    let message = message.into_iter().find_map(text);
    let message = message.map_or_else(|| value.to_string(), str::to_owned);
    let codes = [
        "/error/code",
        "/error/type",
        "/error/param",
        "/code",
        "/type",
    ];
    let codes: Vec<&str> = codes.into_iter().filter_map(text).collect();
    (message, codes.join(" "))
}

/// The text of a page without its tags, scripts and styles.
fn strip_markup(text: &str) -> String {
    if !text.trim_start().starts_with('<') {
        return text.trim().to_owned();
    }
    let mut words = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        words.push_str(&rest[..start]);
        words.push(' ');
        let tag = &rest[start..];
        let hidden = ["script", "style"].into_iter().find(|name| {
            tag.get(1..=name.len())
                .is_some_and(|found| found.eq_ignore_ascii_case(name))
        });
        let end = match hidden {
            Some(name) => tag.find(&format!("</{name}")).map(|at| at + 1),
            None => Some(0),
        };
        let end = end.and_then(|from| Some(from + tag[from..].find('>')? + 1));
        rest = end.map_or("", |end| &tag[end..]);
    }
    words.push_str(rest);
    words
}

/// One line of at most [`MESSAGE_CHARACTERS`].
fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MESSAGE_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, body: &str, kind: FaultClass, message: &str) {
        let status = StatusCode::from_u16(status).expect("a status");
        let fault = ProviderFault::read(status, body.as_bytes(), Some(&Key::new("sk-ada-1815")));
        assert_eq!(fault.class(), kind, "{body}");
        assert!(fault.message().contains(message), "{}", fault.message());
        assert!(!fault.message().contains("sk-ada"), "{}", fault.message());
    }

    #[test]
    fn every_vendor_is_understood_when_a_question_is_too_long() {
        check(
            400,
            r#"{"error":{"message":"Too many.","code":"context_length_exceeded"}}"#,
            FaultClass::TooLong,
            "Too many.",
        );
        check(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
            FaultClass::TooLong,
            "9 tokens",
        );
        check(
            400,
            r#"{"object":"error","message":"This model's maximum context length is 8 tokens.","code":400}"#,
            FaultClass::TooLong,
            "8 tokens",
        );
        check(
            500,
            r#"{"error":"prompt too long; exceeded max context length by 4 tokens"}"#,
            FaultClass::TooLong,
            "by 4",
        );
        check(413, "", FaultClass::TooLong, "413");
    }

    #[test]
    fn an_account_without_money_is_not_waited_for() {
        check(
            429,
            r#"{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}"#,
            FaultClass::Denied,
            "quota",
        );
        check(
            400,
            r#"{"error":{"message":"Your credit balance is too low"}}"#,
            FaultClass::Denied,
            "balance",
        );
    }

    #[test]
    fn the_key_is_covered_up_before_anything_is_cut() {
        let long = "x".repeat(MESSAGE_CHARACTERS - 4);
        check(
            401,
            &format!(r#"{{"error":"{long}sk-ada-1815"}}"#),
            FaultClass::Denied,
            "[ke",
        );
        check(
            401,
            r#"{"detail":"sk-ada-1815 is wrong"}"#,
            FaultClass::Denied,
            "[key] is wrong",
        );
    }

    #[test]
    fn pages_become_a_short_line() {
        let page = "<!doctype html><style>a{}</style><SCRIPT>x<y</script><h1>Bad\n gateway</h1>";
        check(
            502,
            page,
            FaultClass::Passing,
            "502 Bad Gateway: Bad gateway",
        );
        let long = format!("<p>{}</p>", "word ".repeat(1000));
        let fault = ProviderFault::read(StatusCode::BAD_GATEWAY, long.as_bytes(), None);
        assert!(fault.message().chars().count() < MESSAGE_CHARACTERS + 30);
    }

    #[test]
    fn other_faults_are_told_by_their_status() {
        check(
            404,
            r#"{"error":"model 'x' not found"}"#,
            FaultClass::BadRequest,
            "not found",
        );
        check(501, "", FaultClass::BadRequest, "501");
        check(
            529,
            r#"{"error":{"type":"overloaded_error"}}"#,
            FaultClass::Passing,
            "529",
        );
        check(302, "", FaultClass::BadRequest, "base URL");
        check(
            400,
            r#"{"error":{"code":"content_filter"}}"#,
            FaultClass::Refused,
            "400",
        );
    }
}
