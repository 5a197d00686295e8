//! `daybook update`, `worker` and `rebuild`: background work, once or until stopped.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use daybook_domain::page::{read_all, read_first};
use daybook_domain::seams::JobControl;
use daybook_domain::source::ImportRun;
use daybook_domain::{Job, JobKind, JobStatus};
use daybook_engine::files::reindex::reindex_everything;
use daybook_engine::hook_events::process::SpoolReport;
use daybook_engine::import::find_outdated;
use daybook_engine::jobs::{self, ProposalReport, UpdateReport, WaitFilter, WorkerContext};
use daybook_engine::stop::Stop;
use serde_json::json;

use super::account::OutcomeCounts;
use super::first_run::print_failures;
use super::{CommonArgs, forecast};
use crate::background::outage::Outage;
use crate::background::{
    FROM_HOSTS, PendingReport, import_changed, process_pending, process_pending_exclusively,
    stop_after, wait_for_others, wait_for_work,
};
use crate::models::embedding::{Backlog, embed_share, embed_waiting};
use crate::process::{block_on, lower_priority, stop_on_interrupt};
use crate::service::refusals;
use crate::service::waits;
use crate::terminal::messages;
use crate::terminal::output::{count, json as print_json, print_line};
use crate::terminal::progress::UpdateBar;
use crate::terminal::silent::HiddenUpdate;
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// Process due work, then exit.
#[derive(Args)]
pub(crate) struct UpdateCommand {
    /// Process all waiting work, also sessions that have not rested yet
    #[arg(long, conflicts_with = "longest")]
    all: bool,
    /// Read again what another extractor than the present one has read, or whose results were purged; this may be billed
    #[arg(long, conflicts_with = "longest")]
    redo: bool,
    /// Work for at most this long, and only if no other process is updating
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    longest: Option<Duration>,
    /// Estimate the cost of the pending work, and call no model
    #[arg(long, conflicts_with = "longest")]
    dry_run: bool,
}

impl UpdateCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        if self.dry_run {
            return forecast::dry_run(common, self.all);
        }
        lower_priority();
        let stop = stop_on_interrupt()?;
        if let Some(longest) = self.longest {
            return update_exclusively(common, &stop, longest);
        }
        let daybook = Daybook::open_existing(common)?;
        block_on(async {
            let (worker, _present) = daybook.worker().await?;
            read_outdated(&daybook, &stop).await?;
            jobs::retry_waiting(&worker, WaitFilter::Outages).await?;
            let revived = jobs::revive_outdated(&worker).await? as u64;
            if revived > 0 && !common.json {
                print_line!("{}", taken_up_again(revived));
            }
            // Hook events that failed are retried: a person may have fixed the cause.
            daybook.spool().retry_failed(|_| true);
            if self.all {
                make_all_due(&worker).await?;
            }
            let redone = match self.redo {
                true => Some(jobs::redo_older(&worker).await? as u64),
                false => None,
            };
            if let (Some(redone), false) = (redone, common.json) {
                print_redo(redone, worker.extractor.name());
            }
            let learning = UpdateBar::start(common, count_due_sessions(&worker).await?);
            let mut done = process_pending(&daybook, &worker, &stop, &learning).await?;
            while wait_for_others(&daybook, &worker, &stop).await? {
                let more = process_pending(&daybook, &worker, &stop, &learning).await?;
                done.add(more.hook_events, more.update);
            }
            embed_waiting(&daybook.models(), &stop).await?;
            learning.end();
            refusals::warn_of_refused_files(&daybook).await?;
            let told = print_outcome(common, &daybook, &done, redone).await?;
            Ok(match done.hook_events.is_complete() {
                true => told,
                false => ExitCode::FAILURE,
            })
        })
    }
}

