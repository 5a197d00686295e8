//! Receipts of purges: `purged/receipts.jsonl`, one line of JSON for each, without any content.
//!
//! Each line names the hash of the line before it, so a line that is changed or taken out is noticed.

use std::fs::File;
use std::io::Write;

use anyhow::{Context, Result};
use daybook_engine::bounded;
use daybook_engine::jobs::purge::{PURGED, PurgeIntent, PurgeReport};
use serde::{Deserialize, Serialize};

use crate::folders::data_folder::display_path;
use crate::terminal::output::rfc3339;
use crate::wiring::Daybook;

/// Name of the file.
const NAME: &str = "receipts.jsonl";
/// Longest file that is read, in bytes.
const FILE_BYTES: u64 = 1 << 28;

/// What a purge removed, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    /// The number of the purge, from 1.
    pub(crate) no: u64,
    /// When it was confirmed, RFC 3339.
    pub(crate) at: String,
    /// What it was asked for.
    pub(crate) kind: String,
    /// Its counts.
    pub(crate) events: u64,
    pub(crate) sessions: u64,
    pub(crate) observations: u64,
    pub(crate) scopes: u64,
    pub(crate) tombstones: u64,
    /// Hash of its tombstones.
    pub(crate) marks: String,
    /// Hash of the line before; empty in the first.
    pub(crate) before: String,
}

impl Receipt {
    /// Adds the receipt of a purge to the file.
    pub(super) fn write(
        daybook: &Daybook,
        intent: &PurgeIntent,
        report: &PurgeReport,
    ) -> Result<Self> {
        let path = daybook.root.join(PURGED).join(NAME);
        let failed = || format!("cannot write {}", display_path(&path));
        let written = match path.exists() {
            true => bounded::read_text(&path, FILE_BYTES).with_context(failed)?,
            false => String::new(),
        };
        let last = written.lines().next_back();
        let mut marks = blake3::Hasher::new();
        for mark in &intent.tombstones {
            marks.update(&mark.0.to_be_bytes());
        }
        let receipt = Self {
            no: written.lines().count() as u64 + 1,
            at: rfc3339(intent.at).unwrap_or_default(),
            kind: intent.kind.clone(),
            events: report.events,
            sessions: report.sessions,
            observations: report.observations,
            scopes: intent.scopes.len() as u64,
            tombstones: intent.tombstones.len() as u64,
            marks: marks.finalize().to_hex().to_string(),
            before: last.map(hash_of).unwrap_or_default(),
        };
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .with_context(failed)?;
        writeln!(file, "{}", serde_json::to_string(&receipt)?).with_context(failed)?;
        file.sync_all().with_context(failed)?;
        Ok(receipt)
    }
}

fn hash_of(line: &str) -> String {
    blake3::hash(line.as_bytes()).to_hex().to_string()
}
