//! Temporary memories in SQLite databases, one after the other, and how far the evaluation has come.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use daybook_domain::eligibility::Switches;
use daybook_domain::trigger::Patience;
use daybook_domain::{BoxError, Tenant};
use daybook_engine::ingest::import::Intake;
use daybook_engine::ingest::redact::Redactor;
use daybook_store::sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;

use crate::clock::SystemClock;
use crate::common::Common;
use crate::progress::Measuring;
use crate::wiring::DATABASE;

/// Makes temporary memories. Making one removes the one before it, so that disk is needed for one alone.
pub(super) struct Memories {
    made: Cell<u64>,
    folder: RefCell<Option<TempDir>>,
    progress: Measuring,
}

impl Memories {
    pub(super) fn start(common: &Common, conversations: u64) -> Self {
        Self {
            made: Cell::new(0),
            folder: RefCell::new(None),
            progress: Measuring::start(common, conversations),
        }
    }

    /// An empty memory with default settings: figures do not depend on a person's own.
    pub(super) fn make(&self) -> Result<Intake, BoxError> {
        self.progress.done(self.made.replace(self.made.get() + 1));
        let folder = tempfile::tempdir()?;
        let store = SqliteStore::open(&folder.path().join(DATABASE), SqliteOptions::default())?;
        self.folder.replace(Some(folder));
        Ok(Intake {
            store: Arc::new(store),
            clock: Arc::new(SystemClock),
            tenant: Tenant::local(),
            patience: Patience::default(),
            switches: Switches::default(),
            redactor: Arc::new(Redactor::standard()),
            readers: 1,
        })
    }

    pub(super) fn end(&self) {
        self.progress.end();
    }
}
