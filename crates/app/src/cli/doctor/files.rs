//! Checks memory folders: each that was written exists, has an intact history, and is known to the database.

use std::path::Path;

use daybook_domain::page::read_all;
use daybook_domain::{Scope, Tenant};
use daybook_engine::files::audit::{check_history, missing_folders, scopes_on_disk};
use daybook_engine::files::layout::folder;

use crate::process::block_on;
use crate::wiring::Daybook;

use super::finding::CheckFinding;

const WHAT: &str = "memory files";

/// Folders, histories and the database agree.
pub(super) fn check(daybook: &Daybook) -> Vec<CheckFinding> {
    let on_disk = scopes_on_disk(&daybook.root, &daybook.tenant);
    let mut findings = Vec::new();
    // Where machines share histories, another check looks at these, and folders come from what is shared.
    if daybook.trees.is_none() {
        findings = check_histories(&daybook.root, &on_disk);
        match unknown_and_missing(daybook, &on_disk) {
            Err(error) => findings.push(CheckFinding::wrong(WHAT, format!("{error:#}"))),
            Ok((unknown, missing)) => {
                findings.extend(unknown.iter().map(finding_of_unknown));
                findings.extend(missing.iter().map(finding_of_missing));
            }
        }
    }
    if findings.is_empty() {
        findings.push(CheckFinding::fine(
            WHAT,
            format!("{} folders, each with its history", on_disk.len()),
        ));
    }
    findings
}

/// The same without a database that could be asked.
pub(super) fn check_alone(root: &Path, tenant: &Tenant) -> Vec<CheckFinding> {
    check_histories(root, &scopes_on_disk(root, tenant))
}

fn check_histories(root: &Path, scopes: &[Scope]) -> Vec<CheckFinding> {
    let finding = |scope: &Scope, why: String| {
        CheckFinding::wrong("history", why)
            .at(scope.to_string())
            .with_repair()
    };
    let broken = |scope| {
        let why = check_history(&folder(root, scope));
        why.into_iter().map(move |why| finding(scope, why))
    };
    scopes.iter().flat_map(broken).collect()
}

/// Scopes with folders but without an entry in the database, and scopes whose folders are missing.
pub(super) fn unknown_and_missing(
    daybook: &Daybook,
    on_disk: &[Scope],
) -> anyhow::Result<(Vec<Scope>, Vec<Scope>)> {
    block_on(async {
        let known = read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?;
        let is_known = |scope: &&Scope| known.iter().any(|state| &&state.scope == scope);
        let unknown = on_disk
            .iter()
            .filter(|scope| !is_known(scope))
            .cloned()
            .collect();
        let missing = missing_folders(&*daybook.store, &daybook.root, &daybook.tenant).await?;
        Ok((unknown, missing))
    })
}

fn finding_of_unknown(scope: &Scope) -> CheckFinding {
    CheckFinding::wrong(
        WHAT,
        "its files exist, but the database has no entry for them",
    )
    .at(scope.to_string())
    .with_repair()
}

fn finding_of_missing(scope: &Scope) -> CheckFinding {
    CheckFinding::wrong(WHAT, "its folder is missing together with its history")
        .at(scope.to_string())
        .with_repair()
}
