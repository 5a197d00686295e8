//! Records that are stored together with one append.

use std::sync::Arc;

use daybook_domain::seams::Append;
use daybook_domain::trigger::Priority;
use daybook_domain::working::{BlockToken, ThreadAppend, ThreadEntry};
use daybook_domain::{SessionId, SessionMeta, Timestamp};

use super::config::MemoryManagerConfig;
use crate::record::LogRecord;

/// An append, with its entries as values for folding.
pub(super) struct RecordBatch {
    pub(super) append: ThreadAppend,
    pub(super) entries: Vec<ThreadEntry>,
}

impl RecordBatch {
    /// The records as one append to the thread of that id. With `ends`, it also ends that block, or stores nothing.
    pub(super) fn new(
        config: &MemoryManagerConfig,
        id: &SessionId,
        records: impl IntoIterator<Item = LogRecord>,
        ends: Option<BlockToken>,
        now: Timestamp,
    ) -> Self {
        let mut append = Append {
            session: session_meta(config, id),
            events: Vec::new(),
            remotes: Vec::new(),
            source: None,
            import: None,
            patience: config.patience,
            urgent: None,
            switches: config.switches.clone(),
            rules: config.redactor.revision(),
            now,
        };
        let (mut entries_json, mut entries) = (Vec::new(), Vec::new());
        for record in records {
            append.urgent = append.urgent.max(urgency(&record.entry));
            append.events.push(record.event);
            entries_json.push(record.entry_json);
            entries.push(record.entry);
        }
        let append = ThreadAppend {
            append: append.into(),
            entries: entries_json.into(),
            ends,
        };
        Self { append, entries }
    }

    /// Each entry with the time of its event and its stored size in bytes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Timestamp, &ThreadEntry, usize)> {
        let times = self.append.append.events.iter().map(|event| event.at);
        let sizes = self.append.entries.iter().map(String::len);
        let entries = times.zip(&self.entries).zip(sizes);
        entries.map(|((at, entry), bytes)| (at, entry, bytes))
    }

    /// The records again, to be stored in other groups.
    pub(super) fn into_records(self) -> impl Iterator<Item = LogRecord> {
        let append = Arc::unwrap_or_clone(self.append.append);
        let entries_json = self.append.entries.to_vec();
        let entries = entries_json.into_iter().zip(self.entries);
        let records = append.events.into_iter().zip(entries);
        records.map(|(event, (entry_json, entry))| LogRecord {
            event,
            entry,
            entry_json,
        })
    }
}

/// The session of a thread of that id, as appends describe it.
pub(crate) fn session_meta(config: &MemoryManagerConfig, id: &SessionId) -> SessionMeta {
    SessionMeta {
        id: id.clone(),
        kind: config.kind,
        memory_off: false,
        forked_from: None,
        user: config.user.clone(),
        surface: None,
        venue: daybook_domain::Venue::default(),
    }
}

/// How soon an entry makes the session due for extraction (DESIGN.md, "When due").
fn urgency(entry: &ThreadEntry) -> Option<Priority> {
    match entry {
        ThreadEntry::Compaction(_) => Some(Priority::High),
        ThreadEntry::Ended => Some(Priority::Normal),
        ThreadEntry::Initial { .. }
        | ThreadEntry::Event { .. }
        | ThreadEntry::Edited { .. }
        | ThreadEntry::Restored { .. } => None,
    }
}
