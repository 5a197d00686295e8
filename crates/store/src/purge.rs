//! What of an append was purged, and is therefore not stored.
//!
//! Not here: where tombstones are kept (`purge` of each store).

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::seams::Append;
use daybook_domain::{EventId, PurgeKey, SessionId, StoreError, Tombstone};

/// The tombstones that would keep parts of an append out.
pub(crate) struct AppendMarks {
    session: Tombstone,
    events: BTreeMap<Tombstone, EventId>,
}

impl AppendMarks {
    pub(crate) fn of(key: &PurgeKey, append: &Append) -> Self {
        let id = &append.session.id;
        let forked_from = append.session.forked_from.as_ref().map(|parent| SessionId {
            host_id: parent.clone(),
            ..id.clone()
        });
        let mut events = BTreeMap::new();
        for event in &append.events {
            // The file of a fork repeats events of the session that it was forked from.
            for session in [Some(id), forked_from.as_ref()].into_iter().flatten() {
                events.insert(key.event(session, event.id), event.id);
            }
        }
        Self {
            session: key.session(id),
            events,
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = Tombstone> {
        std::iter::once(self.session).chain(self.events.keys().copied())
    }

    /// What was purged, where these of the marks are stored.
    pub(crate) fn purged(&self, stored: &BTreeSet<Tombstone>) -> PurgedAppend {
        let events = self.events.iter();
        PurgedAppend {
            session: stored.contains(&self.session),
            events: events
                .filter(|(mark, _)| stored.contains(mark))
                .map(|(_, event)| *event)
                .collect(),
        }
    }
}

/// What of an append was purged.
#[derive(Debug, Default)]
pub(crate) struct PurgedAppend {
    session: bool,
    events: BTreeSet<EventId>,
}

impl PurgedAppend {
    /// Whether an event was purged.
    pub(crate) fn has(&self, event: EventId) -> bool {
        self.events.contains(&event)
    }

    /// Whether nothing of the append was purged.
    #[cfg(feature = "postgres")]
    pub(crate) fn is_none(&self) -> bool {
        !self.session && self.events.is_empty()
    }

    /// Whether nothing of the append is stored: its session was purged, or would begin with purged events alone.
    pub(crate) fn refuses(&self, append: &Append, is_known: bool) -> bool {
        let has_rest = || append.events.iter().any(|event| !self.has(event.id));
        self.session || (!is_known && !append.events.is_empty() && !has_rest())
    }

    /// Refuses purged events of a thread: each of its events has an entry.
    pub(crate) fn check_entries(
        &self,
        append: &Append,
        entries: &[String],
    ) -> Result<(), StoreError> {
        match entries.is_empty() || self.events.is_empty() {
            true => Ok(()),
            false => Err(StoreError::Refused(format!(
                "session {} has purged events, and they are not stored again; use other event ids",
                append.session.id
            ))),
        }
    }
}

/// The refusal to create a thread of a purged session.
pub(crate) fn purged_session(id: &SessionId) -> StoreError {
    StoreError::Refused(format!(
        "session {id} was purged, and nothing of it is stored again; use another session id"
    ))
}
