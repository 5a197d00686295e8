//! Memory folders of a machine that shares its memory with others.

use std::path::Path;

use anyhow::Result;
use daybook_engine::files::stamp::{Person, Stamp};
use daybook_engine::jobs::{Sharing, WorkLimits};

use crate::wiring::Daybook;

impl Daybook {
    /// This machine's side of a memory that several share; nothing when it is the data folder's alone.
    pub(crate) fn sharing(&self) -> Option<Sharing<'_>> {
        self.sharing_below(&self.root)
    }

    /// The same, with the memory folders below `root`.
    pub(crate) fn sharing_below<'a>(&'a self, root: &'a Path) -> Option<Sharing<'a>> {
        Some(Sharing {
            store: &*self.store,
            trees: self.trees.as_deref()?,
            root,
        })
    }

    /// In whose name memory files are written, now.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp {
            time_ms: self.clock.now().0,
            person: Person::named(&self.settings.person),
        }
    }

    /// Has the memory folders show what other machines wrote. One that somebody is writing just now is
    /// left as it is.
    pub(crate) async fn look_around(&self) -> Result<()> {
        if let Some(sharing) = self.sharing() {
            let wait = WorkLimits::default().folder_wait;
            sharing.check_out(&self.tenant, &self.stamp(), wait).await?;
        }
        Ok(())
    }
}
