//! Threads that stand still, and go on.

use std::sync::Arc;
use std::time::Duration;

use daybook_domain::working::{BlockOutcome, BlockingReason};
use daybook_domain::{SessionId, Timestamp};
use tokio::sync::MutexGuard;

use super::applying::reason;
use super::live::{Inner, Live};
use super::{MemoryManager, WorkingError};

/// How soon, and how seldom at last, it is looked whether a block of another process has ended.
const LOOKS: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

impl MemoryManager {
    /// Has a thread stand still: events are stored, and wait until it is resumed, by whatever process.
    ///
    /// # Errors
    /// [`WorkingError::Blocked`] when it stands still already.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use daybook_domain::Timestamp;
    /// # use daybook_domain::working::{Content, EventType, ThreadEvent};
    /// # use daybook_engine::working::manager::{CreateThread, MemoryManager, MemoryManagerConfig, WorkingError};
    /// # use daybook_engine::working::reduce::ReducerRegistry;
    /// # let clock = Arc::new(daybook_testkit::ManualClock::at(Timestamp(0)));
    /// # let store = Arc::new(daybook_store::MemoryStore::new());
    /// # let manager = MemoryManager::new(store.clone(), ReducerRegistry::default(), None, clock, MemoryManagerConfig::default());
    /// # let said = |words: &str| ThreadEvent::new(EventType::user(words), Timestamp(0));
    /// # daybook_testkit::run(async {
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.pause(&thread.id).await?;
    /// // It is stored, and waits.
    /// manager.append(&thread.id, &said("Hello!")).await?;
    /// assert!(manager.current_state(&thread.id).await?.is_empty());
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn pause(&self, thread: &SessionId) -> Result<(), WorkingError> {
        let live = self.0.live(thread).await?;
        let mut inner = live.gate.lock().await;
        self.pause_locked(&live, &mut inner).await
    }

    /// Has a paused thread go on: what waited is applied, in order. False when it was not paused.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use daybook_domain::Timestamp;
    /// # use daybook_domain::working::{Content, EventType, ThreadEvent};
    /// # use daybook_engine::working::manager::{CreateThread, MemoryManager, MemoryManagerConfig, WorkingError};
    /// # use daybook_engine::working::reduce::ReducerRegistry;
    /// # let clock = Arc::new(daybook_testkit::ManualClock::at(Timestamp(0)));
    /// # let store = Arc::new(daybook_store::MemoryStore::new());
    /// # let manager = MemoryManager::new(store.clone(), ReducerRegistry::default(), None, clock, MemoryManagerConfig::default());
    /// # let said = |words: &str| ThreadEvent::new(EventType::user(words), Timestamp(0));
    /// # daybook_testkit::run(async {
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.pause(&thread.id).await?;
    /// manager.append(&thread.id, &said("Hello!")).await?;
    /// assert!(manager.resume(&thread.id).await?);
    /// assert_eq!(manager.current_state(&thread.id).await?.len(), 1);
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn resume(&self, thread: &SessionId) -> Result<bool, WorkingError> {
        let live = self.0.live(thread).await?;
        let mut inner = live.gate.lock().await;
        let resumed = self.resume_locked(&live, &mut inner).await?;
        self.after(&live, &mut inner).await?;
        Ok(resumed)
    }

