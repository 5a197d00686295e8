//! Withdraws observations whose entries a person deleted, and reinstates those whose entries a person brought back.
//!
//! Not here: which entries these are (`files`).

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::seams::ObservationStore;
use daybook_domain::{Observation, ObservationId, Scope};

use super::{WorkError, WorkerContext};
use crate::consolidate::ScopeMemory;
use crate::files::WriterLock;
use crate::files::entry::EntryId;
use crate::files::layout::{SUMMARY, pages};
use crate::files::persons_changes::PersonsChanges;
use crate::files::withdrawn::{self, WithdrawnObservation};

/// Retracts observations whose entries a person has deleted from the files. Returns whether that changed an
/// observation. An entry that they brought back in another file is not deleted: it would be reinstated at once, and both
/// would be done again by each consolidation, without an end.
pub(super) async fn retract_deleted(
    worker: &WorkerContext,
    scope: &Scope,
    lock: &WriterLock<'_>,
    changes: &PersonsChanges,
    memory: &ScopeMemory,
) -> Result<bool, WorkError> {
    if changes.gone.is_empty() {
        return Ok(false);
    }
    let returned = returned_entries(changes);
    let mut shown: BTreeMap<ObservationId, EntryId> = BTreeMap::new();
    for (path, page) in pages(memory) {
        let Some(gone) = changes.gone.get(&path) else {
            continue;
        };
        let page = page.page();
        for entry in page.sections.iter().flat_map(|section| &section.entries) {
            let id = EntryId::of(&entry.key);
            if gone.contains(&id) && !returned.contains(&id) {
                let observations = entry.observations.iter();
                shown.extend(observations.map(|observation| (*observation, id.clone())));
            }
        }
    }
    withdraw(worker, scope, lock, &shown).await
}

/// Retracts observations, each shown in an entry, after they were recorded. Returns whether one of them held.
pub(super) async fn withdraw(
    worker: &WorkerContext,
    scope: &Scope,
    lock: &WriterLock<'_>,
    shown: &BTreeMap<ObservationId, EntryId>,
) -> Result<bool, WorkError> {
    if shown.is_empty() {
        return Ok(false);
    }
    let held = ObservationStore::observations(&*worker.store, scope).await?;
    let records: Vec<WithdrawnObservation> = held
        .into_iter()
        .filter_map(|observation| {
            let entry = shown.get(&observation.id)?;
            Some(WithdrawnObservation::new(entry, observation))
        })
        .collect();
    withdrawn::add(lock, &records)?;
    let mut changed = false;
    for id in shown.keys() {
        changed |= worker.store.retract(scope, *id, worker.clock.now()).await?;
    }
    Ok(changed)
}

/// Reinstates the withdrawn observations of entries that stand in a file again. Returns whether there were any.
pub(super) async fn reinstate_returned(
    worker: &WorkerContext,
    lock: &WriterLock<'_>,
    changes: &PersonsChanges,
) -> Result<bool, WorkError> {
    let returned = returned_entries(changes);
    if returned.is_empty() {
        return Ok(false);
    }
    let is_back = |one: &WithdrawnObservation| returned.iter().any(|entry| one.is_of(entry));
    reinstate_where(worker, lock, is_back).await
}

/// The entries that stand in a file again.
fn returned_entries(changes: &PersonsChanges) -> BTreeSet<EntryId> {
    let returned = changes.returned.iter();
    // A line of the summary repeats one of another page, and stands for no observation.
    let returned = returned.filter(|(path, _)| path.as_str() != SUMMARY);
    returned
        .flat_map(|(_, markers)| markers.iter().map(|marker| marker.id()))
        .collect()
}

/// Reinstates the withdrawn observations that `is_wanted` selects. Returns whether there were any.
pub(super) async fn reinstate_where(
    worker: &WorkerContext,
    lock: &WriterLock<'_>,
    is_wanted: impl Fn(&WithdrawnObservation) -> bool,
) -> Result<bool, WorkError> {
    let recorded = withdrawn::load(lock.folder())?.into_iter();
    let back: Vec<Observation> = recorded
        .filter(is_wanted)
        .map(|one| one.observation)
        .collect();
    for observation in &back {
        let now = worker.clock.now();
        worker.store.reinstate(observation, now).await?;
    }
    let ids: Vec<ObservationId> = back.iter().map(|observation| observation.id).collect();
    if !ids.is_empty() {
        withdrawn::remove(lock, &ids)?;
    }
    Ok(!ids.is_empty())
}
