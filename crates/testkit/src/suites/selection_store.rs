//! The promises of a store of selections and proposals.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

use daybook_domain::seams::{ConsolidationResults, Store};
use daybook_domain::{
    ClaimedJob, EventSeq, ExtractionSnapshot, FinishOutcome, JobKey, JobKind, ObservationId,
    Proposal, ProposalRecord, Scope, SelectedSession, SelectionRecord, SessionId, StatementDigest,
    StatementRef, StoreError, Tenant, Timestamp,
};

use crate::fixtures::*;

fn selected(id: SessionId, upto: u64) -> SelectedSession {
    SelectedSession {
        session: id,
        snapshot: ExtractionSnapshot {
            upto: EventSeq(upto),
            generated_at: at(1),
        },
    }
}

fn record(seconds: u64, sessions: &[(&str, u64)]) -> SelectionRecord {
    let sessions = sessions
        .iter()
        .map(|(id, upto)| selected(session(id), *upto));
    SelectionRecord {
        at: at(seconds),
        sessions: sessions.collect(),
        commit: Some(format!("{seconds:040x}")),
    }
}

fn selecting(selected: &SelectionRecord) -> ConsolidationResults<'_> {
    ConsolidationResults {
        selection: Some(selected),
        ..ConsolidationResults::default()
    }
}

/// A record with one proposal for each of these observations.
fn proposed(ids: &[u64]) -> ProposalRecord {
    let shown = |id: &u64| StatementRef {
        id: ObservationId(*id),
        digest: StatementDigest(u64::MAX - id),
    };
    let reword = |id: &u64| Proposal::Reword {
        statement: shown(id),
        text: format!("Words of {id} \"in quotes\""),
    };
    ProposalRecord {
        examined: ids
            .iter()
            .map(|id| (shown(id).id, shown(id).digest))
            .collect(),
        accepted: ids.iter().map(reword).collect(),
        ..ProposalRecord::default()
    }
}

/// Raises the scope, and claims its consolidation.
async fn claim(store: &dyn Store, scope: &Scope, now: Timestamp) -> ClaimedJob {
    store.touch_scope(scope, now).await.unwrap();
    let claimed = store.claim(claim_of(JobKind::Consolidate, now, 1)).await;
    claimed.unwrap().remove(0)
}

async fn finish(
    store: &dyn Store,
    claimed: &ClaimedJob,
    selected: &SelectionRecord,
    now: Timestamp,
) -> FinishOutcome {
    let ended = store.finish_consolidation(&claimed.token, claimed.upto, selecting(selected), now);
    ended.await.unwrap()
}

pub async fn a_success_replaces_the_selection_of_its_scope_alone(store: &dyn Store) {
    let (a, b) = (project_scope("a"), project_scope("b"));
    assert_eq!(store.selection(&a).await.unwrap(), None);
    let first = record(1, &[("one", 5), ("two", 7)]);
    let claimed = claim(store, &a, at(0)).await;
    assert_eq!(
        finish(store, &claimed, &first, at(1)).await,
        FinishOutcome::Complete
    );
    assert_eq!(store.selection(&a).await.unwrap(), Some(first));
    assert_eq!(store.selection(&b).await.unwrap(), None);
    let second = record(3, &[]);
    let claimed = claim(store, &a, at(2)).await;
    assert_eq!(
        finish(store, &claimed, &second, at(3)).await,
        FinishOutcome::Complete
    );
    assert_eq!(store.selection(&a).await.unwrap(), Some(second));
    let job = store.job(&JobKey::Consolidate(a)).await.unwrap();
    assert!(job.is_some_and(|job| !job.is_ahead()));
}

pub async fn a_lost_lease_selects_nothing(store: &dyn Store) {
    let a = project_scope("a");
    let first = record(1, &[("one", 5)]);
    let claimed = claim(store, &a, at(0)).await;
    let late = at(0).plus(LEASE);
    assert_eq!(
        finish(store, &claimed, &first, late).await,
        FinishOutcome::LeaseLost
    );
    assert_eq!(store.selection(&a).await.unwrap(), None);
}

