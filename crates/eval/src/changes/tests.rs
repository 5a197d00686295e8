//! The committed cases to tune on, in temporary memories and by words alone. The floors are what was reached, a little
//! lower: `daybook eval changes` reports on the others.

use std::path::Path;

use super::*;
use crate::case_memory::memory;
use crate::{RecallOptions, VectorOption};

/// What memory shows after the cases to tune on of a file.
fn report(file: &str) -> ChangesReport {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evaluation");
    let cases = load_changes(&folder.join(file)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let fresh = || memory(&folder);
    let options = RecallOptions {
        limit: 10,
        layers: Vec::new(),
        vectors: VectorOption::Off,
        files: None,
    };
    let split = Some(crate::Split::Tune);
    daybook_testkit::run(run_changes(&cases, split, &fresh, &options)).unwrap()
}

#[track_caller]
fn check<const N: usize>(scores: [(&str, ChangesScore, f64); N]) {
    for (what, score, least) in scores {
        assert!(score.share() >= least, "{what}: {score:?}");
    }
}

#[test]
fn memory_keeps_up_with_the_cases_to_tune_on() {
    let report = report("changes.toml");
    check([
        ("first in recall", report.first_in_recall, 0.78),
        ("first in one memory of all", report.first_in_crowd, 0.6),
        ("alone in MEMORY.md", report.alone_in_files, 0.78),
        ("right way round", report.right_way_round, 0.95),
        ("kept", report.kept, 0.7),
        ("merge precision", report.merge_precision, 0.98),
        ("merge recall", report.merge_recall, 0.5),
    ]);
}

#[test]
fn memory_keeps_up_with_changes_as_people_tell_them() {
    let report = report("told.toml");
    check([
        ("first in recall", report.first_in_recall, 0.25),
        ("alone in MEMORY.md", report.alone_in_files, 0.25),
        ("right way round", report.right_way_round, 0.95),
    ]);
}
