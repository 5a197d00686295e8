//! Checks the database, and the ledger where the jobs of sessions are in a file of their own.

use anyhow::{Result, bail};
#[cfg(feature = "postgres")]
use daybook_domain::page::visit_all;
use daybook_store::damage::Damage;
use daybook_store::flush_state::Ledgered;
use daybook_store::sqlite::SqliteStore;
#[cfg(feature = "postgres")]
use daybook_store::{
    PostgresStore,
    transfer::{Portable as _, Progress, TABLES, Table, checksum},
};
use daybook_text::indexed_tokens;

use crate::folders::data_folder;
use crate::process::block_on;
use crate::wiring::{Daybook, MemoryDatabase};

use super::finding::CheckFinding;

const DATABASE: &str = "database";

/// The database is sound.
pub(super) fn check(daybook: &Daybook) -> Vec<CheckFinding> {
    match &daybook.database {
        MemoryDatabase::File(file) => check_file(file),
        #[cfg(feature = "postgres")]
        MemoryDatabase::Server(server) => check_server(daybook, server),
    }
}

/// What examining the file found; an error that ends the examination is damage, too.
pub(super) fn damage_of(file: &SqliteStore) -> Vec<Damage> {
    file.examine(&indexed_tokens).unwrap_or_else(|error| {
        vec![Damage {
            table: String::new(),
            key: None,
            column: None,
            what: error.to_string(),
        }]
    })
}

fn check_file(file: &SqliteStore) -> Vec<CheckFinding> {
    let damage = damage_of(file);
    if damage.is_empty() {
        return vec![CheckFinding::of(DATABASE, file.check().map_err(Into::into))];
    }
    damage.iter().map(finding_of).collect()
}

fn finding_of(damage: &Damage) -> CheckFinding {
    let finding = CheckFinding::wrong(DATABASE, damage.what.clone());
    let placed = match damage.table.is_empty() {
        true => finding,
        false => finding.at(damage.place()),
    };
    placed.with_repair()
}

/// The server answers, every row of every table can be read, and listings can be decoded.
#[cfg(feature = "postgres")]
fn check_server(daybook: &Daybook, server: &PostgresStore) -> Vec<CheckFinding> {
    let mut findings = vec![CheckFinding::of(
        DATABASE,
        block_on(async { Ok(server.check().await?) }),
    )];
    if findings.iter().any(|finding| !finding.fine) {
        return findings;
    }
    for table in &TABLES {
        let read = block_on(async { Ok(checksum(server, table, &SilentChecksum).await?) });
        findings.extend(read.err().map(|error| {
            CheckFinding::wrong(DATABASE, format!("{error:#}"))
                .at(table.name)
                .with_advice("restore the table from a backup of the server")
        }));
    }
    let listed = block_on(async {
        visit_all(|page| daybook.store.sessions(&daybook.tenant, page), drop).await?;
        visit_all(|page| daybook.store.sources(&daybook.tenant, page), drop).await?;
        visit_all(|page| daybook.store.scopes(&daybook.tenant, page), drop).await?;
        Ok(server.made_at().await?)
    });
    findings.extend(
        listed
            .err()
            .map(|error| CheckFinding::wrong(DATABASE, format!("{error:#}"))),
    );
    findings
}

#[cfg(feature = "postgres")]
struct SilentChecksum;

#[cfg(feature = "postgres")]
impl Progress for SilentChecksum {
    fn rows(&self, _: &Table, _: u64) -> bool {
        true
    }
}

/// The file of jobs could be read whenever it was opened.
pub(super) fn check_ledger(daybook: &Daybook) -> Vec<CheckFinding> {
    let look = |ledger| CheckFinding::of("ledger", block_on(look_over(ledger)));
    daybook.ledger.as_deref().map(look).into_iter().collect()
}

/// Finds entries in the file of jobs that belong to no known session, and entries that cannot be read.
async fn look_over(ledger: &Ledgered<SqliteStore>) -> Result<String> {
    let foreign_entries = ledger.foreign_entries().await?;
    if let Some(aside) = ledger.corrupt_files()?.pop() {
        bail!(
            "it could not be read once and was recreated; the old one is {}: delete it when nothing is missing",
            data_folder::display_path(&aside)
        );
    }
    Ok(match foreign_entries.as_slice() {
        [] => "sound".to_owned(),
        some => format!(
            "sound; kept for sessions that were not imported: {}",
            some.join(", ")
        ),
    })
}
