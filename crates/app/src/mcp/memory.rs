//! The data folder of the server: opened at the first question, created for the first note. Over HTTP it is open already.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::{Result, bail};

use crate::folders::data_folder;
use crate::wiring::Daybook;

/// The memory, once it is open, and the last failure to open it.
#[derive(Default)]
struct OpenedMemory {
    daybook: Option<Arc<Daybook>>,
    failure: Option<(Instant, String)>,
}

/// A memory that is opened at its first use.
pub(crate) struct LazyMemory {
    root: PathBuf,
    /// Settings of the command line.
    set: Vec<String>,
    /// The memory of a server that opened it before its first client came.
    served: Option<Arc<Daybook>>,
    open: Mutex<OpenedMemory>,
    writing: Mutex<()>,
}

impl LazyMemory {
    pub(super) fn new(root: PathBuf, set: Vec<String>) -> Self {
        Self {
            root,
            set,
            served: None,
            open: Mutex::default(),
            writing: Mutex::new(()),
        }
    }

    /// The memory of one tenant of a server.
    pub(super) fn served(daybook: Arc<Daybook>) -> Self {
        Self {
            served: Some(Arc::clone(&daybook)),
            ..Self::new(daybook.root.clone(), Vec::new())
        }
    }

    /// Whether clients come from elsewhere, so that the folder of this process is none of theirs.
    pub(super) fn is_served(&self) -> bool {
        self.served.is_some()
    }

    /// The data folder.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The memory; `None` while none exists.
    pub(crate) fn existing(&self) -> Result<Option<Arc<Daybook>>> {
        if let Some(daybook) = &self.served {
            return Ok(Some(Arc::clone(daybook)));
        }
        if !Daybook::may_exist(&self.root, &self.set) {
            // The data folder was removed, so the open memory is of a folder that no longer exists.
            locked(&self.open).daybook = None;
            return Ok(None);
        }
        self.open_once().map(Some)
    }

    /// The memory, created when there is none.
    pub(super) fn existing_or_new(&self) -> Result<Arc<Daybook>> {
        if let Some(daybook) = &self.served {
            return Ok(Arc::clone(daybook));
        }
        if !Daybook::may_exist(&self.root, &self.set) {
            locked(&self.open).daybook = None;
            data_folder::create(&self.root)?;
        }
        self.open_once()
    }

    /// Locks writing within this process: its writers would only wait for each other in the store.
    pub(super) fn writing(&self) -> MutexGuard<'_, ()> {
        locked(&self.writing)
    }

    /// Opens the memory, one call at a time. Calls that waited while another one failed to open it fail with the same
    /// error: each would wait as long again for a server that does not respond.
    fn open_once(&self) -> Result<Arc<Daybook>> {
        let began = Instant::now();
        let mut open = locked(&self.open);
        if let Some(daybook) = &open.daybook {
            return Ok(Arc::clone(daybook));
        }
        if let Some((at, why)) = &open.failure
            && *at >= began
        {
            bail!("{why}");
        }
        let opened = Daybook::open_beside_others(self.root.clone(), &self.set);
        let failure = opened.as_ref().err().map(|error| format!("{error:#}"));
        open.failure = failure.map(|why| (Instant::now(), why));
        let daybook = Arc::new(opened?);
        open.daybook = Some(Arc::clone(&daybook));
        Ok(daybook)
    }
}

/// Locks a mutex. A call that panicked left nothing half-done under these locks.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
