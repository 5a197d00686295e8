//! Which migrations a database has seen, and whether this binary can work with what they left.
//!
//! Migrations only add. So a binary may meet tables that a newer one has added to, while machines are
//! upgraded one after the other; each migration says how old a binary may be that still works with
//! what it leaves.

use daybook_domain::StoreError;

/// A step of the schema. Once released it is never edited: a checksum of it stands in the database.
pub(crate) struct Migration {
    pub(crate) version: u32,
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
    /// The newest version that a binary has to know to work with the tables as this leaves them.
    pub(crate) serves: u32,
}

impl Migration {
    pub(crate) fn checksum(&self) -> String {
        blake3::hash(self.sql.as_bytes()).to_hex()[..32].to_owned()
    }
}

/// A migration as a database has it on record.
pub(crate) struct Applied {
    pub(crate) version: u32,
    pub(crate) checksum: String,
    pub(crate) serves: u32,
}

/// Refuses a database, which errors call `what`, with tables that this binary cannot work with.
pub(crate) fn check(
    what: &str,
    applied: &[Applied],
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
