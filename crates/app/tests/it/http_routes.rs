//! What holds for every route of `daybook serve`: descriptions, examples, tokens, ids of requests, and repeats.

use std::fs;
use std::io::{BufRead, Read};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::serve::DaybookServer;

/// Routes that need no token.
const OPEN: [&str; 3] = ["/health", "/openapi.json", "/docs"];
/// Answers without an end.
const STREAMS: [&str; 1] = ["/v1/changes"];

/// Each described route: its method, its path with an example for each parameter, and its example of a body.
fn routes(server: &DaybookServer) -> Vec<(String, String, String)> {
    let document = server.get("/openapi.json");
    let paths = document["paths"].as_object().expect("paths");
    let mut routes = Vec::new();
    for (path, item) in paths {
        for (method, route) in item.as_object().into_iter().flatten() {
            let example = &route["requestBody"]["content"]["application/json"]["example"];
            let body = match example {
                Value::Null => String::new(),
                example => example.to_string(),
            };
            routes.push((method.to_uppercase(), filled(path, route), body));
        }
    }
    routes
}

/// The path with the examples of its parameters: those in the path, and those that a query must have.
fn filled(path: &str, route: &Value) -> String {
    let (mut path, mut query) = (path.to_owned(), Vec::new());
    for parameter in route["parameters"].as_array().into_iter().flatten() {
        let example = parameter.get("example");
        let example = example.or(parameter["schema"].get("example"));
        let example = example.map(|it| it.as_str().map_or(it.to_string(), str::to_owned));
        let name = parameter["name"].as_str().expect("a name");
        let (Some(example), true) = (example, parameter["required"] == json!(true)) else {
            continue;
        };
        let example = encoded(&example);
        match parameter["in"].as_str() {
            Some("path") => path = path.replace(&format!("{{{name}}}"), &example),
            _ => query.push(format!("{name}={example}")),
        }
    }
    match query.is_empty() {
        true => path,
        false => format!("{path}?{}", query.join("&")),
    }
}

