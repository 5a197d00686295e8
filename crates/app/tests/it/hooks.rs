//! The answers of `daybook hook` to every payload that a host may send.
//!
//! The payloads and the schemas of answers are below `hooks/<host>`, written from the hosts'
//! documentation. An event without a schema, such as the end of a session, takes no answer. Codex
//! refuses a member that it does not know; Claude Code lets it pass, and is answered without one too.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::fixture::{TestPlace, teaching_session};

fn folder(host: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/hooks")
        .join(host)
}

/// The payloads of a host, by name.
fn payloads(host: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder(host)).expect("a folder").flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    let mut payloads: Vec<_> = files
        .map(|entry| {
            let text = fs::read_to_string(entry.path()).expect("a payload");
            (entry.file_name().to_string_lossy().into_owned(), text)
        })
        .collect();
    payloads.sort();
    payloads
}

/// The schema of the answer to an event; `None` where the event takes none.
fn schema(host: &str, event: &str) -> Option<Value> {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.extend(c.to_lowercase());
    }
    let path = folder(host).join(format!("output/{name}.schema.json"));
    let text = fs::read_to_string(path).ok()?;
    Some(serde_json::from_str(&text).expect("a schema"))
}

fn answer(place: &TestPlace, host: &str, payload: &[u8]) -> Output {
    let mut command = place.daybook(&["hook", host]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("daybook starts");
    // An answer that needs no more of its payload may close it.
    let _ = child.stdin.take().expect("its input").write_all(payload);
    child.wait_with_output().expect("it ends")
}

/// Checks that the answer is empty or fits the schema, and that the hook succeeds.
fn check(place: &TestPlace, host: &str, name: &str, payload: &str) {
    let output = answer(place, host, payload.as_bytes());
    let said = String::from_utf8(output.stdout).expect("output is UTF-8");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{host} {name}: {error}");
    if said.trim().is_empty() {
        return;
    }
    let event =
        serde_json::from_str::<Value>(payload).expect("a payload")["hook_event_name"].clone();
    let event = event.as_str().unwrap_or_default();
    let Some(schema) = schema(host, event) else {
        panic!("{host} {name}: {event} takes no answer, but got {said}");
    };
    let answer = serde_json::from_str(&said).expect("one JSON document");
    assert_eq!(
        breach(&schema, &answer, "answer"),
        None,
        "{host} {name}: {said}"
    );
    assert_ne!(
        answer["decision"], "block",
        "{host} {name}: a host is never held up"
    );
}

fn place() -> TestPlace {
    let place = TestPlace::new();
    place.write("a.jsonl", &teaching_session(1).text());
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    place
}

/// The hosts with hooks.
const HOSTS: [&str; 6] = [
    "claude-code",
    "codex",
    "gemini-cli",
    "qwen-code",
    "copilot-cli",
    "cursor",
];

#[test]
fn every_event_of_every_host_is_answered_as_it_asks() {
    let place = place();
    for host in HOSTS {
        for (name, payload) in payloads(host) {
            check(&place, host, &name, &payload);
        }
    }
}

#[test]
fn every_host_starts_with_what_is_remembered() {
    let place = TestPlace::new();
    let tidepool = place.checkout("tidepool", "tides");
    let session = teaching_session(1).in_folder(&tidepool, "tides");
    place.write("a.jsonl", &session.text());
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    for host in HOSTS {
        let starts = payloads(host).into_iter();
        let mut starts = starts.filter(|(name, _)| name.starts_with("session-start"));
        let (name, start) = starts.next_back().expect("a payload");
        let start = start.replace("/home/ada/tidepool", &tidepool.display().to_string());
        let said = String::from_utf8(answer(&place, host, start.as_bytes()).stdout);
        let said: Value = serde_json::from_str(&said.expect("text")).expect("an answer");
        let text = match host {
            "cursor" => &said["additional_context"],
            "copilot-cli" => &said["additionalContext"],
            _ => &said["hookSpecificOutput"]["additionalContext"],
        };
        let text = text.as_str().unwrap_or_default();
        assert!(text.contains("tide"), "{host} {name}: {said}");
    }
}

#[test]
fn an_empty_data_folder_holds_no_host_up() {
    for host in HOSTS {
        for (name, payload) in payloads(host) {
            check(&TestPlace::new(), host, &name, &payload);
        }
    }
}

#[test]
fn what_is_no_payload_holds_no_host_up() {
    let place = place();
    for host in HOSTS {
        for payload in [
            &b""[..],
            b"{",
            b"[]",
            b"null",
            b"{\"hook_event_name\": 3}",
            b"\xff\xfe{}",
        ] {
            let output = answer(&place, host, payload);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                output.status.success() && said.is_empty(),
                "{host} {payload:?}: {said}"
            );
        }
    }
}

/// The first place where `value` is not as `schema` says: the part of JSON Schema that the schemas
/// here use, and a panic on any other, so that no rule goes unread.
fn breach(schema: &Value, value: &Value, at: &str) -> Option<String> {
    let rules = schema.as_object().expect("a schema is an object");
    let empty = serde_json::Map::new();
    let properties = rules
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let members = value.as_object().unwrap_or(&empty);
    rules.iter().find_map(|(rule, says)| match rule.as_str() {
        "$schema" | "title" => None,
        "type" => {
            let right = match says.as_str().expect("one type") {
                "object" => value.is_object(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                other => panic!("{other} is not read here"),
            };
            (!right).then(|| format!("{at} is not a {says}"))
        }
        "const" => (value != says).then(|| format!("{at} is not {says}")),
        "enum" => {
            let one = says.as_array().is_some_and(|all| all.contains(value));
            (!one).then(|| format!("{at} is none of {says}"))
        }
        "required" => {
            let names = says
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            let missing = names.into_iter().find(|name| !members.contains_key(*name));
            missing.map(|name| format!("{at}.{name} is missing"))
        }
        "properties" => members.iter().find_map(|(name, value)| {
            breach(properties.get(name)?, value, &format!("{at}.{name}"))
        }),
        "additionalProperties" => {
            assert_eq!(*says, json!(false), "only false is read here");
            let other = members.keys().find(|name| !properties.contains_key(*name));
            other.map(|name| format!("{at}.{name} is not known"))
        }
        other => panic!("the rule {other} is not read here"),
    })
}

#[test]
fn the_schemas_refuse_what_the_hosts_would() {
    for host in ["claude-code", "codex"] {
        let start = schema(host, "SessionStart").expect("a schema");
        let context = |event: &str| json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "x"}});
        assert_eq!(breach(&start, &context("SessionStart"), "answer"), None);
        assert!(breach(&start, &context("Stop"), "answer").is_some());
        assert!(breach(&start, &json!({"hookSpecificOutput": {}}), "answer").is_some());
        assert!(breach(&start, &json!({"additionalContext": "x"}), "answer").is_some());
        let stop = schema(host, "Stop").expect("a schema");
        assert!(breach(&stop, &context("Stop"), "answer").is_some());
        assert!(breach(&stop, &json!({"continue": "yes"}), "answer").is_some());
    }
}
