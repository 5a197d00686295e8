//! A copy of the whole file while others work on it.

use std::path::Path;

use daybook_domain::StoreError;
use rusqlite::Connection;

use super::SqliteStore;
use super::connection::{Fault, create_private};
use crate::blocking::blocking;

impl SqliteStore {
    /// Writes all that was committed when this began to a new file at `path`. Whoever works meanwhile
    /// is not held up, and sees nothing of it. The copy is whole and a store like this one.
    ///
    /// # Errors
    /// When the file is there already, or cannot be written.
    pub fn copy_to(&self, path: &Path) -> Result<(), StoreError> {
        let name = path.to_string_lossy();
        // SQLite takes an empty file for none.
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
                // The mode stays with a file, but not with a copy that is made like this.
                let copy = Connection::open(path)?;
                copy.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
                Ok(copy.close().map_err(|(_, error)| error)?)
            };
            keep_log().map_err(|fault| fault.into_error(path))
        })
    }
}
