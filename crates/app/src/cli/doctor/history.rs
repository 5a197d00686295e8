//! Checks the git histories that several machines share: every commit, tree and file that one refers to
//! can be read here, and is in the store.
//!
//! Not here: histories of a memory that is in one data folder alone (`files`).

use anyhow::Result;
use daybook_domain::Scope;
use daybook_engine::files::layout::folder;
use daybook_engine::jobs::Sharing;

use crate::wiring::{Daybook, block_on};

use super::finding::Finding;

const WHAT: &str = "shared histories";

/// The shared history of every scope's folder is whole.
pub(super) fn check(daybook: &Daybook) -> Vec<Finding> {
    let Some(sharing) = daybook.sharing() else {
        return Vec::new();
    };
    let scopes = block_on(async { Ok(daybook.store.scopes(&daybook.tenant).await?) });
    let scopes = match scopes {
        Ok(scopes) => scopes,
        Err(error) => return vec![Finding::wrong(WHAT, format!("{error:#}"))],
    };
    let mut findings = Vec::new();
    let mut folders = 0;
    for state in &scopes {
        if !folder(&daybook.root, &state.scope).join(".git").is_dir() {
            continue;
        }
        folders += 1;
        let found = damage(&sharing, &state.scope);
        let found = found.unwrap_or_else(|error| Some(Finding::wrong(WHAT, format!("{error:#}"))));
        findings.extend(found.map(|finding| finding.at(state.scope.to_string())));
    }
    if findings.is_empty() {
        let whole = format!("{folders} folders, each object of their histories readable");
        findings.push(Finding::fine(WHAT, whole));
    }
    findings
}

/// What is missing of a shared history, if anything is.
fn damage(sharing: &Sharing<'_>, scope: &Scope) -> Result<Option<Finding>> {
    let found = block_on(async { Ok(sharing.check_history(scope).await?) })?;
    let damaged = found.filter(|found| !found.is_whole());
    let advice =
        "`daybook checkin --repair` fetches what the store has, and gives it what it lacks";
    Ok(damaged.map(|found| Finding::wrong(WHAT, found.to_string()).with_advice(advice)))
}
