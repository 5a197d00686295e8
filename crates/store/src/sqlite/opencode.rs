//! Reads sessions from the database of OpenCode, which is only read.
//!
//! A session's lines are those of its files in older versions: the session, then each message followed by its parts.
//!
//! Not here: what a line means; a reader of transcripts parses it.

use std::path::Path;

use daybook_domain::StoreError;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use serde_json::{Value, json};

use super::connection::Fault;
use super::peek::{address, log_bytes};

/// Most bytes of the lines of one session.
const SESSION_BYTES: usize = 512 * 1024 * 1024;

/// The ids of the sessions in the SQLite database at `path`, oldest first; `None` where it is not one of OpenCode.
///
/// # Errors
/// When the database cannot be read.
pub fn opencode_sessions(path: &Path) -> Result<Option<Vec<String>>, StoreError> {
    read_sessions(path).map_err(|fault| fault.into_error(path))
}

/// The lines of one session, each a JSON object.
///
/// # Errors
/// When the database cannot be read, or the lines are longer than 512 MiB together.
pub fn opencode_lines(path: &Path, session: &str) -> Result<Vec<u8>, StoreError> {
    read_lines(path, session).map_err(|fault| fault.into_error(path))
}

fn open(path: &Path) -> Result<Connection, Fault> {
    // Without a log beside it no lock is taken, so that nothing is created in the folder.
    let how = match log_bytes(path) {
        0 => "immutable=1",
        _ => "mode=ro",
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(address(path, how), flags)?)
}

fn read_sessions(path: &Path) -> Result<Option<Vec<String>>, Fault> {
    let database = open(path)?;
    let columns = "SELECT count(*) FROM pragma_table_info('session') AS s, pragma_table_info('message') AS m, \
                   pragma_table_info('part') AS p \
                   WHERE s.name = 'directory' AND m.name = 'data' AND p.name = 'message_id'";
    let has_tables: i64 = database.query_row(columns, [], |row| row.get(0))?;
    if has_tables == 0 {
        return Ok(None);
    }
    let mut sessions = database.prepare("SELECT id FROM session ORDER BY time_created, id")?;
    let sessions = sessions.query_map([], |row| row.get(0))?;
    Ok(Some(sessions.collect::<rusqlite::Result<_>>()?))
}

fn read_lines(path: &Path, session: &str) -> Result<Vec<u8>, Fault> {
    let database = open(path)?;
    let mut lines = Vec::new();
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
    push_line(&mut lines, described.unwrap_or_default())?;
    let mut messages =
        database.prepare("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY id")?;
    let mut parts =
        database.prepare("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id")?;
    let mut messages = messages.query([session])?;
    while let Some(message) = messages.next()? {
        let id: String = message.get(0)?;
        push_line(&mut lines, with_id(&id, &message.get::<_, String>(1)?))?;
        let mut parts = parts.query([&id])?;
        while let Some(part) = parts.next()? {
            let id: String = part.get(0)?;
            push_line(&mut lines, with_id(&id, &part.get::<_, String>(1)?))?;
        }
    }
    Ok(lines)
}

/// The object in a column, with its id, which stands in a column of its own.
fn with_id(id: &str, data: &str) -> Value {
    let mut object: Value = serde_json::from_str(data).unwrap_or_default();
    if let Some(fields) = object.as_object_mut() {
        fields.insert("id".to_owned(), id.into());
    }
    object
}

fn push_line(lines: &mut Vec<u8>, object: Value) -> Result<(), Fault> {
    // What is no object says nothing; the rest of the session counts all the same.
    if object.is_object() {
        lines.extend(object.to_string().into_bytes());
        lines.push(b'\n');
    }
    if lines.len() > SESSION_BYTES {
        let why = "a session is longer than 512 MiB";
        return Err(StoreError::Refused(why.to_owned()).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(sql: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let database = Connection::open(file.path()).expect("a database");
        database.execute_batch(sql).expect("statements");
        file
    }

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
        let sessions = opencode_sessions(file.path()).expect("a database");
        assert_eq!(sessions, Some(vec!["s1".to_owned(), "s2".to_owned()]));
        let lines = |session| {
            let lines = opencode_lines(file.path(), session).expect("lines");
            String::from_utf8(lines).expect("text")
        };
        let expected = [
            r#"{"directory":"/a","id":"s1","parentID":null,"projectID":"p","revert":null,"time":{"created":7},"title":"One"}"#,
            r#"{"id":"m1","role":"user"}"#,
            r#"{"id":"p1","text":"hello","type":"text"}"#,
            r#"{"id":"m2","role":"assistant"}"#,
        ];
        assert_eq!(lines("s1").lines().collect::<Vec<_>>(), expected);
        let second = r#"{"directory":"/b","id":"s2","parentID":"s1","projectID":"p","revert":{"messageID":"m9"},"time":{"created":8},"title":"Two"}"#;
        assert_eq!(lines("s2").trim(), second);
    }

    #[test]
    fn another_database_has_no_sessions_and_a_damaged_one_is_an_error() {
        let other = database("CREATE TABLE session (id TEXT);");
        assert_eq!(opencode_sessions(other.path()).expect("a database"), None);
        let damaged = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(damaged.path(), b"SQLite format 3\0 and no more").expect("a file");
        assert!(opencode_sessions(damaged.path()).is_err());
    }
}
