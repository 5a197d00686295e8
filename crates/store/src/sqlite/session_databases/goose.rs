//! The database of Goose since version 1.10: the description and the messages of its older files.

use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

use super::super::connection::Fault;
use super::{Layout, SessionLines, parsed, selection, value};

pub(super) const LAYOUT: Layout = Layout {
    tables: &[
        ("sessions", &["id", "working_dir"]),
        (
            "messages",
            &["id", "session_id", "content_json", "created_timestamp"],
        ),
    ],
    sessions: "SELECT id FROM sessions ORDER BY created_at, id",
    write_lines,
};

const SESSION: &[&str] = &["working_dir", "name", "description", "session_type"];
const MESSAGE: &[&str] = &[
    "message_id",
    "role",
    "created_timestamp",
    "content_json",
    "metadata_json",
];

fn write_lines(
    database: &Connection,
    session: &str,
    lines: &mut SessionLines,
) -> Result<(), Fault> {
    let selected = selection(database, "sessions", SESSION)?;
    let mut described = database.prepare(&format!("{selected} WHERE id = ?1"))?;
    let described = described
        .query_row([session], |row| {
            let text = |column| row.get::<_, Option<String>>(column);
            let name = text("name")?.filter(|name| !name.is_empty());
            Ok(json!({
                "session_id": session,
                "working_dir": text("working_dir")?,
                "description": name.or(text("description")?).unwrap_or_default(),
                "session_type": text("session_type")?,
            }))
        })
        .optional()?;
    lines.push(&described.unwrap_or_default())?;
    let selected = selection(database, "messages", MESSAGE)?;
    let mut messages =
        database.prepare(&format!("{selected} WHERE session_id = ?1 ORDER BY \"id\""))?;
    let mut messages = messages.query([session])?;
    while let Some(row) = messages.next()? {
        // Ids of this form were made by the database for messages that had none in a file: without them such a message
        // is the same in both.
        let made = format!("msg_{session}_");
        let id = value(row, "message_id")?;
        let own_id = id.as_str().filter(|id| !id.starts_with(&made));
        lines.push(&json!({
            "id": own_id.map(Value::from),
            "role": value(row, "role")?,
            "created": value(row, "created_timestamp")?,
            "content": parsed(row, "content_json")?,
            "metadata": parsed(row, "metadata_json")?,
        }))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::test_support::{database, lines, recognized};

    #[test]
    fn a_session_is_what_its_file_was_in_older_versions() {
        let file = database(
            r#"CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT, name TEXT, session_type TEXT, working_dir TEXT, created_at TIMESTAMP);
               CREATE TABLE messages (id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
               INSERT INTO sessions VALUES ('20260401_1', '', 'Geese', 'user', '/home/ada/tidepool', '2026-04-01 08:00:00');
               INSERT INTO messages VALUES (1, 'msg_20260401_1_1', '20260401_1', 'user', '[{"type":"text","text":"count the geese"}]', 1775030400, '{"userVisible":true}'),
                                           (2, 'own', '20260401_1', 'assistant', 'no JSON', 1775030401, NULL);"#,
        );
        assert_eq!(recognized(&file).sessions().expect("ids"), ["20260401_1"]);
        let expected = [
            json!({"session_id": "20260401_1", "working_dir": "/home/ada/tidepool", "description": "Geese", "session_type": "user"}),
            json!({"id": null, "role": "user", "created": 1_775_030_400, "content": [{"type": "text", "text": "count the geese"}], "metadata": {"userVisible": true}}),
            json!({"id": "own", "role": "assistant", "created": 1_775_030_401, "content": Value::Null, "metadata": Value::Null}),
        ];
        assert_eq!(lines(&file, "20260401_1"), expected);
    }

    #[test]
    fn a_database_of_an_older_version_lacks_columns_and_is_read_all_the_same() {
        let file = database(
            r#"CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT, working_dir TEXT, created_at TIMESTAMP);
               CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);
               INSERT INTO sessions VALUES ('s', 'Geese', '/a', '2026-04-01 08:00:00');"#,
        );
        let described = json!({"session_id": "s", "working_dir": "/a", "description": "Geese", "session_type": null});
        assert_eq!(lines(&file, "s"), [described]);
    }
}
