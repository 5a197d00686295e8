//! Checks the git histories that several machines share: every commit, tree and file that one refers to
//! can be read here, and is in the store.
//!
//! Not here: histories of a memory that is in one data folder alone (`files`).

use anyhow::Result;
use daybook_domain::Scope;
use daybook_domain::page::read_all;
use daybook_engine::files::layout::folder;
use daybook_engine::jobs::FolderSync;

use crate::process::block_on;
use crate::wiring::Daybook;

use super::finding::CheckFinding;

const WHAT: &str = "shared histories";

/// The shared history of every scope's folder is whole.
pub(super) fn check(daybook: &Daybook) -> Vec<CheckFinding> {
    let Some(sharing) = daybook.sharing() else {
        return Vec::new();
    };
    let scopes =
        block_on(async { Ok(read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?) });
    let scopes = match scopes {
        Ok(scopes) => scopes,
        Err(error) => return vec![CheckFinding::wrong(WHAT, format!("{error:#}"))],
    };
    let mut findings = Vec::new();
    let mut folders = 0;
    for state in &scopes {
        if !folder(&daybook.root, &state.scope).join(".git").is_dir() {
            continue;
        }
        folders += 1;
        let found = damage(&sharing, &state.scope);
        let found =
            found.unwrap_or_else(|error| Some(CheckFinding::wrong(WHAT, format!("{error:#}"))));
        findings.extend(found.map(|finding| finding.at(state.scope.to_string())));
    }
    if findings.is_empty() {
        let whole = format!("{folders} folders, each object of their histories readable");
        findings.push(CheckFinding::fine(WHAT, whole));
    }
    findings
}

/// What is missing of a shared history, if anything is.
fn damage(sharing: &FolderSync<'_>, scope: &Scope) -> Result<Option<CheckFinding>> {
    let found = block_on(async { Ok(sharing.check_history(scope).await?) })?;
    let damaged = found.filter(|found| !found.is_intact());
    let advice =
        "`daybook checkin --repair` fetches what the store has, and gives it what it lacks";
    Ok(damaged.map(|found| CheckFinding::wrong(WHAT, found.to_string()).with_advice(advice)))
}