/// Updates for at most `longest`, as hosts run it after each turn of each session: one process works for all.
fn update_exclusively(common: &CommonArgs, stop: &Stop, longest: Duration) -> Result<ExitCode> {
    let daybook = Daybook::open_or_create(common)?;
    stop_after(stop, longest);
    let done = block_on(async {
        let quiet = HiddenUpdate;
        daybook.retry_overlong().await?;
        let mut done = process_pending_exclusively(&daybook, stop, &quiet).await?;
        while done.is_some() && hook_event_arrives(&daybook, stop).await {
            let Some(more) = process_pending_exclusively(&daybook, stop, &quiet).await? else {
                break;
            };
            done.get_or_insert_default()
                .add(more.hook_events, more.update);
        }
        if done.is_some() {
            embed_waiting(&daybook.models(), stop).await?;
        }
        Ok(done)
    })?;
    if done.is_none() && !common.json {
        print_line!("Another process is updating this memory.");
        return Ok(ExitCode::SUCCESS);
    }
    block_on(print_outcome(
        common,
        &daybook,
        &done.unwrap_or_default(),
        None,
    ))
}

/// Whether a hook event arrives within a second: hosts run the hooks of one event concurrently, so the event that this
/// update is for may arrive after its start. Polls, because hooks write files and wake no process.
async fn hook_event_arrives(daybook: &Daybook, stop: &Stop) -> bool {
    const MAX_WAIT: Duration = Duration::from_secs(1);
    const CHECK_INTERVAL: Duration = Duration::from_millis(50);
    let spool = daybook.spool();
    let until = daybook.clock.now().plus(MAX_WAIT);
    while !stop.is_requested() && daybook.clock.now() < until {
        if !spool.is_empty() {
            return true;
        }
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
    false
}

/// Process due work until stopped.
#[derive(Args)]
pub(crate) struct WorkerCommand {
    /// Longest sleep between two checks for due work [default: the setting `poll`]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    every: Option<Duration>,
}

fn duration(text: &str) -> Result<Duration, String> {
    crate::settings::parse_duration(text).ok_or_else(|| "write for example 30s or 2m".to_owned())
}

impl WorkerCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        lower_priority();
        // Opened before anything else, so that a worker that cannot work fails at once.
        let mut daybook = Daybook::open_or_create(common)?;
        let stop = stop_on_interrupt()?;
        let (mut all, mut outage) = (PendingReport::default(), Outage::default());
        while let Err(error) = block_on(self.work(common, &daybook, &stop, &mut all, &mut outage)) {
            match outage.wait_and_reopen(common, &stop, error)? {
                Some(opened) => daybook = opened,
                None => break,
            }
        }
        all.update.stopped = true;
        block_on(print_outcome(common, &daybook, &all, None))
    }

    /// Works until `stop` is requested. If the store fails, the next worker frees the jobs of this one, whose lock is
    /// released by then.
    async fn work(
        &self,
        common: &CommonArgs,
        daybook: &Daybook,
        stop: &Stop,
        all: &mut PendingReport,
        outage: &mut Outage,
    ) -> Result<()> {
        let longest = self.every.unwrap_or(daybook.settings.profile.work.poll);
        let (worker, _present) = daybook.worker().await?;
        jobs::retry_waiting(&worker, WaitFilter::AtCaps).await?;
        let revived = jobs::revive_outdated(&worker).await? as u64;
        if revived > 0 && !common.json {
            print_line!("{}", taken_up_again(revived));
        }
        let mut is_told = false;
        while !stop.is_requested() {
            let done = process_pending(daybook, &worker, stop, &HiddenUpdate).await?;
            let backlog = embed_share(&daybook.models(), stop).await?;
            outage.end();
            let idle = done.is_empty() && backlog == Backlog::Nothing;
            if !common.json && !done.update.read.is_empty() {
                print_report(daybook, &done).await?;
            }
            all.add(done.hook_events, done.update);
            if idle {
                daybook.free_vanished().await?;
                wait_for_work(daybook, stop, longest).await?;
                if daybook.is_pooled() && !is_told {
                    is_told = true;
                    messages::print_notice(
                        "the server is reached through a pooler, which cannot wake a worker: this \
                         one looks once a second",
                    );
                }
            }
        }
        Ok(())
    }
}

/// Rebuild the index and memory files from the database, and a lost database from the files.
#[derive(Args)]
pub(crate) struct RebuildCommand {}