    /// Whether a thread stands still, as far as this process knows (seed 003, `isBlocked`).
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use daybook_domain::Timestamp;
    /// # use daybook_domain::working::{Content, EventType, ThreadEvent};
    /// # use daybook_engine::working::manager::{CreateThread, MemoryManager, MemoryManagerConfig, WorkingError};
    /// # use daybook_engine::working::reduce::ReducerRegistry;
    /// # let clock = Arc::new(daybook_testkit::ManualClock::at(Timestamp(0)));
    /// # let store = Arc::new(daybook_store::MemoryStore::new());
    /// # let manager = MemoryManager::new(store.clone(), ReducerRegistry::default(), None, clock, MemoryManagerConfig::default());
    /// # let said = |words: &str| ThreadEvent::new(EventType::user(words), Timestamp(0));
    /// # daybook_testkit::run(async {
    /// # let (thread, _) = manager.create_thread().await?;
    /// assert!(!manager.is_blocked(&thread.id));
    /// manager.pause(&thread.id).await?;
    /// assert!(manager.is_blocked(&thread.id));
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn is_blocked(&self, thread: &SessionId) -> bool {
        self.blocking_reason(thread).is_some()
    }

    /// Why a thread stands still, as far as this process knows (seed 003, `getBlockingReason`).
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use daybook_domain::Timestamp;
    /// # use daybook_domain::working::{Content, EventType, ThreadEvent};
    /// # use daybook_engine::working::manager::{CreateThread, MemoryManager, MemoryManagerConfig, WorkingError};
    /// # use daybook_engine::working::reduce::ReducerRegistry;
    /// # let clock = Arc::new(daybook_testkit::ManualClock::at(Timestamp(0)));
    /// # let store = Arc::new(daybook_store::MemoryStore::new());
    /// # let manager = MemoryManager::new(store.clone(), ReducerRegistry::default(), None, clock, MemoryManagerConfig::default());
    /// # let said = |words: &str| ThreadEvent::new(EventType::user(words), Timestamp(0));
    /// # daybook_testkit::run(async {
    /// # let (thread, _) = manager.create_thread().await?;
    /// use daybook_domain::working::BlockingReason;
    /// manager.pause(&thread.id).await?;
    /// assert_eq!(manager.blocking_reason(&thread.id), Some(BlockingReason::Paused));
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn blocking_reason(&self, thread: &SessionId) -> Option<BlockingReason> {
        let now = self.0.clock.now();
        let block = self.0.known(thread)?.block()?;
        block.stands(now).then_some(block.reason)
    }

    /// Returns when a thread does not stand still (spec/working-memory.md 4.2, `waitForUnblock`).
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use daybook_domain::Timestamp;
    /// # use daybook_domain::working::{Content, EventType, ThreadEvent};
    /// # use daybook_engine::working::manager::{CreateThread, MemoryManager, MemoryManagerConfig, WorkingError};
    /// # use daybook_engine::working::reduce::ReducerRegistry;
    /// # let clock = Arc::new(daybook_testkit::ManualClock::at(Timestamp(0)));
    /// # let store = Arc::new(daybook_store::MemoryStore::new());
    /// # let manager = MemoryManager::new(store.clone(), ReducerRegistry::default(), None, clock, MemoryManagerConfig::default());
    /// # let said = |words: &str| ThreadEvent::new(EventType::user(words), Timestamp(0));
    /// # daybook_testkit::run(async {
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.wait_until_unblocked(&thread.id).await?;
    /// assert!(!manager.is_blocked(&thread.id));
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn wait_until_unblocked(&self, thread: &SessionId) -> Result<(), WorkingError> {
        self.wait_while(thread, |_| true).await.map(drop)
    }

    /// Returns when no compaction of a thread is under way: true when it does not stand still, so that
    /// all that was stored is applied, and false when it is paused.
    ///
    /// # Errors
    /// [`WorkingError`].
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use std::time::Duration;
    /// # use daybook_domain::Timestamp;
    /// # use daybook_domain::working::{EventType, ThreadEvent};
    /// # use daybook_engine::working::manager::{MemoryManager, MemoryManagerConfig, WorkingError};
    /// # use daybook_engine::working::reduce::ReducerRegistry;
    /// # let clock = Arc::new(daybook_testkit::ManualClock::at(Timestamp(0)));
    /// # let store = Arc::new(daybook_store::MemoryStore::new());
    /// # let manager = MemoryManager::new(store.clone(), ReducerRegistry::default(), None, clock, MemoryManagerConfig::default());
    /// # let said = |words: &str| ThreadEvent::new(EventType::user(words), Timestamp(0));
    /// # daybook_testkit::run(async {
    /// # let (thread, _) = manager.create_thread().await?;
    /// manager.pause(&thread.id).await?;
    /// assert!(!manager.wait_while_compacting(&thread.id).await?);
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn wait_while_compacting(&self, thread: &SessionId) -> Result<bool, WorkingError> {
        let compacting = |reason| reason == BlockingReason::Compacting;
        self.wait_while(thread, compacting).await
    }

