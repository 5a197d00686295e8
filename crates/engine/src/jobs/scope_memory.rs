//! Builds a scope's memory from what the store holds, and from what a person decided in its files.
//!
//! Not here: writing it (`consolidate`).

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::page::read_all;
use daybook_domain::seams::{ObservationStore, ScopeState, Store};
use daybook_domain::{
    ExtractionRecord, Observation, ObservationKind, Proposal, Scope, ScopeKind, SessionId,
    StoreError, Tenant, Use,
};
use daybook_text::fence::without_citations;
use jiff::tz::TimeZone;

use super::proposal_record::proposal_record;
use super::selection::{SelectionPlan, select};
use super::withdrawals::{reinstate_returned, retract_deleted};
use super::{PersonSessions, WorkError, WorkerContext};
use crate::consolidate::{FileLayout, MemoryInput, ScopeMemory, consolidate_parsed, promoted};
use crate::files::WriterLock;
use crate::files::layout::folder;
use crate::files::parsed_texts::FolderTexts;
use crate::files::persons_changes::{keep_returned, persons_changes};
use crate::files::persons_lines::PersonsLines;
use crate::files::stamp::CommitStamp;
use crate::projects::assign::has_own_key;

/// Where a memory is built from.
#[derive(Clone, Copy)]
pub struct MemorySource<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// The person's name.
    pub person: &'a str,
    /// The time zone of dates.
    pub zone: &'a TimeZone,
    /// Which files the memory has.
    pub layout: FileLayout,
}

impl<'a> From<&'a WorkerContext> for MemorySource<'a> {
    fn from(worker: &'a WorkerContext) -> Self {
        Self {
            store: &*worker.store,
            person: &worker.person,
            zone: &worker.zone,
            layout: worker.limits.consolidation.layout,
        }
    }
}

/// Builds the memory of a locked folder's scope, after everything that a person changed in the folder has taken
/// effect: what they deleted is retracted, what they brought back holds again. `loaded` is the memory with the lines that
/// a person changed so far.
pub(super) async fn settle_memory(
    worker: &WorkerContext,
    scope: &Scope,
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    loaded: Option<(PersonsLines, ScopeMemory)>,
) -> Result<(ScopeMemory, Option<SelectionPlan>), WorkError> {
    let texts = FolderTexts::of(lock.folder().root());
    let changes = persons_changes(lock, stamp)?;
    let persons = PersonsLines::load(lock.folder())?;
    let memory = match loaded {
        Some((known, memory)) if known == persons => memory,
        _ => load_memory(&worker.into(), scope, &persons, &texts).await?,
    };
    let retracted = retract_deleted(worker, scope, lock, &changes, &memory).await?;
    let reinstated = reinstate_returned(worker, lock, &changes).await?;
    let (mut memory, persons) = match retracted || reinstated {
        true => {
            let persons = PersonsLines::load(lock.folder())?;
            let memory = load_memory(&worker.into(), scope, &persons, &texts).await?;
            let ended = &memory.supersessions;
            worker.store.set_supersessions(scope, ended).await?;
            (memory, persons)
        }
        false => (memory, persons),
    };
    let plan = select_sessions(worker, scope, &mut memory, &persons).await?;
    keep_returned(lock, &changes, &memory)?;
    Ok((memory, plan))
}

/// Selects the sessions that have files of their own in place of pages, where the layout asks for it.
pub(super) async fn select_sessions(
    worker: &WorkerContext,
    scope: &Scope,
    memory: &mut ScopeMemory,
    persons: &PersonsLines,
) -> Result<Option<SelectionPlan>, StoreError> {
    if worker.limits.consolidation.layout != FileLayout::Codex {
        return Ok(None);
    }
    let observations = ObservationStore::observations(&*worker.store, scope).await?;
    select_among(worker, scope, memory, (persons, observations)).await
}

/// [`select_sessions`] with these observations of the scope.
pub(super) async fn select_among(
    worker: &WorkerContext,
    scope: &Scope,
    memory: &mut ScopeMemory,
    (persons, observations): (&PersonsLines, Vec<Observation>),
) -> Result<Option<SelectionPlan>, StoreError> {
    let source = worker.into();
    let texts = FolderTexts::of(&folder(&worker.root, scope));
    let mut input = memory_input(&source, scope, observations, (persons, &texts)).await?;
    input.persons.reworded.clone_from(&memory.reworded);
    let plan = select(worker, scope, &input).await?;
    if let Some(plan) = &plan {
        memory.rollouts = Some(plan.rollouts.clone());
        memory.dated.drop_session_pages();
    }
    Ok(plan)
}

/// Builds the scope's memory from the store.
pub(super) async fn load_memory(
    source: &MemorySource<'_>,
    scope: &Scope,
    persons: &PersonsLines,
    texts: &FolderTexts,
) -> Result<ScopeMemory, StoreError> {
    let observations = ObservationStore::observations(source.store, scope).await?;
    let input = memory_input(source, scope, observations, (persons, texts)).await?;
    Ok(build(input, texts))
}

/// Builds a memory with the parsed texts of its folder.
pub(super) fn build(input: MemoryInput, texts: &FolderTexts) -> ScopeMemory {
    consolidate_parsed(input, &mut texts.lock())
}

