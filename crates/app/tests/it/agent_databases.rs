//! Sessions in agents' databases are read where the databases lie, once, and nothing is written beside them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::fixture::TestPlace;

/// A database's place below a person's home, its rows, and a person's words in it.
pub(crate) const DATABASES: &[(&str, &str, &str)] = &[
    (
        ".local/share/opencode/opencode.db",
        r#"CREATE TABLE session (id TEXT, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, revert TEXT, time_created INTEGER);
           CREATE TABLE message (id TEXT, session_id TEXT, data TEXT);
           CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
           INSERT INTO session VALUES ('ses_1', 'p', NULL, '/home/ada/orchard', 'Ladders', NULL, 1775030400000);
           INSERT INTO message VALUES ('msg_1', 'ses_1', '{"role":"user","time":{"created":1775030401000}}');
           INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', '{"type":"text","text":"ladders are checked on Mondays"}');"#,
        "ladders are checked on Mondays",
    ),
    (
        ".local/share/goose/sessions/sessions.db",
        r#"CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, session_type TEXT, working_dir TEXT, created_at TIMESTAMP);
           CREATE TABLE messages (id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
           INSERT INTO sessions VALUES ('20260401_1', 'Ponds', 'user', '/home/ada/pond', '2026-04-01 08:00:00');
           INSERT INTO messages VALUES (1, 'm1', '20260401_1', 'user', '[{"type":"text","text":"ponds are drained in March"}]', 1775030400, NULL);"#,
        "ponds are drained in March",
    ),
    (
        ".hermes/state.db",
        r#"CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL, cwd TEXT);
           CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL);
           INSERT INTO sessions VALUES ('20260401_080000_oats', 'cli', 1775030400.5, '/home/ada/farm');
           INSERT INTO messages VALUES (1, '20260401_080000_oats', 'user', 'oats are sown in rows', 1775030401.5);"#,
        "oats are sown in rows",
    ),
    (
        ".config/Cursor/User/globalStorage/state.vscdb",
        r#"CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
           CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
           INSERT INTO cursorDiskKV VALUES
           ('composerData:c1', '{"name":"Bees","createdAt":1775030400000,"fullConversationHeadersOnly":[{"bubbleId":"b1"}]}'),
           ('bubbleId:c1:b1', '{"type":1,"bubbleId":"b1","text":"bees sleep in winter","workspaceUris":["file:///home/ada/garden"]}');"#,
        "bees sleep in winter",
    ),
];

pub(crate) fn write_database(home: &Path, path: &str, rows: &str) {
    let path = home.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let database = rusqlite::Connection::open(&path).expect("a database");
    database.execute_batch(rows).expect("statements");
}

fn files_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn sessions_in_databases_are_read_where_they_lie_and_once() {
    for (path, rows, words) in DATABASES {
        let place = TestPlace::new();
        write_database(place.home(), path, rows);
        let folder = place.home().join(path);
        let folder = folder.parent().expect("a folder");
        let before = files_in(folder);
        let import = ["import", "--yes", "--no-process"];
        let first = place.json(&import);
        assert_eq!(
            (&first["events"], &first["failed"]),
            (&Value::from(1), &Value::from(0)),
            "{path}: {first}"
        );
        assert_eq!(place.json(&import)["events"], 0, "{path}");
        assert_eq!(files_in(folder), before, "{path}");
        let answer = place.stdout(&["recall", words]);
        assert!(answer.contains(words), "{path}: {answer}");
    }
}

#[test]
fn a_session_that_grew_in_its_database_adds_what_is_new() {
    let place = TestPlace::new();
    let (path, rows, _) = DATABASES[2];
    write_database(place.home(), path, rows);
    let import = ["import", "--yes", "--no-process"];
    place.json(&import);
    let more =
        "INSERT INTO messages VALUES (2, '20260401_080000_oats', 'user', 'and rye', 1775030402.5);";
    write_database(place.home(), path, more);
    assert_eq!(place.json(&import)["events"], 1);
}

#[test]
fn the_checkpoints_of_a_graph_are_read_when_they_are_named() {
    let place = TestPlace::new();
    let rows = r#"CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, type TEXT, checkpoint BLOB);
        CREATE TABLE writes (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, task_id TEXT, idx INTEGER, channel TEXT, type TEXT, value BLOB);
        INSERT INTO writes VALUES ('pottery', '', '1', 'a', 0, 'messages', 'json', '["user", "kilns cool overnight"]');
        INSERT INTO checkpoints VALUES ('pottery', '', '1', 'json', '{}');"#;
    write_database(place.home(), "graph.sqlite", rows);
    let path = place.home().join("graph.sqlite");
    let path = path.to_string_lossy();
    let import = ["import", "--no-process", &path];
    assert_eq!(place.json(&import)["events"], 1);
    assert_eq!(place.json(&import)["events"], 0);
    let answer = place.stdout(&["recall", "kilns cool"]);
    assert!(answer.contains("kilns cool overnight"), "{answer}");
}

#[test]
fn a_database_in_a_project_is_found_where_another_agent_worked() {
    let place = TestPlace::new();
    let project = place.home().join("workshop");
    let rows = r#"CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, created_at INTEGER);
        CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, created_at INTEGER);
        INSERT INTO sessions VALUES ('5c1e', NULL, 'Clocks', 1775030400);
        INSERT INTO messages VALUES ('9a01', '5c1e', 'user', '[{"type":"text","data":{"text":"clocks are wound on Sundays"}}]', 1775030400);"#;
    write_database(place.home(), "workshop/.crush/crush.db", rows);
    let session = format!(
        r#"{{"type":"user","uuid":"u1","sessionId":"s1","cwd":{project:?},"timestamp":"2026-04-01T08:00:00Z","message":{{"content":"open the workshop"}}}}"#
    );
    let folder = place.home().join(".claude/projects/workshop");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("s1.jsonl"), session).expect("a file");
    let imported = place.json(&["import", "--yes", "--no-process"]);
    assert_eq!(imported["events"], 2, "{imported}");
    let answer = place.stdout(&["recall", "clocks are wound"]);
    assert!(answer.contains("clocks are wound on Sundays"), "{answer}");
}
