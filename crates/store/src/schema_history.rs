//! Checks which migrations a database has, and whether this binary can work with its tables.
//!
//! Migrations only add. So a binary may meet tables that a newer one has extended, while machines are upgraded
//! one after the other; each migration states the oldest binary that still works with its result.

use daybook_domain::StoreError;

/// A step of the schema. Once released it is never edited: the database holds its checksum.
pub(crate) struct Migration {
    pub(crate) version: u32,
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
    /// The newest migration that a binary has to know to work with the tables after this one.
    pub(crate) serves: u32,
}

impl Migration {
    pub(crate) fn checksum(&self) -> String {
        blake3::hash(self.sql.as_bytes()).to_hex()[..32].to_owned()
    }
}

/// An applied migration as the database records it.
pub(crate) struct AppliedMigration {
    pub(crate) version: u32,
    pub(crate) checksum: String,
    pub(crate) serves: u32,
}

/// Refuses a database whose tables this binary cannot work with. Errors call the database `what`.
pub(crate) fn check(
    what: &str,
    applied: &[AppliedMigration],
    migrations: &[Migration],
) -> Result<(), StoreError> {
    let known = migrations.last().map_or(0, |migration| migration.version);
    let needed = applied.iter().map(|applied| applied.serves).max();
    if needed.is_some_and(|needed| needed > known) {
        return Err(StoreError::TooNew {
            what: what.to_owned(),
            found: applied.last().map_or(0, |last| last.version),
            known,
        });
    }
    for (applied, ours) in applied.iter().zip(migrations) {
        if applied.version != ours.version || applied.checksum != ours.checksum() {
            let version = applied.version;
            return Err(StoreError::Corrupt(format!(
                "{what}: migration {version} is not the one that this daybook knows"
            )));
        }
    }
    Ok(())
}
