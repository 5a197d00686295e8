//! Jobs side by side: claimed as hands become free, kept alive by heartbeats, and given back when there
//! is no more time.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

use daybook_domain::{Claim, ClaimLimits, Claimed, JobKind, LeaseToken, StoreError};
use futures_util::stream::{FuturesUnordered, StreamExt};
use tracing::debug_span;
use tracing::field::Empty;

use super::{WorkError, Workshop};
use crate::stage::within;
use crate::stop::Stop;

/// A lease is extended after so many of its parts, so that missing one heartbeat loses nothing.
const BEATS: u32 = 3;

/// What working on a claim comes to.
type Ended<T> = (Claimed, Result<T, WorkError>);

/// The jobs of one kind that this process has claimed.
pub(super) struct Crew<'a, T> {
    shop: &'a Workshop,
    kind: JobKind,
    at_work: FuturesUnordered<Pin<Box<dyn Future<Output = Ended<T>> + Send + 'a>>>,
    held: Vec<LeaseToken>,
    /// What ended while more was claimed.
    ended: VecDeque<Ended<T>>,
}

impl<'a, T: Send + 'a> Crew<'a, T> {
    pub(super) fn new(shop: &'a Workshop, kind: JobKind) -> Self {
        Self {
            shop,
            kind,
            at_work: FuturesUnordered::new(),
            held: Vec::new(),
            ended: VecDeque::new(),
        }
    }

    /// The next job that ended; `None` when nothing is due, or the end was asked for and nothing is
    /// under way. Work that outlasts the drain is given back, and its job is as due as before.
    pub(super) async fn next<F, W>(
        &mut self,
        work: &F,
        stop: &Stop,
    ) -> Result<Option<(Claimed, T)>, WorkError>
    where
        F: Fn(Claimed) -> W,
        W: Future<Output = Ended<T>> + Send + 'a,
    {
        if !stop.asked() {
            self.claim(work).await?;
        }
        let drained = async {
            stop.wait_for_end().await;
            tokio::time::sleep(self.shop.limits.drain).await;
        };
        let ended = match self.ended.pop_front() {
            Some(ended) => Some(ended),
            None => tokio::select! {
                biased;
                ended = self.at_work.next() => ended,
                () = drained => None,
            },
        };
        let Some((claimed, outcome)) = ended else {
            self.give_back().await?;
            return Ok(None);
        };
        self.held.retain(|token| token != &claimed.token);
        match outcome {
            Ok(outcome) => Ok(Some((claimed, outcome))),
            Err(error) => {
                self.give_back().await?;
                Err(error)
            }
        }
    }

    /// Claims as many as there are hands for. Work goes on meanwhile: it may hold what the claim waits
    /// for, such as a row's lock, or the last connection of a pool.
    async fn claim<F, W>(&mut self, work: &F) -> Result<(), StoreError>
    where
        F: Fn(Claimed) -> W,
        W: Future<Output = Ended<T>> + Send + 'a,
    {
        let limits = self.shop.limits;
        // One scope is written at a time: writers of files would only wait for each other's disk.
        let (most, claim) = match self.kind {
            JobKind::Extract => (limits.parallel, limits.claim),
            JobKind::Consolidate => (1, ClaimLimits::jobs(1)),
        };
        let free = most.saturating_sub(self.at_work.len());
        if free == 0 {
            return Ok(());
        }
        let claim = Claim {
            kind: self.kind,
            holder: &self.shop.holder,
            now: self.shop.clock.now(),
            lease: limits.lease,
            limits: ClaimLimits {
                jobs: claim.jobs.min(free),
                ..claim
            },
        };
        let span = debug_span!(
            "claim",
            kind = self.kind.word(),
            claims = Empty,
            outcome = Empty
        );
        let claims = within(span, self.shop.store.claim(claim), |span, claims| {
            let none = claims.is_empty();
            span.record("claims", claims.len());
            span.record("outcome", if none { "nothing_due" } else { "claimed" });
        });
        let mut claims = pin!(claims);
        let claims = loop {
            tokio::select! {
                biased;
                claims = &mut claims => break claims?,
                Some(ended) = self.at_work.next() => self.ended.push_back(ended),
            }
        };
        for claimed in claims {
            self.held.push(claimed.token.clone());
            let token = claimed.token.clone();
            let holding = keep_alive(self.shop, token, work(claimed));
            self.at_work.push(Box::pin(holding));
        }
        Ok(())
    }

    /// Ends all work under way without its results.
    async fn give_back(&mut self) -> Result<(), StoreError> {
        self.at_work.clear();
        for token in self.held.drain(..) {
            self.shop
                .store
                .release(&token, self.shop.clock.now())
                .await?;
        }
        Ok(())
    }
}

/// Does `work` while a heartbeat extends its lease. A lease that was lost is not noticed here but by
/// the finish, which changes nothing then.
async fn keep_alive<T>(shop: &Workshop, token: LeaseToken, work: impl Future<Output = T>) -> T {
    let lease = shop.limits.lease;
    let pause = (lease / BEATS).max(Duration::from_millis(1));
    let beat = async {
        loop {
            tokio::time::sleep(pause).await;
            // A store that is out now may be back before the lease ends.
            let _ = shop.store.heartbeat(&token, shop.clock.now(), lease).await;
        }
    };
    tokio::select! {
        biased;
        done = work => done,
        () = beat => unreachable!("a heartbeat does not end"),
    }
}
