//! Pauses and resumes threads, and waits for blocks to end.

use daybook_domain::SessionId;
use daybook_domain::working::BlockingReason;

use super::{MemoryManager, WorkingError};

impl MemoryManager {
    /// Pauses a thread: events are stored, and wait until any process resumes it.
    ///
    /// # Errors
    /// [`WorkingError::Blocked`] when it is blocked already.
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.pause(&thread.id).await?;
    /// // The event is stored, and waits.
    /// manager.append(&thread.id, &message("Hello!")).await?;
    /// assert!(manager.current_state(&thread.id).await?.is_empty());
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn pause(&self, thread: &SessionId) -> Result<(), WorkingError> {
        let live = self.worker.folder.loader.open(thread).await?;
        let mut state = live.gate.lock().await;
        self.worker.blocks.pause(&live, &mut state).await
    }

    /// Resumes a paused thread: waiting events are applied, in order. False when it was not paused.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.pause(&thread.id).await?;
    /// manager.append(&thread.id, &message("Hello!")).await?;
    /// assert!(manager.resume(&thread.id).await?);
    /// assert_eq!(manager.current_state(&thread.id).await?.len(), 1);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn resume(&self, thread: &SessionId) -> Result<bool, WorkingError> {
        let live = self.worker.folder.loader.open(thread).await?;
        let mut state = live.gate.lock().await;
        let resumed = self.worker.blocks.resume(&live, &mut state).await?;
        self.worker.after_applying(&live, &mut state).await?;
        Ok(resumed)
    }

    /// Whether a thread is blocked, as far as this process has seen (Team9's `isBlocked`).
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// assert!(!manager.is_blocked(&thread.id));
    /// manager.pause(&thread.id).await?;
    /// assert!(manager.is_blocked(&thread.id));
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn is_blocked(&self, thread: &SessionId) -> bool {
        self.blocking_reason(thread).is_some()
    }

    /// The reason why a thread is blocked, as far as this process has seen (Team9's `getBlockingReason`).
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// use daybook_domain::working::BlockingReason;
    /// manager.pause(&thread.id).await?;
    /// assert_eq!(manager.blocking_reason(&thread.id), Some(BlockingReason::Paused));
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn blocking_reason(&self, thread: &SessionId) -> Option<BlockingReason> {
        let now = self.worker.folder.clock.now();
        let block = self.worker.folder.loader.find_loaded(thread)?.block()?;
        block.stands(now).then_some(block.reason)
    }

    /// Returns once a thread is not blocked (Team9's `waitForUnblock`).
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.wait_until_unblocked(&thread.id).await?;
    /// assert!(!manager.is_blocked(&thread.id));
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn wait_until_unblocked(&self, thread: &SessionId) -> Result<(), WorkingError> {
        self.worker
            .blocks
            .wait_while(thread, |_| true)
            .await
            .map(drop)
    }

    /// Returns once no compaction of a thread is running: true when the thread is not blocked, so that
    /// all stored events are applied, and false when it is paused.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    #[doc = include_str!("../../doctests/manager.txt")]
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.pause(&thread.id).await?;
    /// assert!(!manager.wait_while_compacting(&thread.id).await?);
    /// # Ok::<(), WorkingError>(()) }).unwrap();
    /// ```
    pub async fn wait_while_compacting(&self, thread: &SessionId) -> Result<bool, WorkingError> {
        let compacting = |reason| reason == BlockingReason::Compacting;
        self.worker.blocks.wait_while(thread, compacting).await
    }
}
