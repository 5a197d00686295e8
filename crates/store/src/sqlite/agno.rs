//! Reads the rows of sessions from a database of Agno, which is only read.
//!
//! Not here: what a row means; a reader of transcripts parses it.

use std::path::Path;

use daybook_domain::StoreError;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::{Map, Value};

use super::connection::Fault;
use super::peek::{address, log_bytes};

/// Columns that a table of sessions has.
const COLUMNS: [&str; 2] = ["session_id", "runs"];
/// Longest row that is returned, in bytes.
const ROW_BYTES: usize = 16 * 1024 * 1024;
/// Most bytes of all rows.
const ALL_BYTES: usize = 512 * 1024 * 1024;

/// The rows of all tables of sessions in the SQLite database at `path`, as JSON on one line each, and how many were left
/// out because they are longer than 16 MiB; `None` where it has no such table.
///
/// # Errors
/// When the database cannot be read, or its rows are longer than 512 MiB together.
pub fn agno_rows(path: &Path) -> Result<Option<(Vec<String>, u64)>, StoreError> {
    read_rows(path).map_err(|fault| fault.into_error(path))
}

fn read_rows(path: &Path) -> Result<Option<(Vec<String>, u64)>, Fault> {
    // Without a log beside it no lock is taken, so that nothing is created in the folder.
    let how = match log_bytes(path) {
        0 => "immutable=1",
        _ => "mode=ro",
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(address(path, how), flags)?;
    let mut tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let tables = tables.query_map([], |row| row.get(0))?;
    let tables: Vec<String> = tables.collect::<rusqlite::Result<_>>()?;
    let (mut rows, mut long, mut has_table) = (Vec::new(), 0, false);
    let mut bytes = 0;
    for table in tables {
        let quoted = table.replace('"', "\"\"");
        let mut statement = database.prepare(&format!("SELECT * FROM \"{quoted}\""))?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        if !COLUMNS
            .iter()
            .all(|needed| columns.iter().any(|column| column == needed))
        {
            continue;
        }
        has_table = true;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            let row = as_json(row, &columns)?;
            if row.len() > ROW_BYTES {
                long += 1;
                continue;
            }
            bytes += row.len();
            if bytes > ALL_BYTES {
                let why = "its sessions are longer than 512 MiB together";
                return Err(StoreError::Refused(why.to_owned()).into());
            }
            rows.push(row);
        }
    }
    Ok(has_table.then_some((rows, long)))
}

/// A row as one line of JSON. A text that holds an object or a list of JSON stands as that.
fn as_json(row: &Row<'_>, columns: &[String]) -> Result<String, Fault> {
    let mut object = Map::new();
    for (nth, column) in columns.iter().enumerate() {
        let value = match row.get_ref(nth)? {
            ValueRef::Null | ValueRef::Blob(_) => Value::Null,
            ValueRef::Integer(number) => number.into(),
            ValueRef::Real(number) => number.into(),
            ValueRef::Text(text) => parsed(&String::from_utf8_lossy(text)),
        };
        object.insert(column.clone(), value);
    }
    Ok(Value::Object(object).to_string())
}

fn parsed(text: &str) -> Value {
    let is_json = text.starts_with(['{', '[']);
    let value = is_json.then(|| serde_json::from_str(text).ok()).flatten();
    value.unwrap_or_else(|| text.into())
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
    fn the_rows_of_a_table_of_sessions_are_read_as_json() {
        let file = database(
            "CREATE TABLE helper_sessions (session_id TEXT, session_type TEXT, runs JSON, updated_at INTEGER);
             INSERT INTO helper_sessions VALUES ('s1', 'agent', '[{\"run_id\":\"r1\"}]', 7);
             CREATE TABLE others (id INTEGER); INSERT INTO others VALUES (1);",
        );
        let rows = agno_rows(file.path())
            .expect("a database")
            .expect("a table");
        let expected =
            r#"{"runs":[{"run_id":"r1"}],"session_id":"s1","session_type":"agent","updated_at":7}"#;
        let (row, long) = (
            serde_json::from_str::<Value>(&rows.0[0]).expect("JSON"),
            rows.1,
        );
        assert_eq!(
            (row, long),
            (serde_json::from_str(expected).expect("JSON"), 0)
        );
        assert_eq!(rows.0.len(), 1);
    }

    #[test]
    fn another_database_has_no_rows_and_a_damaged_one_is_an_error() {
        let other = database("CREATE TABLE others (id INTEGER);");
        assert_eq!(agno_rows(other.path()).expect("a database"), None);
        let damaged = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(damaged.path(), b"SQLite format 3\0 and no more").expect("a file");
        assert!(agno_rows(damaged.path()).is_err());
    }
}
