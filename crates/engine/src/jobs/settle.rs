//! Settling projects: folders move to where the evidence says that they belong, with all that was filed
//! there, the way `projects merge` moves it.
//!
//! Done before work, so that an interruption at any point, or evidence that came late, ends where an
//! undisturbed run does. Files move before the store knows of it: an interruption in between leaves the
//! store as it was, and the next run finds the same to do.
//!
//! Not here: where a folder belongs; `ingest` decides that.

use std::collections::{BTreeMap, BTreeSet};

use super::projects::{JoinError, move_files};
use super::{WorkError, Workshop};
use crate::files::layout::folder;
use crate::ingest::settle::{RootChange, Unsettled, apply, unsettled};
use daybook_domain::{Scope, ScopeKind};

/// How often it is looked again, as other processes settle and take in meanwhile. What is left then is
/// done by the next run.
const ROUNDS: usize = 8;

/// Moves every folder to the project that it belongs to, and what was learned there with it.
///
/// # Errors
/// Store or files failed; the next run goes on.
pub async fn settle_projects(shop: &Workshop) -> Result<(), WorkError> {
    for _ in 0..ROUNDS {
        let unsettled = unsettled(&*shop.store, &shop.tenant).await?;
        if unsettled.changes.is_empty() && unsettled.stale.is_empty() {
            break;
        }
        if !settle(shop, unsettled).await? {
            break;
        }
    }
    Ok(())
}

/// False when a folder is being written, and the rest has to wait.
async fn settle(shop: &Workshop, unsettled: Unsettled) -> Result<bool, WorkError> {
    for (from, into) in moves(&unsettled) {
        match move_files(shop, &from, &into).await {
            Ok(_) => {}
            Err(JoinError::Busy(_)) => return Ok(false),
            Err(JoinError::Work(error)) => return Err(error),
            // Of these a person is told who names the projects.
            Err(JoinError::Unknown(_) | JoinError::Same(_)) => {}
        }
        let leaving = |change: &&RootChange| change.from.as_ref() == Some(&from);
        apply_all(shop, unsettled.changes.iter().filter(leaving)).await?;
    }
    apply_all(shop, unsettled.changes.iter()).await?;
    for identity in &unsettled.stale {
        shop.store.forget_identity(&shop.tenant, identity).await?;
    }
    Ok(true)
}

async fn apply_all<'c>(
    shop: &Workshop,
    changes: impl Iterator<Item = &'c RootChange>,
) -> Result<(), WorkError> {
    for change in changes {
        let now = shop.clock.now();
        apply(&*shop.store, &shop.tenant, &change.root, &change.to, now).await?;
    }
    Ok(())
}

/// Projects that all their folders leave, and where most of them go. A project whose name another one
/// gets comes before that one.
fn moves(unsettled: &Unsettled) -> Vec<(String, String)> {
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
        // Names that wait for each other in a circle: any order is as good.
        let next = free.or_else(|| pending.iter().next());
        let Some((from, into)) = next.map(|(from, into)| (from.clone(), into.clone())) else {
            break;
        };
        pending.remove(&from);
        ordered.push((from, into));
    }
    ordered
}

/// Whether no folder belongs to a project any more, so that its files are not wanted.
pub(super) async fn is_abandoned(shop: &Workshop, scope: &Scope) -> Result<bool, WorkError> {
    if scope.kind != ScopeKind::Project || !folder(&shop.root, scope).is_dir() {
        return Ok(false);
    }
    let places = shop.store.places(&scope.tenant).await?;
    Ok(!places
        .iter()
        .any(|(_, key)| key.as_ref() == Some(&scope.name)))
}
