//! Curates `MEMORY.md` where settings ask for it, and requeues scopes whose lines waited for another day.
//!
//! Not here: which lines a pass takes (`files::curation`).

use daybook_domain::page::read_all;
use daybook_domain::{JobKey, JobKind, StoreError, Timestamp};
use jiff::tz::TimeZone;

use super::{WorkError, WorkerContext};
use crate::consolidate::ScopeMemory;
use crate::files::WriterLock;
use crate::files::curation::{curate, has_waiting_lines};
use crate::files::layout::folder;
use crate::files::page::Orphans;

/// Replaces the curated page of `memory` by what a curation leaves of it. Returns what happens to the file's other
/// entries; `None` where nothing is curated.
pub(super) fn curate_memory(
    worker: &WorkerContext,
    lock: &WriterLock<'_>,
    memory: &mut ScopeMemory,
) -> Result<Option<Orphans>, WorkError> {
    let Some(limits) = worker.limits.curation else {
        return Ok(None);
    };
    let day = day(worker.clock.now(), &worker.zone);
    let curated = curate(lock, &memory.curated, limits, &day)?;
    memory.curated = curated.page;
    Ok(Some(curated.orphans))
}

/// Makes every scope of the tenant due whose lines wait for a pass that today has room for.
///
/// # Errors
/// When the store fails.
pub(super) async fn requeue_curation(worker: &WorkerContext) -> Result<(), StoreError> {
    let Some(limits) = worker.limits.curation else {
        return Ok(());
    };
    let (store, now) = (&worker.store, worker.clock.now());
    let day = day(now, &worker.zone);
    let jobs = read_all(|page| store.jobs(&worker.tenant, JobKind::Consolidate, page)).await?;
    for job in jobs.iter().filter(|job| !job.is_ahead()) {
        if let JobKey::Consolidate(scope) = &job.key
            && has_waiting_lines(&folder(&worker.root, scope), limits, &day)
        {
            store.touch_scope(scope, now).await?;
        }
    }
    Ok(())
}

/// The day of `at`, such as `2026-01-27`.
fn day(at: Timestamp, zone: &TimeZone) -> String {
    let time = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    time.to_zoned(zone.clone()).strftime("%Y-%m-%d").to_string()
}
