//! One consolidation: what holds in a scope becomes its memory files.

use std::collections::BTreeSet;
use std::path::Path;

use daybook_domain::seams::{ExtractionStore, Index};
use daybook_domain::{
    Claimed, Failure, FailureClass, FinishOutcome, JobKey, Observation, ObservationId,
    ObservationKind, Scope, ScopeKind, StoreError, Wait,
};

use tracing::field::Empty;
use tracing::{Span, info_span, warn};

use super::entities::{staged_for, write_staged};
use super::settle::is_abandoned;
use super::{OwnSessions, WorkError, Workshop};
use crate::consolidate::{Brief, Memory, consolidate as build, promoted};
use crate::files::adopt::{has_own_words, set_aside};
use crate::files::audit::is_missing;
use crate::files::entry::EntryId;
use crate::files::layout::{folder, pages, wall};
use crate::files::page::Orphans;
use crate::files::post::{deletions, post};
use crate::files::reindex::{forget, reindex};
use crate::files::stamp::Stamp;
use crate::files::unwritten::Unwritten;
use crate::files::write::WriteOutcome;
use crate::files::{FilesConfig, FilesError, Folder, LockOutcome, WriterLock};
use crate::ingest::projects::has_own_key;
use crate::stage::within;

/// How one consolidation went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Consolidating {
    /// Files were written, all but these.
    Written(Vec<Unwritten>),
    /// They were right already, all but these.
    Right(Vec<Unwritten>),
    /// It failed; the job knows when to try again.
    Failed(Failure),
    /// Another worker has the job now.
    Lost,
}

/// Does the claimed job.
pub(super) async fn consolidate(
    shop: &Workshop,
    claimed: &Claimed,
    scope: &Scope,
) -> Result<Consolidating, WorkError> {
    let span = info_span!(
        "consolidate",
        %scope,
        revision = claimed.upto,
        class = Empty,
        outcome = Empty,
    );
    within(span, write_and_finish(shop, claimed, scope), note).await
}

fn note(span: &Span, consolidating: &Consolidating) {
    let outcome = match consolidating {
        Consolidating::Written(_) => "written",
        Consolidating::Right(_) => "right",
        Consolidating::Failed(failure) => {
            span.record("class", failure.class.word());
            "failed"
        }
        Consolidating::Lost => "lost",
    };
    span.record("outcome", outcome);
}

async fn write_and_finish(
    shop: &Workshop,
    claimed: &Claimed,
    scope: &Scope,
) -> Result<Consolidating, WorkError> {
    match write(shop, claimed, scope).await {
        Ok(Consolidating::Lost) => Ok(Consolidating::Lost),
        Ok(outcome) => {
            let now = shop.clock.now();
            match shop.store.finish(&claimed.token, claimed.upto, now).await? {
                FinishOutcome::LeaseLost => Ok(Consolidating::Lost),
                FinishOutcome::Complete | FinishOutcome::StillDue => Ok(outcome),
            }
        }
        Err(WorkError::Files(error)) => {
            // A disk, or a person at work, is waited for: no try is spent on it.
            let mut message = error.to_string();
            if let Some(cause) = std::error::Error::source(&error) {
                message.push_str(&format!(": {cause}"));
            }
            let failure = Failure {
                class: FailureClass::Outage,
                message,
            };
            let _ = shop.fail(claimed, failure.clone(), Wait::Unsaid).await?;
            Ok(Consolidating::Failed(failure))
        }
        Err(error) => Err(error),
    }
}

