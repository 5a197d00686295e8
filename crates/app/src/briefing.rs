//! The memory files that are put in front of an agent. Files alone: what a hook says must not wait
//! for a database.

use std::path::Path;

use daybook_domain::{Scope, ScopeKind, Tenant};
use daybook_engine::files::layout::{BRANCHES, CURATED, folder};
use daybook_engine::files::path::FilePath;
use daybook_engine::files::reader::{Reader, Refused};
use daybook_engine::recall::context::Applies;

/// The memory of the project at hand and of the person; no other.
pub(crate) struct Briefing {
    /// The files that can be read.
    pub(crate) applies: Vec<Applies>,
    /// What is there and is not read.
    pub(crate) refused: Vec<Refused>,
}

/// Reads the memory of the project at hand and of the person. A refused file costs no other.
pub(crate) fn read(
    root: &Path,
    tenant: &Tenant,
    person: &str,
    project: Option<&Scope>,
) -> Briefing {
    let person = Scope {
        tenant: tenant.clone(),
        kind: ScopeKind::User,
        name: person.to_owned(),
    };
    let mut briefing = Briefing {
        applies: Vec::new(),
        refused: Vec::new(),
    };
    for scope in project.cloned().into_iter().chain([person]) {
        let memory = folder(root, &scope);
        let reader = match Reader::open(&memory) {
            Ok(Some(reader)) => reader,
            Ok(None) => continue,
            Err(refused) => {
                briefing.refused.push(refused);
                continue;
            }
        };
        let mut text = |file: &str| match FilePath::new(file).map(|path| reader.text(&path)) {
            Ok(Ok(text)) => text,
            Ok(Err(refused)) => {
                briefing.refused.push(refused);
                None
            }
            Err(_) => None,
        };
        let (curated, branches) = (text(CURATED), text(BRANCHES));
        if let Some(text) = curated {
            briefing.applies.push(Applies {
                text,
                branches: branches.unwrap_or_default(),
                whose: format!("Memory of {scope}"),
            });
        }
    }
    briefing
}
