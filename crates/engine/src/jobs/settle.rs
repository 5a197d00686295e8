//! Moves folders, with all that was filed for them, to the projects that the evidence assigns them to.
//!
//! The move works as in `projects merge`. It is done before other work, so that an interruption at any
//! point, or late evidence, ends where an undisturbed run does. Files move before the store is changed: an
//! interruption in between leaves the store as it was, and the next run repeats the move.
//!
//! Not here: which project a folder belongs to (`ingest`).

use std::collections::{BTreeMap, BTreeSet};

use super::projects::{JoinError, move_files};
use super::{WorkError, WorkerContext};
use crate::files::layout::folder;
use crate::projects::settle::{ProjectChanges, RootChange, apply, find_project_changes};
use daybook_domain::{Scope, ScopeKind};

/// Most rounds, as other processes assign and import meanwhile. The next run handles the rest.
const ROUNDS: usize = 8;

/// Moves every folder to its assigned project, with the observations and files of the folder.
///
/// # Errors
/// When the store or the files fail; the next run continues.
pub async fn settle_projects(worker: &WorkerContext) -> Result<(), WorkError> {
    for _ in 0..ROUNDS {
        let unsettled = find_project_changes(&*worker.store, &worker.tenant).await?;
        if unsettled.changes.is_empty() && unsettled.stale.is_empty() {
            break;
        }
        if !apply_changes(worker, unsettled).await? {
            break;
        }
    }
    Ok(())
}

/// Applies pending changes. False when a folder is being written, and the rest has to wait.
async fn apply_changes(
    worker: &WorkerContext,
    unsettled: ProjectChanges,
) -> Result<bool, WorkError> {
    for (from, into) in project_moves(&unsettled) {
        match move_files(worker, &from, &into).await {
            Ok(_) => {}
            Err(JoinError::Busy(_)) => return Ok(false),
            Err(JoinError::Work(error)) => return Err(error),
            // These errors are reported to a person who names the projects.
            Err(JoinError::Unknown(_) | JoinError::Same(_)) => {}
        }
        let leaving = |change: &&RootChange| change.from.as_ref() == Some(&from);
        apply_all(worker, unsettled.changes.iter().filter(leaving)).await?;
    }
    apply_all(worker, unsettled.changes.iter()).await?;
    for identity in &unsettled.stale {
        worker
            .store
            .forget_identity(&worker.tenant, identity)
            .await?;
    }
    Ok(true)
}

async fn apply_all<'c>(
    worker: &WorkerContext,
    changes: impl Iterator<Item = &'c RootChange>,
) -> Result<(), WorkError> {
    for change in changes {
        let now = worker.clock.now();
        apply(
            &*worker.store,
            &worker.tenant,
            &change.root,
            &change.to,
            now,
        )
        .await?;
    }
    Ok(())
}

/// Projects that lose all their folders, each with the project that gets most of them. A project whose name
/// is the target of another one comes before that one.
fn project_moves(unsettled: &ProjectChanges) -> Vec<(String, String)> {
    let mut targets: BTreeMap<&String, BTreeMap<&String, usize>> = BTreeMap::new();
    for change in &unsettled.changes {
        if let Some(from) = &change.from
            && !unsettled.stay.contains(from)
        {
            let into = &change.to.project.key;
            *targets.entry(from).or_default().entry(into).or_default() += 1;
        }
    }
    let mut pending: BTreeMap<String, String> = targets
        .into_iter()
        .filter_map(|(from, into)| {
            let most = into
                .into_iter()
                .max_by_key(|(into, n)| (*n, std::cmp::Reverse(*into)))?;
            Some((from.clone(), most.0.clone()))
        })
        .collect();
    let mut ordered = Vec::new();
    while !pending.is_empty() {
        let waiting: BTreeSet<&String> = pending.keys().collect();
        let free = pending.iter().find(|(_, into)| !waiting.contains(into));
        // Names that wait for each other in a cycle: any order works.
        let next = free.or_else(|| pending.iter().next());
        let Some((from, into)) = next.map(|(from, into)| (from.clone(), into.clone())) else {
            break;
        };
        pending.remove(&from);
        ordered.push((from, into));
    }
    ordered
}

/// Whether a project has no folder any more, so that its files are obsolete.
pub(super) async fn is_abandoned(worker: &WorkerContext, scope: &Scope) -> Result<bool, WorkError> {
    if scope.kind != ScopeKind::Project || !folder(&worker.root, scope).is_dir() {
        return Ok(false);
    }
    let places = worker.store.places(&scope.tenant).await?;
    Ok(!places
        .iter()
        .any(|(_, key)| key.as_ref() == Some(&scope.name)))
}
