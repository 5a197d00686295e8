//! `daybook update`, `worker` and `rebuild`: background work, now or for as long as it takes.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use daybook_domain::seams::JobStore;
use daybook_domain::source::Import;
use daybook_domain::{Job, JobKind, Standing};
use daybook_engine::files::reindex::reindex_anew;
use daybook_engine::ingest::import::outdated;
use daybook_engine::jobs::{self, UpdateReport, Waits, Workshop};
use daybook_engine::notices::take::Taken;
use daybook_engine::stop::Stop;
use serde_json::json;

use super::account::Account;
use super::first_run::say_failures;
use super::{Common, forecast};
use crate::keeper::{Done, keep_up, keep_up_if_elected, rest, stop_after, take_in};
use crate::logging;
use crate::outage::Outage;
use crate::output::{count, json as print_json};
use crate::progress::Learning;
use crate::refusals;
use crate::wiring::{Daybook, block_on, stand_back, stop_on_interrupt};
use crate::{suggest, waiting};

/// Process what is due, then end.
#[derive(Args)]
pub(crate) struct Update {
    /// Process everything that waits, also sessions that have not rested yet
    #[arg(long, conflicts_with = "longest")]
    all: bool,
    /// Read anew what another extractor than the present one has read; this may be billed
    #[arg(long, conflicts_with = "longest")]
    redo: bool,
    /// For so long at most, and only if no other process is at it
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    longest: Option<Duration>,
    /// Show what asking models about it would cost, and ask nobody
    #[arg(long, conflicts_with = "longest")]
    dry_run: bool,
}

impl Update {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        if self.dry_run {
            return forecast::dry_run(common, self.all);
        }
        stand_back();
        let stop = stop_on_interrupt()?;
        if let Some(longest) = self.longest {
            return elected(common, &stop, longest);
        }
        let daybook = Daybook::open_existing(common)?;
        block_on(async {
            let (shop, _present) = daybook.worker().await?;
            read_outdated(&daybook, &stop).await?;
            jobs::retry_waiting(&shop, Waits::Outages).await?;
            // What was set aside may have been mended by hand.
            daybook.spool().retry(|_| true);
            if self.all {
                hasten_all(&shop).await?;
            }
            let anew = match self.redo {
                true => Some(jobs::redo_older(&shop).await? as u64),
                false => None,
            };
            if let (Some(anew), false) = (anew, common.json) {
                say_anew(anew, shop.extractor.name());
            }
            let learning = Learning::start(common, waiting(&shop).await?);
            let done = keep_up(&daybook, &shop, &stop, &learning).await?;
            learning.end();
            refusals::complain_of(&daybook).await?;
            let told = tell(common, &daybook, &done, anew).await?;
            Ok(match done.taken.is_whole() {
                true => told,
                false => ExitCode::FAILURE,
            })
        })
    }
}

/// As hosts ask for it after each turn of each session: one does it for all, and for so long.
fn elected(common: &Common, stop: &Stop, longest: Duration) -> Result<ExitCode> {
    let daybook = Daybook::open_or_create(common)?;
    stop_after(stop, longest);
    let done = block_on(async {
        let quiet = Learning::quiet();
        daybook.retry_overlong().await?;
        let mut done = keep_up_if_elected(&daybook, stop, &quiet).await?;
        while done.is_some() && told_in_a_moment(&daybook, stop).await {
            let Some(more) = keep_up_if_elected(&daybook, stop, &quiet).await? else {
                break;
            };
            done.get_or_insert_default().add(more.taken, more.report);
        }
        Ok(done)
    })?;
    if done.is_none() && !common.json {
        anstream::println!("Another process is updating this memory.");
        return Ok(ExitCode::SUCCESS);
    }
    block_on(tell(common, &daybook, &done.unwrap_or_default(), None))
}

/// Whether a hook tells something within a moment: hosts run the hooks of one event side by side, so
/// the notice that this update is about may come after it began.
async fn told_in_a_moment(daybook: &Daybook, stop: &Stop) -> bool {
    const MOMENT: Duration = Duration::from_secs(1);
    const LOOK: Duration = Duration::from_millis(50);
    let spool = daybook.spool();
    let until = daybook.clock.now().plus(MOMENT);
    while !stop.asked() && daybook.clock.now() < until {
        if !spool.is_empty() {
            return true;
        }
        tokio::time::sleep(LOOK).await;
    }
    false
}

/// Process what falls due until stopped.
#[derive(Args)]
pub(crate) struct Worker {
    /// Longest sleep between two looks [default: the setting `poll`]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    every: Option<Duration>,
}

