//! The place of a command or an agent: the folder's project and branch.

use std::path::Path;

use anyhow::Result;
use daybook_domain::{Place, Scope, ScopeKind};
use daybook_engine::hook_events::project_cache::ProjectCache;

use crate::wiring::Daybook;

/// The place that a folder is in, with its project.
pub(crate) struct CurrentPlace {
    pub(crate) place: Place,
    /// The project that the folder belongs to; `None` when memory has no project for it.
    pub(crate) project: Option<Scope>,
}

impl CurrentPlace {
    /// No folder at all.
    pub(crate) fn unknown() -> Self {
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

/// Looks up the place and project of `folder`.
pub(crate) async fn locate(daybook: &Daybook, folder: &Path) -> Result<CurrentPlace> {
    let known = ProjectCache::load(&*daybook.store, &daybook.tenant).await?;
    let standing = known.locate(folder);
    let project = standing.project.map(|name| Scope {
        tenant: daybook.tenant.clone(),
        kind: ScopeKind::Project,
        name,
    });
    Ok(CurrentPlace {
        place: standing.place,
        project,
    })
}
