//! Joining and renaming projects, when a person knows better which checkouts belong together.
//!
//! What was observed moves with the checkouts, and is posted under the new name by the project's own
//! job. What a person wrote into the old project's files moves too; the old folder is set aside with
//! its history, and nothing is deleted. From then on every identity of the old project stands for
//! the new one, so a checkout that comes later joins it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use daybook_domain::{Project, Scope, ScopeKind};

use super::{WorkError, Workshop};
use crate::files::adopt::{adopt, set_aside};
use crate::files::layout::{folder, wall};
use crate::files::reindex::forget;
use crate::files::{FilesConfig, Folder, LockOutcome};

/// What joining did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Joined {
    /// Checkouts that now belong to the other project.
    pub checkouts: usize,
    /// Lines and files of the person's that moved.
    pub words: usize,
    /// Where the old folder rests, with its history.
    pub set_aside: Option<PathBuf>,
}

/// Why projects could not be joined.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// There is no such project.
    #[error("there is no project {0}")]
    Unknown(String),
    /// A project cannot be joined with itself.
    #[error("{0} is that project already")]
    Same(String),
    /// Somebody writes there just now.
    #[error("the memory of {0} is being written just now; try again")]
    Busy(String),
    /// Store or files failed.
    #[error(transparent)]
    Work(#[from] WorkError),
}

/// Makes everything of project `from` part of `into`. `into` need not exist: then it is a new name.
/// May be repeated after an interruption.
///
/// # Errors
/// [`JoinError`]; what was done until then holds, and repeating goes on.
pub async fn join(shop: &Workshop, from: &str, into: &str) -> Result<Joined, JoinError> {
    if from == into {
        return Err(JoinError::Same(from.to_owned()));
    }
    let checkouts = move_checkouts(shop, from, into).await?;
    let joined = Joined {
        checkouts,
        ..move_files(shop, from, into).await?
    };
    let into = scope(shop, into);
    let raised = shop.store.touch_scope(&into, shop.clock.now()).await;
    raised.map_err(WorkError::from)?;
    Ok(joined)
}

/// Moves what a person wrote in the files of one project to those of another, and sets the rest aside.
/// Nothing happens where there are no files.
pub(super) async fn move_files(
    shop: &Workshop,
    from: &str,
    into: &str,
) -> Result<Joined, JoinError> {
    let mut joined = Joined::default();
    let scope = |name: &str| scope(shop, name);
    let old = folder(&shop.root, &scope(from));
    let (stamp, wait) = (shop.stamp(), shop.limits.folder_wait);
    let busy = || JoinError::Busy(scope(from).to_string());
    if let Some(sharing) = shop.sharing() {
        let checked_in = sharing.check_in(&scope(from), &stamp, wait).await?;
        checked_in.ok_or_else(busy)?;
    }
    if old.is_dir() {
        joined.words = move_words(shop, &old, from, &scope(into))?;
        if let Some(sharing) = shop.sharing() {
            let message = format!("Join {into}");
            let is_empty = sharing.empty(&scope(from), &stamp, &message, wait).await?;
            is_empty.then_some(()).ok_or_else(busy)?;
        }
        joined.set_aside =
            Some(set_aside(&wall(&shop.root, &shop.tenant), &old, from).map_err(WorkError::from)?);
        let now = shop.clock.now();
        forget(&*shop.store, &scope(from), now)
            .await
            .map_err(WorkError::from)?;
    }
    Ok(joined)
}

fn scope(shop: &Workshop, project: &str) -> Scope {
    Scope {
        tenant: shop.tenant.clone(),
        kind: ScopeKind::Project,
        name: project.to_owned(),
    }
}

/// Gives every checkout and every identity of a project another key.
async fn move_checkouts(shop: &Workshop, from: &str, into: &str) -> Result<usize, JoinError> {
    let projects = shop
        .store
        .projects(&shop.tenant)
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
    let places = shop
        .store
        .places(&shop.tenant)
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
            let now = shop.clock.now();
            let moved = shop.store.assign_root(&shop.tenant, root, project, now);
            moved.await.map_err(WorkError::from)?;
        }
    }
    Ok(roots.len())
}

fn move_words(shop: &Workshop, old: &Path, from: &str, into: &Scope) -> Result<usize, JoinError> {
    let open = Folder::open(folder(&shop.root, into), FilesConfig::default());
    let new = open.map_err(WorkError::from)?;
    let lock = new.try_lock(shop.limits.folder_wait);
    match lock.map_err(WorkError::from)? {
        LockOutcome::Held(lock) => Ok(adopt(&lock, old, from).map_err(WorkError::from)?),
        LockOutcome::Busy => Err(JoinError::Busy(into.to_string())),
    }
}
