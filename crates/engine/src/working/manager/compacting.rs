//! How chunks are compacted, and what comes of it gets into the thread.
//!
//! A compaction blocks its thread, works on a state that stands still, and ends with one append that also
//! ends the block: if the block was lost meanwhile, nothing of it counts.
//!
//! Not here: when that is due, and for which chunks (`due`).

use std::pin::Pin;
use std::sync::{Arc, PoisonError};

use daybook_domain::working::selection::Selection;
use daybook_domain::working::{
    Block, BlockOutcome, BlockingReason, Chunk, ChunkId, Compaction, Entry, IdSource, State,
};
use daybook_domain::{EventId, EventSeq, SessionId, StoreError};
use tokio::sync::{MutexGuard, oneshot};

use super::applying::Outcome;
use super::due::{ANNOUNCED, Wanted};
use super::live::{Inner, Live, Trouble};
use super::{Compacted, MemoryManager, Shared, WorkingError};
use crate::working::clean::clean_chunk;
use crate::working::compact::{Compactor, Means, Planned, Why, plan};
use crate::working::log;
use crate::working::reader::WAITING;

/// What somebody waits for who asked for a compaction.
type Done = oneshot::Sender<Result<Compacted, WorkingError>>;

/// A compaction that is under way.
struct Task {
    block: Block,
    state: State,
    selection: Selection,
    why: Why,
    done: Option<Done>,
}

impl MemoryManager {
    /// Compacts the chunks of those names, or all that can be (seed 003, `triggerCompaction`): but for
    /// the newest words of the person, and calls that nobody has answered. Returns when it is done.
    ///
    /// # Errors
    /// [`WorkingError::Blocked`] while the thread stands still, and [`WorkingError::NotCompacted`] when
    /// nothing shorter could be made of them.
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
    /// # let long = "The deploy of the second host went wrong in the same way. ".repeat(8);
    /// # for number in 1..=6 {
    /// #     manager.dispatch(&thread.id, &said(&format!("{number}: {long}"))).await?;
    /// # }
    /// // All that can be.
    /// let before = manager.current_state(&thread.id).await?.len();
    /// let compacted = manager.trigger_compaction(&thread.id, None).await?;
    /// assert!(compacted.state.len() < before);
    ///
    /// // Or these.
    /// let chosen = compacted.state.chunk_ids()[..1].to_vec();
    /// let outcome = manager.trigger_compaction(&thread.id, Some(&chosen)).await;
    /// # drop(outcome);
    /// # Ok::<(), WorkingError>(())
    /// # }).unwrap();
    /// ```
    pub async fn trigger_compaction(
        &self,
        thread: &SessionId,
        chunks: Option<&[ChunkId]>,
    ) -> Result<Compacted, WorkingError> {
        let live = self.0.live(thread).await?;
        let (done, waits) = oneshot::channel();
        {
            let mut inner = live.gate.lock().await;
            self.0.catch_up(&live, &mut inner).await?;
            let Some(wanted) = self.wanted(&inner, chunks, Why::Asked) else {
                let result = inner.result(EventSeq(0), &Default::default())?;
                return Ok(Compacted {
                    thread: result.thread,
                    state: result.state,
                    added_chunks: Vec::new(),
                    removed_chunk_ids: Vec::new(),
                    compaction: None,
                });
            };
            self.begin(&live, &mut inner, wanted, Some(done)).await?;
        }
        let gone = || Err(WorkingError::Deleted(thread.clone()));
        waits.await.unwrap_or_else(|_| gone())
    }

