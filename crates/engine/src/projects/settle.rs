//! Finds folders whose stored project differs from the one that follows from the stored evidence.
//!
//! The evidence is stored beside the events that show it, so that any process can settle projects at any
//! time, with the same result.
//!
//! Not here: moving observations along with a folder (`jobs`).

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::page::read_all;
use daybook_domain::seams::PlaceStore;
use daybook_domain::{
    Project, RemoteCount, RemoteEvidence, RemoteSource, RootRecord, StoreError, Tenant, Timestamp,
};

use super::assign::{AssignmentBasis, ProjectAssignment, RootFacts, assign, key_apart, stale};
use crate::places::checkout::checkout;
use crate::places::stored_path::{path_on_disk, stored_path};
use daybook_text::names::redact_key;
use daybook_text::redact::Redactor;

/// A folder whose project has to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootChange {
    /// The folder.
    pub root: String,
    /// Key of its stored project.
    pub from: Option<String>,
    /// Its new project.
    pub to: ProjectAssignment,
}

/// The changes that settling a tenant's projects requires.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectChanges {
    /// Folders whose project changes.
    pub changes: Vec<RootChange>,
    /// Keys of folders that keep theirs.
    pub stay: BTreeSet<String>,
    /// Identities that no folder has any more.
    pub stale: Vec<String>,
}

/// Compares the stored projects of a tenant's folders with those that follow from the evidence.
///
/// # Errors
/// When the store fails.
pub async fn find_project_changes(
    store: &dyn PlaceStore,
    tenant: &Tenant,
) -> Result<ProjectChanges, StoreError> {
    let known = read_all(|page| store.projects(tenant, page)).await?;
    let roots = root_facts(store, tenant, &known).await?;
    let assigned = assign(&roots, &known);
    let mut unsettled = ProjectChanges {
        stale: stale(&assigned, &known)
            .into_iter()
            .map(|project| project.identity.clone())
            .collect(),
        ..ProjectChanges::default()
    };
    for (root, to) in assigned {
        let facts = &roots[&root];
        let stays = facts.project.as_ref() == Some(&to.project.key);
        if stays {
            unsettled.stay.insert(to.project.key.clone());
        }
        if !stays || facts.derived != to.derived || !known.contains(&to.project) {
            let from = facts.project.clone();
            unsettled.changes.push(RootChange { root, from, to });
        }
    }
    Ok(unsettled)
}

/// What each folder's present project rests on.
///
/// # Errors
/// When the store fails.
pub async fn assignment_bases(
    store: &dyn PlaceStore,
    tenant: &Tenant,
) -> Result<BTreeMap<String, AssignmentBasis>, StoreError> {
    let known = read_all(|page| store.projects(tenant, page)).await?;
    let roots = root_facts(store, tenant, &known).await?;
    let assigned = assign(&roots, &known).into_iter();
    Ok(assigned.map(|(root, to)| (root, to.basis)).collect())
}

async fn root_facts(
    store: &dyn PlaceStore,
    tenant: &Tenant,
    known: &[Project],
) -> Result<BTreeMap<String, RootFacts>, StoreError> {
    let mut branches: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (place, _) in store.places(tenant).await? {
        branches.entry(place.root).or_default().extend(place.branch);
    }
    let records = store.roots(tenant).await?;
    let roots = records.into_iter().map(|record| {
        let branches = branches.remove(&record.root).unwrap_or_default();
        let root = record.root.clone();
        (root, facts(record, branches, known))
    });
    Ok(roots.collect())
}

/// Assigns a project to each folder without one, before anything is learned from it. Moves no observation,
/// so that every interface may call it.
///
/// # Errors
/// When the store fails.
pub async fn settle_new_roots(
    store: &dyn PlaceStore,
    tenant: &Tenant,
    now: Timestamp,
) -> Result<(), StoreError> {
    let unsettled = find_project_changes(store, tenant).await?;
    let known = read_all(|page| store.projects(tenant, page)).await?;
    let new = unsettled.changes.into_iter().filter(|c| c.from.is_none());
    for RootChange { root, to, .. } in new {
        let mut project = to.project;
        let is_other = |other: &Project| other.key == project.key && *other != project;
        if known
            .iter()
            .any(|other| other.identity == project.identity && other.key != project.key)
        {
            // The project has another key, which it keeps until all of it moves.
            let other = known
                .iter()
                .find(|other| other.identity == project.identity);
            project.key = other.map_or(project.key, |other| other.key.clone());
        } else if known
            .iter()
            .any(|other| other.identity != project.identity && is_other(other))
        {
            project.key = key_apart(&project.identity);
        }
        apply(
            store,
            tenant,
            &root,
            &ProjectAssignment { project, ..to },
            now,
        )
        .await?;
    }
    Ok(())
}

/// Stores a folder's project; the observations made there move with it.
///
/// # Errors
/// When the store fails.
pub async fn apply(
    store: &dyn PlaceStore,
    tenant: &Tenant,
    root: &str,
    to: &ProjectAssignment,
    now: Timestamp,
) -> Result<(), StoreError> {
    if to.derived {
        store.derive_root(tenant, root, &to.project, now).await
    } else {
        store.assign_root(tenant, root, &to.project, now).await
    }
}

/// The evidence as it is stored: its folder as in the places of events. `None` if its remote holds a secret.
#[must_use]
pub fn redact_evidence(redactor: &Redactor, evidence: RemoteEvidence) -> Option<RemoteEvidence> {
    let is_plain = redactor.redact(&evidence.remote).findings.is_empty();
    is_plain.then(|| RemoteEvidence {
        root: redact_key(redactor, &evidence.root).into_owned(),
        ..evidence
    })
}

fn facts(record: RootRecord, branches: BTreeSet<String>, known: &[Project]) -> RootFacts {
    let is_settled = !record.derived
        && record.project.as_ref().is_some_and(|key| {
            known
                .iter()
                .any(|project| project.key == *key && !project.guessed)
        });
    // A folder that was settled for good is not read again: another may have its path by now.
    let found = (!is_settled)
        .then(|| checkout(&path_on_disk(&record.root)))
        .flatten();
    let (seen_remote, common_dir) = match found {
        Some(found) => (found.remote, Some(stored_path(&found.common_dir))),
        None => (None, None),
    };
    RootFacts {
        seen_remote,
        shown_remote: strongest(&record.remotes),
        common_dir,
        project: record.project,
        derived: record.derived,
        first_at: record.first_at,
        branches,
    }
}

/// The remote with the strongest source; of equal ones, the one that most sessions show. An output whose command was
/// not read counts for nothing.
fn strongest(remotes: &[RemoteCount]) -> Option<String> {
    let weight = |count: &&RemoteCount| {
        let RemoteCount {
            source,
            remote,
            sessions,
        } = *count;
        (*source, std::cmp::Reverse(*sessions), remote.clone())
    };
    remotes
        .iter()
        .filter(|count| count.source != RemoteSource::UnplacedOutput)
        .min_by_key(weight)
        .map(|count| count.remote.clone())
}
