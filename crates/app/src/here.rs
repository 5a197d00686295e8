//! The folder that a command is run in: its project and branch.

use std::path::Path;

use anyhow::Result;
use daybook_domain::{Place, Scope, ScopeKind};
use daybook_engine::notices::whereabouts::Whereabouts;

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
    let known = Whereabouts::of(&*daybook.store, &daybook.tenant).await?;
    let standing = known.standing(folder);
    let project = standing.project.map(|name| Scope {
        tenant: daybook.tenant.clone(),
        kind: ScopeKind::Project,
        name,
    });
    Ok(Here {
        place: standing.place,
        project,
    })
}
