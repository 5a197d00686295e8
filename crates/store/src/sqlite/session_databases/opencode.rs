//! The database of OpenCode: a session, then each of its messages followed by its parts, as in the files of older versions.

use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

use super::super::connection::Fault;
use super::{Layout, SessionLines};

pub(super) const LAYOUT: Layout = Layout {
    tables: &[
        ("session", &["directory"]),
        ("message", &["data"]),
        ("part", &["message_id"]),
    ],
    sessions: "SELECT id FROM session ORDER BY time_created, id",
    write_lines,
};

fn write_lines(
    database: &Connection,
    session: &str,
    lines: &mut SessionLines,
) -> Result<(), Fault> {
    let described = database
        .query_row(
            "SELECT project_id, parent_id, directory, title, time_created, revert FROM session WHERE id = ?1",
            [session],
            |row| {
                let revert: Option<String> = row.get(5)?;
                let revert = revert.map(|text| serde_json::from_str::<Value>(&text));
                Ok(json!({
                    "id": session,
                    "projectID": row.get::<_, String>(0)?,
                    "parentID": row.get::<_, Option<String>>(1)?,
                    "directory": row.get::<_, String>(2)?,
                    "title": row.get::<_, String>(3)?,
                    "time": {"created": row.get::<_, i64>(4)?},
                    "revert": revert.and_then(Result::ok),
                }))
            },
        )
        .optional()?;
    lines.push(&described.unwrap_or_default())?;
    let mut messages =
        database.prepare("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY id")?;
    let mut parts =
        database.prepare("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id")?;
    let mut messages = messages.query([session])?;
    while let Some(message) = messages.next()? {
        let id: String = message.get(0)?;
        lines.push(&with_id(&id, &message.get::<_, String>(1)?))?;
        let mut parts = parts.query([&id])?;
        while let Some(part) = parts.next()? {
            let id: String = part.get(0)?;
            lines.push(&with_id(&id, &part.get::<_, String>(1)?))?;
        }
    }
    Ok(())
}

/// The object in a column, with its id, which stands in a column of its own.
fn with_id(id: &str, data: &str) -> Value {
    let mut object: Value = serde_json::from_str(data).unwrap_or_default();
    if let Some(fields) = object.as_object_mut() {
        fields.insert("id".to_owned(), id.into());
    }
    object
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::test_support::{database, lines, recognized};

    #[test]
    fn a_sessions_messages_are_followed_by_their_parts() {
        let file = database(
            r#"CREATE TABLE session (id TEXT, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, revert TEXT, time_created INTEGER);
               CREATE TABLE message (id TEXT, session_id TEXT, data TEXT);
               CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
               INSERT INTO session VALUES ('s2', 'p', 's1', '/b', 'Two', '{"messageID":"m9"}', 8), ('s1', 'p', NULL, '/a', 'One', NULL, 7);
               INSERT INTO message VALUES ('m2', 's1', '{"role":"assistant"}'), ('m1', 's1', '{"role":"user"}'), ('m3', 's2', 'no JSON');
               INSERT INTO part VALUES ('p1', 'm1', 's1', '{"type":"text","text":"hello"}');"#,
        );
        assert_eq!(recognized(&file).sessions().expect("ids"), ["s1", "s2"]);
        let expected = [
            json!({"directory": "/a", "id": "s1", "parentID": null, "projectID": "p", "revert": null, "time": {"created": 7}, "title": "One"}),
            json!({"id": "m1", "role": "user"}),
            json!({"id": "p1", "text": "hello", "type": "text"}),
            json!({"id": "m2", "role": "assistant"}),
        ];
        assert_eq!(lines(&file, "s1"), expected);
        let second = json!({"directory": "/b", "id": "s2", "parentID": "s1", "projectID": "p", "revert": {"messageID": "m9"}, "time": {"created": 8}, "title": "Two"});
        assert_eq!(lines(&file, "s2"), [second]);
    }
}