/// The input of a scope's memory with these of its own observations.
pub(super) async fn memory_input(
    source: &MemorySource<'_>,
    scope: &Scope,
    mut observations: Vec<Observation>,
    (persons, texts): (&PersonsLines, &FolderTexts),
) -> Result<MemoryInput, StoreError> {
    let tenant = &scope.tenant;
    let mut title = scope.name.clone();
    let mut extractions = Vec::new();
    match scope.kind {
        ScopeKind::Project => {
            let extracted = source.store.extractions_in_project(tenant, &scope.name);
            extractions = of_project(source, extracted.await?).await?;
            let projects = read_all(|page| source.store.projects(tenant, page)).await?;
            let mut own = projects.iter().filter(|p| p.key == scope.name);
            // A name that a person gave is the title; otherwise the identity is more descriptive than its
            // key.
            if let Some(project) = own.find(|project| has_own_key(project)) {
                title = short_name(&project.identity);
            }
        }
        ScopeKind::User | ScopeKind::Agent | ScopeKind::Team | ScopeKind::Room => {
            if scope.kind != ScopeKind::User {
                title = format!("{} {title}", scope.kind.as_str());
            }
            let mut own = PersonSessions::new(source.store, source.person, scope);
            if scope.kind == ScopeKind::User {
                observations.extend(repeated_preferences(source, scope, &mut own, texts).await?);
            }
            for record in source.store.extractions_without_root(tenant).await? {
                if own.contains(&record.session).await? {
                    extractions.push(record);
                }
            }
        }
    }
    Ok(MemoryInput {
        scope: scope.clone(),
        title: without_citations(&title).into_owned(),
        person: match scope.kind {
            ScopeKind::User => scope.name.clone(),
            ScopeKind::Project => source.person.to_owned(),
            // Several people talk with an agent, a team, and in a room.
            ScopeKind::Agent => "people".to_owned(),
            ScopeKind::Team => "the team".to_owned(),
            ScopeKind::Room => "the room".to_owned(),
        },
        uses: uses_of(source.store, tenant, &observations).await?,
        persons: persons.about(&observations),
        proposals: accepted_proposals(source.store, scope).await?,
        observations,
        extractions,
        zone: source.zone.clone(),
        layout: source.layout,
    })
}

/// The records of sessions that are accounted for in a project: neither those of a room or a team, whose words are theirs
/// wherever their agents work, nor those of a person with one memory over all projects.
async fn of_project(
    source: &MemorySource<'_>,
    records: Vec<ExtractionRecord>,
) -> Result<Vec<ExtractionRecord>, StoreError> {
    let has_root = |record: &ExtractionRecord| {
        let digest = record.digest.as_ref();
        digest.is_some_and(|digest| digest.root.is_some())
    };
    let rooted = records.iter().filter(|record| has_root(record));
    let rooted: BTreeSet<SessionId> = rooted.map(|record| record.session.clone()).collect();
    let mut of_others: BTreeMap<SessionId, bool> = BTreeMap::new();
    for record in &records {
        let id = &record.session;
        if rooted.contains(id) || of_others.contains_key(id) {
            continue;
        }
        let session = source.store.session(id).await?;
        let is_shared = session.is_some_and(|session| {
            let scope = session.filing_scope();
            scope.is_some_and(|scope| scope.kind != ScopeKind::Project)
        });
        of_others.insert(id.clone(), is_shared || source.layout.is_one_for_person());
    }
    let records = records.into_iter();
    let own = records.filter(|record| of_others.get(&record.session) != Some(&true));
    Ok(own.collect())
}

/// What a model proposed for the scope. A record that cannot be read counts as none: the memory is built without it.
async fn accepted_proposals(store: &dyn Store, scope: &Scope) -> Result<Vec<Proposal>, StoreError> {
    Ok(proposal_record(store, scope).await?.accepted)
}

/// Uses of the sessions that the observations rest on.
async fn uses_of(
    store: &dyn Store,
    tenant: &Tenant,
    observations: &[Observation],
) -> Result<Vec<Use>, StoreError> {
    let evidence = observations.iter().flat_map(|it| &it.evidence);
    let sessions: BTreeSet<&SessionId> = evidence.map(|it| &it.session).collect();
    if sessions.is_empty() {
        return Ok(Vec::new());
    }
    let sessions: Vec<SessionId> = sessions.into_iter().cloned().collect();
    store.uses(tenant, &sessions).await
}

/// Preferences stated in more than one project: they are promoted to the person's scope.
async fn repeated_preferences(
    source: &MemorySource<'_>,
    person: &Scope,
    own: &mut PersonSessions<'_>,
    texts: &FolderTexts,
) -> Result<Vec<Observation>, StoreError> {
    // What is in one project alone, or in none, is not looked through.
    let scopes = read_all(|page| source.store.scopes(&person.tenant, page)).await?;
    let has_observations =
        |state: &&ScopeState| state.scope.kind == ScopeKind::Project && state.observations > 0;
    if scopes.iter().filter(has_observations).count() < 2 {
        return Ok(Vec::new());
    }
    let kinds = [ObservationKind::Preference, ObservationKind::Correction];
    let stated = source
        .store
        .observations_of_kinds(&person.tenant, ScopeKind::Project, &kinds)
        .await?;
    let mut theirs = Vec::new();
    for mut observation in stated {
        let mut evidence = Vec::new();
        for piece in observation.evidence.drain(..) {
            if own.contains(&piece.session).await? {
                evidence.push(piece);
            }
        }
        observation.evidence = evidence;
        if !observation.evidence.is_empty() {
            theirs.push(observation);
        }
    }
    Ok(promoted(theirs, person, &mut texts.lock()))
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
