//! The data folder that is answered from: opened at the first question, made for the first thing
//! that is to be kept.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::{Result, bail};

use crate::common::Patience;
use crate::root;
use crate::wiring::Daybook;

/// The memory, once it is open, and the last failure to open it.
#[derive(Default)]
struct Opened {
    daybook: Option<Arc<Daybook>>,
    failure: Option<(Instant, String)>,
}

/// Where memory is, open or not.
pub(crate) struct Memory {
    root: PathBuf,
    /// Settings of the command line.
    set: Vec<String>,
    open: Mutex<Opened>,
    writing: Mutex<()>,
}

impl Memory {
    pub(super) fn at(root: PathBuf, set: Vec<String>) -> Self {
        Self {
            root,
            set,
            open: Mutex::default(),
            writing: Mutex::new(()),
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The memory that is there; nothing when nothing was ever remembered.
    pub(crate) fn existing(&self) -> Result<Option<Arc<Daybook>>> {
        if !Daybook::is_there(&self.root, &self.set) {
            // Removed under us: what was open is the memory of nothing.
            held(&self.open).daybook = None;
            return Ok(None);
        }
        self.opened().map(Some)
    }

    /// The memory, made when there is none.
    pub(super) fn existing_or_new(&self) -> Result<Arc<Daybook>> {
        if !Daybook::is_there(&self.root, &self.set) {
            held(&self.open).daybook = None;
            root::create(&self.root)?;
        }
        self.opened()
    }

    /// The turn to write. Writers of one process would but wait for each other in the store.
    pub(super) fn writing(&self) -> MutexGuard<'_, ()> {
        held(&self.writing)
    }

    /// Opens the memory, one call at a time. Calls that waited for another one to fail fail with it: each
    /// would wait as long again for a server that stands still.
    fn opened(&self) -> Result<Arc<Daybook>> {
        let began = Instant::now();
        let mut open = held(&self.open);
        if let Some(daybook) = &open.daybook {
            return Ok(Arc::clone(daybook));
        }
        if let Some((at, why)) = &open.failure
            && *at >= began
        {
            bail!("{why}");
        }
        let opened = Daybook::open_for(Patience::Answer, self.root.clone(), &self.set);
        let failure = opened.as_ref().err().map(|error| format!("{error:#}"));
        open.failure = failure.map(|why| (Instant::now(), why));
        let daybook = Arc::new(opened?);
        open.daybook = Some(Arc::clone(&daybook));
        Ok(daybook)
    }
}

/// A call that panicked left nothing half-done behind these locks.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
