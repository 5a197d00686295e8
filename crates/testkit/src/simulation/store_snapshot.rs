//! The state of a store that the promises are about.

use std::collections::BTreeMap;
use std::sync::Arc;

use daybook_domain::page::read_all;
use daybook_domain::seams::Store;
use daybook_domain::{
    Event, EventId, EventSeq, ExtractionRecord, Gap, Job, JobKey, JobKind, Observation, Scope,
    Session, SessionId, StoreError, TallyKind, Tenant, Timestamp,
};
use strum::VariantArray;

use super::planted_bug::ActiveBug;

/// A store's state at one time.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(
    missing_docs,
    reason = "each field holds the answer of the question that it is named for"
)]
pub struct StoreSnapshot {
    pub sessions: BTreeMap<SessionId, Session>,
    pub logs: BTreeMap<SessionId, Arc<Vec<(EventId, Event)>>>,
    pub jobs: BTreeMap<JobKey, Job>,
    pub gaps: Vec<Gap>,
    pub extractions: Vec<ExtractionRecord>,
    pub observations: BTreeMap<Scope, Vec<Observation>>,
    pub tallies: BTreeMap<(JobKind, TallyKind), u64>,
}

impl StoreSnapshot {
    /// Reads a store's state. Logs that are as long as those in `known` are not read again.
    pub(super) async fn of(
        store: &dyn Store,
        planted: Option<&ActiveBug>,
        known: Option<&Self>,
    ) -> Result<Self, StoreError> {
        let tenant = Tenant::local();
        let mut seen = Self {
            gaps: store.gaps_of_all_tenants().await?,
            ..Self::default()
        };
        for session in read_all(|page| store.sessions(&tenant, page)).await? {
            let as_long = |log: &&Arc<Vec<_>>| log.len() as u64 == session.events.0;
            let known = known.and_then(|known| known.logs.get(&session.id));
            let log = match known.filter(as_long) {
                Some(known) => Arc::clone(known),
                None => Arc::new(log(store, &session.id).await?),
            };
            let windows = store.extractions_of(&session.id).await?;
            seen.extractions.extend(windows);
            seen.logs.insert(session.id.clone(), log);
            seen.sessions.insert(session.id.clone(), session);
        }
        for &kind in JobKind::VARIANTS {
            for job in store.jobs_of_all_tenants(kind).await? {
                let job =
                    planted.map_or_else(|| job.clone(), |planted| planted.visible_job(job.clone()));
                seen.jobs.insert(job.key.clone(), job);
            }
        }
        for state in read_all(|page| store.scopes(&tenant, page)).await? {
            let held = store.observations(&state.scope).await?;
            seen.observations.insert(state.scope, held);
        }
        for tally in store.tallies().await? {
            seen.tallies.insert((tally.kind, tally.what), tally.count);
        }
        Ok(seen)
    }

    /// When the next waiting job falls due; `None` when nothing waits.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.jobs.values().filter_map(Job::due_at).min()
    }

    /// The log of a session, in order.
    #[must_use]
    pub fn log(&self, id: &SessionId) -> &[(EventId, Event)] {
        self.logs.get(id).map_or(&[], |log| log.as_slice())
    }

    /// The gaps of a session.
    pub(super) fn gaps_of(&self, id: &SessionId) -> impl Iterator<Item = (u64, u64)> {
        let key = JobKey::Extract(id.clone());
        let own = self.gaps.iter().filter(move |gap| gap.job == key);
        own.map(|gap| (gap.from, gap.to))
    }

    /// The windows that live extractions of a session have read, in order.
    pub(super) fn windows_of(&self, id: &SessionId) -> Vec<(u64, u64)> {
        let own = self.extractions.iter().filter(|one| &one.session == id);
        let mut windows: Vec<(u64, u64)> = own.map(|one| (one.from.0, one.to.0)).collect();
        windows.sort_unstable();
        windows
    }
}

async fn log(store: &dyn Store, id: &SessionId) -> Result<Vec<(EventId, Event)>, StoreError> {
    let all = (EventSeq(0), EventSeq(i64::MAX as u64));
    let events = store.events(id, all.0, all.1, 1 << 20, 1 << 30).await?;
    let ids = store.event_ids(id).await?;
    if ids.len() != events.len() || ids.iter().zip(&events).any(|(id, event)| id.0 != event.seq) {
        let what = format!("session {id}: its events and their identities do not agree");
        return Err(StoreError::Corrupt(what));
    }
    Ok(ids.into_iter().map(|(_, id)| id).zip(events).collect())
}
