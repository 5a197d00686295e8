//! Purges of a data folder, from the intent to the receipt.
//!
//! The engine removes what was purged from the store and the memory files. Here follow the record, our own copies in the
//! data folder, the free pages of the database, and the receipt; the intent is removed last. A purge that was interrupted
//! anywhere is finished by the next command.
//!
//! Not here: what is removed (`daybook_engine::jobs::purge`), asking the person (`cli`).

mod copies;
mod receipt;
mod reset;

use std::fs::{File, TryLockError};
use std::path::Path;

use anyhow::{Context, Result, bail};
use daybook_domain::PurgeKey;
use daybook_engine::jobs::purge::{
    PURGED, PurgeIntent, PurgeOutcome, PurgePlan, PurgeProgress, PurgeReport, PurgeSelection,
    PurgeStep, TombstoneFile, plan, run,
};
use daybook_engine::stop::Stop;

use crate::backup::BACKED_UP_TOMBSTONES;
use crate::folders::data_folder::display_path;
use crate::process::block_on;
use crate::service::RequestError;
use crate::service::recall::reindex_edited_files;
use crate::terminal::common_args::CommonArgs;
use crate::terminal::messages::print_notice;
use crate::terminal::output::count;
use crate::terminal::server_timeout::ServerTimeout;
use crate::wiring::{DATABASE, Daybook, tombstones};

pub(crate) use copies::Unreachable;
pub(crate) use receipt::Receipt;
pub(crate) use reset::reset_memory;

/// How often the free pages of the database are overwritten anew, while other processes read.
const ERASE_TRIES: usize = 3;

/// The result of a purge.
#[derive(Debug)]
pub(crate) struct FinishedPurge {
    pub(crate) report: PurgeReport,
    pub(crate) receipt: Receipt,
    /// Our own copies in the data folder that were made again without it, or removed.
    pub(crate) copies: Vec<String>,
    pub(crate) unreachable: Unreachable,
}

