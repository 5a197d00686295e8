//! Which words of a private conversation are for one agent alone: a person's rules for how that agent works.
//!
//! What a person tells an agent about its work is filed under the agent, and what they tell of themselves is theirs. The
//! conversation is the person's, so that their other agents know of it; the words of such a rule are left out of it for
//! them. An agent never follows a rule that was meant for another one.
//!
//! Not here: which sentences are such rules (`jobs`).

use std::collections::BTreeSet;

use daybook_domain::seams::ObservationStore;
use daybook_domain::{EventSeq, Reach, Scope, ScopeKind, SessionId, StoreError};

/// The events of a session that nothing but the rules of its agent rests on, where the agent's memory is not in reach.
///
/// # Errors
/// When the store fails.
pub async fn events_for_agent_alone(
    store: &(impl ObservationStore + ?Sized),
    reach: &Reach,
    session: &SessionId,
    person: &str,
) -> Result<BTreeSet<EventSeq>, StoreError> {
    let scope = |kind, name: &str| Scope {
        tenant: session.tenant.clone(),
        kind,
        name: name.to_owned(),
    };
    let agent = scope(ScopeKind::Agent, &session.agent);
    if reach.admits(Some(&agent)) {
        return Ok(BTreeSet::new());
    }
    let mut alone = resting_on(store, &agent, session).await?;
    if !alone.is_empty() {
        let own = resting_on(store, &scope(ScopeKind::User, person), session).await?;
        alone.retain(|event| !own.contains(event));
    }
    Ok(alone)
}

async fn resting_on(
    store: &(impl ObservationStore + ?Sized),
    scope: &Scope,
    session: &SessionId,
) -> Result<BTreeSet<EventSeq>, StoreError> {
    let observations = store.observations(scope).await?;
    let evidence = observations.into_iter().flat_map(|one| one.evidence);
    let events = evidence.filter(|evidence| evidence.session == *session);
    Ok(events.flat_map(|evidence| evidence.events).collect())
}
