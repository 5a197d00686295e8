//! Events of this process that are stored and not applied yet, with the callers that wait for them.
//!
//! Not here: what they wait for, and when they are applied (`folder`).

use std::collections::BTreeMap;

use daybook_domain::working::ThreadEntry;
use daybook_domain::{EventSeq, SessionId, Timestamp};

use super::command::ThreadCommand;
use super::error::WorkingError;
use super::results::ResultSender;

/// Bytes of entries that a thread keeps in memory, so that they need not be read again.
const CACHED_BYTES: usize = 1 << 20;

/// Pending events by their place in the log.
#[derive(Default)]
pub(super) struct PendingEvents {
    events: BTreeMap<EventSeq, PendingEvent>,
    cached_bytes: usize,
}

/// An event that is stored and not applied.
#[derive(Default)]
pub(super) struct PendingEvent {
    /// Its callers: several, where it was dispatched again.
    pub(super) result_senders: Vec<ResultSender>,
    /// Its command to the manager once it is applied.
    pub(super) command: Option<ThreadCommand>,
    cached: Option<CachedEntry>,
}

/// A pending event's entry, and when it was stored.
struct CachedEntry {
    at: Timestamp,
    entry: ThreadEntry,
    bytes: usize,
}

impl PendingEvents {
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The place of the last one.
    pub(super) fn last(&self) -> Option<EventSeq> {
        self.events.keys().next_back().copied()
    }

    /// Adds the event that was stored at `seq`.
    pub(super) fn add(
        &mut self,
        seq: EventSeq,
        command: Option<ThreadCommand>,
        sender: Option<ResultSender>,
    ) {
        let pending = self.events.entry(seq).or_default();
        pending.result_senders.extend(sender);
        pending.command = pending.command.take().or(command);
    }

    /// Keeps the entry of the pending event at `seq` in memory, while there is room.
    pub(super) fn cache(
        &mut self,
        seq: EventSeq,
        at: Timestamp,
        entry: &ThreadEntry,
        bytes: usize,
    ) {
        if self.cached_bytes + bytes > CACHED_BYTES {
            return;
        }
        if let Some(pending) = self.events.get_mut(&seq) {
            self.cached_bytes += bytes;
            let entry = entry.clone();
            pending.cached = Some(CachedEntry { at, entry, bytes });
        }
    }

    /// Removes an event that is applied now.
    pub(super) fn remove(&mut self, seq: EventSeq) -> Option<PendingEvent> {
        let pending = self.events.remove(&seq)?;
        self.cached_bytes -= pending.cached.as_ref().map_or(0, |cached| cached.bytes);
        Some(pending)
    }

    /// Removes the event at `seq` with its entry, if that is in memory.
    pub(super) fn remove_cached(
        &mut self,
        seq: EventSeq,
    ) -> Option<(Timestamp, ThreadEntry, PendingEvent)> {
        self.events.get(&seq)?.cached.as_ref()?;
        let mut pending = self.remove(seq)?;
        let cached = pending.cached.take()?;
        Some((cached.at, cached.entry, pending))
    }

    /// Ends all of them with [`WorkingError::Deleted`].
    pub(super) fn fail_deleted(&mut self, id: &SessionId) {
        for pending in std::mem::take(self).events.into_values() {
            for sender in pending.result_senders {
                let _ = sender.send(Err(WorkingError::Deleted(id.clone())));
            }
        }
    }
}
