//! Runs compactions of threads.
//!
//! A compaction blocks its thread, plans on a state that cannot change meanwhile, and ends with one append that also
//! ends the block. If the block was lost in between, nothing of the compaction counts.
//!
//! Not here: when a compaction is due, and for which chunks (`compaction_due`); who starts it (`worker`).

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use daybook_domain::model::{Model, ModelForSession};
use daybook_domain::working::selection::Selection;
use daybook_domain::working::{
    BlockOutcome, BlockingReason, Chunk, ChunkId, Compaction, EventType, IdSource, ThreadBlock,
    ThreadEntry, ThreadState,
};
use daybook_domain::{EventSeq, SessionId, StoreError};
use tokio::sync::oneshot;

use super::appender::Appender;
use super::compaction_due::{ANNOUNCED, DueCompaction};
use super::config::MemoryManagerConfig;
use super::error::WorkingError;
use super::live::{CompactionBackoff, LiveState, LiveThread};
use super::results::CompactionOutcome;
use crate::compact::{
    CompactionPlan, CompactionReason, CompactionTools, Compactor, ExtractiveCompactor,
    WorkingHistoryCompactor, plan,
};
use crate::log_reader::MAX_PENDING;
use crate::record;
use crate::sanitize::clean_chunk;

/// Most entries, and most bytes of them, that are read at once of what came during a compaction.
const PENDING_PAGE: usize = 1_024;
const PENDING_BYTES: usize = 4 << 20;

/// Notifies the caller that asked for a compaction.
pub(super) type OutcomeSender = oneshot::Sender<Result<CompactionOutcome, WorkingError>>;

/// Compacts threads, with the compactors that are registered.
pub(crate) struct Compactions {
    pub(crate) appender: Arc<Appender>,
    pub(crate) config: Arc<MemoryManagerConfig>,
    /// Chooses the model for each session, so that its calls are charged to the right payer.
    pub(crate) model_for: Option<Arc<ModelForSession>>,
    compactors: RwLock<Compactors>,
}

/// Compactors in the order in which they are tried.
struct Compactors {
    /// The newest first.
    custom: Vec<Arc<dyn Compactor>>,
    model: Option<WorkingHistoryCompactor>,
    /// Asks no model, and never fails.
    last: Arc<dyn Compactor>,
}

/// A compaction that is under way: its block is in the store.
pub(super) struct CompactionTask {
    block: ThreadBlock,
    state: ThreadState,
    selection: Selection,
    why: CompactionReason,
    /// The caller that waits for it, if one does.
    pub(super) outcome_sender: Option<OutcomeSender>,
}

impl Compactions {
    pub(crate) fn new(
        appender: Arc<Appender>,
        config: Arc<MemoryManagerConfig>,
        model: Option<Arc<dyn Model>>,
    ) -> Self {
        let llm = config.llm.clone();
        let compactors = Compactors {
            custom: Vec::new(),
            last: Arc::new(ExtractiveCompactor {
                max_tokens: llm.compact_max_tokens,
            }),
            model: model.map(|model| WorkingHistoryCompactor::new(model, llm)),
        };
        Self {
            appender,
            config,
            model_for: None,
            compactors: RwLock::new(compactors),
        }
    }

    /// Registers a compactor that is tried before all others.
    pub(crate) fn register(&self, compactor: Arc<dyn Compactor>) {
        let compactors = self.compactors.write();
        let mut compactors = compactors.unwrap_or_else(PoisonError::into_inner);
        compactors.custom.insert(0, compactor);
    }

    /// Blocks the thread for a compaction. The caller spawns [`Self::run`] for the task.
    pub(super) async fn begin(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
        mut due: DueCompaction,
        outcome_sender: Option<OutcomeSender>,
    ) -> Result<CompactionTask, WorkingError> {
        let folder = &self.appender.folder;
        let block = self.block(live).await?;
        let is_behind = |state: &LiveState| {
            let loaded = state.loaded.as_ref();
            loaded.is_none_or(|loaded| loaded.upto < block.at)
        };
        // Other processes may have stored entries before the block.
        if is_behind(state) {
            folder.catch_up(live, state).await?;
            due.select_again(&self.config, state);
        }
        let missing = || WorkingError::ThreadNotFound(live.id.clone());
        let task = CompactionTask {
            block,
            state: state.loaded.as_ref().ok_or_else(missing)?.state.clone(),
            selection: due.selection,
            why: due.why,
            outcome_sender,
        };
        let chunks = task.selection.chunks();
        let chunk_ids: Vec<_> = chunks.map(|chunk| chunk.id.clone()).collect();
        folder
            .observers
            .notify(|it| it.on_compaction_start(&live.id, &chunk_ids));
        Ok(task)
    }

