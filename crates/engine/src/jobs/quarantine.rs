//! A person's decisions about observations that wait in quarantine.

use std::collections::HashMap;

use daybook_domain::quarantine::{QuarantineDecision, QuarantinedObservation};
use daybook_domain::seams::Store;
use daybook_domain::{
    Observation, ObservationId, ObservationOrigin, Scope, ScopeKind, StoreError, Tenant, Timestamp,
};

use super::WorkerContext;
use super::filing::{FolderProjects, observation_id};

/// The tenant's observations that wait for a decision, the oldest extraction first; each once.
///
/// # Errors
/// The store's.
pub async fn waiting(
    store: &dyn Store,
    tenant: &Tenant,
) -> Result<Vec<QuarantinedObservation>, StoreError> {
    let mut waiting: Vec<QuarantinedObservation> = Vec::new();
    for one in store.quarantined(tenant).await? {
        let id = |it: &QuarantinedObservation| (it.observation.scope.clone(), it.observation.id);
        let known = waiting.iter().any(|known| id(known) == id(&one));
        if one.decision.is_none() && !known {
            waiting.push(one);
        }
    }
    Ok(waiting)
}

/// Files a quarantined observation: a person stands by it, so it counts as stated, and no later extraction replaces it.
/// Where its folder belongs to another project by now, that project gets it.
///
/// # Errors
/// The store's.
pub async fn accept(
    store: &dyn Store,
    observation: &Observation,
    now: Timestamp,
) -> Result<Observation, StoreError> {
    let scope = present_scope(store, observation).await?;
    let accepted = Observation {
        id: observation_id(
            &scope,
            observation.kind,
            (&observation.text, observation.subject.as_deref()),
        ),
        scope,
        stated: true,
        origin: ObservationOrigin::Typed,
        ..observation.clone()
    };
    store.observe(std::slice::from_ref(&accepted), now).await?;
    let decision = QuarantineDecision::Accepted;
    store
        .decide(&observation.scope, observation.id, decision)
        .await?;
    Ok(accepted)
}

/// Keeps an observation out for good. False when it is not in quarantine.
///
/// # Errors
/// The store's.
pub async fn reject(store: &dyn Store, observation: &Observation) -> Result<bool, StoreError> {
    let decision = QuarantineDecision::Rejected;
    store
        .decide(&observation.scope, observation.id, decision)
        .await
}

async fn present_scope(store: &dyn Store, observation: &Observation) -> Result<Scope, StoreError> {
    let tenant = &observation.scope.tenant;
    let root = observation
        .evidence
        .iter()
        .find_map(|it| it.root.as_deref());
    let Some(root) = root.filter(|_| observation.scope.kind == ScopeKind::Project) else {
        return Ok(observation.scope.clone());
    };
    let projects = FolderProjects::of(store, tenant).await?;
    Ok(projects
        .scope(tenant, root)
        .unwrap_or_else(|| observation.scope.clone()))
}

/// What a window quarantines, with the decisions that were made about the same observations before.
pub(super) async fn with_decisions(
    worker: &WorkerContext,
    tenant: &Tenant,
    mut quarantined: Vec<QuarantinedObservation>,
) -> Result<Vec<QuarantinedObservation>, StoreError> {
    if quarantined.is_empty() {
        return Ok(quarantined);
    }
    let known = worker.store.quarantined(tenant).await?;
    let decided: HashMap<(&Scope, ObservationId), QuarantineDecision> = known
        .iter()
        .filter_map(|one| {
            let observation = &one.observation;
            Some(((&observation.scope, observation.id), one.decision?))
        })
        .collect();
    for one in &mut quarantined {
        let observation = &one.observation;
        one.decision = decided.get(&(&observation.scope, observation.id)).copied();
    }
    Ok(quarantined)
}
