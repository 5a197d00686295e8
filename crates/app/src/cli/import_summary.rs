//! What the summary of an import is printed from.

use daybook_engine::import::ImportReport;
use daybook_engine::jobs::UpdateReport;

/// The results of an import that the summary shows.
pub(crate) struct ImportSummary<'a> {
    pub(crate) report: &'a ImportReport,
    pub(crate) learned: Option<&'a UpdateReport>,
    pub(crate) seconds: f64,
    pub(crate) sample: bool,
}