/// The right to purge, until dropped.
struct PurgeLock(#[expect(dead_code, reason = "held for its lock")] File);

/// The tenant's key of tombstones.
pub(crate) async fn purge_key(daybook: &Daybook) -> Result<PurgeKey> {
    tombstones::purge_key(&*daybook.purges, &daybook.root, &daybook.tenant).await
}

/// Finds what a purge would remove. Changes nothing but that the tenant has a key.
pub(crate) async fn plan_purge(daybook: &Daybook, selection: &PurgeSelection) -> Result<PurgePlan> {
    let key = purge_key(daybook).await?;
    let (worker, _present) = daybook.attended_worker().await?;
    Ok(plan(&worker, &key, selection).await?)
}

/// Records the purge and runs it to its end.
pub(crate) fn purge(
    daybook: &Daybook,
    planned: PurgePlan,
    (stop, progress): (&Stop, &dyn PurgeProgress),
) -> Result<FinishedPurge> {
    let Some(_lock) = try_lock(&daybook.root)? else {
        bail!(RequestError::Conflict(
            "another process is purging; run this again when it has ended".to_owned()
        ));
    };
    if PurgeIntent::exists(&daybook.root) {
        bail!(RequestError::Conflict(
            "an earlier purge is unfinished; run `daybook purge --continue` first".to_owned()
        ));
    }
    let failed = || {
        format!(
            "cannot write below {}",
            display_path(&daybook.root.join(PURGED))
        )
    };
    planned.intent.record(&daybook.root).with_context(failed)?;
    finish(
        daybook,
        &planned.intent,
        &planned.transcripts,
        (stop, progress),
    )
}

/// Finishes a purge that was interrupted, if there is one. `None` where there is none, or another process runs it.
pub(crate) fn finish_interrupted(
    daybook: &Daybook,
    (stop, progress): (&Stop, &dyn PurgeProgress),
) -> Result<Option<FinishedPurge>> {
    if !PurgeIntent::exists(&daybook.root) {
        return Ok(None);
    }
    let Some(_lock) = try_lock(&daybook.root)? else {
        return Ok(None);
    };
    let failed = || {
        format!(
            "cannot read the unfinished purge in {}",
            display_path(&daybook.root.join(PURGED))
        )
    };
    let Some(intent) = PurgeIntent::load(&daybook.root).with_context(failed)? else {
        return Ok(None);
    };
    let daybook = daybook.for_tenant(&intent.tenant);
    finish(&daybook, &intent, &[], (stop, progress)).map(Some)
}

/// Before a command: finishes what an interrupted purge has begun, and purges a database that is older than the file of
/// tombstones beside it.
pub(crate) fn settle(common: &CommonArgs, root: &Path) -> Result<()> {
    let is_unfinished = PurgeIntent::exists(root);
    // A lost database gets its tombstones when it is made again. A server is asked before long work only.
    let may_be_older = tombstones::has_newest(root)
        && (root.join(DATABASE).is_file() || common.server_timeout == ServerTimeout::Background)
        && Daybook::may_exist(root, &common.set);
    if !is_unfinished && !may_be_older {
        return Ok(());
    }
    let daybook = Daybook::open_existing(common)?;
    // An interrupt ends the process, and the next command goes on: the command itself listens for its own.
    if is_unfinished {
        print_notice("an interrupted purge is finished first");
        finish_interrupted(&daybook, (&Stop::default(), &Silent))?;
    }
    let (purges, tenant) = (&*daybook.purges, &daybook.tenant);
    if may_be_older && block_on(tombstones::is_older(purges, root, tenant))? {
        print_notice(
            "the database is older than the newest purge; what was purged is removed from it first",
        );
        purge_older(&daybook, (&Stop::default(), &Silent))?;
    }
    Ok(())
}

/// Adds the tombstones of a file to those of a data folder, which was restored from a backup.
pub(crate) async fn add_tombstones(daybook: &Daybook, file: &Path) -> Result<()> {
    let key = purge_key(daybook).await?;
    let given = TombstoneFile::read(file, &key)?;
    TombstoneFile::of(&daybook.root, &key)?.add(&key, given.marks)?;
    Ok(())
}

/// Joins the tombstones of a backup or an archive with those of the data folder, into which it was unpacked.
pub(crate) fn join_tombstones(daybook: &Daybook) -> Result<()> {
    let unpacked = daybook.root.join(PURGED).join(BACKED_UP_TOMBSTONES);
    if !unpacked.exists() {
        return Ok(());
    }
    block_on(add_tombstones(daybook, &unpacked))?;
    std::fs::remove_file(&unpacked)
        .with_context(|| format!("cannot remove {}", display_path(&unpacked)))
}

/// Purges a database again that is older than the tombstones in the file beside it. `None` where it is not.
pub(crate) fn purge_older(
    daybook: &Daybook,
    (stop, progress): (&Stop, &dyn PurgeProgress),
) -> Result<Option<FinishedPurge>> {
    let planned = block_on(async {
        let key = purge_key(daybook).await?;
        let file = TombstoneFile::of(&daybook.root, &key)?;
        let mut missing = file.marks;
        let read = |page| daybook.purges.tombstones(&daybook.tenant, page);
        daybook_domain::page::visit_all(read, |mark| {
            missing.remove(&mark);
        })
        .await?;
        if missing.is_empty() {
            return Ok(None);
        }
        let mut planned = plan_purge(daybook, &PurgeSelection::Tombstones(missing.clone())).await?;
        planned.intent.tombstones.extend(missing);
        Ok(Some(planned))
    })?;
    planned
        .map(|planned| purge(daybook, planned, (stop, progress)))
        .transpose()
}

fn finish(
    daybook: &Daybook,
    intent: &PurgeIntent,
    transcripts: &[String],
    (stop, progress): (&Stop, &dyn PurgeProgress),
) -> Result<FinishedPurge> {
    let resume = "what was not removed yet is removed by the next command";
    let report = block_on(async {
        let key = purge_key(daybook).await?;
        let (mut worker, _present) = daybook.attended_worker().await?;
        // Files are written without asking a model.
        worker.consolidation_model = None;
        let outcome = run(&worker, &*daybook.purges, &key, intent, (stop, progress)).await;
        match outcome.with_context(|| format!("the purge broke off; {resume}"))? {
            PurgeOutcome::Done(report) => Ok(*report),
            PurgeOutcome::Stopped => bail!("stopped; {resume}"),
            PurgeOutcome::Busy(what) => {
                bail!(RequestError::Conflict(format!(
                    "another process is writing the memory of {what}; {resume}"
                )))
            }
        }
    })?;
    if let Some(record) = &daybook.record
        && !record.write_completely()?
    {
        bail!("another process is writing the record of the memory; {resume}");
    }
    let copies = copies::purge_copies(daybook, progress)?;
    // A reader that had opened a file before it was rewritten may have indexed its old text since.
    block_on(reindex_edited_files(daybook))?;
    if !block_on(erase(daybook))? {
        bail!(
            "another process reads the database, which keeps removed rows in its free pages until then; \
             stop agents, servers and workers, and {resume}"
        );
    }
    let unreachable = Unreachable::find(daybook, transcripts)?;
    let receipt = Receipt::write(daybook, intent, &report)?;
    if let Some(mark) = intent.tombstones.first() {
        tombstones::note_newest(&daybook.root, &intent.tenant, *mark)?;
    }
    PurgeIntent::clear(&daybook.root)?;
    Ok(FinishedPurge {
        report,
        receipt,
        copies,
        unreachable,
    })
}

async fn erase(daybook: &Daybook) -> Result<bool> {
    for _ in 0..ERASE_TRIES {
        if daybook.purges.erase_purged().await? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn try_lock(root: &Path) -> Result<Option<PurgeLock>> {
    let folder = root.join(PURGED);
    let path = folder.join("lock");
    let failed = || format!("cannot lock {}", display_path(&path));
    std::fs::create_dir_all(&folder).with_context(failed)?;
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .with_context(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(PurgeLock(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error).with_context(failed),
    }
}

/// Shows nothing.
pub(crate) struct Silent;

impl PurgeProgress for Silent {
    fn step(&self, _: PurgeStep, _: usize, _: usize) {}
}

/// A sentence about a finished purge.
pub(crate) fn summary(finished: &FinishedPurge) -> String {
    let report = &finished.report;
    format!(
        "{} of {} and {} removed",
        count(report.events, "event"),
        count(report.sessions, "whole session"),
        count(report.observations, "observation"),
    )
}
