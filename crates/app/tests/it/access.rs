//! Tokens that a person makes for programs: what each opens, until when, and what is refused.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fixture::TestPlace;
use crate::serve::{DaybookServer, HttpAnswer};

/// The token that `daybook token add` prints.
fn add(place: &TestPlace, arguments: &[&str]) -> String {
    let made = place.json(&[&["token", "add"], arguments].concat());
    made["token"].as_str().expect("a token").to_owned()
}

fn start(place: TestPlace) -> DaybookServer {
    DaybookServer::start_in(place, &["--no-follow"], Stdio::inherit())
}

fn message(answer: &HttpAnswer) -> &str {
    answer.body["error"]["message"].as_str().unwrap_or_default()
}

fn note(text: &str) -> String {
    json!({ "text": text }).to_string()
}

const RECALL: &str = "{\"question\": \"what is the ferry called\"}";

#[test]
fn a_token_opens_what_it_was_made_for_and_counts_without_a_restart() {
    let server = start(TestPlace::new());
    let reader = add(&server.place, &["reader", "--right", "read"]);
    let writer = add(&server.place, &["writer", "--right", "write"]);
    let usual = add(&server.place, &["usual"]);
    let all = add(
        &server.place,
        &[
            "all", "--right", "read", "--right", "write", "--right", "purge",
        ],
    );
    let text = note("the ferry is called Zephyrine");
    let purge = json!({"memory": "the ferry is called Zephyrine", "dry_run": true}).to_string();
    for (token, recall, remember, purged) in [
        (&reader, 200, 403, 403),
        (&writer, 403, 200, 403),
        (&usual, 200, 200, 403),
        (&all, 200, 200, 200),
        (&server.token, 200, 200, 200),
    ] {
        for (what, body, status) in [
            ("POST /v1/recall", RECALL, recall),
            ("GET /v1/memories", "", recall),
            ("POST /v1/remember", text.as_str(), remember),
            (
                "POST /v3/memories/add/",
                "{\"messages\": \"tea\", \"user_id\": \"ada\", \"infer\": false}",
                remember,
            ),
            ("POST /v1/purge", purge.as_str(), purged),
        ] {
            let answer = server.send_request_as(token, what, body);
            assert_eq!(answer.status, status, "{what}: {}", answer.body);
        }
    }
    let refused = server.send_request_as(&reader, "POST /v1/remember", &text);
    assert_eq!(refused.code(), (403, "token_too_narrow"));
    assert_eq!(
        message(&refused),
        "the token \"reader\" allows read, and this needs write; `daybook token add --right write` makes one that does"
    );

    // The next request after it is revoked is refused.
    server.place.stdout(&["token", "revoke", "usual"]);
    let refused = server.send_request_as(&usual, "POST /v1/recall", RECALL);
    assert_eq!(refused.code(), (401, "unauthorized"));
    assert!(
        message(&refused).starts_with("the token \"usual\" was revoked at 2"),
        "{}",
        refused.body
    );
    assert_eq!(
        server
            .send_request_as(&all, "POST /v1/recall", RECALL)
            .status,
        200
    );
}

#[test]
fn a_token_that_has_expired_is_refused_and_says_so() {
    let server = start(TestPlace::new());
    let brief = add(&server.place, &["brief", "--expires", "1ms"]);
    // Whatever the clock shows, it has moved on once the server answers.
    let answer = server.send_request_as(&brief, "POST /v1/recall", RECALL);
    assert_eq!(answer.code(), (401, "unauthorized"));
    assert!(
        message(&answer).starts_with("the token \"brief\" expired at 2"),
        "{}",
        answer.body
    );
    assert!(
        message(&answer).contains("daybook token add"),
        "{}",
        answer.body
    );
    let listed = server.place.json(&["token", "list"]);
    assert_eq!(
        (&listed[0]["name"], &listed[0]["valid"]),
        (&json!("brief"), &json!(false))
    );
}

