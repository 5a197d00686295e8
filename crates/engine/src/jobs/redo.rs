//! Re-extracts sessions: those of an older extractor on request, and those of a fallback extractor once the cap has
//! room.
//!
//! Earlier observations stay until the session is read as far as before. A newer prompt or model alone
//! starts nothing: reading again may be billed.
//!
//! Not here: the generations themselves (`domain`, `store`).

use std::collections::BTreeSet;

use daybook_domain::eligibility::eligible;
use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS};
use daybook_domain::page::read_all;
use daybook_domain::seams::JobListing;
use daybook_domain::{
    EXPIRED_EVENT, EventSeq, JobKey, JobKind, Provenance, Session, SessionId, StoreError,
};

use super::WorkerContext;

/// Most sessions re-extracted at once because a fallback extractor has read them. At the next cap they wait half
/// done, and new events in them wait too; other sessions continue.
const FALLBACK_REDOS: usize = 10;

/// Restarts all sessions that hold results of another extractor than the present one, or whose results a person removed
/// all together, and returns how many. Sessions that are already being re-extracted continue.
///
/// # Errors
/// When the store fails; repeating it continues.
pub async fn redo_older(worker: &WorkerContext) -> Result<usize, StoreError> {
    let mut candidates = RedoCandidates::find(worker, |session, provenance| {
        provenance.fallback_for.is_some()
            || provenance.extractor != worker.extractor.name_for(session)
    })
    .await?;
    candidates.add_without_results(worker).await?;
    candidates.restart(worker, usize::MAX).await
}

/// Restarts the next sessions that hold results of a fallback extractor whose cap's period has ended since. At most
/// [`FALLBACK_REDOS`] sessions are re-extracted at once. No session is restarted twice for one period, since no
/// fallback extractor is used while it is re-extracted.
pub(super) async fn redo_fallback_results(worker: &WorkerContext) -> Result<usize, StoreError> {
    if !worker.extractor.wants_known() {
        return Ok(0);
    }
    let now = worker.clock.now();
    let has_room = |session: &SessionId, provenance: &Provenance| {
        let fallback = provenance.fallback_for.as_ref();
        let present = worker.extractor.name_for(session);
        provenance.extractor != present && fallback.is_some_and(|it| it.is_over(now))
    };
    let candidates = RedoCandidates::find(worker, has_room).await?;
    let most = FALLBACK_REDOS.saturating_sub(candidates.in_progress);
    candidates.restart(worker, most).await
}

/// Whether words of a session were lost with a database. Reading it again would withdraw what was learned from them.
async fn has_expired(worker: &WorkerContext, session: &Session) -> Result<bool, StoreError> {
    let mut after = EventSeq(0);
    loop {
        let (id, upto) = (&session.id, session.events);
        let events = worker
            .store
            .events(id, after, upto, APPEND_EVENTS, APPEND_BYTES)
            .await?;
        let Some(last) = events.last() else {
            return Ok(false);
        };
        if events.iter().any(|event| event.text == EXPIRED_EVENT) {
            return Ok(true);
        }
        after = last.seq;
    }
}

/// Jobs of eligible sessions that hold results of certain extractors.
#[derive(Default)]
struct RedoCandidates {
    /// Jobs that can be restarted.
    ready: BTreeSet<JobKey>,
    /// Number of others that are being re-extracted.
    in_progress: usize,
}

impl RedoCandidates {
    async fn find(
        worker: &WorkerContext,
        is_selected: impl Fn(&SessionId, &Provenance) -> bool,
    ) -> Result<Self, StoreError> {
        let pairs = worker.store.extractors(&worker.tenant).await?.into_iter();
        let selected = pairs.filter(|(session, provenance)| is_selected(session, provenance));
        let sessions: BTreeSet<_> = selected.map(|(session, _)| session).collect();
        let mut candidates = Self::default();
        for id in sessions {
            candidates.add(worker, id).await?;
        }
        Ok(candidates)
    }

    /// Adds the sessions that were read and have no result, not even that they taught nothing.
    async fn add_without_results(&mut self, worker: &WorkerContext) -> Result<(), StoreError> {
        let with_results = worker.store.extractors(&worker.tenant).await?;
        let with_results: BTreeSet<_> = with_results.into_iter().map(|(id, _)| id).collect();
        let read = |page| JobListing::jobs(&*worker.store, &worker.tenant, JobKind::Extract, page);
        for job in read_all(read).await? {
            let JobKey::Extract(id) = job.key else {
                continue;
            };
            if job.done > 0 && !with_results.contains(&id) {
                self.add(worker, id).await?;
            }
        }
        Ok(())
    }

    async fn add(&mut self, worker: &WorkerContext, id: SessionId) -> Result<(), StoreError> {
        let Some(session) = worker.store.session(&id).await? else {
            return Ok(());
        };
        if eligible(&session, &worker.switches).is_err() || has_expired(worker, &session).await? {
            return Ok(());
        }
        let key = JobKey::Extract(id);
        match worker.store.job(&key).await? {
            Some(job) if job.redo_until.is_some() => self.in_progress += 1,
            Some(_) => drop(self.ready.insert(key)),
            None => {}
        }
        Ok(())
    }

    async fn restart(self, worker: &WorkerContext, most: usize) -> Result<usize, StoreError> {
        let mut begun = 0;
        for key in self.ready.into_iter().take(most) {
            worker.store.redo(&key, worker.clock.now()).await?;
            begun += 1;
        }
        Ok(begun)
    }
}