fn encoded(text: &str) -> String {
    let encode = |byte: u8| match byte.is_ascii_alphanumeric() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[test]
fn every_described_route_takes_its_example() {
    let server = DaybookServer::start();
    let routes = routes(&server);
    assert!(routes.len() > 25, "{} routes", routes.len());
    for (method, path, body) in routes {
        assert!(!path.contains('{'), "{path} lacks an example");
        if OPEN.contains(&path.as_str()) || path == "/metrics" || STREAMS.contains(&path.as_str()) {
            continue;
        }
        let what = format!("{method} {path}");
        let answer = server.send_request(&what, &body);
        let (status, code) = answer.code();
        assert!(
            [200, 404, 409].contains(&status) && code != "no_such_route",
            "{what}: {status} {}",
            answer.body
        );
    }
}

#[test]
fn every_route_but_three_needs_a_token() {
    let server = DaybookServer::start();
    let host = format!("Host: {}\r\n", server.address);
    for (method, path, body) in routes(&server) {
        let what = format!("{method} {path}");
        if OPEN.contains(&path.as_str()) {
            continue;
        }
        let answer = server.send(&what, &host, &body);
        assert_eq!(answer.code(), (401, "unauthorized"), "{what}");
    }
    let (head, page) = server.text("/docs");
    assert!(head.contains("text/html") && head.contains("default-src 'none'"));
    assert!(page.contains("listMemories"), "{page}");
}

#[test]
fn a_request_has_an_id_that_its_client_may_choose() {
    let server = DaybookServer::start();
    let chosen = server.send_with("X-Request-Id: tide-17", "GET /v1/status", "");
    assert!(
        chosen.head.contains("x-request-id: tide-17"),
        "{}",
        chosen.head
    );
    for header in ["X-Request-Id: two words", "X-Other: none"] {
        let made = server.send_with(header, "GET /v1/nothing", "");
        let id = made.head.split("x-request-id: ").nth(1).expect("an id");
        let id = id.lines().next().unwrap_or_default();
        assert_eq!(id.len(), 32, "{id}");
    }
}

#[test]
fn a_repeat_with_the_same_key_has_the_same_answer_after_a_restart_too() {
    let server = DaybookServer::start();
    let note = json!({"text": "deploys happen on Tuesdays"}).to_string();
    let key = "Idempotency-Key: note-1";
    let first = server.send_with(key, "POST /v1/remember", &note);
    assert_eq!(first.status, 200, "{}", first.body);
    assert!(!first.head.contains("idempotent-replayed"));
    let again = server.send_with(key, "POST /v1/remember", &note);
    assert_eq!((again.status, &again.body), (200, &first.body));
    assert!(
        again.head.contains("idempotent-replayed: true"),
        "{}",
        again.head
    );

    let server = DaybookServer::start_in(server.end(), &[], Stdio::inherit());
    let again = server.send_with(key, "POST /v1/remember", &note);
    assert_eq!(again.body, first.body);
    let status = server.get("/v1/status");
    assert_eq!(status["events"], 1, "{status}");

    let other = json!({"text": "deploys happen on Fridays"}).to_string();
    let reused = server.send_with(key, "POST /v1/remember", &other);
    assert_eq!(reused.code(), (422, "key_reused"));
    let failed = server.send_with("Idempotency-Key: f", "POST /v1/remember", "{}");
    assert_eq!(failed.code(), (400, "invalid_request"));
    let repaired = server.send_with("Idempotency-Key: f", "POST /v1/remember", &other);
    assert_eq!(repaired.status, 200, "a failure takes no key");
    let unfit = server.send_with("Idempotency-Key: ", "POST /v1/remember", &note);
    assert_eq!(unfit.code(), (400, "invalid_request"));
}

#[test]
fn a_purge_removes_kept_answers() {
    let server = DaybookServer::start();
    let note = json!({"text": "the zephyrine sails on Mondays"}).to_string();
    let key = "Idempotency-Key: note-1";
    let kept = server.send_with(key, "POST /v1/remember", &note);
    assert_eq!(kept.status, 200, "{}", kept.body);
    let folder = server.place.root().join("http-answers");
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
    let memory = json!({"memory": kept.body["id"]});
    let purged = server.post("/v1/purge", &memory);
    assert_eq!(purged["purged"], true, "{purged}");
    assert!(!folder.exists());
}

/// Reads lines of a stream until one begins with `wanted`, and returns its rest.
fn next_line(stream: &mut impl BufRead, wanted: &str) -> String {
    loop {
        let mut line = String::new();
        let read = stream.read_line(&mut line).expect("a line");
        assert!(read > 0, "the stream ended before {wanted}");
        if let Some(rest) = line.strip_prefix(wanted) {
            return rest.trim().to_owned();
        }
    }
}

#[test]
fn a_stream_shows_changes_of_any_program_and_ends_with_the_server() {
    let server = DaybookServer::start();
    server.post("/v1/remember", &json!({"text": "tides turn at noon"}));
    let mut stream = server.stream("/v1/changes");
    let first = next_line(&mut stream, "data: ");
    let first: Value = serde_json::from_str(&first).expect("JSON");
    assert_eq!(
        (&first["scope"], &first["memories"]),
        (&json!("user/ada"), &json!(1))
    );
    server.place.stdout(&["remember", "the ferry is late"]);
    let next = next_line(&mut stream, "data: ");
    let next: Value = serde_json::from_str(&next).expect("JSON");
    assert_eq!(next["memories"], 2);
    assert!(next["revision"].as_u64() > first["revision"].as_u64());
    #[cfg(unix)]
    {
        server.ask_to_end();
        let mut rest = String::new();
        stream.read_to_string(&mut rest).expect("its end");
    }
}

#[test]
fn streams_have_a_bound() {
    let server = DaybookServer::start();
    let mut open: Vec<_> = (0..32).map(|_| server.stream("/v1/changes")).collect();
    for stream in &mut open {
        assert_eq!(next_line(stream, "HTTP/1.1 "), "200 OK");
    }
    let refused = server.send_request("GET /v1/changes", "");
    assert_eq!(refused.code(), (503, "busy"));
    assert_eq!(server.get("/v1/status")["events"], 0);
}

#[test]
fn errors_have_no_librarys_words() {
    let server = DaybookServer::start();
    for (what, body) in [
        ("POST /v1/recall", "{\"question\": 7}"),
        ("POST /v1/recall", "{\"asked\": \"tides\"}"),
        (
            "POST /v1/recall",
            "{\"question\": \"x\", \"layers\": [\"z\"]}",
        ),
        ("POST /v1/recall", "{\"question\""),
        ("POST /v1/recall", "[]"),
        ("GET /v1/memories?limit=many", ""),
        ("GET /v1/memories?limits=1", ""),
        ("GET /v1/show", ""),
    ] {
        let answer = server.send_request(what, body);
        assert_eq!(answer.status, 400, "{what} {body}");
        let message = answer.body["error"]["message"].as_str().expect("a message");
        for word in ["deserialize", "expected", "serde", "struct", "EOF", "parse"] {
            assert!(!message.contains(word), "{what} {body}: {message}");
        }
    }
}
