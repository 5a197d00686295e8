//! A store's content as rows that every database can read and write, for moving a store to another database and
//! for checking a copy.
//!
//! [`TABLES`] names each table with its columns in one order; a dialect reads pages of rows in the order of
//! their keys and writes them ([`Portable`]). A column that only one dialect has, such as the tenant on every
//! row of PostgreSQL, or a number for a lane in SQLite, is filled in when the row is written. The index is left
//! out: it can be rebuilt. So are the histories of memory files: they are git objects, and move as such.
//!
//! Not here: rules. A row is copied, not interpreted.

mod copy;
pub mod json_lines;
mod tables;

pub use copy::{Checksum, Outcome, Progress, checksum, compare, copy, is_empty, tenants};
pub use tables::{Column, Kind, Numbers, TABLES, Table};

use async_trait::async_trait;
use daybook_domain::StoreError;

/// One value of a row. Booleans are 0 or 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A number, or a boolean.
    Int(i64),
    /// Text without the character zero, which PostgreSQL cannot keep.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// The values of a row, in the order of its table's columns.
pub type Row = Vec<Cell>;

/// A store whose rows can be read and written as they are.
#[async_trait]
pub trait Portable: Send + Sync {
    /// When the tables were created, in milliseconds since 1970: distinguishes two databases of one name.
    async fn made_at(&self) -> Result<i64, StoreError>;

    /// How many rows a table has.
    async fn rows(&self, table: &Table) -> Result<u64, StoreError>;

    /// At most `most` rows in the order of their keys, from the first one after `after`.
    async fn page(
        &self,
        table: &Table,
        after: Option<&[Cell]>,
        most: usize,
    ) -> Result<Vec<Row>, StoreError>;

    /// The greatest key of a table.
    async fn last_key(&self, table: &Table) -> Result<Option<Vec<Cell>>, StoreError>;

    /// Writes rows that do not exist yet: all or none.
    async fn put(&self, table: &Table, rows: &[Row]) -> Result<(), StoreError>;

    /// Removes all rows of a table.
    async fn empty(&self, table: &Table) -> Result<(), StoreError>;

    /// The last number that was given to a row, deleted rows included; 0 if none was.
    async fn last_number(&self, table: &Table) -> Result<i64, StoreError>;

    /// Continues the numbering after `last`.
    async fn count_from(&self, table: &Table, last: i64) -> Result<(), StoreError>;

    /// Blocks all writers until the returned hold is dropped. A writer waits, and after a while gets the error
    /// that the store is busy. Reading is not blocked.
    async fn hold(&self) -> Result<Box<dyn Hold>, StoreError>;

    /// Whether this store was closed because its content was moved.
    async fn is_closed(&self) -> Result<bool, StoreError>;
}

/// A store with its writers blocked.
#[async_trait]
pub trait Hold: Send {
    /// Closes the store for good. Later writes fail with an error that names `elsewhere`, where its content is
    /// now.
    async fn close(self: Box<Self>, elsewhere: &str) -> Result<(), StoreError>;
}

/// The error message for writes to a closed store.
pub(crate) fn moved_message(elsewhere: &str) -> String {
    format!("this memory was moved to {elsewhere}; restart the programs that still use it here")
}

impl Table {
    /// The key of one of its rows.
    #[must_use]
    pub fn key_of(&self, row: &[Cell]) -> Vec<Cell> {
        let place = |name| self.columns.iter().position(|column| column.name == name);
        let places = self.key.iter().filter_map(|name| place(*name));
        places.filter_map(|place| row.get(place).cloned()).collect()
    }

    /// `"a", "b"`: names as both databases take them.
    pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
        let quoted: Vec<String> = names
            .into_iter()
            .map(|name| format!("\"{name}\""))
            .collect();
        quoted.join(", ")
    }

    /// Its columns, quoted.
    pub(crate) fn all_columns(&self) -> String {
        Self::quoted(self.columns.iter().map(|column| column.name))
    }

    /// Its key, quoted, each column followed by `then`.
    pub(crate) fn key_order(&self, then: &str) -> String {
        let names = self.key.iter().map(|name| format!("\"{name}\"{then}"));
        names.collect::<Vec<_>>().join(", ")
    }
}
