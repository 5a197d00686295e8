//! Serves each thread with one task: stores what has queued, obeys commands, and starts compactions.
//!
//! [`ThreadWorker::append_group`] is the whole of a dispatch behind the queue, step by step.
//!
//! Not here: how any step works (`appender`, `folder`, `blocks`, `compaction`).

use std::pin::Pin;
use std::sync::Arc;

use daybook_domain::working::ChunkId;
use daybook_domain::{EventSeq, SessionId};
use tokio::sync::oneshot;

use super::appender::Appender;
use super::blocks::{BlockControl, LookPauses};
use super::command::ThreadCommand;
use super::compaction::{CompactionTask, Compactions};
use super::compaction_due::DueCompaction;
use super::config::MemoryManagerConfig;
use super::error::WorkingError;
use super::folder::StateFolder;
use super::live::{LiveState, LiveThread};
use super::queue::{QueuedAppend, ThreadAppendQueue};
use super::results::CompactionOutcome;
use crate::compact::CompactionReason;

/// Drives the parts that serve threads. A copy is the same worker.
#[derive(Clone)]
pub(crate) struct ThreadWorker {
    pub(crate) folder: Arc<StateFolder>,
    pub(crate) appender: Arc<Appender>,
    pub(crate) blocks: Arc<BlockControl>,
    pub(crate) compactions: Arc<Compactions>,
    pub(crate) config: Arc<MemoryManagerConfig>,
}

impl ThreadWorker {
    /// Starts the task that serves a thread's queue until it is empty. At most one runs per thread.
    pub(crate) fn serve(&self, live: &Arc<LiveThread>) {
        let (worker, live) = (self.clone(), Arc::clone(live));
        tokio::spawn(async move {
            let mut abandoned = AbandonOnDrop(Some(&live.queue));
            loop {
                // Other callers get the gate between two groups.
                let mut state = live.gate.lock().await;
                let group = live.queue.next_group();
                if group.is_empty() {
                    abandoned.0 = None;
                    return;
                }
                worker.append_groups(&live, &mut state, group).await;
            }
        });
    }

    /// Stores requests together; when that fails, each alone, so that each gets its own error.
    async fn append_groups(
        &self,
        live: &Arc<LiveThread>,
        state: &mut LiveState,
        mut group: Vec<QueuedAppend>,
    ) {
        if group.len() > 1 {
            match self.append_group(live, state, &mut group).await {
                Ok(()) => return,
                Err(error) => tracing::debug!(thread = %live.id, %error, outcome = "one_by_one"),
            }
        }
        for request in group {
            let mut alone = [request];
            if let Err(error) = self.append_group(live, state, &mut alone).await {
                let [request] = alone;
                request.fail(error);
            }
        }
    }

    /// Stores and folds a group of requests, does what its events demand, and sends the results.
    async fn append_group(
        &self,
        live: &Arc<LiveThread>,
        state: &mut LiveState,
        group: &mut [QueuedAppend],
    ) -> Result<(), WorkingError> {
        let appended = self.appender.append_group(live, state, group).await?;
        // The events are stored: a failure from here on is reported to observers, not to their callers.
        if appended.resumes {
            // The pending event that resumes the thread would wait for itself.
            let resumed = self.blocks.resume(live, state).await;
            self.report(live, resumed.map(drop));
        }
        self.obey_commands(live, state).await;
        // A caller with a result sees whether its event made the thread due, and does not wait for the block's
        // storing.
        let due = self.announce_compaction(live, state);
        for (sender, result) in appended.results {
            let _ = sender.send(result);
        }
        // A caller that waits for places and results is woken once.
        group.iter_mut().for_each(QueuedAppend::notify_stored);
        let continued = self.continue_after(live, state, due).await;
        self.report(live, continued);
        Ok(())
    }

    /// Does what follows once events were applied outside of the queue.
    pub(crate) async fn after_applying(
        &self,
        live: &Arc<LiveThread>,
        state: &mut LiveState,
    ) -> Result<(), WorkingError> {
        self.obey_commands(live, state).await;
        let due = self.announce_compaction(live, state);
        self.continue_after(live, state, due).await
    }

    /// Starts the announced compaction, watches a block that keeps events back, and stores a snapshot if due.
    async fn continue_after(
        &self,
        live: &Arc<LiveThread>,
        state: &mut LiveState,
        due: Option<DueCompaction>,
    ) -> Result<(), WorkingError> {
        let started = self.start_compaction(live, state, due).await;
        if !state.pending.is_empty() {
            self.watch_block(live, state);
        }
        let loaded = self.folder.loader.load(live, state).await?;
        self.folder.loader.snapshot_if_due(&live.id, loaded).await?;
        started
    }

    /// Obeys the commands of applied events. One that fails is reported and keeps no other from being obeyed.
    async fn obey_commands(&self, live: &Arc<LiveThread>, state: &mut LiveState) {
        while let Some(command) = state.commands.pop_front() {
            let obeyed = self.obey(live, state, command).await;
            self.report(live, obeyed);
        }
    }