    /// Returns when a thread does not stand still, or for a reason that is not waited for; whether it goes
    /// on.
    async fn wait_while(
        &self,
        thread: &SessionId,
        is_waited_for: impl Fn(BlockingReason) -> bool,
    ) -> Result<bool, WorkingError> {
        let (mut look, seldom) = LOOKS;
        loop {
            let live = self.0.live(thread).await?;
            let mut inner = live.gate.lock().await;
            match reason(self.0.catch_up(&live, &mut inner).await?) {
                None => return Ok(true),
                Some(reason) if !is_waited_for(reason) => return Ok(false),
                Some(_) => {}
            }
            drop(inner);
            drop(live);
            tokio::time::sleep(look).await;
            look = (look * 2).min(seldom);
        }
    }

    pub(super) async fn pause_locked(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
    ) -> Result<(), WorkingError> {
        self.0.load(live, inner).await?;
        let (paused, never) = (BlockingReason::Paused, Timestamp::MAX);
        let now = self.0.clock.now();
        match self.0.store.block(&live.id, paused, never, now).await? {
            BlockOutcome::Already(block) => {
                live.set_block(Some(block));
                Err(WorkingError::Blocked(block.reason))
            }
            BlockOutcome::Blocked(_) => {
                self.0.catch_up(live, inner).await?;
                Ok(())
            }
        }
    }

    pub(super) async fn resume_locked(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
    ) -> Result<bool, WorkingError> {
        let thread = self.0.store.thread(&live.id).await?;
        let thread = thread.ok_or_else(|| WorkingError::ThreadNotFound(live.id.clone()))?;
        let paused = thread
            .block
            .filter(|it| it.reason == BlockingReason::Paused);
        let Some(block) = paused else {
            return Ok(false);
        };
        let resumed = self.0.store.unblock(&live.id, block.token).await?;
        self.0.catch_up(live, inner).await?;
        Ok(resumed)
    }

    /// Looks whether the block has ended that those wait for who wait, as another process may end it.
    pub(super) fn watch_block(&self, live: &Arc<Live>, inner: &mut Inner) {
        if std::mem::replace(&mut inner.is_watched, true) {
            return;
        }
        let (manager, live) = (self.clone(), Arc::clone(live));
        tokio::spawn(async move {
            let (mut look, seldom) = LOOKS;
            loop {
                tokio::time::sleep(look).await;
                look = (look * 2).min(seldom);
                let mut inner = live.gate.lock().await;
                if inner.waiting.is_empty() {
                    inner.is_watched = false;
                    return;
                }
                let looked = match manager.0.catch_up(&live, &mut inner).await {
                    Ok(None) => manager.after(&live, &mut inner).await,
                    Ok(Some(_)) => Ok(()),
                    Err(error) => Err(error),
                };
                if let Err(error) = looked {
                    manager.0.observers.tell(|it| it.on_error(&live.id, &error));
                    if let WorkingError::ThreadNotFound(id) = error {
                        inner.deleted(&id);
                        inner.is_watched = false;
                        return;
                    }
                }
            }
        });
    }
}

impl Inner {
    /// Nobody who waits will be served.
    pub(super) fn deleted(&mut self, id: &SessionId) {
        self.waiting.deleted(id);
        self.loaded = None;
    }
}
