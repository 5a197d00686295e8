//! Checks memory folders: each has a history that can be read.

use daybook_engine::files::layout::folder;
use daybook_engine::files::{FilesConfig, Folder};

use crate::wiring::{Daybook, block_on};

use super::finding::Finding;

const WHAT: &str = "memory files";

/// Every scope's folder has its history.
pub(super) fn check(daybook: &Daybook) -> Vec<Finding> {
    let scopes = block_on(async { Ok(daybook.store.scopes(&daybook.tenant).await?) });
    let scopes = match scopes {
        Ok(scopes) => scopes,
        Err(error) => return vec![Finding::wrong(WHAT, format!("{error:#}"))],
    };
    let mut findings = Vec::new();
    let mut folders = 0;
    for state in &scopes {
        let path = folder(&daybook.root, &state.scope);
        if !path.exists() {
            continue;
        }
        match Folder::open(&path, FilesConfig::default()).and_then(|folder| folder.log(1)) {
            Ok(_) => folders += 1,
            Err(error) => {
                findings.push(Finding::wrong(WHAT, error.to_string()).at(state.scope.to_string()))
            }
        }
    }
    if findings.is_empty() {
        findings.push(Finding::fine(
            WHAT,
            format!("{folders} folders, each with its history"),
        ));
    }
    findings
}
