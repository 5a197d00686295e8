//! Reads a thread's log in the order in which its entries count.
//!
//! That is the order of the log, except for compactions: entries stored while one runs wait for it, so it counts
//! as if it came right behind the last entry that it saw. To find a compaction in time, the reader looks ahead, by
//! a bounded number of entries; the number of entries that may wait for a compaction is bounded, too.
//!
//! Not here: the effects of entries (`fold`).

use std::collections::BTreeMap;

use daybook_domain::working::{ThreadBlock, ThreadEntry, ThreadStore};
use daybook_domain::{EventSeq, SessionId, StoreError, Timestamp};

use super::record;

/// Most entries that may be stored while a compaction runs. With more of them it is discarded.
pub(super) const MAX_PENDING: u64 = 8_192;
/// How far the reader looks ahead: the entries that may wait, and those that arrive while the compaction is stored.
const AHEAD: u64 = 2 * MAX_PENDING;
/// Most entries of one page.
const PAGE: usize = 1_024;
/// Most bytes of one page.
const PAGE_BYTES: usize = 4 << 20;

/// An entry, with its place in the log.
#[derive(Debug)]
pub(super) struct PlacedEntry {
    pub(super) seq: EventSeq,
    /// The time of its event.
    pub(super) at: Timestamp,
    /// `None` for an event that does not concern the thread.
    pub(super) entry: Option<ThreadEntry>,
}

/// Reads a thread's log from a place on.
pub(super) struct LogReader<'a> {
    store: &'a dyn ThreadStore,
    thread: &'a SessionId,
    /// The last place that was read.
    read: EventSeq,
    /// Entries that were read and not returned yet, by the place behind which they count, then by their own.
    held: BTreeMap<(EventSeq, EventSeq), PlacedEntry>,
    is_ended: bool,
    block: Option<ThreadBlock>,
}

impl<'a> LogReader<'a> {
    /// Reads the entries after `after`.
    pub(super) fn new(store: &'a dyn ThreadStore, thread: &'a SessionId, after: EventSeq) -> Self {
        Self {
            store,
            thread,
            read: after,
            held: BTreeMap::new(),
            is_ended: false,
            block: None,
        }
    }

    /// Returns the next entry; `None` at the end of the log, and before entries that wait for a block.
    pub(super) async fn next(&mut self) -> Result<Option<PlacedEntry>, StoreError> {
        while !self.is_ended && self.read.0 < self.first().saturating_add(AHEAD) {
            self.read_on().await?;
        }
        let Some(first) = self.held.first_entry() else {
            return Ok(None);
        };
        let (counts_at, seq) = *first.key();
        let waits = |block: ThreadBlock| seq > block.at && counts_at > block.at;
        if self.block.is_some_and(waits) {
            return Ok(None);
        }
        Ok(Some(first.remove()))
    }

    /// The block that the entries not returned wait for.
    pub(super) fn block(&self) -> Option<ThreadBlock> {
        self.block
    }

    /// The place of the first entry that is held.
    fn first(&self) -> u64 {
        let first = self.held.first_key_value();
        first.map_or(u64::MAX - AHEAD, |((counts_at, _), _)| counts_at.0)
    }

    async fn read_on(&mut self) -> Result<(), StoreError> {
        let page = self
            .store
            .entries(self.thread, self.read, PAGE, PAGE_BYTES)
            .await?;
        // The newest page decides: a block that ended between two pages has its compaction in the later one.
        self.block = page.block;
        let Some(last) = page.entries.last() else {
            self.is_ended = true;
            return Ok(());
        };
        self.read = last.event.seq;
        self.is_ended = self.read >= page.last;
        for stored in page.entries {
            let seq = stored.event.seq;
            let entry = record::read(&stored.event, stored.entry.as_deref())?;
            let counts_at = entry.as_ref().map_or(seq, |entry| entry.counts_at(seq));
            let placed = PlacedEntry {
                seq,
                at: stored.event.at,
                entry,
            };
            self.held.insert((counts_at, seq), placed);
        }
        Ok(())
    }
}
