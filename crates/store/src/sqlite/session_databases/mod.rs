//! Reads sessions that agents keep in SQLite databases, which are only read.
//!
//! A database is recognised by its tables and their columns. A session of it becomes lines of JSON: a description, then
//! one line for each message, as the agent's own files or rows state them.
//!
//! Not here: what a line means; a reader of transcripts parses it.

mod crush;
mod cursor;
mod goose;
mod hermes;
mod langgraph;
mod msgpack;
mod opencode;

use std::path::{Path, PathBuf};

use daybook_domain::StoreError;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row, RowIndex};
use serde_json::Value;

use super::connection::Fault;
use super::peek::{address, log_bytes};

/// Most bytes of the lines of one session.
const SESSION_BYTES: usize = 512 * 1024 * 1024;

/// A database in which an agent keeps sessions.
#[derive(Debug, Clone)]
pub struct SessionDatabase {
    path: PathBuf,
    layout: &'static Layout,
}

/// The tables of one agent, and how its sessions are read.
#[derive(Debug)]
struct Layout {
    /// Tables and columns that all its versions have, and that tell it from the others.
    tables: &'static [(&'static str, &'static [&'static str])],
    /// Selects the ids of the sessions, oldest first.
    sessions: &'static str,
    write_lines: fn(&Connection, &str, &mut SessionLines) -> Result<(), Fault>,
}

const LAYOUTS: [&Layout; 6] = [
    &opencode::LAYOUT,
    &goose::LAYOUT,
    &hermes::LAYOUT,
    &cursor::LAYOUT,
    &crush::LAYOUT,
    &langgraph::LAYOUT,
];

impl SessionDatabase {
    /// Recognises the SQLite database at `path`; `None` where its tables are another program's.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn recognize(path: &Path) -> Result<Option<Self>, StoreError> {
        let recognized = find_layout(path).map_err(|fault| fault.into_error(path))?;
        Ok(recognized.map(|layout| Self {
            path: path.to_owned(),
            layout,
        }))
    }

    /// The ids of the sessions, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn sessions(&self) -> Result<Vec<String>, StoreError> {
        let read = || -> Result<Vec<String>, Fault> {
            let database = open(&self.path)?;
            let mut sessions = database.prepare(self.layout.sessions)?;
            let sessions = sessions.query_map([], |row| row.get(0))?;
            Ok(sessions.collect::<rusqlite::Result<_>>()?)
        };
        read().map_err(|fault| fault.into_error(&self.path))
    }

    /// The lines of one session, each a JSON object.
    ///
    /// # Errors
    /// When the database cannot be read, or the lines are longer than 512 MiB together.
    pub fn lines(&self, session: &str) -> Result<Vec<u8>, StoreError> {
        let read = || -> Result<Vec<u8>, Fault> {
            let mut lines = SessionLines::default();
            (self.layout.write_lines)(&open(&self.path)?, session, &mut lines)?;
            Ok(lines.0)
        };
        read().map_err(|fault| fault.into_error(&self.path))
    }
}

/// The lines of one session, as they are written.
#[derive(Debug, Default)]
struct SessionLines(Vec<u8>);

impl SessionLines {
    /// Appends an object as a line. Anything else says nothing; the rest of the session counts all the same.
    fn push(&mut self, object: &Value) -> Result<(), Fault> {
        if object.is_object() {
            self.0.extend(object.to_string().into_bytes());
            self.0.push(b'\n');
        }
        if self.0.len() > SESSION_BYTES {
            let why = "a session is longer than 512 MiB";
            return Err(StoreError::Refused(why.to_owned()).into());
        }
        Ok(())
    }
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

fn find_layout(path: &Path) -> Result<Option<&'static Layout>, Fault> {
    let database = open(path)?;
    for layout in LAYOUTS {
        let mut has_all = true;
        for (table, columns) in layout.tables {
            let known = columns_of(&database, table)?;
            let has = |column: &&str| known.iter().any(|known| known == *column);
            has_all = has_all && columns.iter().all(has);
        }
        if has_all {
            return Ok(Some(layout));
        }
    }
    Ok(None)
}

/// The columns of a table; none where there is no such table.
fn columns_of(database: &Connection, table: &str) -> Result<Vec<String>, Fault> {
    let mut columns = database.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let columns = columns.query_map([table], |row| row.get(0))?;
    Ok(columns.collect::<rusqlite::Result<_>>()?)
}

/// Selects `columns` of a table, of which only some versions have all: the others are null.
fn selection(database: &Connection, table: &str, columns: &[&str]) -> Result<String, Fault> {
    let known = columns_of(database, table)?;
    let selected: Vec<String> = columns
        .iter()
        .map(|column| match known.iter().any(|known| known == column) {
            true => format!("\"{column}\""),
            false => format!("NULL AS \"{column}\""),
        })
        .collect();
    Ok(format!("SELECT {} FROM \"{table}\"", selected.join(", ")))
}

/// A column as JSON: a number, a text, or null.
fn value(row: &Row<'_>, column: &str) -> Result<Value, Fault> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into(),
    })
}

/// The bytes of a column; none where it is a number or null.
fn bytes<'r>(row: &'r Row<'_>, column: impl RowIndex) -> Result<&'r [u8], Fault> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => &[],
    })
}

/// The JSON that a column holds as a text; null where it holds none.
fn parsed(row: &Row<'_>, column: impl RowIndex) -> Result<Value, Fault> {
    Ok(serde_json::from_slice(bytes(row, column)?).unwrap_or_default())
}

#[cfg(test)]
mod test_support {
    //! Makes a database of statements, and reads its sessions.

    use rusqlite::Connection;
    use serde_json::Value;

    use super::SessionDatabase;

    pub(super) fn database(sql: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let database = Connection::open(file.path()).expect("a database");
        database.execute_batch(sql).expect("statements");
        file
    }

    pub(super) fn recognized(file: &tempfile::NamedTempFile) -> SessionDatabase {
        let database = SessionDatabase::recognize(file.path()).expect("a database");
        database.expect("an agent's database")
    }

    pub(super) fn lines(file: &tempfile::NamedTempFile, session: &str) -> Vec<Value> {
        let lines = recognized(file).lines(session).expect("lines");
        let lines = lines.split(|byte| *byte == b'\n').filter(|l| !l.is_empty());
        lines
            .map(|line| serde_json::from_slice(line).expect("JSON"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::test_support::database;
    use super::*;

    #[test]
    fn another_database_is_not_recognised_and_a_damaged_one_is_an_error() {
        let other = database("CREATE TABLE session (id TEXT);");
        let recognized = SessionDatabase::recognize(other.path()).expect("a database");
        assert!(recognized.is_none());
        let damaged = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(damaged.path(), b"SQLite format 3\0 and no more").expect("a file");
        assert!(SessionDatabase::recognize(damaged.path()).is_err());
    }
}
