//! The records of memories that each interface showed.

use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::fixture::TestPlace;
use crate::mcp::McpClient;
use crate::serve::DaybookServer;

/// Longest wait for the record after an answer; polled.
const PATIENCE: Duration = Duration::from_secs(20);

const NOTE: &str = "harbour pilots board foreign vessels alongside breakwater towers";
const QUESTION: &str = "which vessels do harbour pilots board";

fn database(place: &TestPlace) -> Connection {
    Connection::open(place.root().join("daybook.db")).unwrap()
}

/// The interfaces that used an event, without the day, and the kind of use.
fn uses(place: &TestPlace) -> Vec<String> {
    let database = database(place);
    let mut find = database
        .prepare(
            "SELECT kind || ' ' || by_door FROM uses WHERE by_session = 0
             AND by_door GLOB '*/20[0-9][0-9]-[01][0-9]-[0-3][0-9]' ORDER BY at",
        )
        .unwrap();
    let rows = find.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let named = rows.map(|row| row.unwrap().split('/').next().unwrap().to_owned());
    named.collect()
}

fn wait_for(place: &TestPlace, expected: &[&str]) {
    let began = Instant::now();
    let mut found = uses(place);
    found.sort();
    while found != expected {
        assert!(began.elapsed() < PATIENCE, "{found:?}");
        std::thread::yield_now();
        found = uses(place);
        found.sort();
    }
}

/// A place with a note, and its citation.
fn place_with_note() -> (TestPlace, String) {
    let place = TestPlace::new();
    place.stdout(&["remember", NOTE]);
    let citation = database(&place)
        .query_row(
            "SELECT label || ':L' || line FROM events JOIN sessions USING (session_no)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    (place, citation)
}

#[test]
fn commands_note_what_they_showed_once_a_day() {
    let (place, citation) = place_with_note();
    place.hook(
        "claude-code",
        &json!({"hook_event_name": "SessionStart"}).to_string(),
    );
    assert_eq!(uses(&place), [""; 0]);
    for _ in 0..2 {
        place.stdout(&["recall", QUESTION]);
        assert_eq!(uses(&place), ["shown cli"]);
    }
    assert!(place.stdout(&["context"]).contains(NOTE));
    assert_eq!(uses(&place), ["shown cli"]);
    // A whole session is no citation of each of its lines.
    let session = citation.split(':').next().unwrap();
    place.stdout(&["show", session]);
    assert_eq!(uses(&place), ["shown cli"]);
    for _ in 0..2 {
        assert!(place.stdout(&["show", &citation]).contains(NOTE));
        assert_eq!(uses(&place), ["shown cli", "cited cli"]);
    }
}

#[test]
fn a_context_is_noted_by_what_it_cites() {
    let (place, _) = place_with_note();
    assert!(place.stdout(&["context"]).contains(NOTE));
    assert_eq!(uses(&place), ["shown cli"]);
}

#[test]
fn an_answer_that_cannot_be_noted_is_given_all_the_same() {
    let (place, citation) = place_with_note();
    database(&place)
        .execute_batch(
            "CREATE TRIGGER refusal BEFORE INSERT ON uses
             BEGIN SELECT RAISE(ABORT, 'no room'); END",
        )
        .unwrap();
    for arguments in [["recall", QUESTION], ["show", &citation]] {
        let output = place.run(&arguments);
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stdout).contains(NOTE));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
    assert_eq!(uses(&place), [""; 0]);
}

#[test]
fn what_a_threads_agent_cites_is_a_use() {
    let (place, citation) = place_with_note();
    place.stdout(&["threads", "create", "tides", "--agent", "harbour-bot"]);
    let said = |kind: &str| json!({"type": kind, "content": format!("as noted [{citation}]")});
    for (kind, cited) in [("USER_MESSAGE", 0), ("LLM_TEXT_RESPONSE", 1)] {
        let file = place.write("events.jsonl", &format!("{}\n", said(kind)));
        let file = file.display().to_string();
        place.stdout(&["threads", "dispatch", "tides", &file]);
        let count = "SELECT count(*) FROM uses JOIN sessions ON sessions.session_no = by_session
            JOIN events ON events.session_no = by_session AND events.id = by_event
            WHERE host_id = 'tides' AND uses.kind = 'cited' AND origin = 'assistant'";
        let found = database(&place).query_row(count, [], |row| row.get(0));
        assert_eq!(found, Ok(cited), "{kind}");
        let shown = place.json(&["show", &citation]);
        assert_eq!(shown["cited_in"], cited, "{kind}");
    }
    let shown = place.stdout(&["show", &citation]);
    assert!(shown.ends_with("cited in 1 other session\n"), "{shown}");
}

#[test]
fn tools_of_agents_note_what_they_showed() {
    let (place, citation) = place_with_note();
    let mut client = McpClient::connect(&place, &[]);
    client.call_ok("recall", json!({"question": QUESTION}));
    wait_for(&place, &["shown mcp"]);
    client.call_ok("context", json!({}));
    client.call_ok("show", json!({"target": "users/ada/memory/MEMORY.md"}));
    client.call_ok("show", json!({"target": citation}));
    wait_for(&place, &["cited mcp", "shown mcp"]);
    client.close();
}

#[test]
fn the_server_notes_what_it_showed() {
    let server = DaybookServer::start();
    server.post("/v1/remember", &json!({"text": NOTE}));
    let found = server.post("/v1/recall", &json!({"question": QUESTION}));
    let named = |answer: &Value| answer["citation"].as_str().map(str::to_owned);
    let citation = named(&found["results"][0]).expect("a citation");
    wait_for(&server.place, &["shown http"]);
    server.get(&format!("/v1/show?citation={citation}"));
    wait_for(&server.place, &["cited http", "shown http"]);
}
