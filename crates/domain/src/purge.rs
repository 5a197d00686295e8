//! What a purge leaves behind, so that what it removed stays gone: fingerprints under a key, without any content.
//!
//! A purge removes events for good. A transcript, another machine or an older backup may hold them still. Each removed
//! event, session, observation and scope has a [`Tombstone`], and an append passes over what has one. Without the
//! [`PurgeKey`] a tombstone says nothing, and no guess of what was removed can be checked against it.
//!
//! Not here: what a purge removes (`engine`), where tombstones are stored (`store`).

use serde::{Deserialize, Serialize};

use crate::ids::{EventId, EventSeq, Scope, SessionId, Tenant};
use crate::observation::ObservationId;

/// The key of tombstones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PurgeKey(pub [u8; 32]);

impl std::fmt::Debug for PurgeKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PurgeKey")
    }
}

/// A fingerprint of something that was purged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tombstone(pub u128);

impl PurgeKey {
    /// The tombstone of an event of a session.
    #[must_use]
    pub fn event(&self, session: &SessionId, event: EventId) -> Tombstone {
        let (agent, host_id) = (&session.agent, &session.host_id);
        let event = event.0.to_be_bytes();
        self.mark(
            &session.tenant,
            &[b"event", agent.as_bytes(), host_id.as_bytes(), &event],
        )
    }

    /// The tombstone of a whole session: nothing of it is stored again.
    #[must_use]
    pub fn session(&self, session: &SessionId) -> Tombstone {
        let (agent, host_id) = (&session.agent, &session.host_id);
        self.mark(
            &session.tenant,
            &[b"session", agent.as_bytes(), host_id.as_bytes()],
        )
    }

    /// The tombstone of the name of a session of which nothing was left: while the session does not exist, nothing names
    /// it, neither the progress of its transcript nor a use by it.
    #[must_use]
    pub fn name_of(&self, session: &SessionId) -> Tombstone {
        let (agent, host_id) = (&session.agent, &session.host_id);
        self.mark(
            &session.tenant,
            &[b"name", agent.as_bytes(), host_id.as_bytes()],
        )
    }

    /// The tombstone of an observation.
    #[must_use]
    pub fn observation(&self, scope: &Scope, id: ObservationId) -> Tombstone {
        let id = id.0.to_be_bytes();
        let kind = scope.kind.as_str().as_bytes();
        self.mark(
            &scope.tenant,
            &[b"observation", kind, scope.name.as_bytes(), &id],
        )
    }

    /// The tombstone of all that a scope held by the time of the purge.
    #[must_use]
    pub fn scope(&self, scope: &Scope) -> Tombstone {
        let kind = scope.kind.as_str().as_bytes();
        self.mark(&scope.tenant, &[b"scope", kind, scope.name.as_bytes()])
    }

    /// Names the key without revealing it, so that tombstones under another one are recognised.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        format!("{:016x}", self.mark(&Tenant::local(), &[b"key"]).0 >> 64)
    }

    /// Parts are kept apart by their lengths.
    fn mark(&self, tenant: &Tenant, parts: &[&[u8]]) -> Tombstone {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in [tenant.0.as_bytes()].iter().chain(parts) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut half = [0; 16];
        half.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Tombstone(u128::from_be_bytes(half))
    }
}

/// What was removed with a range of a session's events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgedEvents {
    /// Events.
    pub events: u64,
    /// Observations that rested on them alone.
    pub observations: u64,
    /// Whether nothing is left of the session.
    pub session_gone: bool,
}

/// Positions in a session's log, both included.
pub type SeqRange = (EventSeq, EventSeq);

#[cfg(test)]
mod tests {
    use super::*;

    fn session(host_id: &str) -> SessionId {
        SessionId {
            tenant: Tenant::local(),
            agent: "codex".to_owned(),
            host_id: host_id.to_owned(),
        }
    }

    #[test]
    fn a_tombstone_depends_on_the_key_the_session_and_the_event() {
        let (key, other) = (PurgeKey([1; 32]), PurgeKey([2; 32]));
        let (a, b) = (session("a"), session("b"));
        let marks = [
            key.event(&a, EventId(1)),
            key.event(&a, EventId(2)),
            key.event(&b, EventId(1)),
            key.session(&a),
            other.event(&a, EventId(1)),
            other.session(&a),
        ];
        let distinct: std::collections::BTreeSet<Tombstone> = marks.into_iter().collect();
        assert_eq!(distinct.len(), marks.len());
        assert_eq!(key.event(&a, EventId(1)), marks[0]);
        assert_ne!(key.fingerprint(), other.fingerprint());
    }
}
