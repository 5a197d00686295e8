//! Listing rows of which some may be damaged: the damaged ones are left out and named.
//!
//! A listing serves many sessions, and one row must not take it from all of them. Reading one session or job
//! by its key still fails when its row is damaged.
//!
//! Not here: finding all damage (`health`).

use daybook_domain::StoreError;
use rusqlite::{Error, Row, Rows, Transaction};

use super::SqliteStore;
use super::connection::Fault;
use super::health::shown_key;
use crate::damage::Damage;

/// Most damaged rows that a store keeps the names of.
const NAMED: usize = 100;

/// Rows that could be decoded, and names of those that could not.
pub(super) struct Listing<T> {
    pub(super) rows: Vec<T>,
    damaged: Vec<Damage>,
}

/// Decodes rows of a table that are named by the columns `key`.
pub(super) fn list<T>(
    mut rows: Rows<'_>,
    (table, key): (&str, &[usize]),
    decode: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Listing<T>, Fault> {
    let mut listing = Listing {
        rows: Vec::new(),
        damaged: Vec::new(),
    };
    while let Some(row) = rows.next()? {
        match decode(row) {
            Ok(decoded) => listing.rows.push(decoded),
            Err(error) if is_of_a_value(&error) => {
                let name = shown_key(row, key);
                listing
                    .damaged
                    .push(Damage::of_row(table, name, error.to_string()));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(listing)
}

/// Whether the row was read, and a value in it has no meaning.
pub(super) fn is_of_a_value(error: &Error) -> bool {
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..)
    )
}

impl SqliteStore {
    /// Reads a listing, and keeps the names of damaged rows for [`SqliteStore::damaged_rows`].
    pub(super) fn list<T>(
        &self,
        work: impl FnMut(&Transaction<'_>) -> Result<Listing<T>, Fault>,
    ) -> Result<Vec<T>, StoreError> {
        let listing = self.read(work)?;
        let mut known = self
            .damaged_rows
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        known.extend(listing.damaged);
        while known.len() > NAMED {
            known.pop_last();
        }
        Ok(listing.rows)
    }

    /// Rows that listings of this store left out because they are damaged.
    #[must_use]
    pub fn damaged_rows(&self) -> Vec<Damage> {
        let known = self
            .damaged_rows
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        known.iter().cloned().collect()
    }
}
