//! The database of Hermes: a session's description, and its messages as chat interfaces take them.

use rusqlite::Connection;
use serde_json::{Value, json};

use super::super::connection::Fault;
use super::{Layout, SessionLines, parsed, selection, value};

pub(super) const LAYOUT: Layout = Layout {
    tables: &[
        ("sessions", &["id", "source", "started_at"]),
        ("messages", &["session_id", "role", "content", "timestamp"]),
    ],
    sessions: "SELECT id FROM sessions ORDER BY started_at, id",
    write_lines,
};

const SESSION: &[&str] = &[
    "source",
    "started_at",
    "parent_session_id",
    "cwd",
    "git_branch",
    "title",
    "model_config",
    "chat_id",
    "chat_type",
    "thread_id",
];
const MESSAGE: &[&str] = &[
    "role",
    "content",
    "tool_calls",
    "tool_call_id",
    "tool_name",
    "timestamp",
    "observed",
    "active",
    "compacted",
    "_compressed_summary",
    "display_kind",
];
/// Precedes a message's content that is a list.
const CONTENT_JSON: &str = "\0json:";

fn write_lines(
    database: &Connection,
    session: &str,
    lines: &mut SessionLines,
) -> Result<(), Fault> {
    lines.push(&described(database, session)?)?;
    let selected = selection(database, "messages", MESSAGE)?;
    let mut messages =
        database.prepare(&format!("{selected} WHERE session_id = ?1 ORDER BY rowid"))?;
    let mut messages = messages.query([session])?;
    while let Some(row) = messages.next()? {
        let is_zero = |column| Ok::<_, Fault>(value(row, column)?.as_i64() == Some(0));
        let is_set = |column| Ok::<_, Fault>(value(row, column)?.as_i64() == Some(1));
        // A message that a person took back is neither active nor part of what was summed up.
        if is_zero("active")? && !is_set("compacted")? {
            continue;
        }
        let content = value(row, "content")?;
        let list = content
            .as_str()
            .and_then(|text| text.strip_prefix(CONTENT_JSON));
        let list = list.and_then(|list| serde_json::from_str::<Value>(list).ok());
        lines.push(&json!({
            "role": value(row, "role")?,
            "content": list.unwrap_or(content),
            "tool_calls": parsed(row, "tool_calls")?,
            "tool_call_id": value(row, "tool_call_id")?,
            "tool_name": value(row, "tool_name")?,
            "timestamp": value(row, "timestamp")?,
            "observed": is_set("observed")?,
            "is_summary": is_set("_compressed_summary")?,
            "display_kind": value(row, "display_kind")?,
        }))?;
    }
    Ok(())
}

fn described(database: &Connection, session: &str) -> Result<Value, Fault> {
    let selected = selection(database, "sessions", SESSION)?;
    let mut described = database.prepare(&format!("{selected} WHERE id = ?1"))?;
    let mut rows = described.query([session])?;
    let Some(row) = rows.next()? else {
        return Ok(Value::Null);
    };
    let parent = value(row, "parent_session_id")?;
    let caller = &parsed(row, "model_config")?["_delegate_from"];
    let mut described = json!({
        "session_id": session,
        "platform": value(row, "source")?,
        "session_start": value(row, "started_at")?,
        "cwd": value(row, "cwd")?,
        "branch": value(row, "git_branch")?,
        "title": value(row, "title")?,
        "parent": parent,
        "is_sub_agent": caller.is_string() && *caller == parent,
    });
    // A chat of one person is no room: what is learned there is that person's everywhere.
    if !matches!(
        value(row, "chat_type")?.as_str(),
        None | Some("" | "dm" | "private")
    ) {
        described["room_id"] = value(row, "chat_id")?;
        described["thread_id"] = value(row, "thread_id")?;
    }
    Ok(described)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::test_support::{database, lines, recognized};

    #[test]
    fn messages_that_were_taken_back_are_left_out() {
        let file = database(
            r#"CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL, parent_session_id TEXT, cwd TEXT, model_config TEXT, title TEXT, chat_id TEXT, chat_type TEXT);
               CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL, active INTEGER, compacted INTEGER, observed INTEGER);
               INSERT INTO sessions VALUES ('h2', 'cli', 8.5, 'h1', '/a', '{"_delegate_from":"h1"}', NULL, NULL, NULL),
                                           ('h1', 'telegram', 7.5, NULL, NULL, NULL, 'Owls', '-77', 'group');
               INSERT INTO messages VALUES (1, 'h1', 'user', 'count the owls', NULL, NULL, 9.5, 1, 0, 1),
                                           (2, 'h1', 'user', 'no, the crows', NULL, NULL, 9.6, 0, 0, 0),
                                           (3, 'h1', 'assistant', 'Two.', '[{"id":"c1"}]', NULL, 9.7, 0, 1, 0);"#,
        );
        assert_eq!(recognized(&file).sessions().expect("ids"), ["h1", "h2"]);
        let read = lines(&file, "h1");
        let expected = json!({"session_id": "h1", "platform": "telegram", "session_start": 7.5, "cwd": null, "branch": null,
            "title": "Owls", "parent": null, "is_sub_agent": false, "room_id": "-77", "thread_id": null});
        assert_eq!(read[0], expected);
        let words: Vec<_> = read[1..].iter().map(|line| &line["content"]).collect();
        assert_eq!(words, ["count the owls", "Two."]);
        assert_eq!(read[1]["observed"], true);
        assert_eq!(read[2]["tool_calls"], json!([{"id": "c1"}]));
        assert_eq!(lines(&file, "h2")[0]["is_sub_agent"], true);
    }

    #[test]
    fn content_that_is_a_list_is_marked_in_its_column() {
        let file = database(
            "CREATE TABLE sessions (id TEXT, source TEXT, started_at REAL);
             CREATE TABLE messages (session_id TEXT, role TEXT, content BLOB, timestamp REAL);
             INSERT INTO sessions VALUES ('h1', 'cli', 7.5);
             INSERT INTO messages VALUES ('h1', 'user', x'006a736f6e3a5b7b2274797065223a2274657874222c2274657874223a226869227d5d', 9.5);",
        );
        let expected = json!([{"type": "text", "text": "hi"}]);
        assert_eq!(lines(&file, "h1")[1]["content"], expected);
    }
}
