//! Temporary memories in SQLite databases, one after the other, and how far the evaluation has come.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use daybook_domain::eligibility::Switches;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{BoxError, Tenant};
use daybook_engine::append::IngestContext;
use daybook_store::sqlite::{SqliteOptions, SqliteStore};
use daybook_text::redact::Redactor;
use tempfile::TempDir;

use crate::clock::SystemClock;
use crate::terminal::common_args::CommonArgs;
use crate::terminal::progress::EvalBar;
use crate::wiring::DATABASE;

/// Makes temporary memories. Making one removes the one before it, so that disk is needed for one alone.
pub(super) struct MemoryFactory {
    created: Cell<u64>,
    folder: RefCell<Option<TempDir>>,
    progress: EvalBar,
}

impl MemoryFactory {
    pub(super) fn start(common: &CommonArgs, conversations: u64) -> Self {
        Self {
            created: Cell::new(0),
            folder: RefCell::new(None),
            progress: EvalBar::start(common, conversations),
        }
    }

    /// An empty memory with default settings: figures do not depend on a person's own.
    pub(super) fn make(&self) -> Result<IngestContext, BoxError> {
        self.progress
            .set_done(self.created.replace(self.created.get() + 1));
        let folder = tempfile::tempdir()?;
        let store = SqliteStore::open(&folder.path().join(DATABASE), SqliteOptions::default())?;
        self.folder.replace(Some(folder));
        Ok(IngestContext {
            store: Arc::new(store),
            clock: Arc::new(SystemClock),
            tenant: Tenant::local(),
            patience: DueLimits::default(),
            switches: Switches::default(),
            redactor: Arc::new(Redactor::standard()),
            readers: 1,
        })
    }

    pub(super) fn end(&self) {
        self.progress.end();
    }
}
