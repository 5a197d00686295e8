//! Everything that a store remembers, as rows that every database can read and write: what moving a
//! store to another database, and checking a copy, are made of.
//!
//! [`TABLES`] names each table with its columns in one order; a dialect reads pages of rows in the
//! order of their keys and writes them ([`Portable`]). A column that a dialect has for itself, such as
//! the tenant on every row of PostgreSQL, or a number for a lane in SQLite, is made when it is written.
//! The index is not here: it is disposable, and made anew. Histories of memory files are not either:
//! they are git's, and travel as such.
//!
//! Not here: rules. A row is carried, not understood.

mod copy;
mod tables;

pub use copy::{Checksum, Outcome, Progress, checksum, compare, copy, is_empty, tenants};
pub use tables::{Column, Kind, Numbers, TABLES, Table};

use async_trait::async_trait;
use daybook_domain::StoreError;

/// One value of a row. Truth is 0 or 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A number, or truth.
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
    /// When the tables were made, in milliseconds since 1970: tells two databases of one name apart.
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

    /// Writes rows that are not there yet: all or none.
    async fn put(&self, table: &Table, rows: &[Row]) -> Result<(), StoreError>;

    /// Removes all rows of a table.
    async fn empty(&self, table: &Table) -> Result<(), StoreError>;

    /// The last number that was given to a row, also to one that is gone; 0 if none was.
    async fn last_number(&self, table: &Table) -> Result<i64, StoreError>;

    /// Goes on counting after `last`.
    async fn count_from(&self, table: &Table, last: i64) -> Result<(), StoreError>;

    /// Lets nobody write until what it returns is dropped. Whoever tries waits, and is told after a
    /// while that the store is busy. Reading goes on.
    async fn hold(&self) -> Result<Box<dyn Hold>, StoreError>;

    /// Whether what was here lives elsewhere now.
    async fn is_closed(&self) -> Result<bool, StoreError>;
}

/// A store that nobody writes.
#[async_trait]
pub trait Hold: Send {
    /// Lets nobody write any more, ever: what is here lives on at `elsewhere`, as whoever tries is told.
    async fn close(self: Box<Self>, elsewhere: &str) -> Result<(), StoreError>;
}

/// What whoever writes to a closed store is told.
pub(crate) fn farewell(elsewhere: &str) -> String {
    format!("this memory was moved to {elsewhere}; start again whatever still uses it here")
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
