//! Checks where memory is kept: the database, and the ledger where jobs have a file of their own.

use anyhow::bail;
use daybook_store::flush_state::Ledgered;
use daybook_store::sqlite::SqliteStore;

use crate::root;
use crate::wiring::{Database, Daybook, block_on};

use super::finding::Finding;

const DATABASE: &str = "database";

/// The database is sound.
pub(super) fn check(daybook: &Daybook) -> Vec<Finding> {
    vec![match &daybook.database {
        Database::File(file) => match file.check() {
            Ok(says) => Finding::fine(DATABASE, says),
            Err(error) => Finding::wrong(DATABASE, error.to_string()).with_advice(
                "restore it from a backup, or move it away and import again: memory files are kept",
            ),
        },
        #[cfg(feature = "postgres")]
        Database::Server(server) => {
            Finding::of(DATABASE, block_on(async { Ok(server.check().await?) }))
        }
    }]
}

/// The file of jobs could be read whenever it was opened.
pub(super) fn check_ledger(daybook: &Daybook) -> Vec<Finding> {
    let look = |ledger| Finding::of("ledger", block_on(look_over(ledger)));
    daybook.ledger.as_deref().map(look).into_iter().collect()
}

/// What stands in the file of jobs and belongs to no session here, and what could not be read of it.
async fn look_over(ledger: &Ledgered<SqliteStore>) -> anyhow::Result<String> {
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
