//! A backup: one tar file with the database, the memory folders with their histories, the settings, and
//! last a manifest of what is in it.
//!
//! The database is copied before the folders are read. So files may be newer than the database, never
//! older: what it does not know yet is written again, and comes out the same.
//!
//! Left out is what belongs to a running machine: the spool, who works, tokens.

mod restoring;
mod writing;

pub(crate) use restoring::restore;
pub(crate) use writing::write;

use std::collections::BTreeMap;

use anyhow::Result;
use daybook_store::transfer::{self, Checksum, Portable, TABLES, Table};
use serde::{Deserialize, Serialize};

/// The form of backups that this daybook writes and reads.
const FORM: u32 = 1;
/// The name of the manifest in a backup.
const MANIFEST: &str = "manifest.json";
/// What is taken from the data folder, beside the database.
const PARTS: [&str; 9] = [
    "daybook.toml",
    daybook_store::flush_state::FILE,
    "users",
    "agents",
    "teams",
    "rooms",
    "projects",
    "tenants",
    "joined",
];

/// What is in a backup.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    form: u32,
    daybook: String,
    /// When it was begun, in milliseconds since 1970.
    at: i64,
    pub(crate) tables: BTreeMap<String, Counted>,
    pub(crate) files: BTreeMap<String, Kept>,
}

/// What a table comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub(crate) rows: u64,
    hash: String,
}

/// A file, or a symbolic link, whose target is hashed in place of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    bytes: u64,
    hash: String,
}

impl Kept {
    fn of(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.len() as u64,
            hash: blake3::hash(bytes).to_hex().to_string(),
        }
    }
}

struct Unwatched;

impl transfer::Progress for Unwatched {
    fn rows(&self, _: &Table, _: u64) -> bool {
        true
    }
}

async fn tables(store: &dyn Portable) -> Result<BTreeMap<String, Counted>> {
    let mut tables = BTreeMap::new();
    for table in &TABLES {
        if let Some(Checksum { rows, hash }) = transfer::checksum(store, table, &Unwatched).await? {
            tables.insert(table.name.to_owned(), Counted { rows, hash });
        }
    }
    Ok(tables)
}