pub async fn what_changes_meanwhile_leaves_the_consolidation_due(store: &dyn Store) {
    let a = project_scope("a");
    let claimed = claim(store, &a, at(0)).await;
    store.touch_scope(&a, at(1)).await.unwrap();
    let first = record(2, &[("one", 5)]);
    assert_eq!(
        finish(store, &claimed, &first, at(2)).await,
        FinishOutcome::StillDue
    );
    assert_eq!(store.selection(&a).await.unwrap(), Some(first));
}

pub async fn a_selection_for_another_job_or_tenant_is_refused(store: &dyn Store) {
    let a = project_scope("a");
    let claimed = claim(store, &a, at(0)).await;
    let mut foreign = record(1, &[("one", 5)]);
    foreign.sessions[0].session.tenant = Tenant("other".to_owned());
    let ended =
        store.finish_consolidation(&claimed.token, claimed.upto, selecting(&foreign), at(1));
    assert!(matches!(ended.await, Err(StoreError::Refused(_))));
    let id = session("one");
    store.append(&append(&id, events("t0", 1))).await.unwrap();
    let now = at(1_000);
    let extraction = store
        .claim(claim_of(JobKind::Extract, now, 1))
        .await
        .unwrap()
        .remove(0);
    let own = record(1, &[("one", 5)]);
    let ended = store.finish_consolidation(&extraction.token, 1, selecting(&own), now);
    assert!(matches!(ended.await, Err(StoreError::Refused(_))));
    assert_eq!(store.selection(&a).await.unwrap(), None);
}

pub async fn proposals_and_a_selection_replace_what_is_given(store: &dyn Store) {
    let (a, b) = (project_scope("a"), project_scope("b"));
    assert_eq!(store.proposals(&a).await.unwrap(), None);
    let (selected, first) = (record(1, &[("one", 5)]), proposed(&[1, u64::MAX]));
    let both = ConsolidationResults {
        proposals: Some(&first),
        ..selecting(&selected)
    };
    let claimed = claim(store, &a, at(0)).await;
    let late = store.finish_consolidation(&claimed.token, claimed.upto, both, at(0).plus(LEASE));
    assert_eq!(late.await.unwrap(), FinishOutcome::LeaseLost);
    assert_eq!(store.proposals(&a).await.unwrap(), None);
    let now = at(1).plus(LEASE);
    let claimed = claim(store, &a, now).await;
    let ended = store.finish_consolidation(&claimed.token, claimed.upto, both, now);
    assert_eq!(ended.await.unwrap(), FinishOutcome::Complete);
    let second = proposed(&[2]);
    let proposing = ConsolidationResults {
        proposals: Some(&second),
        ..ConsolidationResults::default()
    };
    let claimed = claim(store, &a, now).await;
    let ended = store.finish_consolidation(&claimed.token, claimed.upto, proposing, now);
    assert_eq!(ended.await.unwrap(), FinishOutcome::Complete);
    assert_eq!(store.selection(&a).await.unwrap(), Some(selected));
    assert_eq!(store.proposals(&a).await.unwrap(), Some(second));
    assert_eq!(store.proposals(&b).await.unwrap(), None);
}

pub async fn a_scope_that_is_due_again_rests_until_then(store: &dyn Store) {
    let a = project_scope("a");
    let claimed = claim(store, &a, at(0)).await;
    let again = ConsolidationResults {
        again_at: Some(at(9)),
        ..ConsolidationResults::default()
    };
    let ended = store.finish_consolidation(&claimed.token, claimed.upto, again, at(1));
    assert_eq!(ended.await.unwrap(), FinishOutcome::StillDue);
    let early = store.claim(claim_of(JobKind::Consolidate, at(8), 1)).await;
    assert_eq!(early.unwrap(), []);
    let due = store.claim(claim_of(JobKind::Consolidate, at(9), 1)).await;
    let due = due.unwrap().remove(0);
    let much_later = ConsolidationResults {
        again_at: Some(at(9_000)),
        ..ConsolidationResults::default()
    };
    let ended = store.finish_consolidation(&due.token, due.upto, much_later, at(10));
    assert_eq!(ended.await.unwrap(), FinishOutcome::StillDue);
    // New input does not wait for that.
    let claimed = claim(store, &a, at(20)).await;
    assert_eq!(claimed.token.job(), &JobKey::Consolidate(a));
}
