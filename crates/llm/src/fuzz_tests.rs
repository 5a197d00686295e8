//! Fuzz targets of everything that a provider of models may answer.

use daybook_domain::model::{Message, Role};
use daybook_testkit::mutation::{parse_mutated, parse_mutated_text};
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use serde_json::json;

use crate::answer::find::objects;
use crate::answer::schema::check;
use crate::config::Wire;
use crate::faults::ProviderFault;
use crate::thoughts;
use crate::waiting::retry_after;
use crate::wire::WireRequest;

const ANSWERS: [&[u8]; 3] = [
    br#"{"choices":[{"message":{"content":"<think>a</think>{\"text\":\"b\"}","tool_calls":[{"id":"c1","function":{"name":"write","arguments":"{\"a\":1}"}}],"refusal":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2}}}"#,
    br#"{"content":[{"type":"text","text":"b"},{"type":"tool_use","id":"c1","name":"write","input":{"a":1}}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":4,"cache_read_input_tokens":2}}"#,
    br#"{"message":{"role":"assistant","content":"b","tool_calls":[{"function":{"name":"write","arguments":{"a":1}}}]},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":4}"#,
];

#[test]
fn fuzz_body_of_an_answer() {
    let messages = [Message::new(Role::User, "what is kept?")];
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated(&ANSWERS, script, |body| {
            let question = WireRequest {
                model: "m",
                messages: &messages,
                tools: &[],
                enforced_form: None,
                temperature: None,
                max_tokens: 100,
                newer_limit: false,
                context_tokens: 1000,
            };
            for wire in [Wire::OpenAi, Wire::Anthropic, Wire::Ollama] {
                let _ = wire.adapter().read(body, &question);
            }
            let _ = ProviderFault::read(StatusCode::TOO_MANY_REQUESTS, body, None);
        });
    });
}

#[test]
fn fuzz_object_in_an_answer() {
    let schema = json!({"type": "object", "required": ["text"], "additionalProperties": false,
        "properties": {"text": {"type": "string"}, "events": {"type": "array", "items": {"type": "integer"}}}});
    let seeds = [
        "Here it is:\n```json\n{\"text\": \"kept\", \"events\": [1, 2,],}\n```\n<think>no</think> {\"a\": {}}",
    ];
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated_text(&seeds, script, |answer| {
            let _ = thoughts::without(answer);
            if let crate::answer::find::ObjectSearch::Objects(found) = objects(answer) {
                assert!(!found.is_empty());
                for value in found {
                    let _ = check(&schema, &value);
                }
            }
        });
    });
}

#[test]
fn fuzz_retry_after() {
    let seeds: [&[u8]; 4] = [
        b"120",
        b"99999999999",
        b"Fri, 31 Dec 9999 23:59:59 GMT",
        b"Tue, 03 Mar 2026 08:00:00 GMT",
    ];
    bolero::check!().for_each(|script: &[u8]| {
        parse_mutated(&seeds, script, |value| {
            let Ok(value) = HeaderValue::from_bytes(value) else {
                return;
            };
            let now = HeaderValue::from_static("Tue, 03 Mar 2026 07:00:00 GMT");
            let headers = HeaderMap::from_iter([(RETRY_AFTER, value), (DATE, now)]);
            let _ = retry_after(&headers);
        });
    });
}