impl RebuildCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_restoring(common)?;
        let stop = stop_on_interrupt()?;
        block_on(async {
            let (worker, _present) = daybook.attended_worker().await?;
            read_outdated(&daybook, &stop).await?;
            let rebuilt = jobs::rebuild_index(&worker).await?;
            for state in read_all(|page| worker.store.scopes(&worker.tenant, page)).await? {
                worker
                    .store
                    .touch_scope(&state.scope, worker.clock.now())
                    .await?;
            }
            let learning = UpdateBar::start(common, count_due_sessions(&worker).await?);
            let report = jobs::work(&worker, &stop, &learning).await?;
            learning.end();
            refusals::warn_of_refused_files(&daybook).await?;
            if daybook.trees.is_none() {
                let (store, now) = (&*worker.store, worker.clock.now());
                reindex_everything(store, &worker.root, &worker.tenant, now).await?;
            }
            if common.json {
                print_json(&json!({
                    "events": rebuilt.events,
                    "observations": rebuilt.observations,
                    "scopes": report.scopes.len(),
                    "unread": rebuilt.unread.iter().map(|(session, why)| json!({
                        "session": session.to_string(),
                        "why": why,
                    })).collect::<Vec<_>>(),
                    "failed": as_json(&report)["failed"],
                }))?;
            } else {
                print_line!(
                    "Indexed {} and {} again; checked the files of {}.",
                    count(rebuilt.events, "event"),
                    count(rebuilt.observations, "observation"),
                    count(report.scopes.len() as u64, "scope"),
                );
                for (session, why) in &rebuilt.unread {
                    print_line!(
                        "  not indexed again: session {session}: {why}; `daybook doctor --repair` repairs it"
                    );
                }
                for failed in report.broken() {
                    print_line!("  failed: {}: {}", failed.job, failed.failure.message);
                }
            }
            let is_whole = rebuilt.unread.is_empty() && report.broken().next().is_none();
            Ok(match is_whole {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            })
        })
    }
}

/// Reads files again that an older version imported without their evidence of folders' remotes.
async fn read_outdated(daybook: &Daybook, stop: &Stop) -> Result<()> {
    let outdated = find_outdated(&*daybook.store, &daybook.tenant).await?;
    if !outdated.is_empty() {
        import_changed(daybook, FROM_HOSTS, outdated, stop).await?;
    }
    Ok(())
}

/// Counts the sessions that are due.
pub(crate) async fn count_due_sessions(worker: &WorkerContext) -> Result<u64> {
    let jobs = worker.store.jobs_of_all_tenants(JobKind::Extract).await?;
    let now = worker.clock.now();
    let due = jobs
        .iter()
        .filter(|job| job.due_at().is_some_and(|due| due <= now));
    Ok(due.count() as u64)
}

async fn make_all_due(worker: &WorkerContext) -> Result<()> {
    let jobs = read_all(|page| worker.store.jobs(&worker.tenant, JobKind::Extract, page)).await?;
    for job in jobs {
        let priority = job.priority;
        JobControl::hasten(&*worker.store, &job.key, worker.clock.now(), priority).await?;
    }
    Ok(())
}

fn taken_up_again(gaps: u64) -> String {
    format!(
        "An earlier version of Daybook gave up {}; this one tries once more.",
        count(gaps, "gap")
    )
}

fn print_redo(sessions: u64, extractor: &str) {
    let verb = if sessions == 1 { "begins" } else { "begin" };
    print_line!(
        "{} {verb} again with {extractor}; what was learned before stays until then.",
        count(sessions, "session"),
    );
}

async fn print_outcome(
    common: &CommonArgs,
    daybook: &Daybook,
    done: &PendingReport,
    redone: Option<u64>,
) -> Result<ExitCode> {
    if common.json {
        let mut report = as_json(&done.update);
        report["notices"] = done.hook_events.processed.into();
        report["events"] = done.hook_events.added.into();
        report["failing"] = failing_json(&done.hook_events);
        if let Some(redone) = redone {
            report["anew"] = redone.into();
        }
        print_json(&report)?;
    } else {
        print_report(daybook, done).await?;
    }
    Ok(match done.update.broken().next() {
        None => ExitCode::SUCCESS,
        Some(_) => ExitCode::FAILURE,
    })
}

