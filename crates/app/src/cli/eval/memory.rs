//! Temporary memories in SQLite databases, one after the other, and how far the evaluation has come.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use daybook_domain::eligibility::Switches;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{BoxError, Tenant};
use daybook_engine::append::IngestContext;
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::jobs::{WorkLimits, WorkerContext};
use daybook_eval::changes::CaseMemory;
use daybook_eval::threads::ThreadMemory;
use daybook_store::sqlite::{SqliteOptions, SqliteStore};
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;
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
        Ok(self.make_with_threads()?.intake)
    }

    /// As [`Self::make`], with threads.
    pub(super) fn make_with_threads(&self) -> Result<ThreadMemory, BoxError> {
        self.progress
            .set_done(self.created.replace(self.created.get() + 1));
        let folder = tempfile::tempdir()?;
        let store = SqliteStore::open(&folder.path().join(DATABASE), SqliteOptions::default())?;
        let store = Arc::new(store);
        self.folder.replace(Some(folder));
        let intake = IngestContext {
            teams: Default::default(),
            store: Arc::clone(&store) as _,
            clock: Arc::new(SystemClock),
            tenant: Tenant::local(),
            patience: DueLimits::default(),
            switches: Switches::default(),
            redactor: Arc::new(Redactor::standard()),
            readers: 1,
        };
        Ok(ThreadMemory {
            intake,
            threads: store,
        })
    }

    /// As [`Self::make`], with a worker that extracts without a model.
    pub(super) fn make_with_worker(&self) -> Result<CaseMemory, BoxError> {
        let intake = self.make()?;
        let folder = self.folder.borrow();
        let root = folder.as_ref().ok_or("the memory has no folder")?.path();
        let worker = WorkerContext {
            store: Arc::clone(&intake.store),
            trees: None,
            before_files: None,
            root: root.to_owned(),
            clock: Arc::clone(&intake.clock),
            extractor: Arc::new(Extractive),
            consolidation_model: None,
            holder: "eval".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: intake.tenant.clone(),
            switches: Switches::default(),
            redactor: Redactor::standard(),
            limits: WorkLimits::default(),
        };
        Ok(CaseMemory { intake, worker })
    }

    pub(super) fn end(&self) {
        self.progress.end();
    }
}
