//! Which words of a private conversation are for one agent alone: a person's rules for how that agent works.
//!
//! What a person tells an agent about its work is filed under the agent, and what they tell of themselves is theirs. The
//! conversation is the person's, so that their other agents know of it; the words of such a rule are left out of it for
//! them. An agent never follows a rule that was meant for another one.
//!
//! Not here: which sentences are such rules (`jobs`).

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::seams::ObservationStore;
use daybook_domain::{EventSeq, Reach, Scope, ScopeKind, SessionId, StoreError};

/// The events of each session that observations rest on.
type EventsBySession = BTreeMap<SessionId, BTreeSet<EventSeq>>;

/// The events that rules rest on, of the memories that were looked at for one question.
#[derive(Debug, Default)]
pub(crate) struct AgentsRules {
    read: BTreeMap<Scope, EventsBySession>,
}

impl AgentsRules {
    /// [`events_for_agent_alone`], which reads the memory of an agent and that of a person once for all their sessions.
    pub(crate) async fn events_alone(
        &mut self,
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
        let mut alone = self.resting_on(store, agent, session).await?;
        if !alone.is_empty() {
            let person = scope(ScopeKind::User, person);
            let own = self.resting_on(store, person, session).await?;
            alone.retain(|event| !own.contains(event));
        }
        Ok(alone)
    }

    async fn resting_on(
        &mut self,
        store: &(impl ObservationStore + ?Sized),
        scope: Scope,
        session: &SessionId,
    ) -> Result<BTreeSet<EventSeq>, StoreError> {
        if !self.read.contains_key(&scope) {
            let mut events = EventsBySession::new();
            let observations = store.observations(&scope).await?;
            for evidence in observations.into_iter().flat_map(|one| one.evidence) {
                let of_session = events.entry(evidence.session).or_default();
                of_session.extend(evidence.events);
            }
            self.read.insert(scope.clone(), events);
        }
        let events = self.read.get(&scope).and_then(|read| read.get(session));
        Ok(events.cloned().unwrap_or_default())
    }
}

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
    let mut rules = AgentsRules::default();
    rules.events_alone(store, reach, session, person).await
}