async fn print_report(daybook: &Daybook, done: &PendingReport) -> Result<()> {
    let PendingReport {
        hook_events,
        update: report,
    } = done;
    if hook_events.processed > 0 {
        print_line!(
            "{} processed, {} added.",
            count(hook_events.processed as u64, "hook event"),
            count(hook_events.added, "event"),
        );
    }
    for (path, why) in &hook_events.unreadable {
        print_line!("  not a hook event: {}: {why}", path.display());
    }
    for (path, why) in &hook_events.failed_files {
        print_line!("  failed: {path}: {why}");
    }
    for (session, why) in &hook_events.set_aside {
        print_line!(
            "  set aside: a hook event of {session}: {why}; the next `{}` tries it again",
            suggest::command("update"),
        );
    }
    for path in &hook_events.missing {
        print_line!("  no transcript is at {}", path.display());
    }
    if !report.rescanned.is_empty() {
        print_line!(
            "{} redacted again by newer rules: {} held a secret.",
            count(report.rescanned.len() as u64, "session"),
            count(report.rewritten as u64, "stored value"),
        );
    }
    let is_idle = report.rescanned.is_empty() && report.read.is_empty();
    if is_idle && report.scopes.is_empty() && report.failed.is_empty() {
        print_line!("Nothing is due.");
        return print_waiting_work(daybook).await;
    }
    let outcomes = report.outcomes();
    let account = OutcomeCounts::of(outcomes.keys().copied(), &outcomes, &BTreeMap::new());
    print_line!(
        "{}: {}; files of {} checked.",
        count(account.total(), "session"),
        account.line(),
        count(report.scopes.len() as u64, "scope"),
    );
    if let Some(said) = not_kept(report) {
        print_line!("  {said}");
    }
    for line in proposal_lines(&report.proposals) {
        print_line!("  {line}");
    }
    print_failures(daybook, report, "  ").await?;
    if report.stopped {
        let (jobs, now) = (daybook.jobs(JobKind::Extract).await?, daybook.clock.now());
        let is_due = |job: &&Job| matches!(job.status(now), JobStatus::Due { .. });
        let left = count(jobs.iter().filter(is_due).count() as u64, "session");
        let again = suggest::command("update");
        print_line!("Stopped; nothing is lost. {left} still due; `{again}` continues.");
    }
    Ok(())
}

/// Prints the work that is left where nothing is due: jobs that wait after a failure, and resting sessions.
async fn print_waiting_work(daybook: &Daybook) -> Result<()> {
    for line in waits::wait_lines(daybook, &waits::load_waits(daybook).await?) {
        print_line!("  {line}");
    }
    let scopes = daybook.jobs(JobKind::Consolidate).await?;
    if let Some(line) = waits::resting_files(daybook, scopes.iter()) {
        print_line!("  files of {line}");
    }
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    let newest = read_first(1, |page| store.imports(tenant, page)).await?;
    if let Some(line) = unfinished_import(&newest) {
        print_line!("  {line}");
    }
    let (jobs, now) = (daybook.jobs(JobKind::Extract).await?, daybook.clock.now());
    let rests = |job: &&Job| matches!(job.status(now), JobStatus::Resting { .. });
    let resting = jobs.iter().filter(rests).count() as u64;
    if resting > 0 {
        let (sessions, all) = (count(resting, "session"), suggest::command("update --all"));
        print_line!(
            "  {sessions} may continue, and are read once they have rested; `{all}` reads them now"
        );
    }
    Ok(())
}

/// Describes the newest of `imports` if it is unfinished: an update does not continue imports.
pub(super) fn unfinished_import(imports: &[ImportRun]) -> Option<String> {
    let newest = imports.first().filter(|import| import.ended_at.is_none())?;
    Some(format!(
        "import {} of {} broke off, or is still running; run the same import again to continue it",
        newest.no.0, newest.what
    ))
}

/// Failed files and hook events as JSON.
fn failing_json(hook_events: &SpoolReport) -> serde_json::Value {
    let files = hook_events
        .failed_files
        .iter()
        .map(|(path, why)| json!({"path": path, "why": why}));
    let aside = hook_events
        .set_aside
        .iter()
        .map(|(session, why)| json!({"session": session, "why": why}));
    files.chain(aside).collect()
}

