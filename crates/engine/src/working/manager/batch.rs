//! What is stored together, and folded then.

use std::sync::Arc;

use daybook_domain::seams::Append;
use daybook_domain::trigger::Priority;
use daybook_domain::working::{BlockToken, Entry, ThreadAppend};
use daybook_domain::{SessionId, SessionMeta, Timestamp};

use super::Shared;
use crate::working::log::Written;

/// Entries on their way into a thread's log.
pub(super) struct Batch {
    pub(super) append: ThreadAppend,
    /// What is folded of each of them.
    pub(super) entries: Vec<Entry>,
}

impl Shared {
    /// A batch for a thread; with `ends`, only while that block lasts.
    pub(super) fn batch(
        &self,
        id: &SessionId,
        written: impl IntoIterator<Item = Written>,
        ends: Option<BlockToken>,
        now: Timestamp,
    ) -> Batch {
        let mut append = Append {
            session: self.meta(id),
            events: Vec::new(),
            remotes: Vec::new(),
            source: None,
            import: None,
            patience: self.config.patience,
            urgent: None,
            switches: self.config.switches.clone(),
            now,
        };
        let (mut beside, mut entries) = (Vec::new(), Vec::new());
        for Written {
            event,
            entry,
            stored,
        } in written
        {
            append.urgent = append.urgent.max(urgency(&entry));
            append.events.push(event);
            beside.push(stored);
            entries.push(entry);
        }
        let append = ThreadAppend {
            append: append.into(),
            entries: beside.into(),
            ends,
        };
        Batch { append, entries }
    }

    pub(super) fn meta(&self, id: &SessionId) -> SessionMeta {
        SessionMeta {
            id: id.clone(),
            kind: self.config.kind,
            memory_off: false,
            forked_from: None,
            user: self.config.user.clone(),
            surface: None,
        }
    }
}

impl Batch {
    /// Of each entry when it was said, what is folded, and how many bytes it takes in the store.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Timestamp, &Entry, usize)> {
        let said = self.append.append.events.iter().map(|event| event.at);
        let bytes = self.append.entries.iter().map(String::len);
        let entries = said.zip(&self.entries).zip(bytes);
        entries.map(|((at, entry), bytes)| (at, entry, bytes))
    }

    /// The entries again, when they were not stored.
    pub(super) fn into_written(self) -> impl Iterator<Item = Written> {
        let append = Arc::unwrap_or_clone(self.append.append);
        let stored: Vec<_> = self.append.entries.to_vec();
        let written = append
            .events
            .into_iter()
            .zip(stored.into_iter().zip(self.entries));
        written.map(|(event, (stored, entry))| Written {
            event,
            entry,
            stored,
        })
    }
}

/// How soon the session is to be learned from (DESIGN.md, "When due").
fn urgency(entry: &Entry) -> Option<Priority> {
    match entry {
        Entry::Compaction(_) => Some(Priority::High),
        Entry::Ended => Some(Priority::Normal),
        Entry::Initial { .. }
        | Entry::Event { .. }
        | Entry::Edited { .. }
        | Entry::Restored { .. } => None,
    }
}
