//! Runs jobs concurrently: claims them as slots become free, extends their leases by heartbeats, and
//! releases them when time is up.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

use daybook_domain::{Claim, ClaimLimits, ClaimedJob, JobKind, LeaseToken, StoreError};
use futures_util::stream::{FuturesUnordered, StreamExt};
use tracing::debug_span;
use tracing::field::Empty;

use super::{WorkError, WorkerContext};
use crate::stage::within;
use crate::stop::Stop;

/// Heartbeats per lease, so that missing one loses nothing.
const HEARTBEATS_PER_LEASE: u32 = 3;

/// A claim and the result of its work.
type FinishedJob<T> = (ClaimedJob, Result<T, WorkError>);

/// The jobs of one kind that this process runs.
pub(super) struct JobPool<'a, T> {
    worker: &'a WorkerContext,
    kind: JobKind,
    running: FuturesUnordered<Pin<Box<dyn Future<Output = FinishedJob<T>> + Send + 'a>>>,
    held: Vec<LeaseToken>,
    /// Jobs that finished during a claim.
    finished: VecDeque<FinishedJob<T>>,
}

impl<'a, T: Send + 'a> JobPool<'a, T> {
    pub(super) fn new(worker: &'a WorkerContext, kind: JobKind) -> Self {
        Self {
            worker,
            kind,
            running: FuturesUnordered::new(),
            held: Vec::new(),
            finished: VecDeque::new(),
        }
    }

    /// Waits for the next job to finish.
    ///
    /// `None` when nothing is due, or the end was requested and nothing is running. Work that outlasts the
    /// drain is released, and its job is as due as before.
    pub(super) async fn next<F, W>(
        &mut self,
        work: &F,
        stop: &Stop,
    ) -> Result<Option<(ClaimedJob, T)>, WorkError>
    where
        F: Fn(ClaimedJob) -> W,
        W: Future<Output = FinishedJob<T>> + Send + 'a,
    {
        if !stop.is_requested() {
            self.claim(work).await?;
        }
        let drained = async {
            stop.wait_for_end().await;
            tokio::time::sleep(self.worker.limits.drain).await;
        };
        let finished = match self.finished.pop_front() {
            Some(finished) => Some(finished),
            None => tokio::select! {
                biased;
                finished = self.running.next() => finished,
                () = drained => None,
            },
        };
        let Some((claimed, outcome)) = finished else {
            self.release_all().await?;
            return Ok(None);
        };
        self.held.retain(|token| token != &claimed.token);
        match outcome {
            Ok(outcome) => Ok(Some((claimed, outcome))),
            Err(error) => {
                self.release_all().await?;
                Err(error)
            }
        }
    }

    /// Claims jobs for all free slots. Running work continues meanwhile: it may hold what the claim waits
    /// for, such as a row's lock, or the last connection of a pool.
    async fn claim<F, W>(&mut self, work: &F) -> Result<(), StoreError>
    where
        F: Fn(ClaimedJob) -> W,
        W: Future<Output = FinishedJob<T>> + Send + 'a,
    {
        let limits = self.worker.limits;
        // One scope is written at a time: concurrent writers would only wait for each other's disk.
        let (most, claim) = match self.kind {
            JobKind::Extract => (limits.parallel, limits.claim),
            // One session is rescanned at a time: the work is this process's own computing.
            JobKind::Consolidate | JobKind::Redact => (1, ClaimLimits::jobs(1)),
        };
        let free = most.saturating_sub(self.running.len());
        if free == 0 {
            return Ok(());
        }
        let claim = Claim {
            kind: self.kind,
            holder: &self.worker.holder,
            now: self.worker.clock.now(),
            lease: limits.lease,
            limits: ClaimLimits {
                jobs: claim.jobs.min(free),
                ..claim
            },
        };
        let span = debug_span!(
            "claim",
            kind = self.kind.as_str(),
            claims = Empty,
            outcome = Empty
        );
        let claims = within(span, self.worker.store.claim(claim), |span, claims| {
            let none = claims.is_empty();
            span.record("claims", claims.len());
            span.record("outcome", if none { "nothing_due" } else { "claimed" });
        });
        let mut claims = pin!(claims);
        let claims = loop {
            tokio::select! {
                biased;
                claims = &mut claims => break claims?,
                Some(finished) = self.running.next() => self.finished.push_back(finished),
            }
        };
        for claimed in claims {
            self.held.push(claimed.token.clone());
            let token = claimed.token.clone();
            let holding = keep_alive(self.worker, token, work(claimed));
            self.running.push(Box::pin(holding));
        }
        Ok(())
    }

    /// Stops all running work without its results, and releases its leases.
    async fn release_all(&mut self) -> Result<(), StoreError> {
        self.running.clear();
        for token in self.held.drain(..) {
            self.worker
                .store
                .release(&token, self.worker.clock.now())
                .await?;
        }
        Ok(())
    }
}

/// Runs `work` while a heartbeat extends its lease. A lost lease is not detected here but by the finish,
/// which changes nothing then.
async fn keep_alive<T>(
    worker: &WorkerContext,
    token: LeaseToken,
    work: impl Future<Output = T>,
) -> T {
    let lease = worker.limits.lease;
    let pause = (lease / HEARTBEATS_PER_LEASE).max(Duration::from_millis(1));
    let beat = async {
        loop {
            tokio::time::sleep(pause).await;
            // A store that is unavailable now may be back before the lease ends.
            let _ = worker
                .store
                .heartbeat(&token, worker.clock.now(), lease)
                .await;
        }
    };
    tokio::select! {
        biased;
        done = work => done,
        () = beat => unreachable!("a heartbeat does not end"),
    }
}
