//! A thread's log, in the order in which its entries count.
//!
//! That is the order of the log, but for compactions: what came while one ran waited for it, so it counts
//! as if it stood right behind the last entry that it saw. To find it there, reading looks ahead; how far,
//! is bounded, and so is what may wait for a compaction.
//!
//! Not here: what entries do (`fold`).

use std::collections::BTreeMap;

use daybook_domain::working::{Block, Entry, ThreadStore};
use daybook_domain::{EventSeq, SessionId, StoreError, Timestamp};

use super::log;

/// Most entries that may be stored while one compaction runs, for it to count.
pub(super) const WAITING: u64 = 8_192;
/// How far reading looks ahead: what may wait, and what comes while the compaction is being stored.
const AHEAD: u64 = 2 * WAITING;
/// Entries that are read at once.
const PAGE: usize = 1_024;
/// Bytes of them.
const PAGE_BYTES: usize = 4 << 20;

/// An entry in its place.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) seq: EventSeq,
    /// When it was stored.
    pub(super) at: Timestamp,
    /// Nothing for what does not concern the thread.
    pub(super) entry: Option<Entry>,
}

/// Reads a thread's log from some place on.
pub(super) struct Reader<'a> {
    store: &'a dyn ThreadStore,
    thread: &'a SessionId,
    /// Read up to there.
    read: EventSeq,
    /// By the place behind which they count, then by their own.
    held: BTreeMap<(EventSeq, EventSeq), Placed>,
    is_ended: bool,
    block: Option<Block>,
}

impl<'a> Reader<'a> {
    /// Reads what comes after `after`.
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

    /// The next entry. At the end of the log, and before what still waits for a block, there is none.
    pub(super) async fn next(&mut self) -> Result<Option<Placed>, StoreError> {
        while !self.is_ended && self.read.0 < self.first().saturating_add(AHEAD) {
            self.read_on().await?;
        }
        let Some(first) = self.held.first_entry() else {
            return Ok(None);
        };
        let (counts_at, seq) = *first.key();
        let waits = |block: Block| seq > block.at && counts_at > block.at;
        if self.block.is_some_and(waits) {
            return Ok(None);
        }
        Ok(Some(first.remove()))
    }

    /// What the entries that were not handed out wait for.
    pub(super) fn block(&self) -> Option<Block> {
        self.block
    }

    /// Where the first entry that is held stands.
    fn first(&self) -> u64 {
        let first = self.held.first_key_value();
        first.map_or(u64::MAX - AHEAD, |((counts_at, _), _)| counts_at.0)
    }

    async fn read_on(&mut self) -> Result<(), StoreError> {
        let page = self
            .store
            .entries(self.thread, self.read, PAGE, PAGE_BYTES)
            .await?;
        // The newest word: a block that ended between two pages has its compaction in the later one.
        self.block = page.block;
        let Some(last) = page.entries.last() else {
            self.is_ended = true;
            return Ok(());
        };
        self.read = last.event.seq;
        self.is_ended = self.read >= page.last;
        for stored in page.entries {
            let seq = stored.event.seq;
            let entry = log::read(&stored.event, stored.entry.as_deref())?;
            let counts_at = entry.as_ref().map_or(seq, |entry| entry.counts_at(seq));
            let placed = Placed {
                seq,
                at: stored.event.at,
                entry,
            };
            self.held.insert((counts_at, seq), placed);
        }
        Ok(())
    }
}
