//! No progress, for background work and for answers that no person watches.

use daybook_domain::{Scope, SessionId};
use daybook_engine::import::{FileReport, ImportProgress};
use daybook_engine::jobs::WorkProgress;

/// No progress of an import.
pub(crate) struct HiddenImport;

impl ImportProgress for HiddenImport {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &FileReport) {}
}

/// No progress of an update.
pub(crate) struct HiddenUpdate;

impl WorkProgress for HiddenUpdate {
    fn session_read(&self, _: &SessionId) {}
    fn scope_written(&self, _: &Scope) {}
}
