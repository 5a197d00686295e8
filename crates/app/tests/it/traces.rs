//! Traces: what a collector of OpenTelemetry gets of jobs, calls of models, recall and requests, and that it gets no words.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use daybook_testkit::llm_server::{LlmServer, Script};
use serde_json::{Value, json};

use crate::fixture::{TestPlace, teaching_session};
use crate::models::{KEY, provider, repeat_first_words};
use crate::serve::DaybookServer;

const PATIENCE: Duration = Duration::from_secs(60);

/// A collector on this machine, which takes every batch.
struct Collector {
    address: String,
    batches: Receiver<Value>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("its address"));
        let (send, batches) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.expect("a connection"));
                let (mut line, mut length, mut is_traces) = (String::new(), 0, false);
                while stream.read_line(&mut line).expect("a head") > 2 {
                    is_traces |= line.starts_with("POST /v1/traces ");
                    let value = line.to_lowercase();
                    if let Some(value) = value.strip_prefix("content-length:") {
                        length = value.trim().parse().expect("a length");
                    }
                    line.clear();
                }
                assert!(is_traces, "traces have a path of their own");
                let mut body = vec![0; length];
                stream.read_exact(&mut body).expect("a body");
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
                stream.get_mut().write_all(answer).expect("it listens");
                let batch = serde_json::from_slice(&body).expect("JSON");
                if send.send(batch).is_err() {
                    break;
                }
            }
        });
        Self { address, batches }
    }

    /// Spans as they come, until one fits.
    fn until(&self, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
        let (mut spans, end) = (Vec::new(), Instant::now() + PATIENCE);
        while !spans.iter().any(&fits) {
            let left = end.saturating_duration_since(Instant::now());
            let batch = self.batches.recv_timeout(left);
            let batch = batch.unwrap_or_else(|_| panic!("no such span: {spans:#?}"));
            let scope = &batch["resourceSpans"][0]["scopeSpans"][0];
            spans.extend(scope["spans"].as_array().expect("spans").clone());
        }
        spans
    }
}

fn attribute<'a>(span: &'a Value, key: &str) -> Option<&'a Value> {
    let attributes = span["attributes"].as_array()?;
    let found = attributes
        .iter()
        .find(|attribute| attribute["key"] == key)?;
    found["value"].as_object()?.values().next()
}

fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    let found = spans.iter().find(|span| span["name"] == name);
    found.unwrap_or_else(|| panic!("no span {name}: {spans:#?}"))
}

#[test]
fn a_job_and_the_call_of_its_model_are_one_trace_by_the_conventions() {
    let (collector, model) = (
        Collector::start(),
        LlmServer::start(Script::answering(repeat_first_words)),
    );
    let place = TestPlace::new();
    std::fs::create_dir_all(place.root()).expect("a folder");
    let settings = place.root().join("daybook.toml");
    std::fs::write(settings, provider("openai", &model)).expect("settings");
    place.write("a.jsonl", &teaching_session(1).text());
    let transcripts = place.transcripts().display().to_string();
    place.stdout(&["import", &transcripts, "--yes", "--no-process"]);
    let mut update = place.daybook(&["update", "--all"]);
    update.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.address);
    let output = update.env("HOME_KEY", KEY).output().expect("it starts");
    assert!(output.status.success(), "{output:?}");

    let spans = collector.until(|span| span["name"] == "extract");
    let chat = spans
        .iter()
        .find(|span| attribute(span, "gen_ai.operation.name").is_some());
    let chat = chat.unwrap_or_else(|| panic!("no call of a model: {spans:#?}"));
    assert_eq!(chat["kind"], 3);
    assert_eq!(
        attribute(chat, "gen_ai.system").expect("a provider"),
        "home"
    );
    let asked = attribute(chat, "gen_ai.request.model").expect("a model");
    assert_eq!(
        chat["name"],
        format!("chat {}", asked.as_str().unwrap_or_default())
    );
    for key in ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"] {
        let tokens = attribute(chat, key).and_then(Value::as_str);
        let tokens = tokens.and_then(|tokens| tokens.parse::<u64>().ok());
        assert!(tokens > Some(0), "{key}: {chat}");
    }
    let job = named(&spans, "extract");
    assert_eq!(chat["traceId"], job["traceId"]);
    assert!(job["startTimeUnixNano"].as_str() <= chat["startTimeUnixNano"].as_str());
    let all = serde_json::to_string(&spans).expect("JSON");
    assert!(!all.contains("tide table") && !all.contains(KEY), "{all}");
}

#[test]
fn a_request_and_its_recall_are_one_trace_and_a_collector_that_is_away_stops_nothing() {
    let collector = Collector::start();
    let place = TestPlace::new();
    place.write("a.jsonl", &teaching_session(1).text());
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    let mut serve = place.daybook(&["serve", "--listen", "127.0.0.1:0", "--no-follow"]);
    serve.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.address);
    let server = DaybookServer::spawned(place, serve);
    server.post(
        "/v1/recall",
        &json!({"question": "where are the lighthouse tides kept?"}),
    );
    let spans = collector.until(|span| span["name"] == "/v1/recall");
    let (request, recall) = (named(&spans, "/v1/recall"), named(&spans, "recall"));
    assert_eq!(request["kind"], 2);
    assert_eq!(
        attribute(request, "http.response.status_code").expect("a status"),
        "200"
    );
    assert_eq!(recall["parentSpanId"], request["spanId"]);
    let all = serde_json::to_string(&spans).expect("JSON");
    assert!(!all.contains("lighthouse"), "{all}");

    let mut status = server.place.daybook(&["status"]);
    let status = status.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    let output = status.output().expect("it starts");
    assert!(output.status.success(), "{output:?}");
}
