//! Resets: removes all that was learned, and keeps what it was learned from.
//!
//! Sessions, events, threads and the switches of both stay; observations, memory files with their histories, and the jobs
//! that wait to write them go. Each step may be interrupted and repeated.
//!
//! Not here: purges, which remove events (`run`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use daybook_domain::page::read_all;
use daybook_domain::seams::{PurgeStore, SessionCatalog};
use serde::Serialize;

use super::folders::{remove_tree, retired_folders};
use super::plan::known_scopes;
use super::run::PurgeError;
use crate::files::layout::{folder, kind_folders};
use crate::files::{FilesConfig, Folder, LockOutcome};
use crate::jobs::WorkerContext;

/// What a reset removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ResetReport {
    /// Sessions whose results were removed. They stay, and are not read again by themselves.
    pub sessions: u64,
    /// Observations.
    pub observations: u64,
    /// Memory folders that were emptied.
    pub folders: u64,
}

/// How a reset ended.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResetOutcome {
    /// Nothing is left of what was learned.
    Done(ResetReport),
    /// This folder, or one above it, is a link: nothing was removed.
    Linked(PathBuf),
    /// Another process writes this folder. The next reset goes on.
    Busy(PathBuf),
}

/// Removes all that was learned of the worker's tenant.
///
/// # Errors
/// When the store or the disk fails; the next reset goes on.
pub async fn reset(
    worker: &WorkerContext,
    purges: &dyn PurgeStore,
) -> Result<ResetOutcome, PurgeError> {
    if let Some(link) = find_link(worker)? {
        return Ok(ResetOutcome::Linked(link));
    }
    let mut report = ResetReport::default();
    let read = |page| SessionCatalog::sessions(&*worker.store, &worker.tenant, page);
    for session in read_all(read).await? {
        report.sessions += u64::from(purges.reset_session(&session.id).await?);
    }
    for scope in known_scopes(worker).await? {
        let path = folder(&worker.root, &scope);
        if !path.join(".git").exists() {
            report.observations += purges.reset_scope(&scope).await?;
            report.folders += u64::from(empty(&path)?);
            continue;
        }
        let open = Folder::open(&path, FilesConfig::default())?;
        let LockOutcome::Held(_lock) = open.try_lock(worker.limits.folder_wait)? else {
            return Ok(ResetOutcome::Busy(path));
        };
        report.observations += purges.reset_scope(&scope).await?;
        report.folders += u64::from(empty(&path)?);
    }
    for path in retired_folders(worker) {
        remove_tree(&path)?;
    }
    Ok(ResetOutcome::Done(report))
}

/// Removes all that is in a folder, and keeps the folder. False where there was nothing. A link in it is removed, not what
/// it leads to.
fn empty(path: &Path) -> io::Result<bool> {
    let inside = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        inside => inside?,
    };
    let mut had_any = false;
    for entry in inside {
        let entry = entry?;
        had_any = true;
        match entry.file_type()?.is_dir() {
            true => remove_tree(&entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(had_any)
}

/// The first link in place of a folder that would be emptied, or of one above it in the data folder.
fn find_link(worker: &WorkerContext) -> io::Result<Option<PathBuf>> {
    for kind in kind_folders(&worker.root, &worker.tenant) {
        let mut places = vec![kind.clone()];
        for entry in fs::read_dir(&kind).into_iter().flatten().flatten() {
            places.extend([entry.path(), entry.path().join("memory")]);
        }
        for place in places {
            match fs::symlink_metadata(&place) {
                Ok(found) if found.file_type().is_symlink() => return Ok(Some(place)),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(None)
}
