//! Dispatches events: they are stored, then applied in the order of the log.
//!
//! Not here: how they are stored and applied (`thread`).

use std::time::Duration;

use daybook_domain::working::ThreadEvent;
use daybook_domain::{EventSeq, SessionId};

use super::{DispatchReceipt, DispatchResult, MemoryManager, WorkingError};
use crate::thread::appender::split_for_appends;
use crate::thread::queue::{QueuedAppend, ResultReceiver};

impl MemoryManager {
    /// Stores an event and returns its place in the log. It is applied when its turn comes; a compaction or pause
    /// does not delay the return.
    ///
    /// # Errors
    /// [`WorkingError`]; what failed before the event was stored left nothing behind.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// let seq = manager.append(&thread.id, &message("Hello!")).await?;
    /// assert_eq!(seq.0, 1);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn append(
        &self,
        thread: &SessionId,
        event: &ThreadEvent,
    ) -> Result<EventSeq, WorkingError> {
        let (seqs, _) = self
            .store(thread, std::slice::from_ref(event), false)
            .await?;
        Ok(seqs.last().copied().unwrap_or_default())
    }

    /// Stores an event and returns its result once it is applied. Dropping the future does not cancel the event.
    ///
    /// # Errors
    /// [`WorkingError`]; [`WorkingError::Reducer`] for an event that is stored and does nothing.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// let hello = ThreadEvent::new(EventType::user("Hello, agent!"), Timestamp(0));
    /// let result = manager.dispatch(&thread.id, &hello).await?;
    /// assert_eq!(result.added_chunks[0].content.to_text(), "Hello, agent!");
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn dispatch(
        &self,
        thread: &SessionId,
        event: &ThreadEvent,
    ) -> Result<DispatchResult, WorkingError> {
        self.dispatch_all(thread, std::slice::from_ref(event)).await
    }

    /// [`MemoryManager::dispatch`] of several events, in order; returns their joint result. Without any event, the
    /// current state.
    ///
    /// # Errors
    /// The first one; events after it are applied all the same.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// let result = manager.dispatch_all(&thread.id, &[message("One."), message("Two.")]).await?;
    /// assert_eq!(result.added_chunks.len(), 2);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn dispatch_all(
        &self,
        thread: &SessionId,
        events: &[ThreadEvent],
    ) -> Result<DispatchResult, WorkingError> {
        let (_, results) = self.store(thread, events, true).await?;
        let deleted = || WorkingError::Deleted(thread.clone());
        let mut whole: Option<DispatchResult> = None;
        let mut first_error = None;
        for result in results {
            let result = result.await.unwrap_or_else(|_| Err(deleted()));
            match (result, &mut whole) {
                (Ok(part), Some(whole)) => whole.extend(part),
                (Ok(part), None) => whole = Some(part),
                (Err(error), _) => first_error = first_error.or(Some(error)),
            }
        }
        match (first_error, whole) {
            (Some(error), _) => Err(error),
            (None, Some(whole)) => Ok(whole),
            (None, None) => self.current(thread).await,
        }
    }

    /// Stores events and returns a receipt for each, in order. Waits for a running compaction, at most for
    /// `patience`, and for no pause.
    ///
    /// # Errors
    /// [`WorkingError`]; an error of one event alone is in its receipt.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.pause(&thread.id).await?;
    /// let receipts = manager.dispatch_within(&thread.id, &[message("Hello!")], Duration::from_secs(8)).await?;
    /// assert!(receipts[0].result.is_none());
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn dispatch_within(
        &self,
        thread: &SessionId,
        events: &[ThreadEvent],
        patience: Duration,
    ) -> Result<Vec<DispatchReceipt>, WorkingError> {
        let (seqs, results) = self.store(thread, events, true).await?;
        let waiting = self.wait_while_compacting(thread);
        // Events that were applied in time have their results, whether or not the wait ended.
        if let Ok(waited) = tokio::time::timeout(patience, waiting).await {
            waited?;
        }
        let receipts = seqs
            .into_iter()
            .zip(results)
            .map(|(seq, mut result)| DispatchReceipt {
                seq,
                result: result.try_recv().ok(),
            });
        Ok(receipts.collect())
    }

    /// Queues events, and returns once they are stored, with a receiver for each result if they are wanted.
    async fn store(
        &self,
        thread: &SessionId,
        events: &[ThreadEvent],
        with_results: bool,
    ) -> Result<(Vec<EventSeq>, Vec<ResultReceiver>), WorkingError> {
        let records = self.worker.appender.records(events)?;
        let live = self.worker.folder.loader.open(thread).await?;
        let (mut stored, mut results) = (Vec::new(), Vec::new());
        let requests = split_for_appends(records).into_iter().map(|records| {
            let (request, seqs, receivers) = QueuedAppend::new(records, with_results);
            stored.push(seqs);
            results.extend(receivers);
            request
        });
        if live.queue.push(requests.collect()) {
            self.worker.serve(&live);
        }
        let deleted = || WorkingError::Deleted(thread.clone());
        let mut seqs = Vec::new();
        for stored in stored {
            seqs.extend(stored.await.map_err(|_| deleted())??);
        }
        Ok((seqs, results))
    }
}
