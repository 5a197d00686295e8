//! Processes what is pending: hook events in the spool, changed transcripts, and due jobs.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Result;
use daybook_domain::{JobKind, Timestamp};
use daybook_engine::files::layout::run_folder;
use daybook_engine::hook_events::process::{SpoolReport, bind_venues, process_spool};
use daybook_engine::hook_events::update_lock::UpdateLock;
use daybook_engine::import::{ImportCandidate, ImportReport, import, known_sources, scan};
use daybook_engine::jobs::{
    self, UpdateReport, WaitFilter, WorkLimits, WorkProgress, WorkerContext,
};
use daybook_engine::places::stored_path::stored_path;
use daybook_engine::projects::settle::settle_new_roots;
use daybook_engine::stop::Stop;
use strum::VariantArray;

use super::folder_watch::host_folders;
use crate::folders::hosts;
use crate::terminal::silent::{HiddenImport, HiddenUpdate};
use crate::wiring::Daybook;

/// Longest that a command with another purpose works on what is pending before it answers.
const BEFORE_ANSWERING: Duration = Duration::from_secs(1);
/// How often a sleeping worker checks the spool: hooks write files there, and wake no process.
const SPOOL_CHECK: Duration = Duration::from_millis(250);
/// What imports of the transcripts of hosts are called in the list of imports.
pub(crate) const FROM_HOSTS: &str = "what agents write";
/// How soon a worker retries jobs that are due and could not be claimed.
const RETRY_CLAIM: Duration = Duration::from_secs(1);

/// What was processed.
#[derive(Default)]
pub(crate) struct PendingReport {
    pub(crate) hook_events: SpoolReport,
    pub(crate) update: UpdateReport,
}

impl PendingReport {
    /// Whether nothing was pending.
    pub(crate) fn is_empty(&self) -> bool {
        let update = &self.update;
        self.hook_events.processed == 0
            && update.read.is_empty()
            && update.rescanned.is_empty()
            && update.scopes.is_empty()
            && update.failed.is_empty()
    }

    /// Adds the report of later work.
    pub(crate) fn add(&mut self, hook_events: SpoolReport, update: UpdateReport) {
        self.hook_events.processed += hook_events.processed;
        self.hook_events.added += hook_events.added;
        self.hook_events.missing.extend(hook_events.missing);
        self.hook_events.unreadable.extend(hook_events.unreadable);
        self.hook_events.set_aside.extend(hook_events.set_aside);
        self.hook_events
            .failed_files
            .extend(hook_events.failed_files);
        self.update.add(update);
    }
}

impl Daybook {
    /// Makes jobs due whose wait after a failure is longer than settings allow now, and those of which an older version
    /// of Daybook gave up a part.
    pub(crate) async fn retry_overlong(&self) -> Result<()> {
        let worker = self.worker_context("retry")?;
        jobs::retry_waiting(&worker, WaitFilter::Overlong).await?;
        jobs::revive_outdated(&worker).await?;
        Ok(())
    }
}

/// Processes hook events and does due jobs, until nothing is left or `stop` is requested.
pub(crate) async fn process_pending(
    daybook: &Daybook,
    worker: &WorkerContext,
    stop: &Stop,
    progress: &dyn WorkProgress,
) -> Result<PendingReport> {
    let spool = daybook.spool();
    let (intake, triggers) = (daybook.intake(), daybook.triggers());
    let mut report = PendingReport::default();
    loop {
        let mut hook_events =
            process_spool(&spool, &intake, &triggers, &hosts::transcript_of, stop).await?;
        if hook_events.session_began {
            hook_events.added += import_outside_hooks(daybook, stop).await?;
        }
        let update = jobs::work(worker, stop, progress).await?;
        daybook.check_out_shared_files().await?;
        daybook.write_record()?;
        let more = hook_events.processed > 0 && !stop.is_requested() && !spool.is_empty();
        report.add(hook_events, update);
        if !more {
            return Ok(report);
        }
    }
}

/// [`process_pending`] under the update lock; `None` when another process holds it. Hook events that arrive while the
/// lock is released are processed, too.
pub(crate) async fn process_pending_exclusively(
    daybook: &Daybook,
    stop: &Stop,
    progress: &dyn WorkProgress,
) -> Result<Option<PendingReport>> {
    process_with_limits(daybook, stop, progress, |_| {}).await
}

/// `narrow` may change the limits that settings give.
async fn process_with_limits(
    daybook: &Daybook,
    stop: &Stop,
    progress: &dyn WorkProgress,
    narrow: impl Fn(&mut WorkLimits),
) -> Result<Option<PendingReport>> {
    let mut report: Option<PendingReport> = None;
    loop {
        let Some(lock) = UpdateLock::try_acquire(&run_folder(&daybook.root, &daybook.tenant))?
        else {
            return Ok(report);
        };
        let (mut worker, _present) = daybook.worker().await?;
        narrow(&mut worker.limits);
        let more = process_pending(daybook, &worker, stop, progress).await?;
        report
            .get_or_insert_default()
            .add(more.hook_events, more.update);
        // The spool is checked again only after the lock is released: a process that wrote to it before then found the
        // lock taken, and relies on this process.
        drop(lock);
        if stop.is_requested() || daybook.spool().is_empty() {
            return Ok(report);
        }
    }
}

