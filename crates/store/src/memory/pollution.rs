//! Hides and shows again what was learned from a session, as the stores on disk do.

use daybook_domain::eligibility::Switches;
use daybook_domain::{Session, SessionId, Timestamp};

use super::MemoryState;
use crate::evidence::TouchedObservations;
use crate::pollution::owner_scope;

impl MemoryState {
    pub(super) fn session_of(&self, id: &SessionId) -> Option<&Session> {
        self.sessions.get(id).map(|row| &row.session)
    }

    pub(super) fn is_polluted(&self, id: &SessionId) -> bool {
        self.session_of(id)
            .is_some_and(|session| session.pollution.is_some())
    }

    /// Shows again what was learned from a session that has lost the event that polluted it.
    pub(super) fn clear_pollution(&mut self, id: &SessionId, now: Timestamp) {
        if let Some(row) = self.sessions.get_mut(id) {
            row.session.pollution = None;
            let session = row.session.clone();
            self.rederive_learned(&session, &Switches::default(), now);
        }
    }

    /// Derives again what rests on a session that is polluted or clean now, and raises the scopes that show it.
    pub(super) fn rederive_learned(
        &mut self,
        session: &Session,
        switches: &Switches,
        now: Timestamp,
    ) {
        let id = &session.id;
        let mut touched = TouchedObservations::default();
        let rows = self.evidence.values();
        for row in rows.filter(|row| &row.piece.evidence.session == id) {
            if row.live && row.piece.generation.is_some() {
                touched.note(row.observation, true);
            }
        }
        let mut scopes = self.settle(&touched).scopes;
        let mut records = self.extractions.iter();
        let has_digest =
            records.any(|row| row.live && &row.record.session == id && row.record.digest.is_some());
        if scopes.is_empty() && !has_digest {
            return;
        }
        let events = self.sessions.get(id).map(|row| &row.events);
        let events = events.into_iter().flat_map(|events| events.values());
        let places = events.filter_map(|event| event.place.as_ref());
        scopes.extend(places.filter_map(|place| self.scope_of_root(&id.tenant, &place.root)));
        scopes.extend(owner_scope(session, switches));
        self.raise(scopes, now);
    }
}
