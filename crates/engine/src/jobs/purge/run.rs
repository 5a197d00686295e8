//! Runs a recorded purge, from wherever it was interrupted.
//!
//! Every step may be repeated, so a resumed purge begins again with the first. The steps that need a folder of another
//! process wait for it, and leave the intent where it does not come free.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use daybook_domain::seams::PurgeStore;
use daybook_domain::{PurgeKey, Scope};
use serde::Serialize;

use super::folders::{
    PurgedFolder, purge_retired, purge_scope_folder, purged_text, remove_scope, retired_folders,
};
use super::intent::PurgeIntent;
use super::plan::known_scopes;
use super::tombstones::{TombstoneError, TombstoneFile};
use crate::files::layout::run_folder;
use crate::files::purge_folder::PersonsLine;
use crate::files::purged_text::PurgedText;
use crate::jobs::{WorkError, WorkerContext};
use crate::stop::Stop;

/// A step of a purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurgeStep {
    /// Sessions whose events are removed.
    Sessions,
    /// Folders that are rewritten.
    Folders,
}

/// Receives the progress of a purge.
pub trait PurgeProgress: Send + Sync {
    /// `done` of `of` are done.
    fn step(&self, step: PurgeStep, done: usize, of: usize);
}

/// What a purge removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PurgeReport {
    /// Events.
    pub events: u64,
    /// Sessions of which nothing is left.
    pub sessions: u64,
    /// Observations.
    pub observations: u64,
    /// Commits of histories that were made anew.
    pub commits: usize,
    /// Objects of histories that were deleted.
    pub objects: usize,
    /// Lines of a person's own that repeat purged words, by scope. They stay until the person takes them out.
    pub left: BTreeMap<String, Vec<PersonsLine>>,
}

/// How far a purge came.
#[must_use]
#[derive(Debug)]
pub enum PurgeOutcome {
    /// Everything was removed from the store and from the files. The caller finishes what is its own, then clears the
    /// intent.
    Done(Box<PurgeReport>),
    /// It was stopped. The next run goes on.
    Stopped,
    /// Another process writes the memory of this scope, or this retired folder. The next run goes on.
    Busy(String),
}

