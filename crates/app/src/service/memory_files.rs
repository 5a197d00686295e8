//! Reads the memory files that apply to an agent. Reads files alone: a hook must not wait for a database. A secret in
//! them, also in a person's own text, is masked.

use std::path::Path;

use daybook_domain::{Scope, ScopeKind, Tenant};
use daybook_engine::files::layout::{BRANCHES, CURATED, folder};
use daybook_engine::files::own_secrets::masked;
use daybook_engine::files::path::FilePath;
use daybook_engine::files::reader::{FolderReader, Refused};
use daybook_engine::recall::context::ScopeMemory;
use daybook_text::redact::Redactor;

/// The memory files of the current project and of the person; of no other scope.
pub(crate) struct MemoryFiles {
    /// Files that could be read.
    pub(crate) applies: Vec<ScopeMemory>,
    /// Files that exist and were not read.
    pub(crate) refused: Vec<Refused>,
}

/// Reads the memory files of `project` and of `person`. A refused file does not keep others from being read.
pub(crate) fn read(
    root: &Path,
    tenant: &Tenant,
    person: &str,
    project: Option<&Scope>,
) -> MemoryFiles {
    let person = Scope {
        tenant: tenant.clone(),
        kind: ScopeKind::User,
        name: person.to_owned(),
    };
    let redactor = Redactor::current();
    let mut files = MemoryFiles {
        applies: Vec::new(),
        refused: Vec::new(),
    };
    for scope in project.cloned().into_iter().chain([person]) {
        let memory = folder(root, &scope);
        let reader = match FolderReader::open(&memory) {
            Ok(Some(reader)) => reader,
            Ok(None) => continue,
            Err(refused) => {
                files.refused.push(refused);
                continue;
            }
        };
        let mut text = |file: &str| match FilePath::new(file).map(|path| reader.text(&path)) {
            Ok(Ok(text)) => text.map(|text| masked(&redactor, &text).into_owned()),
            Ok(Err(refused)) => {
                files.refused.push(refused);
                None
            }
            Err(_) => None,
        };
        let (curated, branches) = (text(CURATED), text(BRANCHES));
        if let Some(text) = curated {
            files.applies.push(ScopeMemory {
                text,
                branches: branches.unwrap_or_default(),
                whose: format!("Memory of {scope}"),
            });
        }
    }
    files
}
