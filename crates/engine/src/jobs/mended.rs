//! Makes memory files due again whose obstacle is gone.
//!
//! What a person put in the place of a page, a link for example, changes no row when they take it away
//! again. So each look at what is due begins with the folders that remember such a page. A folder that
//! was refused as a whole, or for a name that could not be a file's, waits as a failed job instead.
//!
//! Not here: what is an obstacle (`files::refused`), and which pages wait (`files::unwritten`).

use daybook_domain::{FailureClass, Job, JobKey, JobKind, Scope, StoreError};

use super::Workshop;
use crate::files::layout::folder;
use crate::files::reader::Reader;
use crate::files::unwritten::{has_unwritten, is_mended};
use crate::files::{FilesConfig, Folder};

/// How the failures read that end when a folder can be used or every name is a file's.
const OBSTACLES: [&str; 2] = ["cannot name a memory file", "is not used as memory"];

/// Makes due every scope of the tenant whose pages can be written again.
///
/// # Errors
/// When the store fails. A folder that cannot be looked at is for its own job to report.
pub(super) async fn make_mended_due(shop: &Workshop) -> Result<(), StoreError> {
    let now = shop.clock.now();
    for job in shop.store.jobs(JobKind::Consolidate).await? {
        let JobKey::Consolidate(scope) = &job.key else {
            continue;
        };
        if scope.tenant != shop.tenant {
            continue;
        }
        if is_blocked(&job) && is_usable(shop, scope) {
            shop.store.retry(&job.key, now).await?;
        } else if !job.is_ahead() && has_mended_page(shop, scope) {
            shop.store.touch_scope(scope, now).await?;
        }
    }
    Ok(())
}

/// Whether the job's last failure was of an obstacle, and it waits since.
fn is_blocked(job: &Job) -> bool {
    let failure = job.last_failure.as_ref();
    let failure = failure.filter(|failure| failure.class == FailureClass::Outage);
    let is_obstacle = |text: &str| OBSTACLES.iter().any(|part| text.contains(part));
    job.is_ahead() && failure.is_some_and(|failure| is_obstacle(&failure.message))
}

fn is_usable(shop: &Workshop, scope: &Scope) -> bool {
    Reader::open(&folder(&shop.root, scope)).is_ok()
}

fn has_mended_page(shop: &Workshop, scope: &Scope) -> bool {
    let place = folder(&shop.root, scope);
    has_unwritten(&place)
        && Folder::open(&place, FilesConfig::default())
            .and_then(|folder| is_mended(&folder))
            .unwrap_or(false)
}
