//! One task for each thread stores what has come for it, and sees to what follows.
//!
//! Not here: how stored entries change a state (`applying`).

use std::sync::Arc;

use daybook_domain::working::{Entry, EventType};
use tokio::sync::MutexGuard;

use super::applying::Outcome;
use super::batch::Batch;
use super::due::Wanted;
use super::live::{Inner, Live, Waiter};
use super::queue::{Queue, Request};
use super::{DispatchResult, MemoryManager, WorkingError};
use crate::working::compact::Why;
use crate::working::fold::Folded;

impl MemoryManager {
    /// Serves a thread's queue until it is empty; nobody else does meanwhile.
    pub(super) fn serve(&self, live: &Arc<Live>) {
        let (manager, live) = (self.clone(), Arc::clone(live));
        tokio::spawn(async move {
            let mut serving = Serving(Some(&live.queue));
            loop {
                // Others get the gate between two groups.
                let mut inner = live.gate.lock().await;
                let group = live.queue.next_group();
                if group.is_empty() {
                    serving.0 = None;
                    return;
                }
                manager.serve_group(&live, &mut inner, group).await;
            }
        });
    }

    /// Stores requests together; when that fails, each alone, so that each has its own error.
    async fn serve_group(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
        mut group: Vec<Request>,
    ) {
        if group.len() > 1 {
            match self.store_group(live, inner, &mut group).await {
                Ok(()) => return,
                Err(error) => tracing::debug!(thread = %live.id, %error, outcome = "one_by_one"),
            }
        }
        for request in group {
            let mut alone = [request];
            if let Err(error) = self.store_group(live, inner, &mut alone).await {
                let [request] = alone;
                request.refuse(error);
            }
        }
    }

    async fn store_group(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
        group: &mut [Request],
    ) -> Result<(), WorkingError> {
        let lengths: Vec<usize> = group.iter().map(|it| it.written.len()).collect();
        let written = group
            .iter_mut()
            .flat_map(|it| std::mem::take(&mut it.written));
        let batch = self.0.batch(&live.id, written, None, self.0.clock.now());
        let part = match self.0.append_and_fold(live, inner, &batch).await {
            Ok(part) => part,
            Err(error) => {
                let mut written = batch.into_written();
                for (request, length) in group.iter_mut().zip(lengths) {
                    request.written = written.by_ref().take(length).collect();
                }
                return Err(error);
            }
        };
        let mut replies = Vec::with_capacity(part.seqs.len());
        let mut seqs = part.seqs.iter().copied();
        for (request, length) in group.iter_mut().zip(lengths) {
            request.stored_at(seqs.by_ref().take(length).collect());
            let mut own = std::mem::take(&mut request.replies).into_iter();
            replies.extend((0..length).map(|_| own.next()));
        }
        let (ready, resumes) = inner.sort_out(&batch, part.outcomes, replies);
        // The events are stored; what comes after them is not theirs to fail for.
        let tell = |error| self.0.observers.tell(|it| it.on_error(&live.id, &error));
        self.follow(live, inner, resumes).await.unwrap_or_else(tell);
        // Whoever learns what an event came to sees, too, whether the thread stands still because of it;
        // but does not wait until that is stored.
        let wanted = self.announce_if_due(live, inner);
        for (reply, result) in ready {
            let _ = reply.send(result);
        }
        // Whoever waits for both wakes up once.
        group.iter_mut().for_each(Request::tell_stored);
        self.go_on(live, inner, wanted).await.unwrap_or_else(tell);
        Ok(())
    }

    /// What follows when events were applied.
    pub(super) async fn after(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
    ) -> Result<(), WorkingError> {
        self.follow(live, inner, false).await?;
        let wanted = self.announce_if_due(live, inner);
        self.go_on(live, inner, wanted).await
    }