async fn write(
    shop: &Workshop,
    claimed: &Claimed,
    scope: &Scope,
) -> Result<Consolidating, WorkError> {
    let path = folder(&shop.root, scope);
    let mut memory = remembered(shop, scope).await?;
    let staged = staged_for(&*shop.store, scope, &shop.person).await?;
    let is_silent = says_nothing(&memory) && staged.is_empty();
    if is_silent && !is_begun(shop, &path, scope).await? {
        return Ok(Consolidating::Right(Vec::new()));
    }
    if is_silent && shop.sharing().is_none() && is_abandoned(shop, scope).await? {
        // Written by a process that did not know yet that its folders had gone to another project.
        if !has_own_words(&path) {
            set_aside(&wall(&shop.root, &scope.tenant), &path, &scope.name)?;
            forget(&*shop.store, scope, shop.clock.now()).await?;
            return Ok(Consolidating::Right(Vec::new()));
        }
    }
    if is_lost(shop, &path, scope).await? {
        return Err(FilesError::Missing { path }.into());
    }
    let folder = Folder::open(&path, FilesConfig::default())?;
    let lock = match folder.try_lock(shop.limits.folder_wait)? {
        LockOutcome::Held(lock) => lock,
        LockOutcome::Busy => return wait_for_writer(shop, claimed).await,
    };
    let (now, stamp) = (shop.clock.now(), shop.stamp());
    if let Some(sharing) = shop.sharing() {
        sharing.meet(scope, &lock, &stamp).await?;
    }
    let until = now.plus(shop.limits.lease);
    let holds_lease = || shop.clock.now() < until;
    if !staged.is_empty() && !write_staged(shop, &staged, &lock, &stamp, &holds_lease).await? {
        return Ok(Consolidating::Lost);
    }
    if retract_deleted(shop, scope, &lock, &stamp, &memory).await? {
        memory = remembered(shop, scope).await?;
    }
    let key = JobKey::Consolidate(scope.clone());
    let first_time = shop.store.job(&key).await?.is_none_or(|job| job.done == 0);
    let orphans = if first_time {
        Orphans::Disown
    } else {
        Orphans::Remove
    };
    let message = message(&memory);
    let posted = post(&lock, &memory, orphans, &stamp, &message, &holds_lease)?;
    match shop.sharing() {
        Some(sharing) => {
            sharing.hand_over(scope, &lock, &stamp).await?;
        }
        None => {
            drop(lock);
            reindex(&*shop.store, &shop.root, scope, now).await?;
        }
    }
    for unwritten in &posted.unwritten {
        warn!(%scope, page = %unwritten.page, why = unwritten.why, "a page was not written");
    }
    Ok(match posted.outcome {
        WriteOutcome::Written(_) => Consolidating::Written(posted.unwritten),
        WriteOutcome::Unchanged(_) => Consolidating::Right(posted.unwritten),
        WriteOutcome::LeaseLost => Consolidating::Lost,
    })
}

/// Whether memory files of the scope were ever written.
async fn is_begun(shop: &Workshop, path: &Path, scope: &Scope) -> Result<bool, StoreError> {
    Ok(path.exists()
        || match &shop.trees {
            Some(trees) => trees.tree_head(scope).await?.is_some(),
            None => false,
        })
}

/// Whether the folder is missing with its history, though its files were indexed. A machine that shares a
/// memory makes its folders from what is shared.
async fn is_lost(shop: &Workshop, path: &Path, scope: &Scope) -> Result<bool, StoreError> {
    if shop.trees.is_some() || !is_missing(path).unwrap_or(false) {
        return Ok(false);
    }
    Ok(!Index::file_stamps(&*shop.store, scope).await?.is_empty())
}

/// Another process writes the folder just now: the job comes back, at no cost.
async fn wait_for_writer(shop: &Workshop, claimed: &Claimed) -> Result<Consolidating, WorkError> {
    let message = "another process is writing this memory".to_owned();
    let failure = Failure {
        class: FailureClass::Outage,
        message,
    };
    let _ = shop.fail(claimed, failure, Wait::Unsaid).await?;
    Ok(Consolidating::Lost)
}

