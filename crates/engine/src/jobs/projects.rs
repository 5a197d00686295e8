//! Joins and renames projects, when a person decides which checkouts belong together.
//!
//! Observations move with the checkouts, and are written under the new name by the project's own job. A
//! person's text in the old project's files moves too; the old folder is moved aside with its history, and
//! nothing is deleted. From then on every identity of the old project maps to the new one, so a checkout
//! that comes later joins it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use daybook_domain::page::read_all;
use daybook_domain::{Project, Scope, ScopeKind};

use super::{WorkError, WorkerContext};
use crate::files::adopt::{adopt, set_aside};
use crate::files::layout::{folder, tenant_folder};
use crate::files::reindex::remove_from_index;
use crate::files::{FilesConfig, Folder, LockOutcome};

/// Result of joining two projects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JoinReport {
    /// Checkouts that now belong to the other project.
    pub checkouts: usize,
    /// Lines and files of the person's that moved.
    pub words: usize,
    /// Where the old folder was moved, with its history.
    pub set_aside: Option<PathBuf>,
}

/// Why projects could not be joined.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The project does not exist.
    #[error("there is no project {0}")]
    Unknown(String),
    /// A project cannot be joined with itself.
    #[error("{0} is that project already")]
    Same(String),
    /// Another process is writing its memory.
    #[error("the memory of {0} is being written just now; try again")]
    Busy(String),
    /// The store or the files failed.
    #[error(transparent)]
    Work(#[from] WorkError),
}

/// Moves everything of project `from` to `into`. `into` need not exist: then it is a new name. May be
/// repeated after an interruption.
///
/// # Errors
/// [`JoinError`]; completed steps remain, and repeating continues from there.
pub async fn join(worker: &WorkerContext, from: &str, into: &str) -> Result<JoinReport, JoinError> {
    if from == into {
        return Err(JoinError::Same(from.to_owned()));
    }
    let checkouts = move_checkouts(worker, from, into).await?;
    let joined = JoinReport {
        checkouts,
        ..move_files(worker, from, into).await?
    };
    let into = scope(worker, into);
    let raised = worker.store.touch_scope(&into, worker.clock.now()).await;
    raised.map_err(WorkError::from)?;
    Ok(joined)
}

/// Moves a person's text from the files of one project to those of another, and moves the old folder aside.
/// Nothing happens if there are no files.
pub(super) async fn move_files(
    worker: &WorkerContext,
    from: &str,
    into: &str,
) -> Result<JoinReport, JoinError> {
    let mut joined = JoinReport::default();
    let scope = |name: &str| scope(worker, name);
    let old = folder(&worker.root, &scope(from));
    let (stamp, wait) = (worker.stamp(), worker.limits.folder_wait);
    let busy = || JoinError::Busy(scope(from).to_string());
    if let Some(sharing) = worker.folder_sync() {
        let checked_in = sharing.check_in(&scope(from), &stamp, wait).await?;
        checked_in.ok_or_else(busy)?;
    }
    if old.is_dir() {
        let folder = Folder::open(&old, FilesConfig::default()).map_err(WorkError::from)?;
        let lock = || match folder.try_lock(wait).map_err(WorkError::from)? {
            LockOutcome::Held(lock) => Ok(lock),
            LockOutcome::Busy => Err(busy()),
        };
        let mut held = lock()?;
        joined.words = move_words(worker, &old, from, &scope(into))?;
        if let Some(sharing) = worker.folder_sync() {
            drop(held);
            let message = format!("Join {into}");
            let is_empty = sharing
                .remove_files(&scope(from), &stamp, &message, wait)
                .await?;
            is_empty.then_some(()).ok_or_else(busy)?;
            held = lock()?;
        }
        let tenant = tenant_folder(&worker.root, &worker.tenant);
        joined.set_aside = Some(set_aside(&tenant, held, from).map_err(WorkError::from)?);
        let now = worker.clock.now();
        remove_from_index(&*worker.store, &scope(from), now)
            .await
            .map_err(WorkError::from)?;
    }
    Ok(joined)
}

fn scope(worker: &WorkerContext, project: &str) -> Scope {
    Scope {
        tenant: worker.tenant.clone(),
        kind: ScopeKind::Project,
        name: project.to_owned(),
    }
}

/// Assigns every checkout and every identity of a project to another key.
async fn move_checkouts(
    worker: &WorkerContext,
    from: &str,
    into: &str,
) -> Result<usize, JoinError> {
    let projects = read_all(|page| worker.store.projects(&worker.tenant, page))
        .await
        .map_err(WorkError::from)?;
    let renamed: Vec<Project> = projects
        .into_iter()
        .filter(|project| project.key == from)
        .map(|project| Project {
            key: into.to_owned(),
            ..project
        })
        .collect();
    let places = worker
        .store
        .places(&worker.tenant)
        .await
        .map_err(WorkError::from)?;
    let roots: BTreeSet<String> = places
        .into_iter()
        .filter(|(_, key)| key.as_deref() == Some(from))
        .map(|(place, _)| place.root)
        .collect();
    if roots.is_empty() && renamed.is_empty() {
        return Err(JoinError::Unknown(from.to_owned()));
    }
    for root in &roots {
        for project in &renamed {
            let now = worker.clock.now();
            let moved = worker.store.assign_root(&worker.tenant, root, project, now);
            moved.await.map_err(WorkError::from)?;
        }
    }
    Ok(roots.len())
}

fn move_words(
    worker: &WorkerContext,
    old: &Path,
    from: &str,
    into: &Scope,
) -> Result<usize, JoinError> {
    let open = Folder::open(folder(&worker.root, into), FilesConfig::default());
    let new = open.map_err(WorkError::from)?;
    let lock = new.try_lock(worker.limits.folder_wait);
    match lock.map_err(WorkError::from)? {
        LockOutcome::Held(lock) => Ok(adopt(&lock, old, from).map_err(WorkError::from)?),
        LockOutcome::Busy => Err(JoinError::Busy(into.to_string())),
    }
}
