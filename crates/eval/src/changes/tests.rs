//! The committed cases to tune on, in temporary memories and by words alone. The floors are what was reached, a little
//! lower: `daybook eval changes` reports on the others.

use std::path::Path;
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

use super::*;
use crate::{RecallOptions, VectorOption};

/// A memory in `folder`, long after all cases.
fn memory(folder: &TempDir) -> Result<CaseMemory, BoxError> {
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

#[test]
fn memory_keeps_up_with_the_cases_to_tune_on() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evaluation/changes.toml");
    let cases = load_changes(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let fresh = || memory(&folder);
    let options = RecallOptions {
        limit: 10,
        layers: Vec::new(),
        vectors: VectorOption::Off,
        files: None,
    };
    let split = Some(crate::Split::Tune);
    let report = daybook_testkit::run(run_changes(&cases, split, &fresh, &options)).unwrap();
    let scores = [
        ("first in recall", report.first_in_recall, 0.8),
        ("first in one memory of all", report.first_in_crowd, 0.6),
        ("alone in MEMORY.md", report.alone_in_files, 0.78),
        ("right way round", report.right_way_round, 0.95),
        ("kept", report.kept, 0.7),
        ("merge precision", report.merge_precision, 0.98),
        ("merge recall", report.merge_recall, 0.5),
    ];
    for (what, score, least) in scores {
        assert!(score.share() >= least, "{what}: {score:?}");
    }
}
