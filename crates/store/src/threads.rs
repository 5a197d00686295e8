//! Rules for a thread's row: when a block holds, who may end it, and what callers see of it.
//!
//! Not here: the thread's log, which is its session's.

use daybook_domain::working::{
    BlockOutcome, BlockToken, BlockingReason, NewThread, Thread, ThreadBlock,
};
use daybook_domain::{EventSeq, Session, SessionId, StoreError, Timestamp};
use serde_json::{Map, Value};

/// A thread's own fields, beside its session.
#[derive(Debug, Clone)]
pub(crate) struct ThreadRow {
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) custom: Map<String, Value>,
    pub(crate) deleted_at: Option<Timestamp>,
    pub(crate) blocking: Blocking,
}

/// The block of a thread, and the number of its token.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Blocking {
    /// The token of the last block; 0 before the first.
    pub(crate) generation: u64,
    pub(crate) block: Option<ThreadBlock>,
}

impl ThreadRow {
    /// A new thread. `former` is a deleted one of the same id: its tokens are not issued again.
    pub(crate) fn new(new: &NewThread, former: Option<&Self>) -> Self {
        Self {
            created_at: new.now,
            updated_at: new.now,
            custom: new.custom.clone(),
            deleted_at: None,
            blocking: Blocking {
                generation: former.map_or(0, |former| former.blocking.generation),
                block: None,
            },
        }
    }

    /// Deletes the thread.
    pub(crate) fn delete(&mut self, now: Timestamp) {
        self.deleted_at = Some(now);
        self.blocking.block = None;
    }

    /// The thread as callers know it.
    pub(crate) fn thread(&self, session: &Session) -> Thread {
        Thread {
            id: session.id.clone(),
            label: session.label.clone(),
            created_at: self.created_at,
            updated_at: self.updated_at,
            forked_from: session.forked_from.clone(),
            user: session.user.clone(),
            venue: session.venue.clone(),
            last: session.events,
            block: self.blocking.block,
            custom: self.custom.clone(),
        }
    }
}

impl Blocking {
    /// The block that still holds at `now`.
    pub(crate) fn active_block(&self, now: Timestamp) -> Option<ThreadBlock> {
        self.block.filter(|block| block.stands(now))
    }

    /// Blocks the thread, whose last entry is `last`, unless it is blocked.
    pub(crate) fn block(
        &mut self,
        reason: BlockingReason,
        last: EventSeq,
        until: Timestamp,
        now: Timestamp,
    ) -> BlockOutcome {
        if let Some(block) = self.active_block(now) {
            return BlockOutcome::Already(block);
        }
        self.generation += 1;
        let block = ThreadBlock {
            reason,
            token: BlockToken(self.generation),
            at: last,
            until,
        };
        self.block = Some(block);
        BlockOutcome::Blocked(block)
    }

    /// Lets an append pass: clears a block whose time is over, or ends the append's own block. Returns false
    /// when the append's own block is already over.
    pub(crate) fn pass(&mut self, ends: Option<BlockToken>, now: Timestamp) -> bool {
        match ends {
            Some(token) => self.unblock(token),
            None => {
                self.block = self.active_block(now);
                true
            }
        }
    }

    /// Extends a block; false when it is over.
    pub(crate) fn extend(&mut self, token: BlockToken, until: Timestamp) -> bool {
        let own = self.block.as_mut().filter(|block| block.token == token);
        own.map(|block| block.until = block.until.max(until))
            .is_some()
    }

    /// Ends a block; false when it is over.
    pub(crate) fn unblock(&mut self, token: BlockToken) -> bool {
        self.block.take_if(|block| block.token == token).is_some()
    }

    /// Adjusts the block when entries from `from` on are deleted. A compaction that saw them has nothing to
    /// end; a pause holds.
    pub(crate) fn truncate(&mut self, from: EventSeq) {
        let Some(block) = self.block.as_mut().filter(|block| block.at >= from) else {
            return;
        };
        match block.reason {
            BlockingReason::Compacting => self.block = None,
            BlockingReason::Paused => block.at = EventSeq(from.0.saturating_sub(1)),
        }
    }
}

/// The error for a thread that does not exist.
pub(crate) fn unknown_thread(id: &SessionId) -> StoreError {
    StoreError::NotFound(format!("thread {id}"))
}

/// The error for creating a thread again that was deleted.
pub(crate) fn deleted_thread(id: &SessionId) -> StoreError {
    let what = "was deleted; give a new one another id";
    StoreError::Refused(format!("thread {id} {what}"))
}
