//! The database of Crush, in a project's `.crush` folder: a session's description, and its messages with their parts.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};
use serde_json::json;

use super::super::connection::Fault;
use super::{Layout, SessionLines, parsed, selection, value};

pub(super) const LAYOUT: Layout = Layout {
    tables: &[
        ("sessions", &["id", "parent_session_id", "title"]),
        ("messages", &["id", "session_id", "role", "parts"]),
    ],
    sessions: "SELECT id FROM sessions ORDER BY created_at, id",
    write_lines,
};

/// The folder in which the database lies in a project.
const FOLDER: &str = ".crush";
const MESSAGE: &[&str] = &["id", "role", "parts", "created_at", "is_summary_message"];

fn write_lines(
    database: &Connection,
    session: &str,
    lines: &mut SessionLines,
) -> Result<(), Fault> {
    let folder = database.path().and_then(|path| Path::new(path).parent());
    let project = folder.filter(|folder| folder.ends_with(FOLDER));
    let project = project.and_then(Path::parent).map(Path::to_string_lossy);
    let described = database
        .query_row(
            "SELECT parent_session_id, title, created_at FROM sessions WHERE id = ?1",
            [session],
            |row| {
                Ok(json!({"crush": {
                    "session": session,
                    "parent": row.get::<_, Option<String>>(0)?,
                    "title": row.get::<_, Option<String>>(1)?,
                    "created_at": row.get::<_, Option<i64>>(2)?,
                    "folder": project,
                }}))
            },
        )
        .optional()?;
    lines.push(&described.unwrap_or_default())?;
    let selected = selection(database, "messages", MESSAGE)?;
    let mut messages = database.prepare(&format!(
        "{selected} WHERE session_id = ?1 ORDER BY created_at, rowid"
    ))?;
    let mut messages = messages.query([session])?;
    while let Some(row) = messages.next()? {
        lines.push(&json!({"crush": {
            "id": value(row, "id")?,
            "role": value(row, "role")?,
            "created_at": value(row, "created_at")?,
            "is_summary": value(row, "is_summary_message")?.as_i64() == Some(1),
            "parts": parsed(row, "parts")?,
        }}))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::test_support::{database, lines, recognized};

    #[test]
    fn a_session_is_described_before_its_messages() {
        let file = database(
            r#"CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, created_at INTEGER);
               CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, created_at INTEGER);
               INSERT INTO sessions VALUES ('s1', NULL, 'Newts', 1775030400);
               INSERT INTO messages VALUES ('m2', 's1', 'assistant', 'no JSON', 1775030401),
                                           ('m1', 's1', 'user', '[{"type":"text","data":{"text":"count the newts"}}]', 1775030400);"#,
        );
        assert_eq!(recognized(&file).sessions().expect("ids"), ["s1"]);
        let expected = [
            json!({"crush": {"session": "s1", "parent": null, "title": "Newts", "created_at": 1_775_030_400, "folder": null}}),
            json!({"crush": {"id": "m1", "role": "user", "created_at": 1_775_030_400, "is_summary": false, "parts": [{"type": "text", "data": {"text": "count the newts"}}]}}),
            json!({"crush": {"id": "m2", "role": "assistant", "created_at": 1_775_030_401, "is_summary": false, "parts": null}}),
        ];
        assert_eq!(lines(&file, "s1"), expected);
    }
}
