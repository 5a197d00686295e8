//! The folder that a command is run in: its project and branch.

use std::path::Path;

use anyhow::Result;
use daybook_domain::seams::SessionStore;
use daybook_domain::{Place, Scope, ScopeKind};
use daybook_engine::ingest::checkout::checkout;

use crate::wiring::Daybook;

/// Where a command is run.
pub(crate) struct Here {
    pub(crate) place: Place,
    /// The project that the folder belongs to, when memory knows it.
    pub(crate) project: Option<Scope>,
}

impl Here {
    /// In no folder.
    pub(crate) fn nowhere() -> Self {
        let place = Place {
            root: String::new(),
            branch: None,
        };
        Self {
            place,
            project: None,
        }
    }
}

/// What `folder` is to memory.
pub(crate) async fn here(daybook: &Daybook, folder: &Path) -> Result<Here> {
    let found = checkout(folder);
    let root = found.as_ref().map_or(folder, |found| found.root.as_path());
    let root = root.to_string_lossy().into_owned();
    let branch = found.as_ref().and_then(|found| found.branch.clone());
    let places = daybook.store.places().await?;
    let at_root = places
        .into_iter()
        .find(|(place, key)| place.root == root && key.is_some());
    let key = match (at_root, found.and_then(|found| found.remote)) {
        (Some((_, key)), _) => key,
        // A checkout that no session has been in yet still belongs to its remote's project.
        (None, Some(remote)) => {
            let projects = daybook.store.projects().await?;
            projects
                .into_iter()
                .find(|project| project.identity == remote)
                .map(|p| p.key)
        }
        (None, None) => None,
    };
    let tenant = daybook.tenant.clone();
    let project = key.map(|name| Scope {
        tenant,
        kind: ScopeKind::Project,
        name,
    });
    Ok(Here {
        place: Place { root, branch },
        project,
    })
}