/// Withdraws what a person has deleted from the files. True when that changed what is believed.
async fn retract_deleted(
    shop: &Workshop,
    scope: &Scope,
    lock: &WriterLock<'_>,
    stamp: &Stamp,
    memory: &Memory,
) -> Result<bool, WorkError> {
    let gone = deletions(lock, stamp)?;
    if gone.is_empty() {
        return Ok(false);
    }
    let pages = pages(memory);
    let entries = pages
        .values()
        .flat_map(|page| &page.sections)
        .flat_map(|s| &s.entries);
    let withdrawn: BTreeSet<ObservationId> = entries
        .filter(|entry| gone.contains(&EntryId::of(&entry.key)))
        .flat_map(|entry| entry.observations.iter().copied())
        .collect();
    let mut changed = false;
    for id in withdrawn {
        changed |= shop.store.retract(scope, id, shop.clock.now()).await?;
    }
    Ok(changed)
}

fn says_nothing(memory: &Memory) -> bool {
    pages(memory)
        .values()
        .flat_map(|page| &page.sections)
        .all(|section| section.entries.is_empty())
}

fn message(memory: &Memory) -> String {
    let entries: usize = memory
        .curated
        .sections
        .iter()
        .map(|s| s.entries.len())
        .sum();
    let sessions = memory.sessions.len();
    format!("Post {entries} entries from {sessions} sessions")
}

/// All that the scope's memory says now.
async fn remembered(shop: &Workshop, scope: &Scope) -> Result<Memory, StoreError> {
    let mut observations = ExtractionStore::observations(&*shop.store, scope).await?;
    let tenant = &scope.tenant;
    let mut title = scope.name.clone();
    let mut extractions = Vec::new();
    match scope.kind {
        ScopeKind::Project => {
            extractions = shop.store.extractions(tenant, Some(&scope.name)).await?;
            let projects = shop.store.projects(tenant).await?;
            let mut own = projects.iter().filter(|p| p.key == scope.name);
            // A name that a person gave is the title; else the identity says more than its key.
            if let Some(project) = own.find(|project| has_own_key(project)) {
                title = short_name(&project.identity);
            }
        }
        ScopeKind::User => {
            let mut own = OwnSessions::of(&*shop.store, &shop.person, scope);
            observations.extend(said_everywhere(shop, scope, &mut own).await?);
            for record in shop.store.extractions(tenant, None).await? {
                let homeless = record.digest.as_ref().is_some_and(|d| d.root.is_none());
                if homeless && own.has(&record.session).await? {
                    extractions.push(record);
                }
            }
        }
        ScopeKind::Agent | ScopeKind::Team | ScopeKind::Room => {}
    }
    Ok(build(&Brief {
        scope: scope.clone(),
        title,
        person: match scope.kind {
            ScopeKind::User => scope.name.clone(),
            _ => shop.person.clone(),
        },
        observations,
        extractions,
        zone: shop.zone.clone(),
    }))
}

/// Preferences that were said in more than one project: they are the person's own.
async fn said_everywhere(
    shop: &Workshop,
    person: &Scope,
    own: &mut OwnSessions<'_>,
) -> Result<Vec<Observation>, StoreError> {
    let mut said = Vec::new();
    for state in shop.store.scopes(&person.tenant).await? {
        if state.scope.kind != ScopeKind::Project {
            continue;
        }
        let here = ExtractionStore::observations(&*shop.store, &state.scope).await?;
        for mut observation in here {
            let personal = matches!(
                observation.kind,
                ObservationKind::Preference | ObservationKind::Correction
            );
            if !personal {
                continue;
            }
            let mut theirs = Vec::new();
            for evidence in observation.evidence.drain(..) {
                if own.has(&evidence.session).await? {
                    theirs.push(evidence);
                }
            }
            observation.evidence = theirs;
            if !observation.evidence.is_empty() {
                said.push(observation);
            }
        }
    }
    Ok(promoted(said, person))
}

/// `ada/engine` of `github.com/ada/engine`; the last part of a folder.
fn short_name(identity: &str) -> String {
    let parts: Vec<&str> = identity.trim_matches('/').split('/').collect();
    let is_folder = identity.starts_with('/') || identity.contains('\\');
    match parts.as_slice() {
        [.., owner, name] if !is_folder && parts.len() > 2 => format!("{owner}/{name}"),
        [.., name] => (*name).to_owned(),
        [] => identity.to_owned(),
    }
}
