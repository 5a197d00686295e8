//! Compares two statements alone, without a memory around them.

use daybook_engine::consolidate::ends;

use super::cases::{Relation, RelationCase};
use super::judge::Shown;
use super::report::{ChangesReport, record};

/// Notes whether the later statement of `case` ends the earlier one as it should.
pub(super) fn compare(case: &RelationCase, report: &mut ChangesReport) {
    let should_end = case.relation == Relation::Ends;
    let is_ended = ends(&case.later, &case.earlier).is_some();
    if should_end {
        report.end_recall.note(is_ended);
    }
    if is_ended {
        report.end_precision.note(should_end);
    }
    let failed = [
        (should_end && !is_ended).then_some("does not end the earlier one"),
        (is_ended && !should_end).then_some("ends one that holds"),
    ];
    let name = format!("{} / {}", case.earlier, case.later);
    report
        .cases
        .push(record(&name, case.split, &failed, Shown::default()));
}
