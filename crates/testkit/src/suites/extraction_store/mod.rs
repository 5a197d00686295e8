//! The promises of a store of extraction results.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

mod accounts;
mod evidence;
mod quarantined;
mod redo;
mod staged;
mod supersessions;

use daybook_domain::index::{CandidateQuery, DocumentKind, SearchFilter};
use daybook_domain::page::read_all;
use daybook_domain::seams::{ScopeState, Store};
use daybook_domain::{
    ClaimedJob, Digest, EntityChange, EntityWrite, EventSeq, Evidence, Extraction,
    ExtractionRecord, FallbackFor, FinishOutcome, JobKey, JobKind, Observation, ObservationId,
    ObservationKind, ObservationOrigin, PageRequest, Provenance, Scope, ScopeKind, SessionId,
    StagedEntityWrite, StoreError, Tenant, Timestamp, Yield,
};

pub use accounts::*;
pub use evidence::*;
pub use quarantined::*;
pub use redo::*;
pub use staged::*;
pub use supersessions::*;

use crate::fixtures::*;

/// The time at which these tests claim jobs: after every session has rested.
const LATER: Timestamp = Timestamp(DAWN.0 + 9_000_000);

/// A session of ten events, one second apart.
async fn ten_events(store: &dyn Store, host_id: &str) -> SessionId {
    let id = session(host_id);
    store
        .append(&append(&id, events("word", 10)))
        .await
        .unwrap();
    id
}

async fn claim(store: &dyn Store, id: &SessionId) -> ClaimedJob {
    let claims = store
        .claim(claim_of(JobKind::Extract, LATER, 10))
        .await
        .unwrap();
    let wanted = JobKey::Extract(id.clone());
    let found = claims
        .into_iter()
        .find(|claim| claim.token.job() == &wanted);
    found.expect("the session is due")
}

async fn finish(store: &dyn Store, claimed: &ClaimedJob, extraction: &Extraction) -> FinishOutcome {
    let ended = store
        .finish_extraction(&claimed.token, extraction, LATER)
        .await;
    ended.expect("a sound extraction can be stored")
}

/// Claims a session and stores one window.
async fn extract(
    store: &dyn Store,
    id: &SessionId,
    window: (u64, u64),
    observations: Vec<Observation>,
) -> FinishOutcome {
    let claimed = claim(store, id).await;
    finish(store, &claimed, &extraction(id, window, observations)).await
}

async fn observations_in(store: &dyn Store, scope: &Scope) -> Vec<Observation> {
    store.observations(scope).await.unwrap()
}

async fn state(store: &dyn Store, scope: &Scope) -> (u64, u64) {
    let states = read_all(|page| store.scopes(&scope.tenant, page))
        .await
        .unwrap();
    let found = states
        .into_iter()
        .find(|state: &ScopeState| &state.scope == scope);
    found.map_or((0, 0), |state| (state.revision, state.observations))
}

/// The windows of extractions, each with its session's name.
fn windows_of(records: &[ExtractionRecord]) -> Vec<(String, u64, u64)> {
    let window = |r: &ExtractionRecord| (r.session.host_id.clone(), r.from.0, r.to.0);
    records.iter().map(window).collect()
}

async fn windows(store: &dyn Store) -> Vec<(String, u64, u64)> {
    let records = extractions_of_all(store, &Tenant::local()).await;
    windows_of(&records.unwrap())
}

pub async fn what_was_extracted_holds_and_raises_its_scope(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let scope = user_scope("ada");
    let mut said = observation(&scope, "Use tabs.", vec![evidence(&id, &[2, 5])]);
    said.subject = Some("indentation".to_owned());
    let ended = extract(store, &id, (1, 6), vec![said.clone()]).await;
    assert_eq!(ended, FinishOutcome::StillDue);
    assert_eq!(observations_in(store, &scope).await, [said]);
    assert_eq!(state(store, &scope).await, (1, 1));
    let job = store
        .job(&JobKey::Consolidate(scope))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((job.input, job.due_at()), (1, Some(LATER)));
    let job = store
        .job(&JobKey::Extract(id.clone()))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((job.input, job.done), (10, 6));
    assert_eq!(
        extract(store, &id, (7, 10), Vec::new()).await,
        FinishOutcome::Complete
    );
    assert_eq!(windows(store).await.len(), 2);
}

