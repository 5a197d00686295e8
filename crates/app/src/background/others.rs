//! Work that other processes of this data folder are at, for a command after which all is to be done.
//!
//! Not here: work of other machines, which never ends while people talk to agents there.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use daybook_domain::page::read_all;
use daybook_domain::{Job, JobKey, JobKind, JobStatus};
use daybook_engine::jobs::WorkerContext;
use daybook_engine::stop::Stop;
use strum::VariantArray;

use crate::terminal::messages;
use crate::terminal::output::count;
use crate::wiring::Daybook;

/// How often the jobs of others are looked at: nothing wakes a process when another one is done.
const LOOK: Duration = Duration::from_millis(50);

/// Waits for the jobs that live processes of this data folder hold now. False if there are none, or if `stop` is requested.
pub(crate) async fn wait_for_others(
    daybook: &Daybook,
    worker: &WorkerContext,
    stop: &Stop,
) -> Result<bool> {
    let mut held = held_by_others(daybook, worker).await?;
    if held.is_empty() {
        return Ok(false);
    }
    let jobs = count(held.len() as u64, "job");
    messages::print_notice(&format!(
        "another process works on {jobs}; waiting for it (Ctrl-C ends the wait)"
    ));
    while !held.is_empty() {
        if stop.is_requested() {
            return Ok(false);
        }
        tokio::time::sleep(LOOK).await;
        daybook.free_vanished().await?;
        let mut still = BTreeMap::new();
        for (key, holder) in held {
            let job = worker.store.job(&key).await?;
            if job.and_then(|job| holder_of(worker, &job)).as_ref() == Some(&holder) {
                still.insert(key, holder);
            }
        }
        held = still;
    }
    Ok(true)
}

/// The jobs that other processes of this data folder hold, with the holders of their leases.
async fn held_by_others(
    daybook: &Daybook,
    worker: &WorkerContext,
) -> Result<BTreeMap<JobKey, String>> {
    let mut held = BTreeMap::new();
    for kind in JobKind::VARIANTS {
        let open = read_all(|page| worker.store.open_jobs(&worker.tenant, *kind, page)).await?;
        for job in open {
            let holder = holder_of(worker, &job).filter(|it| *it != worker.holder);
            if let Some(holder) = holder
                && daybook.is_worker_of_folder(&holder)?
            {
                held.insert(job.key, holder);
            }
        }
    }
    Ok(held)
}

/// Who holds a live lease of a job.
fn holder_of(worker: &WorkerContext, job: &Job) -> Option<String> {
    match job.status(worker.clock.now()) {
        JobStatus::Running { holder, .. } => Some(holder),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use daybook_domain::{Claim, ClaimLimits, DueMark, FinishOutcome, Priority, SessionId, Tenant};

    use super::*;
    use crate::process::block_on;

    /// A job of the worker `other`, held until something waits for it.
    async fn check_wait(daybook: &Daybook, other: &str, is_waited_for: bool) -> Result<()> {
        let (own, _present) = daybook.worker().await?;
        let now = daybook.clock.now();
        let key = JobKey::Extract(SessionId {
            tenant: Tenant::local(),
            agent: "harbour-bot".to_owned(),
            host_id: format!("held by {other}"),
        });
        let mark = DueMark::at_once(1, now, Priority::Normal);
        daybook.store.mark(&key, mark).await?;
        let claim = Claim {
            kind: JobKind::Extract,
            holder: other,
            now,
            lease: Duration::from_secs(60),
            limits: ClaimLimits::jobs(1),
        };
        let claimed = daybook.store.claim(claim).await?;
        let is_released = Cell::new(false);
        let (stop, release) = (Stop::default(), async {
            is_released.set(true);
            daybook.store.finish(&claimed[0].token, 1, now).await
        });
        let wait = async {
            let waited = wait_for_others(daybook, &own, &stop).await;
            waited.map(|waited| (waited, is_released.get()))
        };
        let (waited, released) = futures_util::future::join(wait, release).await;
        assert_eq!(released?, FinishOutcome::Complete);
        assert_eq!(waited?, (is_waited_for, is_waited_for), "{other}");
        Ok(())
    }

    #[test]
    fn what_a_live_process_of_this_folder_holds_is_waited_for() {
        let root = tempfile::tempdir().expect("a folder");
        let daybook = Daybook::open(root.path().to_owned(), &[]).expect("a memory");
        let done = block_on(async {
            let (other, present) = daybook.worker().await?;
            check_wait(&daybook, &other.holder, true).await?;
            drop(present);
            // A worker of another machine is not.
            check_wait(&daybook, "elsewhere-pid-7", false).await
        });
        done.expect("a store that answers");
    }
}
