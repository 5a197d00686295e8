//! Threads.

use async_trait::async_trait;
use daybook_domain::working::{
    BlockOutcome, BlockToken, BlockingReason, LogEntry, LogPage, NewThread, Thread, ThreadAppend,
    ThreadAppendOutcome, ThreadStore,
};
use daybook_domain::{EventSeq, SessionId, StoreError, Tenant, Timestamp};

use super::{MemorySessionRow, MemoryState, MemoryStore};
use crate::bounds::check_entries;
use crate::log;
use crate::threads::{ThreadRow, deleted_thread, unknown_thread};

/// A thread, and its newest snapshot.
#[derive(Debug)]
pub(super) struct StoredThread {
    pub(super) row: ThreadRow,
    pub(super) snapshot: Option<(EventSeq, Vec<u8>)>,
}

impl StoredThread {
    /// Adjusts the thread when entries from `from` on are deleted.
    pub(super) fn truncate(&mut self, from: EventSeq) {
        self.row.blocking.truncate(from);
        self.snapshot.take_if(|(seq, _)| *seq >= from);
    }
}

#[async_trait]
impl ThreadStore for MemoryStore {
    async fn create_thread(&self, new: &NewThread) -> Result<Thread, StoreError> {
        let id = &new.session.id;
        let mut state = self.lock_for_change();
        let former = state.threads.get(id);
        if former.is_some_and(|former| former.row.deleted_at.is_some()) {
            return Err(deleted_thread(id));
        }
        let row = ThreadRow::new(new, former.map(|former| &former.row));
        if let Some(known) = state.sessions.get(id) {
            log::check_venue_named(&known.session, &new.session)?;
        }
        if state.find_thread(id).is_none() {
            if !state.sessions.contains_key(id) {
                state.add(&log::empty_append(new), &[])?;
            }
            let snapshot = None;
            state
                .threads
                .insert(id.clone(), StoredThread { row, snapshot });
        }
        let (session, thread) = state.known_thread(id)?;
        Ok(thread.row.thread(&session.session))
    }

    async fn thread(&self, id: &SessionId) -> Result<Option<Thread>, StoreError> {
        let mut state = self.lock();
        let found = state.find_thread(id);
        Ok(found.map(|(session, thread)| thread.row.thread(&session.session)))
    }

    async fn threads(&self, tenant: &Tenant, limit: usize) -> Result<Vec<Thread>, StoreError> {
        let state = self.lock();
        let own = state
            .threads
            .iter()
            .filter(|(id, thread)| &id.tenant == tenant && thread.row.deleted_at.is_none());
        let own = own.filter_map(|(id, thread)| {
            let session = &state.sessions.get(id)?.session;
            Some(thread.row.thread(session))
        });
        let mut threads: Vec<Thread> = own.collect();
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.updated_at));
        threads.truncate(limit);
        Ok(threads)
    }

    async fn append_entries(
        &self,
        append: &ThreadAppend,
    ) -> Result<ThreadAppendOutcome, StoreError> {
        check_entries(append)?;
        let id = &append.append.session.id;
        let now = append.append.now;
        let mut state = self.lock_for_change();
        state.check_import(&id.tenant, append.append.import)?;
        let (_, thread) = state.known_thread(id)?;
        if !thread.row.blocking.pass(append.ends, now) {
            return Ok(ThreadAppendOutcome::BlockLost);
        }
        let block = thread.row.blocking.block;
        let placed = state.add(&append.append, &append.entries)?;
        Ok(ThreadAppendOutcome::Stored {
            seqs: placed.seqs,
            before: placed.before,
            block,
        })
    }

    async fn entries(
        &self,
        id: &SessionId,
        after: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<LogPage, StoreError> {
        let mut state = self.lock();
        let (session, thread) = state.known_thread(id)?;
        let mut page = LogPage {
            entries: Vec::new(),
            block: thread.row.blocking.block,
            last: session.session.events,
        };
        let mut size = 0;
        let rest = session.events.values().filter(|event| event.seq > after);
        for event in rest.take(limit) {
            let entry = session.entries.get(&event.seq);
            size += event.text.len() + entry.map_or(0, String::len);
            if size > bytes && !page.entries.is_empty() {
                break;
            }
            page.entries.push(LogEntry {
                event: event.clone(),
                entry: entry.cloned(),
            });
        }
        Ok(page)
    }

    async fn block(
        &self,
        id: &SessionId,
        reason: BlockingReason,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<BlockOutcome, StoreError> {
        let mut state = self.lock_for_change();
        let (session, thread) = state.known_thread(id)?;
        let last = session.session.events;
        Ok(thread.row.blocking.block(reason, last, until, now))
    }

    async fn extend_block(
        &self,
        id: &SessionId,
        token: BlockToken,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock_for_change();
        let found = state.find_thread(id);
        Ok(found.is_some_and(|(_, thread)| thread.row.blocking.extend(token, until)))
    }

    async fn unblock(&self, id: &SessionId, token: BlockToken) -> Result<bool, StoreError> {
        let mut state = self.lock_for_change();
        let found = state.find_thread(id);
        Ok(found.is_some_and(|(_, thread)| thread.row.blocking.unblock(token)))
    }

    async fn put_snapshot(
        &self,
        id: &SessionId,
        seq: EventSeq,
        snapshot: &[u8],
    ) -> Result<(), StoreError> {
        let mut state = self.lock_for_change();
        let (session, thread) = state.known_thread(id)?;
        let newest = thread
            .snapshot
            .as_ref()
            .is_none_or(|(kept, _)| *kept <= seq);
        if newest && seq <= session.session.events {
            thread.snapshot = Some((seq, snapshot.to_vec()));
        }
        Ok(())
    }

    async fn snapshot(&self, id: &SessionId) -> Result<Option<(EventSeq, Vec<u8>)>, StoreError> {
        let mut state = self.lock();
        let found = state.find_thread(id);
        Ok(found.and_then(|(_, thread)| thread.snapshot.clone()))
    }

    async fn delete_thread(&self, id: &SessionId, now: Timestamp) -> Result<bool, StoreError> {
        let mut state = self.lock_for_change();
        let Some((_, thread)) = state.find_thread(id) else {
            return Ok(false);
        };
        thread.row.delete(now);
        thread.snapshot = None;
        Ok(true)
    }
}

impl MemoryState {
    /// The thread and its session, unless it was deleted.
    fn find_thread(&mut self, id: &SessionId) -> Option<(&MemorySessionRow, &mut StoredThread)> {
        let session = self.sessions.get(id)?;
        let thread = self.threads.get_mut(id)?;
        let is_there = thread.row.deleted_at.is_none();
        is_there.then_some((session, thread))
    }

    fn known_thread(
        &mut self,
        id: &SessionId,
    ) -> Result<(&MemorySessionRow, &mut StoredThread), StoreError> {
        self.find_thread(id).ok_or_else(|| unknown_thread(id))
    }
}
