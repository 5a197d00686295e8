//! Earlier states of a thread, folded again from the beginning of its log.

use std::sync::Arc;

use daybook_domain::working::{StateId, ThreadEntry, ThreadState, ThreadStore};
use daybook_domain::{EventSeq, SessionId};

use super::error::WorkingError;
use crate::fold::Fold;
use crate::log_reader::LogReader;
use crate::reduce::ReducerRegistry;

/// Folds threads from their beginning.
pub(crate) struct History {
    pub(crate) store: Arc<dyn ThreadStore>,
    pub(crate) registry: Arc<ReducerRegistry>,
}

impl History {
    /// The state of that id.
    pub(crate) async fn state(
        &self,
        thread: &SessionId,
        id: &StateId,
    ) -> Result<ThreadState, WorkingError> {
        let state = self.find(thread, |state| state.id == *id).await?;
        state.ok_or_else(|| WorkingError::StateNotFound(id.clone()))
    }

    /// Visits the thread's states from the first one on, until `is_wanted` holds; returns that one.
    pub(crate) async fn find(
        &self,
        thread: &SessionId,
        mut is_wanted: impl FnMut(&ThreadState) -> bool,
    ) -> Result<Option<ThreadState>, WorkingError> {
        let record = self.store.thread(thread).await?;
        let record = record.ok_or_else(|| WorkingError::ThreadNotFound(thread.clone()))?;
        let fold = Fold::new(thread, Arc::clone(&self.registry));
        let mut state = fold.beginning(record.created_at);
        let mut reader = LogReader::new(&*self.store, thread, EventSeq(0));
        let mut is_first = true;
        while let Some(placed) = reader.next().await? {
            if let Some(entry) = &placed.entry {
                // Initial chunks make the first state, not the second.
                let is_initial = matches!(entry, ThreadEntry::Initial { .. });
                if is_first && !is_initial && is_wanted(&state) {
                    return Ok(Some(state));
                }
                is_first = false;
                let folded = fold.entry(&mut state, placed.seq, placed.at, entry);
                if folded.is_changed && is_wanted(&state) {
                    return Ok(Some(state));
                }
            }
        }
        Ok((is_first && is_wanted(&state)).then_some(state))
    }
}