    async fn block(&self, live: &LiveThread) -> Result<ThreadBlock, WorkingError> {
        let folder = &self.appender.folder;
        let now = folder.clock.now();
        let until = now.plus(self.config.block_lease);
        let compacting = BlockingReason::Compacting;
        let outcome = folder.store.block(&live.id, compacting, until, now).await;
        live.set_block(match &outcome {
            Ok(BlockOutcome::Blocked(block) | BlockOutcome::Already(block)) => Some(*block),
            // An announced block never comes to be; any other block is as it was.
            Err(_) => live.block().filter(|block| block.token != ANNOUNCED),
        });
        match outcome? {
            BlockOutcome::Blocked(block) => Ok(block),
            BlockOutcome::Already(block) => Err(WorkingError::Blocked(block.reason)),
        }
    }

    /// Plans without the gate, puts the result into the thread behind it, and applies what was pending.
    pub(super) async fn run(
        &self,
        live: &LiveThread,
        task: &CompactionTask,
    ) -> Result<CompactionOutcome, WorkingError> {
        let folder = &self.appender.folder;
        let asks_model = live.gate.lock().await.backoff.until <= folder.clock.now();
        let means = self.means(&live.id, asks_model).await;
        let ids = IdSource::new(&live.id, EventSeq(u64::MAX - task.block.token.0));
        let now = folder.clock.now();
        let planning = plan(&task.state, &task.selection, task.why, &means, ids, now);
        let planned = self.while_blocked(live, task.block, planning).await;
        let mut state = live.gate.lock().await;
        if let Some(model) = self.model_name().filter(|_| asks_model) {
            let now = folder.clock.now();
            state
                .backoff
                .note_model(&planned, &model, self.config.back_off, now);
        }
        let outcome = self.apply(live, &mut state, task, planned).await;
        if let Err(WorkingError::Store(_)) = &outcome {
            // Whether the compaction is stored is not known. If it is not, the block must not outlive it.
            let _ = folder.store.unblock(&live.id, task.block.token).await;
        }
        match &outcome {
            Ok(outcome) => folder
                .observers
                .notify(|it| it.on_compaction_end(&live.id, outcome)),
            Err(error) => folder
                .observers
                .notify(|it| it.on_compaction_failed(&live.id, &error.to_string())),
        }
        let is_caught_up = outcome
            .as_ref()
            .is_ok_and(|outcome| folder.fold_pending(live, &mut state, outcome.thread.last));
        if !is_caught_up {
            folder.catch_up(live, &mut state).await?;
        }
        outcome
    }