fn duration(text: &str) -> Result<Duration, String> {
    crate::settings::parse_duration(text).ok_or_else(|| "write for example 30s or 2m".to_owned())
}

impl Worker {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        stand_back();
        // Whoever starts it where it cannot work is told at once.
        let mut daybook = Daybook::open_or_create(common)?;
        let stop = stop_on_interrupt()?;
        let (mut all, mut outage) = (Done::default(), Outage::default());
        while let Err(error) = block_on(self.work(common, &daybook, &stop, &mut all, &mut outage)) {
            match outage.outlast(common, &stop, error)? {
                Some(opened) => daybook = opened,
                None => break,
            }
        }
        all.report.stopped = true;
        block_on(tell(common, &daybook, &all, None))
    }

    /// Works until the end is asked for. What it held when the store fails is freed by the next
    /// worker: this one is no longer there under its name.
    async fn work(
        &self,
        common: &Common,
        daybook: &Daybook,
        stop: &Stop,
        all: &mut Done,
        outage: &mut Outage,
    ) -> Result<()> {
        let longest = self.every.unwrap_or(daybook.settings.profile.work.poll);
        let (shop, _present) = daybook.worker().await?;
        jobs::retry_waiting(&shop, Waits::AtCaps).await?;
        let mut is_told = false;
        while !stop.asked() {
            let done = keep_up(daybook, &shop, stop, &Learning::quiet()).await?;
            outage.is_over();
            let idle = done.is_nothing();
            if !common.json && !done.report.read.is_empty() {
                say(daybook, &done).await?;
            }
            all.add(done.taken, done.report);
            if idle {
                daybook.free_vanished().await?;
                rest(daybook, stop, longest).await?;
                if daybook.is_pooled() && !is_told {
                    is_told = true;
                    logging::say(
                        "the server is reached through a pooler, which cannot wake a worker: this \
                         one looks once a second",
                    );
                }
            }
        }
        Ok(())
    }
}

/// Make index and files anew from what is stored.
#[derive(Args)]
pub(crate) struct Rebuild {}

