//! Spans in the words of OpenTelemetry: its conventions for calls of generative models and for HTTP, and ours for the rest.
//!
//! Fields hold ids, numbers, outcomes and classes, as in the log, and never the words of a question or an answer.

use std::fmt::Write;
use std::time::Duration;

use daybook_domain::Timestamp;
use serde_json::{Map, Value, json};

/// The stage of a call of a model, and of a request to this server.
const MODEL: &str = "model";
const REQUEST: &str = "request";
/// Kinds of spans: within this process, a request that was answered, a request that was sent.
const INTERNAL: u8 = 1;
const SERVER: u8 = 2;
const CLIENT: u8 = 3;
/// The status of a span that failed.
const FAILED: u8 = 2;

/// Fields of stages, with their names by the conventions.
const NAMES: [(&str, &str, &str); 6] = [
    (MODEL, "operation", "gen_ai.operation.name"),
    (MODEL, "sent_tokens", "gen_ai.usage.input_tokens"),
    (MODEL, "answered_tokens", "gen_ai.usage.output_tokens"),
    (MODEL, "class", "error.type"),
    (REQUEST, "route", "http.route"),
    (REQUEST, "status", "http.response.status_code"),
];

/// A span that has ended.
pub(super) struct EndedSpan {
    pub(super) trace: [u8; 16],
    pub(super) span: [u8; 8],
    pub(super) parent: Option<[u8; 8]>,
    /// The name that its stage gave it.
    pub(super) stage: &'static str,
    pub(super) began_at: Timestamp,
    pub(super) took: Duration,
    pub(super) fields: Map<String, Value>,
}

/// The span as OTLP has it in JSON.
pub(super) fn as_json(span: &EndedSpan) -> Value {
    let began = u128::try_from(span.began_at.0).unwrap_or_default() * 1_000_000;
    let ended = began + span.took.as_nanos();
    let mut object = json!({
        "traceId": hex(&span.trace),
        "spanId": hex(&span.span),
        "name": name(span),
        "kind": match span.stage {
            MODEL => CLIENT,
            REQUEST => SERVER,
            _ => INTERNAL,
        },
        "startTimeUnixNano": began.to_string(),
        "endTimeUnixNano": ended.to_string(),
        "attributes": attributes(span),
    });
    if let Some(parent) = &span.parent {
        object["parentSpanId"] = hex(parent).into();
    }
    if has_failed(span) {
        object["status"] = json!({"code": FAILED});
    }
    object
}

/// `extract`, `chat small-1`
fn name(span: &EndedSpan) -> String {
    let text = |field: &str| span.fields.get(field).and_then(Value::as_str);
    match (span.stage, text("operation"), text("model")) {
        (MODEL, Some(operation), Some(model)) => format!("{operation} {}", named_model(model).1),
        (REQUEST, ..) => text("route").unwrap_or(REQUEST).to_owned(),
        (stage, ..) => stage.to_owned(),
    }
}

fn attributes(span: &EndedSpan) -> Vec<Value> {
    let mut attributes = Vec::new();
    let mut add = |key: &str, value: &Value| {
        attributes.push(json!({"key": key, "value": typed(value)}));
    };
    for (field, value) in &span.fields {
        let known = NAMES
            .iter()
            .find(|(stage, name, _)| (*stage, *name) == (span.stage, field));
        match (known, value.as_str()) {
            (Some((.., name)), _) => add(name, value),
            (None, Some(model)) if (span.stage, field.as_str()) == (MODEL, "model") => {
                let (provider, model) = named_model(model);
                add("gen_ai.system", &provider.into());
                add("gen_ai.request.model", &model.into());
            }
            (None, _) => add(&format!("daybook.{field}"), value),
        }
    }
    attributes
}

/// The provider and the model of `home/small-1`.
fn named_model(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or(("unknown", name))
}

/// Whole numbers are texts in OTLP's JSON: a number of JavaScript has no room for all of them.
fn typed(value: &Value) -> Value {
    match value {
        Value::Bool(value) => json!({"boolValue": value}),
        Value::Number(number) if number.is_f64() => json!({"doubleValue": number}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::String(text) => json!({"stringValue": text}),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            json!({"stringValue": value.to_string()})
        }
    }
}

fn has_failed(span: &EndedSpan) -> bool {
    let is_fault = span.fields.get("status").and_then(Value::as_u64);
    let is_broken = |field: &str| span.fields.get(field).is_some_and(|it| it == "failed");
    is_fault.is_some_and(|status| status >= 500)
        || is_broken("outcome")
        || span.fields.contains_key("class")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text never fails.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(stage: &'static str, fields: Value) -> Value {
        let Value::Object(fields) = fields else {
            panic!("fields are an object")
        };
        as_json(&EndedSpan {
            trace: [1; 16],
            span: [2; 8],
            parent: Some([3; 8]),
            stage,
            began_at: Timestamp(1_000),
            took: Duration::from_micros(1_500),
            fields,
        })
    }

    #[test]
    fn a_call_of_a_model_has_the_names_of_the_conventions() {
        let fields = json!({"model": "home/small-1", "operation": "chat", "sent_tokens": 120, "answered_tokens": 7});
        let expected = json!({
            "traceId": "01010101010101010101010101010101",
            "spanId": "0202020202020202",
            "parentSpanId": "0303030303030303",
            "name": "chat small-1",
            "kind": 3,
            "startTimeUnixNano": "1000000000",
            "endTimeUnixNano": "1001500000",
            "attributes": [
                {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "7"}},
                {"key": "gen_ai.system", "value": {"stringValue": "home"}},
                {"key": "gen_ai.request.model", "value": {"stringValue": "small-1"}},
                {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
                {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "120"}},
            ],
        });
        assert_eq!(ended(MODEL, fields), expected);
    }

    #[test]
    fn what_failed_says_so_and_other_fields_are_ours() {
        let request = ended(REQUEST, json!({"route": "/v1/recall", "status": 503}));
        assert_eq!(
            (&request["name"], &request["status"]["code"]),
            (&json!("/v1/recall"), &json!(2))
        );
        let job = ended("extract", json!({"observations": 3, "class": "outage"}));
        assert_eq!(
            (&job["kind"], &job["status"]["code"]),
            (&json!(1), &json!(2))
        );
        let keys = job["attributes"].as_array().expect("attributes").iter();
        let keys: Vec<&Value> = keys.map(|attribute| &attribute["key"]).collect();
        assert_eq!(keys, ["daybook.class", "daybook.observations"]);
        let fine = ended("recall", json!({"answers": 2}));
        assert!(fine.get("status").is_none());
    }
}