    async fn apply(
        &self,
        live: &LiveThread,
        state: &mut LiveState,
        task: &CompactionTask,
        planned: CompactionPlan,
    ) -> Result<CompactionOutcome, WorkingError> {
        let last = state.pending.last().unwrap_or_default();
        let pending = last.0.saturating_sub(task.block.at.0);
        if planned.is_empty() || pending > MAX_PENDING {
            let store = &self.appender.folder.store;
            store.unblock(&live.id, task.block.token).await?;
            state.backoff.futile = state.size();
            let why = match planned.faults.is_empty() {
                true => "nothing shorter could be made".to_owned(),
                false => planned.faults.join("; "),
            };
            return Err(WorkingError::NotCompacted(why));
        }
        if self.is_forgotten_meanwhile(live, task, &planned).await? {
            let store = &self.appender.folder.store;
            store.unblock(&live.id, task.block.token).await?;
            let why = "a chunk was forgotten meanwhile, and its summary would bring it back";
            return Err(WorkingError::NotCompacted(why.to_owned()));
        }
        let replaced = planned.replaced.into_iter().map(|mut replaced| {
            // A compactor may join harmless parts to what reads as a secret.
            let chunk = clean_chunk(&self.config.redactor, Chunk::clone(&replaced.chunk))?;
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
        let ends = task.block.token;
        let result = self
            .appender
            .append_compaction(live, state, compaction.clone(), ends)
            .await?;
        Ok(CompactionOutcome {
            thread: result.thread,
            state: result.state,
            added_chunks: result.added_chunks,
            removed_chunk_ids: result.removed_chunk_ids,
            compaction: Some(compaction),
        })
    }

    /// Whether an event that waits for the compaction forgets a chunk that it condenses (W93).
    async fn is_forgotten_meanwhile(
        &self,
        live: &LiveThread,
        task: &CompactionTask,
        planned: &CompactionPlan,
    ) -> Result<bool, StoreError> {
        let taken: HashSet<&ChunkId> = planned.replaced.iter().flat_map(|it| &it.targets).collect();
        let store = &*self.appender.folder.store;
        let mut after = task.block.at;
        loop {
            let (most, bytes) = (PENDING_PAGE, PENDING_BYTES);
            let page = store.entries(&live.id, after, most, bytes).await?;
            let Some(last) = page.entries.last().map(|stored| stored.event.seq) else {
                return Ok(false);
            };
            for stored in page.entries {
                let entry = record::read(&stored.event, stored.entry.as_deref())?;
                if let Some(ThreadEntry::Event { event }) = entry
                    && let EventType::MemoryForget { chunk_ids } = &event.kind
                    && chunk_ids.iter().any(|id| taken.contains(id))
                {
                    return Ok(true);
                }
            }
            after = last;
        }
    }

    /// The compactors to try for a session's thread.
    async fn means(&self, id: &SessionId, asks_model: bool) -> CompactionTools {
        let store = &self.appender.folder.store;
        let session = match (&self.model_for, asks_model) {
            (Some(_), true) => store.session(id).await.ok().flatten(),
            _ => None,
        };
        let compactors = self
            .compactors
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let model = compactors.model.clone().filter(|_| asks_model);
        let model = match (model, &self.model_for, &session) {
            // Without the session, the payer of its calls is unknown.
            (_, Some(_), None) => None,
            (model, Some(model_for), Some(session)) => {
                model.map(|model| model.asking(model_for(session)))
            }
            (model, None, _) => model,
        };
        let mut all = compactors.custom.clone();
        all.extend(model.map(|model| Arc::new(model) as Arc<dyn Compactor>));
        all.push(Arc::clone(&compactors.last));
        CompactionTools {
            compactors: all,
            limit: self.config.compact_timeout,
            count: Arc::clone(&self.config.count),
            window_tokens: self.config.window_tokens,
        }
    }

    fn model_name(&self) -> Option<String> {
        let compactors = self
            .compactors
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let model = compactors.model.as_ref();
        model.map(|model| model.name().to_owned())
    }

    /// Runs `work` and extends the block's lease meanwhile.
    async fn while_blocked<T>(
        &self,
        live: &LiveThread,
        block: ThreadBlock,
        work: impl Future<Output = T>,
    ) -> T {
        let folder = &self.appender.folder;
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = tokio::time::sleep(self.config.block_lease / 3) => {
                    let until = folder.clock.now().plus(self.config.block_lease);
                    let extended = folder.store.extend_block(&live.id, block.token, until).await;
                    if let Ok(true) = extended {
                        live.set_block(Some(ThreadBlock { until, ..block }));
                    }
                }
            }
        }
    }
}

impl CompactionBackoff {
    /// Notes whether the model failed; after a failure it is not asked for a while, longer each time.
    fn note_model(
        &mut self,
        planned: &CompactionPlan,
        model: &str,
        (first, most): (std::time::Duration, std::time::Duration),
        now: daybook_domain::Timestamp,
    ) {
        if !planned.failed.iter().any(|failed| failed == model) {
            self.failures = 0;
            return;
        }
        let wait = first.saturating_mul(1 << self.failures.min(16)).min(most);
        self.failures = self.failures.saturating_add(1);
        self.until = now.plus(wait);
    }
}
