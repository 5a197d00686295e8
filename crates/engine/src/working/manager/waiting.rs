//! Events of this process that are stored and not applied, and who waits for them.
//!
//! Not here: what they wait for, and when they are applied (`applying`).

use std::collections::BTreeMap;

use daybook_domain::working::{Entry, EventType};
use daybook_domain::{EventSeq, SessionId, Timestamp};

use super::WorkingError;
use super::live::Waiter;

/// Bytes of entries that a thread holds, so that they need not be read again.
const HELD_BYTES: usize = 1 << 20;

/// What waits, by its place in the log.
#[derive(Default)]
pub(super) struct Waiting {
    events: BTreeMap<EventSeq, Stored>,
    held_bytes: usize,
}

/// An event that is stored and not applied.
#[derive(Default)]
pub(super) struct Stored {
    /// Who waits for it: several, where it was dispatched again.
    pub(super) replies: Vec<Waiter>,
    /// What it demands once it is applied.
    pub(super) order: Option<EventType>,
    held: Option<Held>,
}

/// What an event is, and when it was stored.
struct Held {
    at: Timestamp,
    entry: Entry,
    bytes: usize,
}

impl Waiting {
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The last of them.
    pub(super) fn last(&self) -> Option<EventSeq> {
        self.events.keys().next_back().copied()
    }

    /// An event waits that was stored at `seq`.
    pub(super) fn add(&mut self, seq: EventSeq, order: Option<EventType>, reply: Option<Waiter>) {
        let stored = self.events.entry(seq).or_default();
        stored.replies.extend(reply);
        stored.order = stored.order.take().or(order);
    }

    /// What is stored at `seq`, for whoever need not read it then, while there is room.
    pub(super) fn hold(&mut self, seq: EventSeq, at: Timestamp, entry: &Entry, bytes: usize) {
        if self.held_bytes + bytes > HELD_BYTES {
            return;
        }
        if let Some(stored) = self.events.get_mut(&seq) {
            self.held_bytes += bytes;
            let entry = entry.clone();
            stored.held = Some(Held { at, entry, bytes });
        }
    }

    /// Takes an event out that is applied now.
    pub(super) fn take(&mut self, seq: EventSeq) -> Option<Stored> {
        let stored = self.events.remove(&seq)?;
        self.held_bytes -= stored.held.as_ref().map_or(0, |held| held.bytes);
        Some(stored)
    }

    /// Takes the event at `seq` out, with what it is, if that need not be read.
    pub(super) fn take_held(&mut self, seq: EventSeq) -> Option<(Timestamp, Entry, Stored)> {
        self.events.get(&seq)?.held.as_ref()?;
        let mut stored = self.take(seq)?;
        let held = stored.held.take()?;
        Some((held.at, held.entry, stored))
    }

    /// Nobody who waits will be served: the thread was deleted.
    pub(super) fn deleted(&mut self, id: &SessionId) {
        for stored in std::mem::take(self).events.into_values() {
            for reply in stored.replies {
                let _ = reply.send(Err(WorkingError::Deleted(id.clone())));
            }
        }
    }
}