/// Describes drafts of a model that failed validation, and events that did not fit its window.
fn not_kept(report: &UpdateReport) -> Option<String> {
    let (dropped, left_out) = (&report.dropped, report.left_out);
    let mut parts = Vec::new();
    if dropped.total() > 0 {
        parts.push(format!("{} not kept: {dropped}", dropped.total()));
    }
    if left_out > 0 {
        parts.push(format!(
            "{} not shown for want of room",
            count(left_out, "event")
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What became of a model's proposals for memory, where one was asked.
pub(super) fn proposal_lines(report: &ProposalReport) -> Vec<String> {
    let (accepted, dropped) = (report.accepted, report.dropped.values().sum::<usize>());
    let mut lines = Vec::new();
    if accepted + dropped > 0 {
        lines.push(format!(
            "{} of the model for memory accepted, {dropped} dropped",
            count(accepted as u64, "proposal"),
        ));
    }
    lines.extend(report.agent_lines.iter().map(|(scope, lines)| {
        let lines = count(*lines as u64, "line");
        format!("{scope} has {lines} of the consolidation agent")
    }));
    lines.extend(report.unanswered.iter().map(|(scope, failure)| {
        let why = &failure.message;
        format!("{scope} is written without a model, which is asked again later: {why}")
    }));
    lines
}

pub(super) fn proposals_json(report: &ProposalReport) -> serde_json::Value {
    let dropped = report.dropped.iter();
    let dropped: BTreeMap<&str, usize> = dropped.map(|(why, n)| (why.as_str(), *n)).collect();
    json!({
        "accepted": report.accepted,
        "dropped": dropped,
        "agent_lines": report.agent_lines.iter().map(|(scope, lines)| json!({
            "scope": scope.to_string(),
            "lines": lines,
        })).collect::<Vec<_>>(),
        "unanswered": report.unanswered.iter().map(|(scope, failure)| json!({
            "scope": scope.to_string(),
            "class": failure.class.as_str(),
            "why": failure.message,
        })).collect::<Vec<_>>(),
    })
}

/// The report as JSON.
pub(crate) fn as_json(report: &UpdateReport) -> serde_json::Value {
    json!({
        "read": report.read.len(),
        "rescanned": report.rescanned.len(),
        "rewritten": report.rewritten,
        "taught": report.taught.len(),
        "observations": report.observations,
        "dropped": report.dropped.counts().map(|(reason, n)| (reason.as_str(), n)).collect::<BTreeMap<_, _>>(),
        "left_out": report.left_out,
        "scopes": report.scopes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "proposals": proposals_json(&report.proposals),
        "failed": report.failed.iter().map(|failed| json!({
            "job": failed.job.to_string(),
            "class": failed.failure.class.as_str(),
            "why": failed.failure.message,
        })).collect::<Vec<_>>(),
        "unwritten": report.unwritten.iter().flat_map(|(scope, pages)| pages.iter().map(move |page| json!({
            "scope": scope.to_string(),
            "page": page.page.as_str(),
            "why": page.why,
        }))).collect::<Vec<_>>(),
        "stopped": report.stopped,
    })
}

#[cfg(test)]
mod tests {
    use daybook_engine::extract::DropReason;

    use super::*;

    #[test]
    fn what_was_not_kept_is_said_in_a_line() {
        let mut report = UpdateReport::default();
        assert_eq!(not_kept(&report), None);
        report.dropped.add(DropReason::Invented, 9);
        report.dropped.add(DropReason::OneOff, 3);
        let dropped = "12 not kept: 9 naming what its evidence does not, 3 one order only";
        assert_eq!(not_kept(&report).as_deref(), Some(dropped));
        let told = as_json(&report);
        assert_eq!(told["dropped"], json!({"invented": 9, "one_off": 3}));
        report.left_out = 1;
        let both = format!("{dropped}; 1 event not shown for want of room");
        assert_eq!(not_kept(&report), Some(both));
    }
}