    /// Begins a compaction that nobody waits for, if one is wanted.
    pub(super) async fn compact_in_background(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
        wanted: Option<Wanted>,
    ) -> Result<(), WorkingError> {
        let Some(wanted) = wanted else { return Ok(()) };
        match self.begin(live, inner, wanted, None).await {
            // It comes to be anyway, or is not wanted now.
            Ok(()) | Err(WorkingError::Blocked(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Blocks the thread and starts the work.
    async fn begin(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
        mut wanted: Wanted,
        done: Option<Done>,
    ) -> Result<(), WorkingError> {
        let block = self.block_to_compact(live).await?;
        // Others may have stored something before the block.
        if inner
            .loaded
            .as_ref()
            .is_none_or(|loaded| loaded.folded < block.at)
        {
            self.0.catch_up(live, inner).await?;
            wanted.selection = self.selection(inner, wanted.chunks.as_deref(), wanted.why);
        }
        let gone = || WorkingError::ThreadNotFound(live.id.clone());
        let state = inner.loaded.as_ref().ok_or_else(gone)?.state.clone();
        let chunks = wanted.selection.chunks();
        let names: Vec<_> = chunks.map(|chunk| chunk.id.clone()).collect();
        self.0
            .observers
            .tell(|it| it.on_compaction_start(&live.id, &names));
        let task = Task {
            block,
            state,
            selection: wanted.selection,
            why: wanted.why,
            done,
        };
        self.start(live, task);
        Ok(())
    }

    async fn block_to_compact(&self, live: &Live) -> Result<Block, WorkingError> {
        let now = self.0.clock.now();
        let until = now.plus(self.0.config.block_lease);
        let compacting = BlockingReason::Compacting;
        let outcome = self.0.store.block(&live.id, compacting, until, now).await;
        live.set_block(match &outcome {
            Ok(BlockOutcome::Blocked(block) | BlockOutcome::Already(block)) => Some(*block),
            // What was announced does not come to be; of any other block nothing new is known.
            Err(_) => live.block().filter(|block| block.token != ANNOUNCED),
        });
        match outcome? {
            BlockOutcome::Blocked(block) => Ok(block),
            BlockOutcome::Already(block) => Err(WorkingError::Blocked(block.reason)),
        }
    }

    /// Has the work done in the background; it may begin the next compaction in turn.
    fn start(&self, live: &Arc<Live>, task: Task) {
        let (manager, live) = (self.clone(), Arc::clone(live));
        let work: Pin<Box<dyn Future<Output = ()> + Send>> =
            Box::pin(async move { manager.compact(&live, task).await });
        tokio::spawn(work);
    }

    /// The work: planned without the gate, put into the thread with it.
    async fn compact(&self, live: &Arc<Live>, mut task: Task) {
        // Whose event made it necessary hears of that first.
        tokio::task::yield_now().await;
        let done = task.done.take();
        let result = self.plan_and_finish(live, &task).await;
        match (&result, done) {
            (_, Some(done)) => drop(done.send(result)),
            (Ok(_), None) => {}
            (Err(error), None) => self.0.observers.tell(|it| it.on_error(&live.id, error)),
        }
    }

    async fn plan_and_finish(
        &self,
        live: &Arc<Live>,
        task: &Task,
    ) -> Result<Compacted, WorkingError> {
        let asks_model = {
            let inner = live.gate.lock().await;
            inner.trouble.until <= self.0.clock.now()
        };
        let means = self.0.means(&live.id, asks_model).await;
        let ids = IdSource::new(&live.id, EventSeq(u64::MAX - task.block.token.0));
        let now = self.0.clock.now();
        let planning = plan(&task.state, &task.selection, task.why, &means, ids, now);
        let planned = self.0.while_blocked(live, task.block, planning).await;
        let mut inner = live.gate.lock().await;
        let name = self.0.model_name().filter(|_| asks_model);
        inner.trouble.note(
            &planned,
            name.as_deref(),
            self.0.config.back_off,
            self.0.clock.now(),
        );
        let finished = self.finish(live, &mut inner, task, planned).await;
        if let Err(WorkingError::Store(_)) = &finished {
            // Whether it was stored is not known. If it was not, nobody shall wait for the block's end.
            let _ = self.0.store.unblock(&live.id, task.block.token).await;
        }
        match &finished {
            Ok(compacted) => {
                self.0
                    .observers
                    .tell(|it| it.on_compaction_end(&live.id, compacted));
            }
            Err(error) => {
                let why = error.to_string();
                self.0
                    .observers
                    .tell(|it| it.on_compaction_failed(&live.id, &why));
            }
        }
        // What waited is applied in any case, and may be enough for the next one.
        let is_caught_up = finished
            .as_ref()
            .is_ok_and(|it| self.0.fold_waiting(live, &mut inner, it.thread.last));
        if !is_caught_up {
            self.0.catch_up(live, &mut inner).await?;
        }
        self.after(live, &mut inner).await?;
        finished
    }

    async fn finish(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
        task: &Task,
        planned: Planned,
    ) -> Result<Compacted, WorkingError> {
        let last = inner.waiting.last().unwrap_or_default();
        let waited = last.0.saturating_sub(task.block.at.0);
        if planned.is_empty() || waited > WAITING {
            self.0.store.unblock(&live.id, task.block.token).await?;
            inner.trouble.futile = inner.size();
            let why = match planned.faults.is_empty() {
                true => "nothing shorter could be made".to_owned(),
                false => planned.faults.join("; "),
            };
            return Err(WorkingError::NotCompacted(why));
        }
        let redactor = &self.0.config.redactor;
        let replaced = planned.replaced.into_iter().map(|mut replaced| {
            // Whoever condensed may have made a secret of what was none.
            let chunk = clean_chunk(redactor, Chunk::clone(&replaced.chunk))?;
            replaced.chunk = Arc::new(chunk);
            Ok(replaced)
        });
        let compaction = Compaction {
            at: task.block.at,
            replaced: replaced.collect::<Result<_, StoreError>>()?,
            dropped: planned.dropped,
            by: planned.by,
            tokens_before: planned.tokens_before,
            tokens_after: planned.tokens_after,
            faults: planned.faults,
        };
        let text = log::summary_text(&compaction);
        let id = EventId::of(&[b"compaction", &task.block.token.0.to_le_bytes()]);
        let entry = Entry::Compaction(compaction.clone());
        let now = self.0.clock.now();
        let written = log::entry(redactor, entry, text, id, now)?;
        let ends = Some(task.block.token);
        let batch = self.0.batch(&live.id, [written], ends, now);
        let part = self.0.append_and_fold(live, inner, &batch).await?;
        if part.is_lost {
            return Err(WorkingError::NotCompacted(
                "the thread's block was over".to_owned(),
            ));
        }
        inner.trouble.futile = None;
        let Some(Outcome::Applied(result)) = part.outcomes.into_iter().next() else {
            return Err(WorkingError::NotCompacted("it was stored twice".to_owned()));
        };
        let result = result?;
        Ok(Compacted {
            thread: result.thread,
            state: result.state,
            added_chunks: result.added_chunks,
            removed_chunk_ids: result.removed_chunk_ids,
            compaction: Some(compaction),
        })
    }
}

impl Shared {
    async fn means(&self, id: &SessionId, asks_model: bool) -> Means {
        let session = match (&self.asked_about, asks_model) {
            (Some(_), true) => self.store.session(id).await.ok().flatten(),
            _ => None,
        };
        let compactors = self
            .compactors
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let asked = compactors.model.clone().filter(|_| asks_model);
        let asked = match (asked, &self.asked_about, &session) {
            // Nobody knows whom it would be charged to.
            (_, Some(_), None) => None,
            (asked, Some(about), Some(session)) => asked.map(|it| it.asking(about(session))),
            (asked, None, _) => asked,
        };
        let mut all = compactors.custom.clone();
        all.extend(asked.map(|asked| Arc::new(asked) as Arc<dyn Compactor>));
        all.push(Arc::clone(&compactors.last));
        Means {
            compactors: all,
            limit: self.config.compact_timeout,
            count: Arc::clone(&self.config.count),
        }
    }

    fn model_name(&self) -> Option<String> {
        let compactors = self
            .compactors
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        compactors
            .model
            .as_ref()
            .map(|model| model.name().to_owned())
    }

    /// Works, and keeps the block alive meanwhile.
    async fn while_blocked<T>(
        &self,
        live: &Live,
        block: Block,
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            let third = self.config.block_lease / 3;
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = tokio::time::sleep(third) => {
                    let until = self.clock.now().plus(self.config.block_lease);
                    let extended = self.store.extend_block(&live.id, block.token, until).await;
                    if let Ok(true) = extended {
                        live.set_block(Some(Block { until, ..block }));
                    }
                }
            }
        }
    }
}

impl Trouble {
    /// A model that failed is left alone for a while; longer each time.
    fn note(
        &mut self,
        planned: &Planned,
        model: Option<&str>,
        (first, most): (std::time::Duration, std::time::Duration),
        now: daybook_domain::Timestamp,
    ) {
        let Some(model) = model else { return };
        if !planned.failed.iter().any(|failed| failed == model) {
            self.failures = 0;
            return;
        }
        let wait = first.saturating_mul(1 << self.failures.min(16)).min(most);
        self.failures = self.failures.saturating_add(1);
        self.until = now.plus(wait);
    }
}
