//! Requeues scopes whose unwritten pages can be written again.
//!
//! An obstacle that a person puts at a page's path, a link for example, changes no row when it is removed.
//! So each run begins with the folders that recorded an unwritten page. A folder that was refused as a
//! whole, or for an invalid file name, waits as a failed job instead.
//!
//! Not here: which paths are refused (`files::refused`), the list of unwritten pages
//! (`files::unwritten_pages`).

use daybook_domain::page::read_all;
use daybook_domain::{FailureClass, Job, JobKey, JobKind, Scope, StoreError};

use super::WorkerContext;
use crate::files::layout::folder;
use crate::files::reader::FolderReader;
use crate::files::unwritten_pages::{has_unwritten, has_writable};
use crate::files::{FilesConfig, Folder};

/// Parts of the failure messages that are resolved when the folder becomes usable or every name is valid.
const OBSTACLES: [&str; 2] = ["cannot name a memory file", "is not used as memory"];

/// Requeues every scope of the tenant whose pages can be written again.
///
/// # Errors
/// When the store fails. A folder that cannot be read is reported by its own job.
pub(super) async fn requeue_unobstructed(worker: &WorkerContext) -> Result<(), StoreError> {
    let now = worker.clock.now();
    let jobs = read_all(|page| {
        worker
            .store
            .jobs(&worker.tenant, JobKind::Consolidate, page)
    })
    .await?;
    for job in jobs {
        let JobKey::Consolidate(scope) = &job.key else {
            continue;
        };
        if is_blocked(&job) && is_usable(worker, scope) {
            worker.store.retry(&job.key, now).await?;
        } else if !job.is_ahead() && has_writable_page(worker, scope) {
            worker.store.touch_scope(scope, now).await?;
        }
    }
    Ok(())
}

/// Whether the job waits because its last failure was an obstacle.
fn is_blocked(job: &Job) -> bool {
    let failure = job.last_failure.as_ref();
    let failure = failure.filter(|failure| failure.class == FailureClass::Outage);
    let is_obstacle = |text: &str| OBSTACLES.iter().any(|part| text.contains(part));
    job.is_ahead() && failure.is_some_and(|failure| is_obstacle(&failure.message))
}

fn is_usable(worker: &WorkerContext, scope: &Scope) -> bool {
    FolderReader::open(&folder(&worker.root, scope)).is_ok()
}

fn has_writable_page(worker: &WorkerContext, scope: &Scope) -> bool {
    let place = folder(&worker.root, scope);
    has_unwritten(&place)
        && Folder::open(&place, FilesConfig::default())
            .and_then(|folder| has_writable(&folder))
            .unwrap_or(false)
}
