//! Memories for tests of whole cases.

use std::sync::Arc;

use daybook_domain::eligibility::Switches;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{BoxError, Tenant, Timestamp};
use daybook_engine::append::IngestContext;
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::jobs::{WorkLimits, WorkerContext};
use daybook_store::MemoryStore;
use daybook_testkit::ManualClock;
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;
use tempfile::TempDir;

use crate::changes::CaseMemory;

/// A memory in `folder`, long after all cases.
pub(crate) fn memory(folder: &TempDir) -> Result<CaseMemory, BoxError> {
    let root = tempfile::tempdir_in(folder.path())?.keep();
    let now: jiff::Timestamp = "2026-12-01T00:00:00Z".parse()?;
    let clock = Arc::new(ManualClock::at(Timestamp(now.as_millisecond())));
    let redactor = Redactor::standard();
    let intake = IngestContext {
        teams: Default::default(),
        store: Arc::new(MemoryStore::new()),
        clock,
        tenant: Tenant::local(),
        patience: DueLimits::default(),
        switches: Switches::default(),
        redactor: Arc::new(redactor.clone()),
        readers: 1,
    };
    let worker = WorkerContext {
        store: Arc::clone(&intake.store),
        trees: None,
        before_files: None,
        root,
        clock: Arc::clone(&intake.clock),
        extractor: Arc::new(Extractive),
        consolidation_model: None,
        holder: "eval".to_owned(),
        person: "ada".to_owned(),
        zone: TimeZone::UTC,
        tenant: Tenant::local(),
        switches: Switches::default(),
        redactor,
        limits: WorkLimits::default(),
    };
    Ok(CaseMemory { intake, worker })
}
