//! Which observations no longer hold, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::seams::SupersessionStore;
use daybook_domain::{
    EventSeq, KnownObservation, ObservationId, Scope, SessionId, StoreError, SupersededObservation,
    Supersession, Tenant,
};

use super::{MemoryState, MemoryStore, ObservationRow};

#[async_trait]
impl SupersessionStore for MemoryStore {
    async fn set_supersessions(
        &self,
        scope: &Scope,
        supersessions: &[Supersession],
    ) -> Result<(), StoreError> {
        let wanted: BTreeMap<ObservationId, Supersession> = supersessions
            .iter()
            .map(|one| (one.earlier, *one))
            .collect();
        let mut state = self.lock_for_change();
        let rows = state.observations.values_mut();
        for row in rows.filter(|row| &row.scope == scope) {
            row.ended = wanted.get(&row.id).copied();
        }
        Ok(())
    }

    async fn superseded_by_event(
        &self,
        tenant: &Tenant,
        events: &[(SessionId, EventSeq)],
    ) -> Result<Vec<SupersededObservation>, StoreError> {
        let state = self.lock();
        let found = events
            .iter()
            .flat_map(|event| state.superseded(tenant, event));
        let found: BTreeSet<SupersededObservation> = found.collect();
        Ok(found.into_iter().collect())
    }

    async fn known_observations(
        &self,
        _: &Tenant,
        wanted: &[(Scope, ObservationId)],
    ) -> Result<Vec<Option<KnownObservation>>, StoreError> {
        let state = self.lock();
        let known = wanted.iter().map(|(scope, id)| {
            let is_wanted = |row: &ObservationRow| row.scope == *scope && row.id == *id;
            let ended = state.observations.values().find(|row| is_wanted(row));
            let ended = ended.and_then(|row| row.ended);
            let found = state.observations_where(is_wanted).into_iter().next();
            found.map(|found| Arc::new((found, ended)))
        });
        Ok(known.collect())
    }
}

impl MemoryState {
    fn superseded(
        &self,
        tenant: &Tenant,
        (session, seq): &(SessionId, EventSeq),
    ) -> Vec<SupersededObservation> {
        let ended = self.observations.iter().filter(|(_, row)| {
            row.ended.is_some() && row.tokens.is_some() && &row.scope.tenant == tenant
        });
        let rests_on = |no: i64| {
            self.pieces(no).iter().any(|piece| {
                &piece.evidence.session == session && piece.evidence.events.contains(seq)
            })
        };
        ended
            .filter(|(no, _)| rests_on(**no))
            .filter_map(|(_, row)| {
                Some(SupersededObservation {
                    event: (session.clone(), *seq),
                    scope: row.scope.clone(),
                    supersession: row.ended?,
                })
            })
            .collect()
    }
}
