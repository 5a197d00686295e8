//! Warns of damage in a data folder that would make answers misleading. Every command that shows or imports memory
//! runs these checks, which are cheap.
//!
//! Not here: complete checks, and repairs (`doctor`).

use anyhow::Result;
use daybook_domain::PageRequest;
use daybook_engine::files::audit::{missing_folders, scopes_on_disk};

use crate::terminal::output::count;
#[cfg(feature = "interfaces")]
use crate::terminal::output::{eprint_line, warn};
use crate::wiring::{Daybook, MemoryDatabase};

/// Most rows that one warning names.
const MAX_NAMED: usize = 3;

/// Whether the database holds no scope and no session.
async fn is_empty(daybook: &Daybook) -> Result<bool> {
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    let scopes = store.scopes(tenant, PageRequest::first(1)).await?;
    let sessions = store.sessions(tenant, PageRequest::first(1)).await?;
    Ok(scopes.items.is_empty() && sessions.items.is_empty())
}

/// Finds damage; each warning names the command that repairs it.
pub(crate) async fn find_damage(daybook: &Daybook) -> Result<Vec<String>> {
    let MemoryDatabase::File(file) = &daybook.database else {
        // With memory on a server, memory folders are rebuilt from the shared histories.
        return Ok(Vec::new());
    };
    let mut warnings = Vec::new();
    let on_disk = scopes_on_disk(&daybook.root, &daybook.tenant).len() as u64;
    if on_disk > 0 && is_empty(daybook).await? {
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
            .take(MAX_NAMED)
            .map(ToString::to_string)
            .collect();
        warnings.push(format!(
            "{} of the database cannot be read and left out ({}): run `daybook doctor` for details",
            count(damaged.len() as u64, "row"),
            names.join("; ")
        ));
    }
    Ok(warnings)
}

/// Prints a warning for each kind of damage to standard error.
#[cfg(feature = "interfaces")]
pub(crate) async fn warn_of_damage(daybook: &Daybook) -> Result<()> {
    for warning in find_damage(daybook).await? {
        eprint_line!("{} {warning}", warn("damaged:"));
    }
    Ok(())
}
