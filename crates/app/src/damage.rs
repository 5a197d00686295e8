//! What is damaged in a data folder and would mislead a person who asks it: found at little cost, by every
//! command that shows or takes in memory.
//!
//! Not here: looking at everything, and mending it (`doctor`).

use anyhow::Result;
use daybook_engine::files::audit::{missing_folders, scopes_on_disk};

use crate::output::{count, warn};
use crate::wiring::{Database, Daybook};

/// Names of rows that are shown in one warning.
const SHOWN: usize = 3;

/// What is wrong, each with what to do about it.
pub(crate) async fn warnings(daybook: &Daybook) -> Result<Vec<String>> {
    let Database::File(file) = &daybook.database else {
        // A machine that shares its memory makes its folders from what is shared.
        return Ok(Vec::new());
    };
    let mut warnings = Vec::new();
    let on_disk = scopes_on_disk(&daybook.root, &daybook.tenant).len() as u64;
    let scopes = daybook.store.scopes(&daybook.tenant).await?;
    if on_disk > 0
        && scopes.is_empty()
        && daybook.store.sessions(&daybook.tenant, 1).await?.is_empty()
    {
        warnings.push(format!(
            "the database is empty beside memory files of {}: `daybook restore` brings a backup back, \
             `daybook doctor --repair` makes the files known again",
            count(on_disk, "scope")
        ));
    }
    for scope in missing_folders(&*daybook.store, &daybook.root, &daybook.tenant).await? {
        warnings.push(format!(
            "the memory folder of {scope} is missing together with its history: \
             `daybook doctor --repair` makes it again"
        ));
    }
    let damaged = file.damaged_rows();
    if !damaged.is_empty() {
        let names: Vec<String> = damaged
            .iter()
            .take(SHOWN)
            .map(ToString::to_string)
            .collect();
        warnings.push(format!(
            "{} of the database cannot be read and left out ({}): `daybook doctor` says more",
            count(damaged.len() as u64, "row"),
            names.join("; ")
        ));
    }
    Ok(warnings)
}

/// Prints them to standard error.
pub(crate) async fn warn_of(daybook: &Daybook) -> Result<()> {
    for warning in warnings(daybook).await? {
        anstream::eprintln!("{} {warning}", warn("damaged:"));
    }
    Ok(())
}