/// Processes the hook events in the spool, for a command that is about to answer a question. Models are
/// left for later, because it would take too long, and so is what newer rules for secrets redact again.
pub(crate) async fn catch_up(daybook: &Daybook) -> Result<()> {
    if daybook.spool().is_empty() {
        return Ok(());
    }
    let stop = Stop::default();
    stop_after(&stop, BEFORE_ANSWERING);
    let has_model = daybook.models().extracts_with_model();
    let narrow = |limits: &mut WorkLimits| {
        limits.rescans = false;
        limits.proposals = false;
        if has_model {
            limits.parallel = 0;
        }
    };
    process_with_limits(daybook, &stop, &HiddenUpdate, narrow).await?;
    Ok(())
}

/// Requests `stop` after a time: nothing new begins then, and work under way is finished.
pub(crate) fn stop_after(stop: &Stop, time: Duration) {
    let stop = stop.clone();
    std::thread::spawn(move || {
        std::thread::sleep(time);
        stop.request_drain();
    });
}

/// Imports changes to known transcripts that no hook reported: those of hosts without hooks, and of times without them.
/// Transcripts that were never imported stay out, because their person was not asked. Returns the number of new events.
async fn import_outside_hooks(daybook: &Daybook, stop: &Stop) -> Result<u64> {
    let Some(sweep) = &daybook.settings.profile.sweep else {
        return Ok(0);
    };
    let mut changed = scan(&host_folders());
    let sources = known_sources(&*daybook.store, &daybook.tenant, &changed).await?;
    let known: HashMap<String, (u64, i64)> = sources
        .into_iter()
        .map(|source| (source.path, (source.size, source.modified)))
        .collect();
    changed.retain(|candidate| match candidate {
        ImportCandidate::File {
            path,
            size,
            modified,
        } => known
            .get(&stored_path(path))
            .is_some_and(|last| *last != (*size, *modified)),
        ImportCandidate::Stream { .. } | ImportCandidate::Missing(..) => false,
    });
    changed.truncate(sweep.scan);
    Ok(import_changed(daybook, FROM_HOSTS, changed, stop)
        .await?
        .added())
}

/// Imports what was added to changed files. `what` is its name in the list of imports.
pub(crate) async fn import_changed(
    daybook: &Daybook,
    what: &str,
    changed: Vec<ImportCandidate>,
    stop: &Stop,
) -> Result<ImportReport> {
    let intake = daybook.intake();
    bind_venues(&daybook.spool(), &intake).await?;
    let report = import(&intake, what, changed, stop, &HiddenImport).await?;
    if report.added() > 0 {
        settle_new_roots(&*intake.store, &intake.tenant, intake.clock.now()).await?;
    }
    Ok(report)
}

/// Whether a job is due or a hook event is in the spool.
pub(crate) async fn is_due(daybook: &Daybook) -> Result<bool> {
    let has_hook_events = !daybook.spool().is_empty();
    Ok(has_hook_events
        || next_due(daybook)
            .await?
            .is_some_and(|due| due <= daybook.clock.now()))
}

async fn next_due(daybook: &Daybook) -> Result<Option<Timestamp>> {
    let mut next = None;
    for &kind in JobKind::VARIANTS {
        let due = daybook.store.next_due(kind).await?;
        next = [next, due].into_iter().flatten().min();
    }
    Ok(next)
}

/// Sleeps until the next job is due, a hook event arrives, another process changes the store so that something is due,
/// or `stop` is requested; at most for `longest`.
pub(crate) async fn wait_for_work(daybook: &Daybook, stop: &Stop, longest: Duration) -> Result<()> {
    let spool = daybook.spool();
    let now = || daybook.clock.now();
    let until = now().plus(longest);
    let mut seen = daybook.store.version().await?;
    // Jobs that are due already were not claimed, because other workers hold as many as settings allow.
    let mut next = match next_due(daybook).await? {
        Some(due) if due <= now() => now().plus(RETRY_CLAIM),
        Some(due) => due.min(until),
        None => until,
    };
    while !stop.is_requested() && spool.is_empty() && now() < next {
        let wait = next.since(now()).min(SPOOL_CHECK);
        tokio::select! {
            () = stop.wait_for_request() => return Ok(()),
            changed = daybook.store.until_changed(seen, wait) => changed?,
        }
        let version = daybook.store.version().await?;
        if version != seen {
            seen = version;
            next = next_due(daybook).await?.unwrap_or(until).min(until);
        }
    }
    Ok(())
}
