//! Sessions of every agent are found where their agents keep them, imported once, and remembered.

use std::fs;

use daybook_testkit::mutation::TRANSCRIPTS;
use serde_json::Value;

use crate::fixture::TestPlace;

/// Each agent's fixture, its place below a person's home, and a person's words in it.
const SESSIONS: &[(&str, &str, &str)] = &[
    (
        "gemini.jsonl",
        ".gemini/tmp/tidepool/chats/session-1.jsonl",
        "keep one decimal",
    ),
    (
        "gemini.json",
        ".gemini/tmp/tidepool/chats/session-0.json",
        "ten, not nine",
    ),
    (
        "qwen.jsonl",
        ".qwen/projects/-home-ada-harbour/chats/7b8a.jsonl",
        "tell the harbour master",
    ),
    (
        "copilot.jsonl",
        ".copilot/session-state/0c0f/events.jsonl",
        "three days in spring",
    ),
    (
        "cursor.jsonl",
        ".cursor/projects/home-ada/agent-transcripts/1/1.jsonl",
        "greenhouse stays below",
    ),
    (
        "pi.jsonl",
        ".pi/agent/sessions/--home-ada--/2026_019f.jsonl",
        "table of this year",
    ),
    (
        "droid.jsonl",
        ".factory/sessions/d0a1.jsonl",
        "dried for two days",
    ),
    (
        "kimi.jsonl",
        ".kimi-code/sessions/wd/session_1/agents/main/wire.jsonl",
        "bell rings at noon",
    ),
    (
        "grok.jsonl",
        ".grok/sessions/home/1/chat_history.jsonl",
        "replaced every spring",
    ),
    (
        "antigravity.jsonl",
        ".gemini/antigravity-cli/brain/1/.system_generated/logs/transcript.jsonl",
        "painted red",
    ),
    (
        "goose.jsonl",
        ".local/share/goose/sessions/1.jsonl",
        "lit at six",
    ),
];

/// The files of a session of OpenCode below a person's home, and what they hold.
const OPENCODE: &[(&str, &str)] = &[
    (
        "session/p1/ses_01.json",
        r#"{"id":"ses_01","projectID":"p1","directory":"/home/ada/orchard","time":{"created":1775030400000}}"#,
    ),
    (
        "message/ses_01/msg_01.json",
        r#"{"id":"msg_01","sessionID":"ses_01","role":"user","time":{"created":1775030401000}}"#,
    ),
    (
        "part/msg_01/prt_01.json",
        r#"{"id":"prt_01","sessionID":"ses_01","messageID":"msg_01","type":"text","text":"ladders are checked on Mondays"}"#,
    ),
];

fn write(place: &TestPlace, name: &str, text: &[u8]) {
    let path = place.home().join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn home_of_all_agents() -> TestPlace {
    let place = TestPlace::new();
    for (fixture, path, _) in SESSIONS {
        let found = TRANSCRIPTS.iter().find(|(name, _)| name == fixture);
        let (_, text) = found.expect("a fixture");
        write(&place, path, text);
    }
    for (path, text) in OPENCODE {
        let path = format!(".local/share/opencode/storage/{path}");
        write(&place, &path, text.as_bytes());
    }
    place
}

#[test]
fn sessions_of_every_agent_are_found_and_imported_once() {
    let place = home_of_all_agents();
    let import = ["import", "--yes", "--no-process"];
    let first = place.json(&import);
    assert_eq!(first["failed"], 0, "{first}");
    assert_eq!(first["sessions"], SESSIONS.len() + 1, "{first}");
    let again = place.json(&import);
    assert_eq!(
        (&again["events"], &again["failed"]),
        (&Value::from(0), &Value::from(0))
    );
}

#[test]
fn what_people_said_to_every_agent_is_recalled() {
    let place = home_of_all_agents();
    place.json(&["import", "--yes", "--no-process"]);
    let said = SESSIONS.iter().map(|(_, _, words)| *words);
    for words in said.chain(["ladders are checked"]) {
        let answer = place.stdout(&["recall", words]);
        assert!(answer.contains(words), "{words}: {answer}");
    }
}

#[test]
fn an_opencode_session_that_grew_adds_what_is_new() {
    let place = home_of_all_agents();
    let import = ["import", "--yes", "--no-process"];
    place.json(&import);
    let storage = ".local/share/opencode/storage";
    let part = r#"{"id":"prt_02","messageID":"msg_01","type":"text","text":"and on Fridays"}"#;
    write(
        &place,
        &format!("{storage}/part/msg_01/prt_02.json"),
        part.as_bytes(),
    );
    let session = OPENCODE[0]
        .1
        .replace("1775030400000", "1775030400000,\"updated\":1775030500000");
    write(
        &place,
        &format!("{storage}/session/p1/ses_01.json"),
        session.as_bytes(),
    );
    assert_eq!(place.json(&import)["events"], 1);
}

#[test]
fn the_database_of_opencode_is_read_where_it_lies() {
    let place = TestPlace::new();
    let path = place.home().join(".local/share/opencode/opencode.db");
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let database = rusqlite::Connection::open(&path).expect("a database");
    let rows = r#"CREATE TABLE session (id TEXT, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, revert TEXT, time_created INTEGER);
        CREATE TABLE message (id TEXT, session_id TEXT, data TEXT);
        CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
        INSERT INTO session VALUES ('ses_1', 'p', NULL, '/home/ada/orchard', 'Ladders', NULL, 1775030400000);
        INSERT INTO message VALUES ('msg_1', 'ses_1', '{"role":"user","time":{"created":1775030401000}}');
        INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', '{"type":"text","text":"ladders are checked on Mondays"}');"#;
    database.execute_batch(rows).expect("statements");
    drop(database);
    let import = ["import", "--yes", "--no-process"];
    let first = place.json(&import);
    assert_eq!(
        (&first["events"], &first["failed"]),
        (&Value::from(1), &Value::from(0))
    );
    assert_eq!(place.json(&import)["events"], 0);
    let answer = place.stdout(&["recall", "ladders are checked"]);
    assert!(
        answer.contains("ladders are checked on Mondays"),
        "{answer}"
    );
}