    async fn obey(
        &self,
        live: &Arc<LiveThread>,
        state: &mut LiveState,
        command: ThreadCommand,
    ) -> Result<(), WorkingError> {
        match command {
            ThreadCommand::Pause => match self.blocks.pause(live, state).await {
                // A thread that is blocked needs no pause.
                Err(WorkingError::Blocked(_)) => Ok(()),
                other => other,
            },
            ThreadCommand::Resume { restore: None } => Ok(()),
            ThreadCommand::Resume {
                restore: Some(state_id),
            } => {
                let restored = self.appender.restore(live, state, &state_id).await;
                restored.map(drop)
            }
            ThreadCommand::Compact { chunks, why } => {
                let due = DueCompaction::new(&self.config, state, chunks.as_deref(), why);
                self.start_compaction(live, state, due).await
            }
        }
    }

    fn announce_compaction(&self, live: &LiveThread, state: &LiveState) -> Option<DueCompaction> {
        DueCompaction::announce(&self.config, live, state, self.folder.clock.now())
    }

    /// Starts a compaction that no caller waits for, if one is due.
    async fn start_compaction(
        &self,
        live: &Arc<LiveThread>,
        state: &mut LiveState,
        due: Option<DueCompaction>,
    ) -> Result<(), WorkingError> {
        let Some(due) = due else { return Ok(()) };
        match self.compactions.begin(live, state, due, None).await {
            Ok(task) => {
                self.spawn_compaction(live, task);
                Ok(())
            }
            // Another one runs already, or the thread is paused.
            Err(WorkingError::Blocked(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Compacts these chunks, or all that can be, and returns when it is done.
    pub(crate) async fn compact(
        &self,
        thread: &SessionId,
        chunks: Option<&[ChunkId]>,
    ) -> Result<CompactionOutcome, WorkingError> {
        let live = self.folder.loader.open(thread).await?;
        let (outcome_sender, outcome) = oneshot::channel();
        {
            let mut state = live.gate.lock().await;
            self.folder.catch_up(&live, &mut state).await?;
            let due = DueCompaction::new(&self.config, &state, chunks, CompactionReason::Asked);
            let Some(due) = due else {
                let result = state.result(EventSeq(0), &Default::default())?;
                return Ok(CompactionOutcome {
                    thread: result.thread,
                    state: result.state,
                    added_chunks: Vec::new(),
                    removed_chunk_ids: Vec::new(),
                    compaction: None,
                });
            };
            let begun = self
                .compactions
                .begin(&live, &mut state, due, Some(outcome_sender));
            let task = begun.await?;
            self.spawn_compaction(&live, task);
        }
        let deleted = || Err(WorkingError::Deleted(thread.clone()));
        outcome.await.unwrap_or_else(|_| deleted())
    }

    /// Runs a compaction in the background, and then what follows from the events that it kept back.
    fn spawn_compaction(&self, live: &Arc<LiveThread>, mut task: CompactionTask) {
        let (worker, live) = (self.clone(), Arc::clone(live));
        // Boxed, as what follows may start the next compaction.
        let work: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
            // The caller whose event made it due gets its result first.
            tokio::task::yield_now().await;
            let outcome_sender = task.outcome_sender.take();
            let mut outcome = worker.compactions.run(&live, &task).await;
            let mut state = live.gate.lock().await;
            if let Err(error) = worker.after_applying(&live, &mut state).await {
                outcome = Err(error);
            }
            match outcome_sender {
                Some(sender) => drop(sender.send(outcome)),
                None => worker.report(&live, outcome.map(drop)),
            }
        });
        tokio::spawn(work);
    }

    /// Waits, in the background, for the end of a block that keeps events back, and goes on then.
    fn watch_block(&self, live: &Arc<LiveThread>, state: &mut LiveState) {
        if std::mem::replace(&mut state.is_block_watched, true) {
            return;
        }
        let (worker, live) = (self.clone(), Arc::clone(live));
        tokio::spawn(async move {
            let mut pauses = LookPauses::default();
            let block_ended = live.block_ended();
            loop {
                pauses.wait(block_ended.notified()).await;
                let mut state = live.gate.lock().await;
                if state.pending.is_empty() {
                    state.is_block_watched = false;
                    return;
                }
                let looked = match worker.folder.catch_up(&live, &mut state).await {
                    Ok(None) => worker.after_applying(&live, &mut state).await,
                    Ok(Some(_)) => Ok(()),
                    Err(error) => Err(error),
                };
                if let Err(WorkingError::ThreadNotFound(id)) = &looked {
                    state.unload_deleted(id);
                    state.is_block_watched = false;
                }
                let is_over = !state.is_block_watched;
                worker.report(&live, looked);
                if is_over {
                    return;
                }
            }
        });
    }

    /// Reports to observers what failed and no caller waits for.
    fn report(&self, live: &LiveThread, result: Result<(), WorkingError>) {
        if let Err(error) = result {
            self.folder
                .observers
                .notify(|it| it.on_error(&live.id, &error));
        }
    }
}

/// Abandons a queue when its task ends early: waiting callers get an error, and the next push starts a new task.
struct AbandonOnDrop<'a>(Option<&'a ThreadAppendQueue>);

impl Drop for AbandonOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(queue) = self.0 {
            queue.abandon();
        }
    }
}
