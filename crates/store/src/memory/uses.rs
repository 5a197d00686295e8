//! Which events were used, in memory.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use daybook_domain::seams::UseStore;
use daybook_domain::{
    EventId, EventSeq, Scope, SessionId, StoreError, Tenant, Timestamp, Use, UseKind, UsedBy,
};

use super::{MemoryState, MemoryStore};
use crate::bounds::check_uses;
use crate::uses::{AdmitOutcome, KeptUses};

/// An event of a session.
type UsedEvent = (SessionId, EventSeq);

/// Uses, by what used the events.
#[derive(Debug, Default)]
pub(super) struct UseRows(BTreeMap<UserKey, BTreeMap<(UseKind, UsedEvent), UseRow>>);

/// A session, or an interface on one day.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum UserKey {
    Session(SessionId),
    Interface(Tenant, String),
}

#[derive(Debug)]
struct UseRow {
    by: UsedBy,
    at: Timestamp,
}

#[async_trait]
impl UseStore for MemoryStore {
    async fn note_uses(
        &self,
        tenant: &Tenant,
        uses: &[Use],
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        check_uses(tenant, uses)?;
        Ok(self.lock_for_change().note_uses(uses, now))
    }

    async fn uses(&self, tenant: &Tenant, sessions: &[SessionId]) -> Result<Vec<Use>, StoreError> {
        let wanted: BTreeSet<&SessionId> = sessions.iter().collect();
        let state = self.lock();
        let all = state.uses.0.values().flatten();
        let all = all
            .filter(|((_, (session, _)), _)| session.tenant == *tenant && wanted.contains(session));
        let mut uses: Vec<Use> = all
            .map(|((kind, (session, event)), noted)| Use {
                session: session.clone(),
                event: *event,
                kind: *kind,
                by: noted.by.clone(),
                at: noted.at,
            })
            .collect();
        uses.sort();
        Ok(uses)
    }
}

impl MemoryState {
    fn note_uses(&mut self, uses: &[Use], now: Timestamp) -> u64 {
        let mut added = 0;
        let mut cited = BTreeSet::new();
        for one in uses {
            if one.is_by_itself() || !self.has_event(&one.session, one.event) {
                continue;
            }
            let user = match &one.by {
                UsedBy::Session { session, .. } => UserKey::Session(session.clone()),
                UsedBy::Interface(interface) => {
                    UserKey::Interface(one.session.tenant.clone(), interface.clone())
                }
            };
            let known = self.uses.0.entry(user).or_default();
            let used = (one.session.clone(), one.event);
            let mut kept = KeptUses::new(known.keys().cloned());
            match kept.admit(one.kind, used.clone()) {
                AdmitOutcome::New => {
                    let (by, at) = (one.by.clone(), one.at);
                    known.insert((one.kind, used.clone()), UseRow { by, at });
                    added += 1;
                    if one.kind == UseKind::Cited {
                        cited.insert(used);
                    }
                }
                AdmitOutcome::Known => {
                    if let Some(noted) = known.get_mut(&(one.kind, used)) {
                        noted.at = noted.at.max(one.at);
                    }
                }
                AdmitOutcome::TooMany => {}
            }
        }
        let scopes = self.scopes_resting_on(&cited);
        self.raise(scopes, now);
        added
    }

    fn has_event(&self, session: &SessionId, event: EventSeq) -> bool {
        let row = self.sessions.get(session);
        row.is_some_and(|row| row.events.contains_key(&event))
    }

    /// Scopes of the observations that hold and rest on one of these events.
    fn scopes_resting_on(&self, events: &BTreeSet<UsedEvent>) -> BTreeSet<Scope> {
        let rests = |row: &&super::MemoryEvidenceRow| {
            let evidence = &row.piece.evidence;
            let mut on = evidence.events.iter();
            row.live && on.any(|seq| events.contains(&(evidence.session.clone(), *seq)))
        };
        let resting = self.evidence.values().filter(rests);
        let observations = resting.filter_map(|row| self.observations.get(&row.observation));
        observations.map(|row| row.scope.clone()).collect()
    }

    /// Deletes uses of deleted events, and uses by them. Returns the scopes that were ranked by these.
    pub(super) fn forget_uses(
        &mut self,
        session: &SessionId,
        gone: &BTreeSet<EventSeq>,
    ) -> BTreeSet<Scope> {
        let row = self.sessions.get(session);
        let ids: BTreeSet<EventId> = row.map_or_else(BTreeSet::new, |row| {
            let ids = row.ids.iter().filter(|(_, seq)| gone.contains(seq));
            ids.map(|(id, _)| *id).collect()
        });
        let mut uncited = BTreeSet::new();
        for known in self.uses.0.values_mut() {
            known.retain(|(kind, used), noted| {
                let is_of_them = used.0 == *session && gone.contains(&used.1);
                let is_by_them = matches!(&noted.by, UsedBy::Session { session: by, event }
                    if by == session && ids.contains(event));
                if is_by_them && *kind == UseKind::Cited {
                    uncited.insert(used.clone());
                }
                !is_of_them && !is_by_them
            });
        }
        self.scopes_resting_on(&uncited)
    }

    /// Deletes the uses by a deleted session.
    pub(super) fn forget_user(&mut self, session: &SessionId) {
        self.uses.0.remove(&UserKey::Session(session.clone()));
    }
}
