//! A progress listener that ignores every report.

use daybook_domain::{Scope, SessionId};
use daybook_engine::import::{FileReport, ImportProgress};
use daybook_engine::jobs::WorkProgress;

/// Ignores every report.
pub(crate) struct SilentProgress;

impl WorkProgress for SilentProgress {
    fn session_read(&self, _: &SessionId) {}
    fn scope_written(&self, _: &Scope) {}
}

impl ImportProgress for SilentProgress {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &FileReport) {}
}