impl Rebuild {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let stop = stop_on_interrupt()?;
        block_on(async {
            let (shop, _present) = daybook.worker().await?;
            read_outdated(&daybook, &stop).await?;
            let rebuilt = jobs::rebuild_index(&shop).await?;
            for state in shop.store.scopes(&shop.tenant).await? {
                shop.store
                    .touch_scope(&state.scope, shop.clock.now())
                    .await?;
            }
            let learning = Learning::start(common, waiting(&shop).await?);
            let report = jobs::work(&shop, &stop, &learning).await?;
            learning.end();
            refusals::complain_of(&daybook).await?;
            if daybook.trees.is_none() {
                let (store, now) = (&*shop.store, shop.clock.now());
                reindex_anew(store, &shop.root, &shop.tenant, now).await?;
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
                anstream::println!(
                    "Indexed {} and {} again; looked at the files of {}.",
                    count(rebuilt.events, "event"),
                    count(rebuilt.observations, "observation"),
                    count(report.scopes.len() as u64, "scope"),
                );
                for (session, why) in &rebuilt.unread {
                    anstream::println!(
                        "  not indexed again: session {session}: {why}; `daybook doctor --repair` mends it"
                    );
                }
                for failed in report.broken() {
                    anstream::println!("  failed: {}: {}", failed.job, failed.failure.message);
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

/// Reads the files once more that a version before took in without what they show of folders' remotes.
async fn read_outdated(daybook: &Daybook, stop: &Stop) -> Result<()> {
    let outdated = outdated(&daybook.store.sources(&daybook.tenant).await?);
    if !outdated.is_empty() {
        take_in(daybook, outdated, stop).await?;
    }
    Ok(())
}

/// How many sessions wait.
pub(crate) async fn waiting(shop: &Workshop) -> Result<u64> {
    let jobs = shop.store.jobs(JobKind::Extract).await?;
    let now = shop.clock.now();
    let due = jobs
        .iter()
        .filter(|job| job.due_at().is_some_and(|due| due <= now));
    Ok(due.count() as u64)
}

async fn hasten_all(shop: &Workshop) -> Result<()> {
    let jobs = shop.store.jobs(JobKind::Extract).await?.into_iter();
    for job in jobs.filter(|job| job.key.tenant() == &shop.tenant) {
        let priority = job.priority;
        JobStore::hasten(&*shop.store, &job.key, shop.clock.now(), priority).await?;
    }
    Ok(())
}

fn say_anew(sessions: u64, extractor: &str) {
    let verb = if sessions == 1 { "begins" } else { "begin" };
    anstream::println!(
        "{} {verb} anew with {extractor}; what was learned before stays until then.",
        count(sessions, "session"),
    );
}

async fn tell(
    common: &Common,
    daybook: &Daybook,
    done: &Done,
    anew: Option<u64>,
) -> Result<ExitCode> {
    if common.json {
        let mut report = as_json(&done.report);
        report["notices"] = done.taken.notices.into();
        report["events"] = done.taken.events.into();
        report["failing"] = failing_json(&done.taken);
        if let Some(anew) = anew {
            report["anew"] = anew.into();
        }
        print_json(&report)?;
    } else {
        say(daybook, done).await?;
    }
    Ok(match done.report.broken().next() {
        None => ExitCode::SUCCESS,
        Some(_) => ExitCode::FAILURE,
    })
}

async fn say(daybook: &Daybook, done: &Done) -> Result<()> {
    let Done { taken, report } = done;
    if taken.notices > 0 {
        anstream::println!(
            "{} of hooks taken in, {} added.",
            count(taken.notices as u64, "notice"),
            count(taken.events, "event"),
        );
    }
    for (path, why) in &taken.unreadable {
        anstream::println!("  not a notice: {}: {why}", path.display());
    }
    for (path, why) in &taken.failing {
        anstream::println!("  failed: {path}: {why}");
    }
    for (session, why) in &taken.aside {
        anstream::println!(
            "  set aside: what a hook told of {session}: {why}; the next `{}` tries again",
            suggest::command("update"),
        );
    }
    for path in &taken.missing {
        anstream::println!("  no transcript is at {}", path.display());
    }
    if report.read.is_empty() && report.scopes.is_empty() && report.failed.is_empty() {
        anstream::println!("Nothing is due.");
        return say_rest(daybook).await;
    }
    let outcomes = report.outcomes();
    let account = Account::of(outcomes.keys().copied(), &outcomes, &BTreeMap::new());
    anstream::println!(
        "{}: {}; files of {} looked at.",
        count(account.total(), "session"),
        account.line(),
        count(report.scopes.len() as u64, "scope"),
    );
    if let Some(said) = not_kept(report) {
        anstream::println!("  {said}");
    }
    say_failures(daybook, report, "  ").await?;
    if report.stopped {
        anstream::println!("Stopped; nothing is lost. What is still due waits.");
    }
    Ok(())
}

/// What is left where nothing is due: what waits after a failure, and sessions that still rest.
async fn say_rest(daybook: &Daybook) -> Result<()> {
    for line in waiting::lines(daybook, &waiting::waits_of(daybook).await?) {
        anstream::println!("  {line}");
    }
    if let Some(line) = unended(&daybook.store.imports(&daybook.tenant, 1).await?) {
        anstream::println!("  {line}");
    }
    let (jobs, now) = (daybook.jobs(JobKind::Extract).await?, daybook.clock.now());
    let rests = |job: &&Job| matches!(job.standing(now), Standing::Resting { .. });
    let resting = jobs.iter().filter(rests).count() as u64;
    if resting > 0 {
        let (sessions, all) = (count(resting, "session"), suggest::command("update --all"));
        anstream::println!(
            "  {sessions} may go on, and are read once they have rested; `{all}` reads them now"
        );
    }
    Ok(())
}

/// The newest of `imports`, if it broke off: no update goes on with an import.
pub(super) fn unended(imports: &[Import]) -> Option<String> {
    let newest = imports.first().filter(|import| import.ended_at.is_none())?;
    Some(format!(
        "import {} of {} broke off, or is still at work; the same import again goes on",
        newest.no.0, newest.what
    ))
}

/// What could not be taken in, for programs.
fn failing_json(taken: &Taken) -> serde_json::Value {
    let files = taken
        .failing
        .iter()
        .map(|(path, why)| json!({"path": path, "why": why}));
    let aside = taken
        .aside
        .iter()
        .map(|(session, why)| json!({"session": session, "why": why}));
    files.chain(aside).collect()
}

/// What a model told and was not believed, and what it could not be shown.
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

/// The report for programs.
pub(crate) fn as_json(report: &UpdateReport) -> serde_json::Value {
    json!({
        "read": report.read.len(),
        "taught": report.taught.len(),
        "observations": report.observations,
        "dropped": report.dropped.counts().map(|(reason, n)| (reason.word(), n)).collect::<BTreeMap<_, _>>(),
        "left_out": report.left_out,
        "scopes": report.scopes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "failed": report.failed.iter().map(|failed| json!({
            "job": failed.job.to_string(),
            "class": failed.failure.class.word(),
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
