//! Copies the whole file while other processes use it.

use std::path::Path;

use daybook_domain::StoreError;
use rusqlite::Connection;

use super::SqliteStore;
use super::connection::{Fault, create_private};
use crate::blocking::blocking;

impl SqliteStore {
    /// Writes everything committed before this call to a new file at `path`. Concurrent writers are not held
    /// up, and the copy has none of their writes. The copy is complete and can be opened as a store.
    ///
    /// # Errors
    /// When the file is there already, or cannot be written.
    pub fn copy_to(&self, path: &Path) -> Result<(), StoreError> {
        let name = path.to_string_lossy();
        // `VACUUM INTO` accepts an empty file as its target.
        create_private(path).map_err(|error| StoreError::Unavailable {
            what: path.display().to_string(),
            source: error.into(),
        })?;
        blocking(|| {
            self.file.with_idle(|connection| {
                self.file.retry(|| {
                    connection.execute("VACUUM INTO ?", [&name])?;
                    Ok(())
                })
            })?;
            let keep_log = || -> Result<(), Fault> {
                // The journal mode is stored in the file, and `VACUUM INTO` does not copy it.
                let copy = Connection::open(path)?;
                copy.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
                Ok(copy.close().map_err(|(_, error)| error)?)
            };
            keep_log().map_err(|fault| fault.into_error(path))
        })
    }
}
