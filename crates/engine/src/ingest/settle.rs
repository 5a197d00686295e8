//! Which folders belong to another project than the store says, by all that is stored of them.
//!
//! The evidence lies in the store, beside the events that show it, so that settling can be done at
//! any time and by any process: it comes out the same.
//!
//! Not here: what moves with a folder; that is `jobs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use daybook_domain::seams::Store;
use daybook_domain::{
    Origin, Place, Project, RemoteCount, RemoteEvidence, RemoteSource, RootRecord, StoreError,
    Tenant, Timestamp,
};

use super::RawEvent;
use super::checkout::checkout;
use super::projects::{Assigned, RootFacts, assign, key_apart, shown_remote, stale};
use super::redact::Redactor;

/// A folder that belongs to another project than the store says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootChange {
    /// The folder.
    pub root: String,
    /// Key of the project that it belongs to at present.
    pub from: Option<String>,
    /// Where it belongs.
    pub to: Assigned,
}

/// What there is to settle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unsettled {
    /// Folders that belong elsewhere.
    pub changes: Vec<RootChange>,
    /// Keys that folders without a change have.
    pub stay: BTreeSet<String>,
    /// Identities that stand for nothing any more.
    pub stale: Vec<String>,
}

/// Compares what the store says of a tenant's folders with what follows from the evidence.
///
/// # Errors
/// When the store fails.
pub async fn unsettled(store: &dyn Store, tenant: &Tenant) -> Result<Unsettled, StoreError> {
    let records = store.roots(tenant).await?;
    let known = store.projects(tenant).await?;
    let roots: BTreeMap<String, RootFacts> = records
        .into_iter()
        .map(|record| (record.root.clone(), facts(record, &known)))
        .collect();
    let assigned = assign(&roots, &known);
    let mut unsettled = Unsettled {
        stale: stale(&assigned, &known)
            .into_iter()
            .map(|project| project.identity.clone())
            .collect(),
        ..Unsettled::default()
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

/// Gives each folder without a project one, before anything is learned from it. Moves nothing, so that
/// every door may ask for it.
///
/// # Errors
/// When the store fails.
pub async fn settle_new_roots(
    store: &dyn Store,
    tenant: &Tenant,
    now: Timestamp,
) -> Result<(), StoreError> {
    let unsettled = unsettled(store, tenant).await?;
    let known = store.projects(tenant).await?;
    let new = unsettled.changes.into_iter().filter(|c| c.from.is_none());
    for RootChange { root, to, .. } in new {
        let mut project = to.project;
        let is_other = |other: &Project| other.key == project.key && *other != project;
        if known
            .iter()
            .any(|other| other.identity == project.identity && other.key != project.key)
        {
            // It is known by another name, which it has until all of it moves.
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
        apply(store, tenant, &root, &Assigned { project, ..to }, now).await?;
    }
    Ok(())
}

/// Notes where a folder belongs; what was observed there moves with it.
///
/// # Errors
/// When the store fails.
pub async fn apply(
    store: &dyn Store,
    tenant: &Tenant,
    root: &str,
    to: &Assigned,
    now: Timestamp,
) -> Result<(), StoreError> {
    if to.derived {
        store.derive_root(tenant, root, &to.project, now).await
    } else {
        store.assign_root(tenant, root, &to.project, now).await
    }
}

/// What an event shows of the remote of the folder that it happened in. A remote that holds a secret
/// is no evidence: it would be kept as it is.
#[must_use]
pub fn output_evidence(redactor: &Redactor, event: &RawEvent) -> Option<RemoteEvidence> {
    let evidence = RemoteEvidence {
        event: Some(event.id),
        ..shown_by_output(event.origin, event.place.as_ref(), &event.text)?
    };
    is_plain(redactor, &evidence).then_some(evidence)
}

/// What stored words show of the remote of the folder that they were said in, whichever event's they are.
#[must_use]
pub fn shown_by_output(
    origin: Origin,
    place: Option<&Place>,
    text: &str,
) -> Option<RemoteEvidence> {
    if origin != Origin::ToolResult {
        return None;
    }
    Some(RemoteEvidence {
        event: None,
        root: place?.root.clone(),
        remote: shown_remote(text)?,
        source: RemoteSource::Output,
    })
}

/// Whether evidence holds no secret.
#[must_use]
pub fn is_plain(redactor: &Redactor, evidence: &RemoteEvidence) -> bool {
    redactor.redact(&evidence.remote).text == evidence.remote
}

fn facts(record: RootRecord, known: &[Project]) -> RootFacts {
    let is_settled = !record.derived
        && record.project.as_ref().is_some_and(|key| {
            known
                .iter()
                .any(|project| project.key == *key && !project.guessed)
        });
    // What was settled for good is not looked at again: it may be another folder by now.
    let here = (!is_settled)
        .then(|| checkout(Path::new(&record.root)))
        .flatten();
    let (seen_remote, common_dir) = match here {
        Some(here) => (
            here.remote,
            Some(here.common_dir.to_string_lossy().into_owned()),
        ),
        None => (None, None),
    };
    RootFacts {
        seen_remote,
        shown_remote: strongest(&record.remotes),
        common_dir,
        project: record.project,
        derived: record.derived,
        first_at: record.first_at,
    }
}

/// Of several remotes, the one with the strongest source, then the one that most sessions show.
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
        .min_by_key(weight)
        .map(|count| count.remote.clone())
}
