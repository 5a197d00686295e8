//! Makes scopes due whose files have another layout than settings ask for: a consolidation converts them.
//!
//! Not here: the conversion itself, which is what every consolidation writes (`files::write_pages`).

use daybook_domain::page::read_all;
use daybook_domain::{JobKey, JobKind, StoreError};

use super::WorkerContext;
use crate::files::layout::folder;
use crate::files::layout_record::differs;

/// Makes every scope of the tenant due whose folder has another layout.
///
/// # Errors
/// When the store fails.
pub(super) async fn requeue_other_layouts(worker: &WorkerContext) -> Result<(), StoreError> {
    let (store, now) = (&worker.store, worker.clock.now());
    let layout = worker.limits.consolidation.layout;
    let jobs = read_all(|page| store.jobs(&worker.tenant, JobKind::Consolidate, page)).await?;
    for job in jobs.iter().filter(|job| !job.is_ahead()) {
        if let JobKey::Consolidate(scope) = &job.key
            && differs(&folder(&worker.root, scope), layout)
        {
            store.touch_scope(scope, now).await?;
        }
    }
    Ok(())
}
