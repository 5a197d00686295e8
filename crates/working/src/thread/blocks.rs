//! Pauses and resumes threads, and waits for blocks to end.
//!
//! A block is kept by the store, so that every process sees it, and ends by itself when the process that holds it is
//! gone. A waiting caller is notified of a block that this process ends. No store notifies other processes; so the
//! caller also looks by itself, ever more rarely.

use std::sync::Arc;
use std::time::Duration;

use daybook_domain::working::{BlockOutcome, BlockingReason, ThreadBlock};
use daybook_domain::{SessionId, Timestamp};

use super::error::WorkingError;
use super::folder::StateFolder;
use super::live::{LiveState, LiveThread};

/// The first and the longest pause between two looks at a block.
const LOOKS: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// Pauses that double from look to look.
pub(super) struct LookPauses(Duration);

impl Default for LookPauses {
    fn default() -> Self {
        Self(LOOKS.0)
    }
}

impl LookPauses {
    /// Waits for the end of a block, or for the time of the next look.
    pub(super) async fn wait(&mut self, ended: impl Future<Output = ()>) {
        let _ = tokio::time::timeout(self.0, ended).await;
        self.0 = (self.0 * 2).min(LOOKS.1);
    }
}

/// Sets and ends blocks.
pub(crate) struct BlockControl {
    pub(crate) folder: Arc<StateFolder>,
}

impl BlockControl {
    /// Pauses a thread; [`WorkingError::Blocked`] when it is blocked already.
    pub(crate) async fn pause(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
    ) -> Result<(), WorkingError> {
        let folder = &self.folder;
        folder.loader.load(live, state).await?;
        let (paused, never) = (BlockingReason::Paused, Timestamp::MAX);
        let now = folder.clock.now();
        match folder.store.block(&live.id, paused, never, now).await? {
            BlockOutcome::Already(block) => {
                live.set_block(Some(block));
                Err(WorkingError::Blocked(block.reason))
            }
            BlockOutcome::Blocked(_) => {
                folder.catch_up(live, state).await?;
                Ok(())
            }
        }
    }

    /// Ends a pause and applies what is pending; false when the thread is not paused.
    pub(crate) async fn resume(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
    ) -> Result<bool, WorkingError> {
        let folder = &self.folder;
        let thread = folder.store.thread(&live.id).await?;
        let thread = thread.ok_or_else(|| WorkingError::ThreadNotFound(live.id.clone()))?;
        let is_pause = |block: &ThreadBlock| block.reason == BlockingReason::Paused;
        let Some(block) = thread.block.filter(is_pause) else {
            return Ok(false);
        };
        let resumed = folder.store.unblock(&live.id, block.token).await?;
        folder.catch_up(live, state).await?;
        Ok(resumed)
    }

    /// Returns true once the thread is not blocked, or false when it is for a reason that is not waited for.
    pub(crate) async fn wait_while(
        &self,
        thread: &SessionId,
        is_waited_for: impl Fn(BlockingReason) -> bool,
    ) -> Result<bool, WorkingError> {
        let mut pauses = LookPauses::default();
        loop {
            let live = self.folder.loader.open(thread).await?;
            // Taken before the look, so that no end between the look and the wait is missed.
            let block_ended = live.block_ended();
            let mut ended = std::pin::pin!(block_ended.notified());
            ended.as_mut().enable();
            let mut state = live.gate.lock().await;
            let block = self.folder.catch_up(&live, &mut state).await?;
            match block.map(|block| block.reason) {
                None => return Ok(true),
                Some(reason) if !is_waited_for(reason) => return Ok(false),
                Some(_) => {}
            }
            drop(state);
            drop(live);
            pauses.wait(ended).await;
        }
    }
}
