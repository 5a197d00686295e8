//! Selects the sessions that a consolidation reads, where settings ask for a selection, and delays consolidations
//! that no person requested.
//!
//! The selection is stored with the finish of a consolidation that succeeded, and never before: after a crash the
//! next run compares with the same one.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::eligibility::eligible;
use daybook_domain::{
    ClaimedJob, JobKey, Priority, Scope, SelectedSession, SelectionDiff, SelectionRecord,
    SessionId, StoreError, Timestamp, selection,
};
use tracing::warn;

use super::WorkerContext;
use super::proposal_record::proposal_record;
use crate::consolidate::{FileLayout, MemoryInput, Rollout, rollouts, selection_candidates};
use crate::files::layout::folder;
use crate::files::layout_record::differs;

/// What one consolidation selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SelectionPlan {
    /// What is stored with the finish.
    pub(super) record: SelectionRecord,
    /// How it differs from the last success.
    pub(super) diff: SelectionDiff,
    /// What is kept of each selected session, the latest first.
    pub(super) rollouts: Vec<Rollout>,
    /// The same, with the sessions that were selected last time: it is on disk until the pages without them are.
    pub(super) union: Vec<Rollout>,
}

/// Selects sessions from `input`; `None` where all sessions have pages.
pub(super) async fn select(
    worker: &WorkerContext,
    scope: &Scope,
    input: &MemoryInput,
) -> Result<Option<SelectionPlan>, StoreError> {
    let rules = worker.limits.consolidation;
    match rules.layout {
        FileLayout::Daybook | FileLayout::Daycare | FileLayout::Mindroom => return Ok(None),
        FileLayout::Codex => {}
    }
    let selected = eligible_selection(worker, scope, input).await?;
    let last = last_selection(worker, scope).await?.unwrap_or_default();
    let diff = SelectionDiff::between(&last.sessions, &selected);
    let union: Vec<SelectedSession> = selected
        .iter()
        .chain(
            last.sessions
                .iter()
                .filter(|one| diff.removed.contains(&one.session)),
        )
        .cloned()
        .collect();
    let mut paths = BTreeMap::new();
    for SelectedSession { session, .. } in &union {
        let sources = worker.store.sources_of(session).await?;
        paths.extend(
            sources
                .into_iter()
                .next()
                .map(|source| (session.clone(), source.path)),
        );
    }
    Ok(Some(SelectionPlan {
        rollouts: rollouts(input, &selected, &paths),
        union: rollouts(input, &union, &paths),
        record: SelectionRecord {
            at: worker.clock.now(),
            sessions: selected,
            commit: None,
        },
        diff,
    }))
}

/// The best sessions of those from which memory may be made. Only sessions that would be selected are looked up.
async fn eligible_selection(
    worker: &WorkerContext,
    scope: &Scope,
    input: &MemoryInput,
) -> Result<Vec<SelectedSession>, StoreError> {
    let sessions = input.extractions.iter().map(|record| &record.session);
    let sessions: BTreeSet<&SessionId> = sessions.collect();
    let sessions: Vec<SessionId> = sessions.into_iter().cloned().collect();
    let uses = worker.store.uses(&scope.tenant, &sessions).await?;
    let (mut known, mut ineligible) = (BTreeSet::new(), BTreeSet::new());
    loop {
        let candidates = selection_candidates(&input.extractions, &uses, &ineligible);
        let limits = worker.limits.consolidation.selection;
        let selected = selection::select(&candidates, &limits, worker.clock.now());
        let before = ineligible.len();
        for SelectedSession { session, .. } in &selected {
            if known.insert(session.clone()) && !is_eligible(worker, session).await? {
                ineligible.insert(session.clone());
            }
        }
        if ineligible.len() == before {
            return Ok(selected);
        }
    }
}

async fn is_eligible(worker: &WorkerContext, session: &SessionId) -> Result<bool, StoreError> {
    let stored = worker.store.session(session).await?;
    Ok(stored.is_some_and(|stored| eligible(&stored, &worker.switches).is_ok()))
}

/// The selection of the last success. One that cannot be read counts as none: then all sessions are added anew.
async fn last_selection(
    worker: &WorkerContext,
    scope: &Scope,
) -> Result<Option<SelectionRecord>, StoreError> {
    match worker.store.selection(scope).await {
        Err(StoreError::Corrupt(what)) => {
            warn!(%scope, what, "the last selection cannot be read");
            Ok(None)
        }
        read => read,
    }
}

/// Until when a claimed consolidation rests, because another one succeeded a short while ago. A person's request
/// waits for nothing, nor do files that another layout is set for.
pub(super) async fn cooldown_of(
    worker: &WorkerContext,
    claimed: &ClaimedJob,
    scope: &Scope,
) -> Result<Option<Timestamp>, StoreError> {
    let rules = worker.limits.consolidation;
    let cooldown = rules.cooldown;
    if cooldown.is_zero() || differs(&folder(&worker.root, scope), rules.layout) {
        return Ok(None);
    }
    debug_assert_eq!(claimed.token.job(), &JobKey::Consolidate(scope.clone()));
    let job = worker.store.job(claimed.token.job()).await?;
    if job.is_some_and(|job| job.priority >= Priority::High) {
        return Ok(None);
    }
    if worker.consolidation_model.is_some() {
        let record = proposal_record(&*worker.store, scope).await?;
        if record.unfinished || record.agent.is_due {
            return Ok(None);
        }
    }
    let last = last_selection(worker, scope).await?;
    // A scope without files has nothing to rest from.
    let last = last.filter(|last| last.commit.is_some());
    let until = last.map(|last| last.at.plus(cooldown));
    Ok(until.filter(|until| *until > worker.clock.now()))
}