pub async fn a_lost_lease_stores_nothing(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let stale = claim(store, &id).await;
    store.abandon("worker").await.unwrap();
    let fresh = claim(store, &id).await;
    let said = observation(&user_scope("ada"), "use tabs", vec![evidence(&id, &[2])]);
    let whole = extraction(&id, (1, 10), vec![said.clone()]);
    assert_eq!(
        finish(store, &stale, &whole).await,
        FinishOutcome::LeaseLost
    );
    assert!(observations_in(store, &said.scope).await.is_empty());
    assert!(windows(store).await.is_empty());
    assert_eq!(finish(store, &fresh, &whole).await, FinishOutcome::Complete);
    assert_eq!(
        finish(store, &fresh, &whole).await,
        FinishOutcome::LeaseLost
    );
    assert_eq!(observations_in(store, &said.scope).await.len(), 1);
}

pub async fn a_lease_for_another_session_is_refused(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let other = ten_events(store, "8000").await;
    let claimed = claim(store, &id).await;
    let theirs = extraction(&other, (1, 10), Vec::new());
    let refused = store
        .finish_extraction(&claimed.token, &theirs, LATER)
        .await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
    let foreign = observation(&user_scope("ada"), "use tabs", vec![evidence(&other, &[2])]);
    let mixed = extraction(&id, (1, 10), vec![foreign]);
    let refused = store.finish_extraction(&claimed.token, &mixed, LATER).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
}

pub async fn a_window_that_ends_before_it_begins_is_refused(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let claimed = claim(store, &id).await;
    let empty = extraction(&id, (1, 0), Vec::new());
    let refused = store.finish_extraction(&claimed.token, &empty, LATER).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
}

pub async fn an_observation_without_evidence_is_refused(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let claimed = claim(store, &id).await;
    let bare = observation(&user_scope("ada"), "use tabs", Vec::new());
    let refused = store.observe(std::slice::from_ref(&bare), LATER).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
    let whole = extraction(&id, (1, 10), vec![bare]);
    let refused = store.finish_extraction(&claimed.token, &whole, LATER).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
    let job = store.job(&JobKey::Extract(id)).await.unwrap().unwrap();
    assert!(job.is_held_by(&claimed.token, LATER));
}

pub async fn extractions_of_a_session_are_listed_alone(store: &dyn Store) {
    let one = ten_events(store, "7f78aa01").await;
    let _ = extract(store, &one, (1, 5), Vec::new()).await;
    let _ = extract(store, &one, (6, 10), Vec::new()).await;
    let other = ten_events(store, "7f78bb02").await;
    let _ = extract(store, &other, (1, 10), Vec::new()).await;
    let records = store.extractions_of(&one).await.unwrap();
    let windows: Vec<(u64, u64)> = records.iter().map(|it| (it.from.0, it.to.0)).collect();
    assert_eq!(windows, [(1, 5), (6, 10)]);
    assert!(records.iter().all(|record| record.session == one));
    let theirs = SessionId {
        tenant: Tenant("theirs".to_owned()),
        ..one
    };
    assert!(store.extractions_of(&theirs).await.unwrap().is_empty());
}

pub async fn nothing_is_recorded_as_nothing(store: &dyn Store) {
    let id = ten_events(store, "7f78aa01").await;
    let said = observation(&user_scope("ada"), "use tabs", vec![evidence(&id, &[2])]);
    let _ = extract(store, &id, (1, 5), vec![said.clone()]).await;
    let claimed = claim(store, &id).await;
    let ended = finish(store, &claimed, &nothing(&id, (6, 10))).await;
    assert_eq!(ended, FinishOutcome::Complete);
    let records = extractions_of_all(store, &Tenant::local()).await.unwrap();
    let digests: Vec<bool> = records
        .iter()
        .map(|record| record.digest.is_some())
        .collect();
    assert_eq!(digests, [true, false]);
    assert_eq!(
        (records[1].from, records[1].to),
        (EventSeq(6), EventSeq(10))
    );
    assert_eq!((records[1].label.as_str(), records[1].at), ("7f78", LATER));
    assert_eq!(records[1].provenance, Provenance::of("test/1"));
    assert_eq!(observations_in(store, &said.scope).await, [said]);
}