#[test]
fn a_token_of_a_tenant_that_is_new_to_the_server_opens_that_tenants_memory_alone() {
    let server = start(TestPlace::new());
    server.post(
        "/v1/remember",
        &json!({"text": "the ferry is called Zephyrine"}),
    );
    let theirs = add(&server.place, &["harbour", "--for", "harbour"]);
    let found = server.send_request_as(&theirs, "POST /v1/recall", RECALL);
    assert_eq!((found.status, &found.body["results"]), (200, &json!([])));
    let kept = server.send_request_as(
        &theirs,
        "POST /v1/remember",
        &note("their ferry is called Halcyon"),
    );
    assert_eq!(kept.status, 200, "{}", kept.body);
    let own = server.post(
        "/v1/recall",
        &json!({"question": "what is the ferry called"}),
    );
    assert!(!own.to_string().contains("Halcyon"), "{own}");
    let found = server.send_request_as(&theirs, "POST /v1/recall", RECALL);
    assert!(found.body.to_string().contains("Halcyon"), "{}", found.body);
}

#[test]
fn a_token_is_in_no_file_of_the_data_folder() {
    let place = TestPlace::new();
    let secret = add(&place, &["phone"]);
    let shown = place.stdout(&["token", "list"]);
    assert!(
        shown.contains("phone") && !shown.contains(&secret),
        "{shown}"
    );
    let digits = secret.strip_prefix("daybook_").expect("its beginning");
    for file in fs::read_dir(place.root()).expect("a folder").flatten() {
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        assert!(!text.contains(digits), "{}", file.path().display());
    }
    let again = place.run(&["token", "add", "phone"]);
    assert!(!again.status.success());
    let error = String::from_utf8_lossy(&again.stderr);
    assert!(error.contains("choose another name"), "{error}");
}

#[test]
fn the_environment_may_hold_one_token() {
    let given = "token-of-the-container-0123456789abcdef";
    let place = TestPlace::new();
    let mut command = place.daybook(&["serve", "--listen", "127.0.0.1:0", "--no-follow"]);
    command.env("DAYBOOK_TOKEN", given);
    let server = DaybookServer::spawned(place, command);
    for token in [given, &server.token] {
        assert_eq!(
            server
                .send_request_as(token, "POST /v1/recall", RECALL)
                .status,
            200
        );
    }
    let mut short = server
        .place
        .daybook(&["serve", "--listen", "127.0.0.1:0", "--no-follow"]);
    let output = short
        .env("DAYBOOK_TOKEN", "short")
        .output()
        .expect("daybook starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && error.contains("DAYBOOK_TOKEN"),
        "{error}"
    );
    assert!(!error.contains("\"short\""), "{error}");
}

#[test]
fn no_path_leads_past_the_token_or_out_of_memory() {
    let server = start(TestPlace::new());
    server.post(
        "/v1/remember",
        &json!({"text": "the ferry is called Zephyrine"}),
    );
    let reader = add(&server.place, &["reader", "--right", "read"]);
    let body = note("the ferry is called Halcyon");
    for path in [
        "/v1//remember",
        "//v1/remember",
        "/docs/../v1/remember",
        "/health/../v1/remember",
        "/docs%2f..%2fv1%2fremember",
        "/v1/./remember",
        "/v1/remember%00",
        "/V1/REMEMBER",
    ] {
        for token in ["token-that-is-none-0123456789abcdef0123456789", &reader] {
            let answer = server.send_request_as(token, &format!("POST {path}"), &body);
            assert!(
                (400..500).contains(&answer.status),
                "{path}: {}",
                answer.body
            );
        }
    }
    let token_file = server.token.clone();
    for path in [
        "/v1/files/..%2f..%2ftoken",
        "/v1/files/..%2f..%2faccess-tokens.json",
        "/v1/files/%2e%2e%2f%2e%2e%2ftoken",
        "/v1/files/%2fetc%2fhostname",
        "/v1/files/..%5c..%5ctoken",
        "/v1/show?file=../../token",
    ] {
        let answer = server.send_request(&format!("GET {path}"), "");
        assert!(
            (400..500).contains(&answer.status),
            "{path}: {}",
            answer.body
        );
        assert!(!answer.body.to_string().contains(&token_file), "{path}");
    }
    let found: Value = server.post(
        "/v1/recall",
        &json!({"question": "what is the ferry called"}),
    );
    assert!(!found.to_string().contains("Halcyon"), "{found}");
}
