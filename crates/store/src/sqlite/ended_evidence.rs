//! What no longer holds of a session's observations, as it is cached.

use std::collections::BTreeSet;

use daybook_domain::{EventSeq, Scope, SessionId, SupersededObservation, Supersession};

/// An observation of a session that no longer holds.
#[derive(Debug, Clone)]
pub(super) struct EndedEvidence {
    /// The events of the session that it rests on.
    pub(super) stated: BTreeSet<u64>,
    /// The scope of both observations.
    pub(super) scope: Scope,
    /// What ended it.
    pub(super) supersession: Supersession,
}

impl EndedEvidence {
    /// What of it an event says; `None` where it does not rest on that event of its session.
    pub(super) fn of_event(&self, event: &(SessionId, EventSeq)) -> Option<SupersededObservation> {
        self.stated
            .contains(&event.1.0)
            .then(|| SupersededObservation {
                event: event.clone(),
                scope: self.scope.clone(),
                supersession: self.supersession,
            })
    }
}
