//! The tables of a sound database, and raw values of rows.

use rusqlite::{Connection, Row};

use super::super::connection::Fault;
use super::super::migrations;
use super::super::raw_values::{Raw, format_key};

/// One column.
#[derive(Debug, Clone)]
pub(in crate::sqlite) struct ColumnInfo {
    pub(in crate::sqlite) name: String,
    pub(in crate::sqlite) kind: ColumnKind,
    /// Whether every row has a value here.
    pub(in crate::sqlite) is_required: bool,
    /// Its place in the primary key, counted from 1; 0 outside.
    key_place: usize,
}

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sqlite) enum ColumnKind {
    Integer,
    Text,
    Blob,
}

/// One table.
#[derive(Debug, Clone)]
pub(in crate::sqlite) struct TableInfo {
    pub(in crate::sqlite) name: String,
    pub(in crate::sqlite) columns: Vec<ColumnInfo>,
    /// What identifies a row, by places in `columns`.
    pub(in crate::sqlite) key: Vec<usize>,
}

impl TableInfo {
    /// All columns, quoted.
    pub(in crate::sqlite) fn all_columns(&self) -> String {
        let quoted = self
            .columns
            .iter()
            .map(|column| format!("\"{}\"", column.name));
        quoted.collect::<Vec<_>>().join(", ")
    }

    /// The key's columns, quoted, each followed by `then`.
    pub(in crate::sqlite) fn key_columns(&self, then: &str) -> String {
        let quoted = self
            .key
            .iter()
            .map(|&at| format!("\"{}\"{then}", self.columns[at].name));
        quoted.collect::<Vec<_>>().join(", ")
    }

    pub(in crate::sqlite) fn key_of(&self, row: &[Raw]) -> Vec<Raw> {
        self.key
            .iter()
            .filter_map(|&at| row.get(at).cloned())
            .collect()
    }

    /// The key of a row for people.
    pub(in crate::sqlite) fn key_text(&self, row: &[Raw]) -> String {
        format_key(&self.key_of(row))
    }

    /// The place of a column.
    pub(in crate::sqlite) fn place_of(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|known| known.name == column)
    }

    /// The table with those of its columns that are `present`, as an older schema has it; `None` when a part of
    /// its key is not.
    pub(in crate::sqlite) fn limited_to(&self, present: &[ColumnInfo]) -> Option<Self> {
        let is_present = |column: &ColumnInfo| present.iter().any(|p| p.name == column.name);
        let columns: Vec<ColumnInfo> = self
            .columns
            .iter()
            .filter(|column| is_present(column))
            .cloned()
            .collect();
        let place = |at: &usize| {
            columns
                .iter()
                .position(|c| c.name == self.columns[*at].name)
        };
        let key: Option<Vec<usize>> = self.key.iter().map(place).collect();
        Some(Self {
            name: self.name.clone(),
            key: key?,
            columns,
        })
    }

    /// Whether rows are numbered: one whole number is their key.
    pub(in crate::sqlite) fn is_numbered(&self) -> bool {
        matches!(self.key[..], [only] if self.columns[only].kind == ColumnKind::Integer)
    }
}

/// The values of a row.
pub(in crate::sqlite) fn raw(row: &Row<'_>, columns: usize) -> rusqlite::Result<Vec<Raw>> {
    (0..columns)
        .map(|at| row.get_ref(at).map(Raw::from))
        .collect()
}

/// Tables of the index that are rebuilt with it. Vectors are among them: documents without vectors get them
/// again.
/// Marks of the record, and what changed, are set by triggers.
pub(in crate::sqlite) const DERIVED: [&str; 8] = [
    "ix_docs",
    "ix_unembedded",
    "ix_vectors",
    "ix_signs",
    "ix_sign_blocks",
    "ix_stale_records",
    "ix_changes",
    "ix_read_version",
];

/// Every table that a sound database has, in the order in which migrations make them. The pieces of the
/// full-text index are not among them: SQLite itself checks these.
pub(in crate::sqlite) fn expected() -> Result<Vec<TableInfo>, Fault> {
    let mut sound = Connection::open_in_memory()?;
    migrations::ensure(&mut sound, "memory".as_ref())?;
    let mut names = sound.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
         AND name NOT LIKE 'ix_text%' AND name NOT IN ('ix_pending', 'schema_migrations')
         ORDER BY rowid",
    )?;
    let names: Vec<String> = names
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let table = |name: String| {
        let columns = columns_of(&sound, &name)?;
        let mut key: Vec<usize> = (0..columns.len())
            .filter(|&at| columns[at].key_place > 0)
            .collect();
        key.sort_by_key(|&at| columns[at].key_place);
        Ok(TableInfo { name, columns, key })
    };
    names.into_iter().map(table).collect()
}

/// The columns of a table; none when it is not there.
pub(in crate::sqlite) fn columns_of(
    connection: &Connection,
    table: &str,
) -> Result<Vec<ColumnInfo>, Fault> {
    let mut find =
        connection.prepare("SELECT name, type, \"notnull\", pk FROM pragma_table_info(?)")?;
    let rows = find.query_map([table], |row| {
        let kind: String = row.get(1)?;
        let key_place: usize = row.get(3)?;
        Ok(ColumnInfo {
            name: row.get(0)?,
            kind: match kind.as_str() {
                "INTEGER" => ColumnKind::Integer,
                "BLOB" => ColumnKind::Blob,
                _ => ColumnKind::Text,
            },
            is_required: row.get::<_, bool>(2)? || key_place > 0,
            key_place,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