/// Why a purge could not continue. The intent stays.
#[derive(Debug, thiserror::Error)]
pub enum PurgeError {
    /// The store failed, or memory files.
    #[error(transparent)]
    Work(#[from] WorkError),
    /// The file of tombstones.
    #[error(transparent)]
    Tombstones(#[from] TombstoneError),
    /// Another file.
    #[error("cannot remove what was purged: {0}")]
    Io(#[from] io::Error),
}

impl From<daybook_domain::StoreError> for PurgeError {
    fn from(error: daybook_domain::StoreError) -> Self {
        Self::Work(error.into())
    }
}

impl From<crate::files::FilesError> for PurgeError {
    fn from(error: crate::files::FilesError) -> Self {
        Self::Work(error.into())
    }
}

/// Runs the purge that `intent` describes, with the tenant's `key` of tombstones.
///
/// # Errors
/// When the store or the disk fails. The intent stays; the next run goes on.
pub async fn run(
    worker: &WorkerContext,
    purges: &dyn PurgeStore,
    key: &PurgeKey,
    intent: &PurgeIntent,
    (stop, progress): (&Stop, &dyn PurgeProgress),
) -> Result<PurgeOutcome, PurgeError> {
    let mut report = PurgeReport::default();
    // First, so that nothing that is removed below comes in again behind it.
    let marks = intent.tombstones.iter().copied();
    TombstoneFile::of(&worker.root, key)?.add(key, marks)?;
    purges
        .add_tombstones(&intent.tenant, &intent.tombstones)
        .await?;
    if !purge_store(worker, purges, intent, (stop, progress), &mut report).await? {
        return Ok(PurgeOutcome::Stopped);
    }
    for scope in &intent.scopes {
        match remove_scope(worker, purges, scope).await? {
            Some(observations) => report.observations += observations,
            None => return Ok(PurgeOutcome::Busy(scope.to_string())),
        }
    }
    remove_run_files(worker, intent)?;
    let text = purged_text(worker, intent).await?;
    match purge_folders(worker, purges, &text, (stop, progress), &mut report).await? {
        FoldersOutcome::Done => Ok(PurgeOutcome::Done(Box::new(report))),
        FoldersOutcome::Stopped => Ok(PurgeOutcome::Stopped),
        FoldersOutcome::Busy(what) => Ok(PurgeOutcome::Busy(what)),
    }
}

/// Removes events and observations. False if it was stopped.
async fn purge_store(
    worker: &WorkerContext,
    purges: &dyn PurgeStore,
    intent: &PurgeIntent,
    (stop, progress): (&Stop, &dyn PurgeProgress),
    report: &mut PurgeReport,
) -> Result<bool, PurgeError> {
    for (nth, (session, ranges)) in intent.events.iter().enumerate() {
        progress.step(PurgeStep::Sessions, nth, intent.events.len());
        // The last ones first, so that a session that shrinks keeps the places of the others.
        for range in ranges.iter().rev() {
            if stop.is_requested() {
                return Ok(false);
            }
            let purged = purges
                .purge_events(session, *range, worker.clock.now())
                .await?;
            report.events += purged.events;
            report.observations += purged.observations;
            report.sessions += u64::from(purged.session_gone);
        }
    }
    for (scope, id) in &intent.observations {
        let was_there = purges
            .purge_observation(scope, *id, worker.clock.now())
            .await?;
        report.observations += u64::from(was_there);
    }
    Ok(true)
}

enum FoldersOutcome {
    Done,
    Stopped,
    Busy(String),
}

async fn purge_folders(
    worker: &WorkerContext,
    purges: &dyn PurgeStore,
    text: &PurgedText,
    (stop, progress): (&Stop, &dyn PurgeProgress),
    report: &mut PurgeReport,
) -> Result<FoldersOutcome, PurgeError> {
    let scopes: BTreeSet<Scope> = known_scopes(worker).await?;
    for (nth, scope) in scopes.iter().enumerate() {
        progress.step(PurgeStep::Folders, nth, scopes.len());
        if stop.is_requested() {
            return Ok(FoldersOutcome::Stopped);
        }
        let Some(done) = purge_scope_folder(worker, scope, text).await? else {
            return Ok(FoldersOutcome::Busy(scope.to_string()));
        };
        if done.is_removed && purges.is_scope_empty(scope).await? {
            let Some(observations) = remove_scope(worker, purges, scope).await? else {
                return Ok(FoldersOutcome::Busy(scope.to_string()));
            };
            report.observations += observations;
        }
        note_folder(report, scope.to_string(), done);
    }
    // Listed now: a worker may have moved one of those above there.
    let retired = retired_folders(worker);
    for (nth, path) in retired.iter().enumerate() {
        progress.step(
            PurgeStep::Folders,
            scopes.len() + nth,
            scopes.len() + retired.len(),
        );
        let name = path
            .strip_prefix(&worker.root)
            .unwrap_or(path)
            .display()
            .to_string();
        match purge_retired(worker, path, text)? {
            Some(done) => note_folder(report, name, done),
            None => return Ok(FoldersOutcome::Busy(name)),
        }
    }
    Ok(FoldersOutcome::Done)
}

fn note_folder(report: &mut PurgeReport, name: String, done: PurgedFolder) {
    report.commits += done.rewritten.commits;
    report.objects += done.rewritten.deleted;
    if !done.left.is_empty() {
        report.left.insert(name, done.left);
    }
}

/// Removes what processes of this machine share and make anew, and waiting hook events of purged sessions.
fn remove_run_files(worker: &WorkerContext, intent: &PurgeIntent) -> io::Result<()> {
    let below = run_folder(&worker.root, &worker.tenant);
    let cache = below.join("run").join("places.json");
    if let Err(error) = fs::remove_file(&cache)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    remove_naming(&below.join("spool"), &intent.names)?;
    remove_naming(&below.join("spool").join("aside"), &intent.names)
}

/// Removes the files of a folder that name a purged session.
fn remove_naming(below: &Path, names: &[String]) -> io::Result<()> {
    for entry in fs::read_dir(below).into_iter().flatten().flatten() {
        let path = entry.path();
        if !path.is_file() {
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        if names.iter().any(|name| text.contains(name.as_str())) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
