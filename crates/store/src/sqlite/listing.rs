//! Listings of rows of which some may be damaged: these are left out and reported.
//!
//! A listing serves many sessions, and one damaged row must not fail it for all of them. Reading one session or
//! job by its key still fails when its row is damaged.
//!
//! Not here: finding all damage (`health`).

use daybook_domain::{Page, StoreError};
use rusqlite::{Error, Row, Rows, Transaction};

use super::SqliteStore;
use super::connection::Fault;
use super::raw_values::format_row_key;
use super::row_numbers::at_most;
use crate::damage::Damage;

/// Most damaged rows that a store remembers.
const MOST_REMEMBERED: usize = 100;

/// The rows that could be decoded, and the names of those that could not.
#[derive(Debug)]
pub(super) struct Listing<T> {
    pub(super) rows: Vec<T>,
    damaged: Vec<Damage>,
}

impl<T> Listing<T> {
    /// A listing without rows.
    pub(super) fn empty() -> Self {
        Self {
            rows: Vec::new(),
            damaged: Vec::new(),
        }
    }

    /// Adds the rows of another listing.
    pub(super) fn append(&mut self, mut other: Self) {
        self.rows.append(&mut other.rows);
        self.damaged.append(&mut other.damaged);
    }
}

/// Decodes rows of a table that are named by the columns `key`.
pub(super) fn list<T>(
    mut rows: Rows<'_>,
    (table, key): (&str, &[usize]),
    decode: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Listing<T>, Fault> {
    let mut listing = Listing::empty();
    while let Some(row) = rows.next()? {
        match decode(row) {
            Ok(decoded) => listing.rows.push(decoded),
            Err(error) if is_invalid_value(&error) => {
                let name = format_row_key(row, key);
                listing
                    .damaged
                    .push(Damage::of_row(table, name, error.to_string()));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(listing)
}

/// Whether the row was read, but a value in it is invalid.
pub(super) fn is_invalid_value(error: &Error) -> bool {
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..)
    )
}

impl SqliteStore {
    /// Reads a listing, and remembers damaged rows for [`SqliteStore::damaged_rows`].
    pub(super) fn list<T>(
        &self,
        work: impl FnMut(&Transaction<'_>) -> Result<Listing<T>, Fault>,
    ) -> Result<Vec<T>, StoreError> {
        let listing = self.read(work)?;
        self.note_damage(listing.damaged);
        Ok(listing.rows)
    }

    /// Reads one page of a listing. `work` gets the most rows that it may list. Damaged rows are left out, and
    /// count towards the page; a page without an item means that none follows.
    pub(super) fn page<T, K>(
        &self,
        most: usize,
        key: impl Fn(&T) -> K,
        mut work: impl FnMut(&Transaction<'_>, i64) -> Result<Listing<T>, Fault>,
    ) -> Result<Page<T, K>, StoreError> {
        let mut fetched = most + 1;
        loop {
            let listing = self.read(|tx| work(tx, at_most(fetched)))?;
            let has_more = listing.rows.len() + listing.damaged.len() >= fetched;
            self.note_damage(listing.damaged);
            if has_more && listing.rows.is_empty() {
                fetched = fetched.saturating_mul(2);
                continue;
            }
            let mut items = listing.rows;
            items.truncate(most);
            let next = items.last().filter(|_| has_more).map(&key);
            return Ok(Page { items, next });
        }
    }

    fn note_damage(&self, damaged: Vec<Damage>) {
        let mut known = self
            .damaged_rows
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        known.extend(damaged);
        while known.len() > MOST_REMEMBERED {
            known.pop_last();
        }
    }

    /// Damaged rows that listings of this store have left out.
    #[must_use]
    pub fn damaged_rows(&self) -> Vec<Damage> {
        let known = self
            .damaged_rows
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        known.iter().cloned().collect()
    }
}
