//! The memory files that are put in front of an agent. Files alone: what a hook says must not wait
//! for a database.

use std::path::Path;

use daybook_domain::{Scope, ScopeKind, Tenant};
use daybook_engine::files::layout::{BRANCHES, CURATED, folder};
use daybook_engine::recall::context::Applies;

/// The memory of the project at hand and of the person; no other.
pub(crate) fn applies(
    root: &Path,
    tenant: &Tenant,
    person: &str,
    project: Option<&Scope>,
) -> Vec<Applies> {
    let person = Scope {
        tenant: tenant.clone(),
        kind: ScopeKind::User,
        name: person.to_owned(),
    };
    let scopes = project.cloned().into_iter().chain([person]);
    scopes
        .filter_map(|scope| {
            let memory = folder(root, &scope);
            Some(Applies {
                text: read(&memory.join(CURATED))?,
                branches: read(&memory.join(BRANCHES)).unwrap_or_default(),
                whose: format!("Memory of {scope}"),
            })
        })
        .collect()
}

fn read(path: &Path) -> Option<String> {
    let text = std::fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}
