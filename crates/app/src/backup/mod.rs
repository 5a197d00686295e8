//! Backups of a data folder, archives that other programs read, and moves of a memory to another database.
//!
//! A backup is one tar file with the database, the memory folders with their histories, the settings, and last a manifest
//! of its contents. The database is copied before the folders are read. So files may be newer than the database, never
//! older: entries that it lacks are written again, with the same result.
//!
//! Left out is the state of a running machine: the spool, locks of workers, tokens.

pub(crate) mod archive;
mod restoring;
pub(crate) mod store_move;
pub(crate) mod user_archive;
mod user_rows;
pub(crate) mod vault;
mod writing;

pub(crate) use restoring::{BACKED_UP_TOMBSTONES, restore};
pub(crate) use writing::write;

use std::collections::BTreeMap;

use anyhow::Result;
use daybook_store::transfer::{self, Checksum, Portable, TABLES, Table};
use serde::{Deserialize, Serialize};

use crate::settings::rules_file;
use crate::wiring::redaction;

/// The version of the format of backups.
const FORM: u32 = 1;
/// The name of the manifest in a backup.
const MANIFEST: &str = "manifest.json";
/// The first file of every archive, for its reader.
pub(crate) const ABOUT: &str = "ABOUT-THIS-ARCHIVE.md";
/// What a backup contains of the data folder, beside the database.
const PARTS: [&str; 14] = [
    "daybook.toml",
    rules_file::FILE,
    redaction::KEY_FILE,
    daybook_store::flush_state::FILE,
    "purged/tombstones",
    "purged/receipts.jsonl",
    "purged/newest",
    "users",
    "agents",
    "teams",
    "rooms",
    "projects",
    "tenants",
    "joined",
];

/// The contents of a backup.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    form: u32,
    daybook: String,
    /// The time of its beginning, in milliseconds since 1970.
    at: i64,
    pub(crate) tables: BTreeMap<String, TableSummary>,
    pub(crate) files: BTreeMap<String, FileSummary>,
}

impl Manifest {
    /// When the backup was begun, in milliseconds since 1970.
    pub(crate) fn made_at(&self) -> i64 {
        self.at
    }
}

/// Row count and hash of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableSummary {
    pub(crate) rows: u64,
    hash: String,
}

/// A file, or a symbolic link, whose target is hashed in place of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileSummary {
    bytes: u64,
    hash: String,
}

impl FileSummary {
    fn of(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.len() as u64,
            hash: blake3::hash(bytes).to_hex().to_string(),
        }
    }
}

struct SilentCopy;

impl transfer::Progress for SilentCopy {
    fn rows(&self, _: &Table, _: u64) -> bool {
        true
    }
}

async fn tables(store: &dyn Portable) -> Result<BTreeMap<String, TableSummary>> {
    let mut tables = BTreeMap::new();
    for table in &TABLES {
        if let Some(Checksum { rows, hash }) = transfer::checksum(store, table, &SilentCopy).await?
        {
            tables.insert(table.name.to_owned(), TableSummary { rows, hash });
        }
    }
    Ok(tables)
}