    /// What nobody waits for: the compaction that was announced begins, and a snapshot is kept if one is
    /// due.
    async fn go_on(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
        wanted: Option<Wanted>,
    ) -> Result<(), WorkingError> {
        let begun = self.compact_in_background(live, inner, wanted).await;
        if !inner.waiting.is_empty() {
            self.watch_block(live, inner);
        }
        let loaded = self.0.load(live, inner).await?;
        self.0.snapshot_if_due(&live.id, loaded).await?;
        begun
    }

    /// Orders are obeyed.
    async fn follow(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
        resumes: bool,
    ) -> Result<(), WorkingError> {
        if resumes {
            // To go on is what those who wait are waiting for.
            self.resume_locked(live, inner).await?;
        }
        while let Some(order) = inner.orders.pop_front() {
            // One that cannot be obeyed keeps none of the others from it.
            if let Err(error) = self.obey(live, inner, &order).await {
                self.0.observers.tell(|it| it.on_error(&live.id, &error));
            }
        }
        Ok(())
    }

    /// What an applied event demands of the manager.
    async fn obey(
        &self,
        live: &Arc<Live>,
        inner: &mut MutexGuard<'_, Inner>,
        order: &EventType,
    ) -> Result<(), WorkingError> {
        match order {
            EventType::ExecutionPause { .. } => match self.pause_locked(live, inner).await {
                // It stands still already.
                Err(WorkingError::Blocked(_)) => Ok(()),
                other => other,
            },
            EventType::ExecutionResume {
                resume_from_state_id: Some(state),
            } => self.restore_locked(live, inner, state).await.map(drop),
            EventType::MemoryCompactManual { chunk_ids } => {
                let wanted = self.wanted(inner, chunk_ids.as_deref(), Why::Asked);
                self.compact_in_background(live, inner, wanted).await
            }
            EventType::MemoryCompactAuto {
                threshold,
                current_size,
            } if current_size >= threshold => {
                let wanted = self.wanted(inner, None, Why::Chunks);
                self.compact_in_background(live, inner, wanted).await
            }
            _ => Ok(()),
        }
    }
}

/// Those who are to be told what their events came to.
type Ready = Vec<(Waiter, Result<DispatchResult, WorkingError>)>;

impl Inner {
    /// Sorts out what is applied and what waits; and whether one of those that wait has the thread go on.
    fn sort_out(
        &mut self,
        batch: &Batch,
        outcomes: Vec<Outcome>,
        replies: Vec<Option<Waiter>>,
    ) -> (Ready, bool) {
        let (mut ready, mut resumes) = (Ready::new(), false);
        for (((at, entry, bytes), outcome), reply) in batch.iter().zip(outcomes).zip(replies) {
            let order = order(entry);
            let result = match outcome {
                Outcome::Applied(result) => {
                    self.orders.extend(order);
                    result
                }
                Outcome::Known(seq) => self.result(seq, &Folded::default()),
                Outcome::Waits { seq, is_first } => {
                    resumes |= matches!(order, Some(EventType::ExecutionResume { .. }));
                    self.waiting.add(seq, order, reply);
                    if is_first {
                        self.waiting.hold(seq, at, entry, bytes);
                    }
                    continue;
                }
            };
            ready.extend(reply.map(|reply| (reply, result)));
        }
        (ready, resumes)
    }
}

/// Whoever serves a queue. If that ends before its time, those who wait are told, and the next one who
/// comes has the queue served again.
struct Serving<'a>(Option<&'a Queue>);

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        if let Some(queue) = self.0 {
            queue.abandon();
        }
    }
}

/// What an event demands of the manager, if it is such an event.
fn order(entry: &Entry) -> Option<EventType> {
    match entry {
        Entry::Event { event } => match &event.kind {
            kind @ (EventType::ExecutionPause { .. }
            | EventType::ExecutionResume { .. }
            | EventType::MemoryCompactManual { .. }
            | EventType::MemoryCompactAuto { .. }) => Some(kind.clone()),
            _ => None,
        },
        _ => None,
    }
}
