//! Checks where memory is kept: the database, and the ledger where jobs have a file of their own.

use anyhow::{Result, bail};
use daybook_engine::ingest::indexed_tokens;
use daybook_store::damage::Damage;
use daybook_store::flush_state::Ledgered;
use daybook_store::sqlite::SqliteStore;
#[cfg(feature = "postgres")]
use daybook_store::{
    PostgresStore,
    transfer::{Portable as _, Progress, TABLES, Table, checksum},
};

use crate::root;
use crate::wiring::{Database, Daybook, block_on};

use super::finding::Finding;

const DATABASE: &str = "database";

/// The database is sound.
pub(super) fn check(daybook: &Daybook) -> Vec<Finding> {
    match &daybook.database {
        Database::File(file) => check_file(file),
        #[cfg(feature = "postgres")]
        Database::Server(server) => check_server(daybook, server),
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

fn check_file(file: &SqliteStore) -> Vec<Finding> {
    let damage = damage_of(file);
    if damage.is_empty() {
        return vec![Finding::of(DATABASE, file.check().map_err(Into::into))];
    }
    damage.iter().map(finding_of).collect()
}

fn finding_of(damage: &Damage) -> Finding {
    let finding = Finding::wrong(DATABASE, damage.what.clone());
    let placed = match damage.table.is_empty() {
        true => finding,
        false => finding.at(damage.place()),
    };
    placed.with_repair()
}

/// The server answers, every row of every table can be read, and listings can be decoded.
#[cfg(feature = "postgres")]
fn check_server(daybook: &Daybook, server: &PostgresStore) -> Vec<Finding> {
    let mut findings = vec![Finding::of(
        DATABASE,
        block_on(async { Ok(server.check().await?) }),
    )];
    if findings.iter().any(|finding| !finding.fine) {
        return findings;
    }
    for table in &TABLES {
        let read = block_on(async { Ok(checksum(server, table, &Quiet).await?) });
        findings.extend(read.err().map(|error| {
            Finding::wrong(DATABASE, format!("{error:#}"))
                .at(table.name)
                .with_advice("restore the table from a backup of the server")
        }));
    }
    let listed = block_on(async {
        daybook.store.sessions(&daybook.tenant, usize::MAX).await?;
        daybook.store.sources(&daybook.tenant).await?;
        daybook.store.scopes(&daybook.tenant).await?;
        Ok(server.made_at().await?)
    });
    findings.extend(
        listed
            .err()
            .map(|error| Finding::wrong(DATABASE, format!("{error:#}"))),
    );
    findings
}

#[cfg(feature = "postgres")]
struct Quiet;

#[cfg(feature = "postgres")]
impl Progress for Quiet {
    fn rows(&self, _: &Table, _: u64) -> bool {
        true
    }
}

/// The file of jobs could be read whenever it was opened.
pub(super) fn check_ledger(daybook: &Daybook) -> Vec<Finding> {
    let look = |ledger| Finding::of("ledger", block_on(look_over(ledger)));
    daybook.ledger.as_deref().map(look).into_iter().collect()
}

/// What stands in the file of jobs and belongs to no session here, and what could not be read of it.
async fn look_over(ledger: &Ledgered<SqliteStore>) -> Result<String> {
    let strangers = ledger.strangers().await?;
    if let Some(aside) = ledger.set_asides()?.pop() {
        bail!(
            "it could not be read once and was made anew; the old one is {}: delete it when nothing is missing",
            root::shown(&aside)
        );
    }
    Ok(match strangers.as_slice() {
        [] => "sound".to_owned(),
        some => format!(
            "sound; kept for sessions that have not come in: {}",
            some.join(", ")
        ),
    })
}
