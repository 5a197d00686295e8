//! The data folder that is answered from: opened at the first question, made for the first thing
//! that is to be kept.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;

use crate::root;
use crate::wiring::Daybook;

/// Where memory is, open or not.
pub(crate) struct Memory {
    root: PathBuf,
    /// Settings of the command line.
    set: Vec<String>,
    open: Mutex<Option<Arc<Daybook>>>,
    writing: Mutex<()>,
}

impl Memory {
    pub(super) fn at(root: PathBuf, set: Vec<String>) -> Self {
        Self {
            root,
            set,
            open: Mutex::new(None),
            writing: Mutex::new(()),
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The memory that is there; nothing when nothing was ever remembered.
    pub(crate) fn existing(&self) -> Result<Option<Arc<Daybook>>> {
        let mut open = held(&self.open);
        if !Daybook::is_there(&self.root, &self.set) {
            // Removed under us: what was open is the memory of nothing.
            *open = None;
            return Ok(None);
        }
        self.opened(&mut open).map(Some)
    }

    /// The memory, made when there is none.
    pub(super) fn existing_or_new(&self) -> Result<Arc<Daybook>> {
        let mut open = held(&self.open);
        if !Daybook::is_there(&self.root, &self.set) {
            *open = None;
            root::create(&self.root)?;
        }
        self.opened(&mut open)
    }

    /// The turn to write. Writers of one process would but wait for each other in the store.
    pub(super) fn writing(&self) -> MutexGuard<'_, ()> {
        held(&self.writing)
    }

    fn opened(&self, open: &mut Option<Arc<Daybook>>) -> Result<Arc<Daybook>> {
        if let Some(daybook) = open {
            return Ok(Arc::clone(daybook));
        }
        let daybook = Arc::new(Daybook::open(self.root.clone(), &self.set)?);
        *open = Some(Arc::clone(&daybook));
        Ok(daybook)
    }
}

/// A call that panicked left nothing half-done behind these locks.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
