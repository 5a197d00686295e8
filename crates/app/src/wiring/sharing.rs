//! Keeps memory folders in step with the shared histories on a server.

use std::path::Path;

use anyhow::Result;
use daybook_engine::files::stamp::{CommitStamp, Person};
use daybook_engine::jobs::{FolderSync, WorkLimits};

use crate::wiring::Daybook;

impl Daybook {
    /// This machine's side of shared memory folders; `None` where one machine has them alone.
    pub(crate) fn sharing(&self) -> Option<FolderSync<'_>> {
        self.sharing_below(&self.root)
    }

    /// [`Daybook::sharing`] for memory folders below another `root`.
    pub(crate) fn sharing_below<'a>(&'a self, root: &'a Path) -> Option<FolderSync<'a>> {
        Some(FolderSync {
            store: &*self.store,
            trees: self.trees.as_deref()?,
            root,
        })
    }

    /// The author and time of commits that are made now.
    pub(crate) fn stamp(&self) -> CommitStamp {
        CommitStamp {
            time_ms: self.clock.now().0,
            person: Person::named(&self.settings.person),
        }
    }

    /// Checks out into the memory folders what other machines wrote. A folder that another process is writing is
    /// skipped.
    pub(crate) async fn check_out_shared_files(&self) -> Result<()> {
        if let Some(sharing) = self.sharing() {
            let wait = WorkLimits::default().folder_wait;
            sharing.check_out(&self.tenant, &self.stamp(), wait).await?;
        }
        Ok(())
    }
}
