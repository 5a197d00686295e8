//! The promises of a store of background work. The rules themselves are tested in `daybook-domain`;
//! these tests show that a store applies them, keeps every field, and grants nothing twice.
#![allow(missing_docs, reason = "each name is the sentence that it tests")]

use std::time::Duration;

use daybook_domain::limits::TRIES;
use daybook_domain::seams::Store;
use daybook_domain::{
    Claim, ClaimLimits, ClaimedJob, DueMark, FailOutcome, FailedTry, FailureClass, FinishOutcome,
    JobKey, JobKind, LeaseToken, Priority, Scope, SessionId, TallyKind, Timestamp,
};

use crate::fixtures::*;

fn key(name: &str) -> JobKey {
    JobKey::Extract(session(name))
}

async fn mark(store: &dyn Store, name: &str, input: u64, due: Timestamp, priority: Priority) {
    let mark = DueMark::at_once(input, due, priority);
    store.mark(&key(name), mark).await.unwrap();
}

async fn claim(store: &dyn Store, now: Timestamp, limit: usize) -> Vec<ClaimedJob> {
    store
        .claim(claim_of(JobKind::Extract, now, limit))
        .await
        .unwrap()
}

/// Fails a job until its range is given up, and returns the time of that.
async fn fail_until_gap(store: &dyn Store, from: Timestamp, engine: &str) -> Timestamp {
    let mut now = from;
    for _ in 0..64 {
        now = now.plus(Duration::from_secs(4000));
        for claimed in claim(store, now, 1).await {
            let content = FailedTry {
                engine: engine.to_owned(),
                ..failed(FailureClass::Content)
            };
            let ended = store.fail(&claimed.token, &content, now).await.unwrap();
            if matches!(ended, FailOutcome::GaveUp(_)) {
                return now;
            }
        }
    }
    panic!("64 failures made no gap");
}

pub async fn a_job_is_granted_once(store: &dyn Store) {
    mark(store, "a", 5, at(0), Priority::Normal).await;
    let granted = claim(store, at(1), 10).await;
    assert_eq!(granted.len(), 1);
    assert_eq!(
        (granted[0].after, granted[0].upto, granted[0].redo),
        (0, 5, 0)
    );
    assert_eq!(granted[0].token.job(), &key("a"));
    assert!(claim(store, at(1), 10).await.is_empty());
    let ended = store.finish(&granted[0].token, 5, at(2)).await.unwrap();
    assert_eq!(ended, FinishOutcome::Complete);
    assert!(claim(store, at(1_000), 10).await.is_empty());
}

pub async fn a_job_that_is_not_due_is_not_granted(store: &dyn Store) {
    mark(store, "a", 1, at(10), Priority::High).await;
    assert!(claim(store, at(9), 10).await.is_empty());
    assert_eq!(claim(store, at(10), 10).await.len(), 1);
}

pub async fn claims_go_by_priority_then_age_then_key(store: &dyn Store) {
    mark(store, "low", 1, at(0), Priority::Low).await;
    mark(store, "new", 1, at(5), Priority::Normal).await;
    mark(store, "b", 1, at(2), Priority::Normal).await;
    mark(store, "a", 1, at(2), Priority::Normal).await;
    mark(store, "high", 1, at(7), Priority::High).await;
    mark(store, "raised", 1, at(8), Priority::Raised).await;
    let granted = claim(store, at(9), 10).await;
    let order: Vec<JobKey> = granted
        .iter()
        .map(|claim| claim.token.job().clone())
        .collect();
    assert_eq!(order, ["high", "raised", "a", "b", "new", "low"].map(key));
}

pub async fn a_claim_grants_no_more_than_asked(store: &dyn Store) {
    for name in ["a", "b", "c"] {
        mark(store, name, 1, at(0), Priority::Normal).await;
    }
    assert_eq!(claim(store, at(1), 2).await.len(), 2);
    assert_eq!(claim(store, at(1), 0).await.len(), 0);
    assert_eq!(claim(store, at(1), 2).await.len(), 1);
}

pub async fn kinds_are_claimed_apart(store: &dyn Store) {
    mark(store, "a", 1, at(0), Priority::Normal).await;
    store.touch_scope(&user_scope("ada"), at(0)).await.unwrap();
    let claims = store
        .claim(claim_of(JobKind::Consolidate, at(1), 10))
        .await
        .unwrap();
    assert_eq!(claims.len(), 1);
    assert_eq!(
        claims[0].token.job(),
        &JobKey::Consolidate(user_scope("ada"))
    );
    assert_eq!(
        store
            .jobs_of_all_tenants(JobKind::Extract)
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        store
            .jobs_of_all_tenants(JobKind::Consolidate)
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(claim(store, at(1), 10).await.len(), 1);
}

pub async fn a_lapsed_lease_is_granted_again_and_its_holder_changes_nothing(store: &dyn Store) {
    mark(store, "a", 5, at(0), Priority::Normal).await;
    let stale = claim(store, at(1), 1).await.remove(0).token;
    let lapsed = at(1).plus(LEASE);
    let fresh = claim(store, lapsed, 1).await.remove(0).token;
    assert!(fresh.generation() > stale.generation());
    let before = store.job(&key("a")).await.unwrap();
    assert_eq!(
        store.finish(&stale, 5, lapsed).await.unwrap(),
        FinishOutcome::LeaseLost
    );
    assert!(!store.heartbeat(&stale, lapsed, LEASE).await.unwrap());
    assert!(!store.release(&stale, lapsed).await.unwrap());
    let ended = store
        .fail(&stale, &failed(FailureClass::Content), lapsed)
        .await;
    assert_eq!(ended.unwrap(), FailOutcome::LeaseLost);
    assert_eq!(store.job(&key("a")).await.unwrap(), before);
    assert_eq!(
        store.finish(&fresh, 5, lapsed).await.unwrap(),
        FinishOutcome::Complete
    );
}

pub async fn a_heartbeat_keeps_a_lease(store: &dyn Store) {
    mark(store, "a", 5, at(0), Priority::Normal).await;
    let token = claim(store, at(1), 1).await.remove(0).token;
    assert!(store.heartbeat(&token, at(50), LEASE).await.unwrap());
    assert!(claim(store, at(100), 1).await.is_empty());
    assert_eq!(
        store.finish(&token, 5, at(105)).await.unwrap(),
        FinishOutcome::Complete
    );
}

pub async fn a_released_job_is_due_at_once(store: &dyn Store) {
    mark(store, "a", 5, at(0), Priority::Normal).await;
    let token = claim(store, at(1), 1).await.remove(0).token;
    assert!(store.release(&token, at(2)).await.unwrap());
    assert!(store.holders().await.unwrap().is_empty());
    assert_eq!(claim(store, at(2), 1).await.len(), 1);
}

pub async fn an_abandoned_holder_loses_all_its_jobs(store: &dyn Store) {
    for name in ["a", "b", "c"] {
        mark(store, name, 1, at(0), Priority::Normal).await;
    }
    let lost = claim(store, at(1), 2).await;
    let other = store
        .claim(Claim {
            holder: "other",
            ..claim_of(JobKind::Extract, at(1), 2)
        })
        .await
        .unwrap();
    assert_eq!(store.holders().await.unwrap(), ["other", "worker"]);
    assert_eq!(store.abandon("worker").await.unwrap(), 2);
    assert_eq!(store.abandon("nobody").await.unwrap(), 0);
    assert_eq!(store.holders().await.unwrap(), ["other"]);
    assert_eq!(
        store.finish(&lost[0].token, 1, at(2)).await.unwrap(),
        FinishOutcome::LeaseLost
    );
    let kept = store.finish(&other[0].token, 1, at(2)).await.unwrap();
    assert_eq!(kept, FinishOutcome::Complete);
    assert_eq!(claim(store, at(2), 5).await.len(), 2);
    assert_eq!(store.job(&key("a")).await.unwrap().unwrap().vanished, 1);
}

/// Drives a job through states in which each of its fields is set, next to the same job as a value.
pub async fn every_field_of_a_job_survives(store: &dyn Store) {
    let mut job = daybook_domain::Job::new(key("a"));
    let agrees = async |job: &daybook_domain::Job| {
        assert_eq!(store.job(&job.key).await.unwrap().as_ref(), Some(job));
        assert_eq!(
            store.jobs_of_all_tenants(JobKind::Extract).await.unwrap(),
            std::slice::from_ref(job)
        );
        assert_eq!(
            store.next_due(JobKind::Extract).await.unwrap(),
            job.due_at()
        );
    };
    let first = DueMark {
        input: 8,
        idle_due: at(3),
        deadline: at(9),
        priority: Priority::Raised,
        turns: 2,
        turn_limit: 5,
        active: at(2),
    };
    job.mark(first);
    store.mark(&job.key, first).await.unwrap();
    agrees(&job).await;
    let mut now = at(4);
    for round in 0..=TRIES {
        let class = if round == 0 {
            FailureClass::Outage
        } else {
            FailureClass::Content
        };
        let granted = job.claim("worker", now, LEASE).unwrap();
        assert_eq!(claim(store, now, 1).await, std::slice::from_ref(&granted));
        let arrived = DueMark::at_once(9 + u64::from(round), now, Priority::Low);
        job.mark(arrived);
        store.mark(&job.key, arrived).await.unwrap();
        agrees(&job).await;
        let ours = job.fail(&granted.token, &failed(class), now);
        let theirs = store
            .fail(&granted.token, &failed(class), now)
            .await
            .unwrap();
        assert_eq!(ours, theirs);
        agrees(&job).await;
        now = job.due_at().unwrap();
    }
    let granted = job.claim("worker", now, LEASE).unwrap();
    assert_eq!(claim(store, now, 1).await, std::slice::from_ref(&granted));
    let _ = job.finish(&granted.token, granted.upto, now);
    let _ = store
        .finish(&granted.token, granted.upto, now)
        .await
        .unwrap();
    agrees(&job).await;
    job.begin_redo(now);
    store.redo(&job.key, now).await.unwrap();
    agrees(&job).await;
}

pub async fn a_failure_waits_and_a_success_forgets_it(store: &dyn Store) {
    mark(store, "a", 5, at(0), Priority::Normal).await;
    let token = claim(store, at(1), 1).await.remove(0).token;
    let ended = store
        .fail(&token, &failed(FailureClass::Outage), at(2))
        .await
        .unwrap();
    let FailOutcome::RetryAt(retry_at) = ended else {
        panic!("{ended:?}");
    };
    assert!(retry_at > at(2));
    assert!(claim(store, at(3), 1).await.is_empty());
    assert_eq!(
        store.next_due(JobKind::Extract).await.unwrap(),
        Some(retry_at)
    );
    let token = claim(store, retry_at, 1).await.remove(0).token;
    assert_eq!(
        store.finish(&token, 5, retry_at).await.unwrap(),
        FinishOutcome::Complete
    );
    let job = store.job(&key("a")).await.unwrap().unwrap();
    assert_eq!((job.last_failure, job.failures), (None, 0));
}

pub async fn what_keeps_failing_becomes_a_gap_and_the_job_goes_on(store: &dyn Store) {
    mark(store, "a", 4, at(0), Priority::Normal).await;
    let now = fail_until_gap(store, at(0), "engine/1").await;
    let gaps = store.gaps_of_all_tenants().await.unwrap();
    assert_eq!(gaps.len(), 1);
    assert_eq!((&gaps[0].job, gaps[0].from, gaps[0].to), (&key("a"), 1, 1));
    assert_eq!(gaps[0].failure, failed(FailureClass::Content).failure);
    assert_eq!((gaps[0].at, gaps[0].engine.as_str()), (now, "engine/1"));
    let next = claim(store, now, 1).await.remove(0);
    assert_eq!((next.after, next.upto), (1, 4));
    assert_eq!(
        store.finish(&next.token, 4, now).await.unwrap(),
        FinishOutcome::Complete
    );
}

pub async fn a_newer_engine_revives_gaps_once(store: &dyn Store) {
    mark(store, "a", 1, at(0), Priority::Normal).await;
    let now = fail_until_gap(store, at(0), "engine/1").await;
    assert_eq!(store.revive_gaps(None, "engine/1", now).await.unwrap(), 0);
    assert!(claim(store, now, 1).await.is_empty());
    assert_eq!(store.revive_gaps(None, "engine/2", now).await.unwrap(), 1);
    assert!(store.gaps_of_all_tenants().await.unwrap().is_empty());
    fail_until_gap(store, now, "engine/2").await;
    assert_eq!(store.revive_gaps(None, "engine/2", now).await.unwrap(), 0);
    assert_eq!(store.gaps_of_all_tenants().await.unwrap().len(), 1);
}

pub async fn an_older_engine_revives_nothing(store: &dyn Store) {
    mark(store, "a", 1, at(0), Priority::Normal).await;
    let now = fail_until_gap(store, at(0), "engine/10").await;
    assert_eq!(store.revive_gaps(None, "engine/9", now).await.unwrap(), 0);
    assert_eq!(store.gaps_of_all_tenants().await.unwrap().len(), 1);
    assert_eq!(store.revive_gaps(None, "engine/11", now).await.unwrap(), 1);
}

pub async fn a_job_of_which_a_part_was_cancelled_is_revived_by_no_engine(store: &dyn Store) {
    mark(store, "a", 1, at(0), Priority::Normal).await;
    let now = fail_until_gap(store, at(0), "engine/1").await;
    mark(store, "a", 5, now, Priority::Normal).await;
    store.cancel(&key("a"), now, "engine/1").await.unwrap();
    mark(store, "b", 1, now, Priority::Normal).await;
    let now = fail_until_gap(store, now, "engine/1").await;
    assert_eq!(store.revive_gaps(None, "engine/2", now).await.unwrap(), 1);
    let gaps = store.gaps_of_all_tenants().await.unwrap();
    let left: Vec<(&JobKey, u64)> = gaps.iter().map(|gap| (&gap.job, gap.from)).collect();
    assert_eq!(left, [(&key("a"), 1), (&key("a"), 2)]);
}

pub async fn gaps_of_one_job_are_revived_together(store: &dyn Store) {
    mark(store, "a", 2, at(0), Priority::Normal).await;
    let now = fail_until_gap(store, at(0), "engine/1").await;
    let now = fail_until_gap(store, now, "engine/1").await;
    mark(store, "b", 1, at(0), Priority::Normal).await;
    let now = fail_until_gap(store, now, "engine/1").await;
    let found: Vec<(JobKey, u64)> = store
        .gaps_of_all_tenants()
        .await
        .unwrap()
        .into_iter()
        .map(|gap| (gap.job, gap.from))
        .collect();
    assert_eq!(found, [(key("a"), 1), (key("a"), 2), (key("b"), 1)]);
    let revived = store
        .revive_gaps(Some(&key("a")), "engine/1", now)
        .await
        .unwrap();
    assert_eq!(revived, 2);
    let job = store.job(&key("a")).await.unwrap().unwrap();
    assert_eq!((job.done, job.redo), (0, 1));
    assert_eq!(store.gaps_of_all_tenants().await.unwrap().len(), 1);
    store.redo(&key("b"), now).await.unwrap();
    assert!(store.gaps_of_all_tenants().await.unwrap().is_empty());
}

pub async fn the_next_due_time_is_the_earliest(store: &dyn Store) {
    assert_eq!(store.next_due(JobKind::Extract).await.unwrap(), None);
    mark(store, "a", 1, at(50), Priority::High).await;
    mark(store, "b", 1, at(20), Priority::Low).await;
    assert_eq!(
        store.next_due(JobKind::Extract).await.unwrap(),
        Some(at(20))
    );
    assert_eq!(store.next_due(JobKind::Consolidate).await.unwrap(), None);
    let b = claim(store, at(21), 1).await.remove(0);
    assert_eq!(
        store.next_due(JobKind::Extract).await.unwrap(),
        Some(at(50))
    );
    let _ = store.finish(&b.token, 1, at(22)).await.unwrap();
    assert_eq!(
        store.next_due(JobKind::Extract).await.unwrap(),
        Some(at(50))
    );
}

pub async fn hastening_makes_waiting_work_due(store: &dyn Store) {
    store
        .hasten(&key("nobody"), at(0), Priority::High)
        .await
        .unwrap();
    assert!(store.job(&key("nobody")).await.unwrap().is_none());
    mark(store, "a", 1, at(50), Priority::Low).await;
    store
        .hasten(&key("a"), at(3), Priority::High)
        .await
        .unwrap();
    let job = store.job(&key("a")).await.unwrap().unwrap();
    assert_eq!((job.due_at(), job.priority), (Some(at(3)), Priority::High));
}

pub async fn an_unknown_job_loses_nothing(store: &dyn Store) {
    let scope = Scope {
        name: "nobody".to_owned(),
        ..user_scope("ada")
    };
    let token = LeaseToken::issue(JobKey::Consolidate(scope), 1);
    assert_eq!(
        store.finish(&token, 1, at(0)).await.unwrap(),
        FinishOutcome::LeaseLost
    );
    let ended = store
        .fail(&token, &failed(FailureClass::Content), at(0))
        .await;
    assert_eq!(ended.unwrap(), FailOutcome::LeaseLost);
    assert!(!store.release(&token, at(0)).await.unwrap());
    store.redo(token.job(), at(0)).await.unwrap();
    assert!(
        store
            .jobs_of_all_tenants(JobKind::Consolidate)
            .await
            .unwrap()
            .is_empty()
    );
}

fn of(user: &str, agent: &str, name: &str) -> SessionId {
    SessionId {
        agent: agent.to_owned(),
        ..session(&format!("{user}-{name}"))
    }
}

/// Sessions of users and agents, written `user agent name`, all due at the same time.
async fn due_sessions(store: &dyn Store, sessions: &[&str]) {
    for words in sessions {
        let words: Vec<&str> = words.split(' ').collect();
        let id = of(words[0], words[1], words[2]);
        let mut append = append(&id, vec![event("said").with_time(at(1))]);
        append.session.user = Some(words[0].to_owned());
        store.append(&append).await.unwrap();
    }
}

async fn names(store: &dyn Store, limits: ClaimLimits) -> String {
    let claim = Claim {
        limits,
        ..claim_of(JobKind::Extract, at(9_000), 0)
    };
    let granted = store.claim(claim).await.unwrap();
    let names = granted.iter().map(|claimed| claimed.token.job().parts().2);
    names.collect::<Vec<_>>().join(" ")
}

pub async fn claims_go_round_users_and_agents(store: &dyn Store) {
    let sessions = ["u a 1", "u a 2", "u a 3", "u b 4", "v a 5", "v a 6"];
    due_sessions(store, &sessions).await;
    assert_eq!(names(store, ClaimLimits::jobs(3)).await, "u-1 v-5 u-4");
    assert_eq!(names(store, ClaimLimits::jobs(9)).await, "v-6 u-2 u-3");
}

pub async fn a_claim_is_bounded_by_agent_and_by_what_runs(store: &dyn Store) {
    due_sessions(store, &["u a 1", "u a 2", "u a 3", "u b 4"]).await;
    let all = ClaimLimits::jobs(9);
    let capped = ClaimLimits { running: 1, ..all };
    assert_eq!(names(store, capped).await, "u-1");
    assert_eq!(names(store, capped).await, "");
    let of_each = ClaimLimits {
        running_per_agent: 1,
        ..all
    };
    assert_eq!(names(store, of_each).await, "u-4");
    let in_turn = ClaimLimits {
        per_agent: 1,
        ..all
    };
    assert_eq!(names(store, in_turn).await, "u-2");
}

pub async fn a_prompt_raises_what_waits_beside_its_session(store: &dyn Store) {
    due_sessions(store, &["u a 1", "u a 2", "u a 3", "u b 4", "v a 5"]).await;
    let prompted = of("u", "a", "1");
    let due = store.next_due(JobKind::Extract).await.unwrap();
    let raised = store.reprioritize(&prompted, Some("u"), 1).await.unwrap();
    assert_eq!(raised, 1);
    assert_eq!(store.next_due(JobKind::Extract).await.unwrap(), due);
    let jobs = store.jobs_of_all_tenants(JobKind::Extract).await.unwrap();
    let raised = jobs.iter().filter(|job| job.priority == Priority::Raised);
    let raised: Vec<&str> = raised.map(|job| job.key.parts().2).collect();
    assert_eq!(raised, ["u-2"]);
    assert_eq!(
        store.reprioritize(&prompted, Some("u"), 9).await.unwrap(),
        2
    );
    assert_eq!(store.reprioritize(&prompted, None, 9).await.unwrap(), 0);
}

pub async fn cancelled_work_is_a_gap_that_only_a_person_revives(store: &dyn Store) {
    mark(store, "a", 5, at(0), Priority::Normal).await;
    let held = claim(store, at(1), 1).await.remove(0);
    let gap = store.cancel(&key("a"), at(2), "1").await.unwrap().unwrap();
    assert_eq!((gap.from, gap.to), (1, 5));
    assert_eq!(gap.failure.class, FailureClass::Cancelled);
    assert_eq!(store.gaps_of_all_tenants().await.unwrap(), [gap]);
    assert_eq!(store.cancel(&key("a"), at(2), "1").await.unwrap(), None);
    assert_eq!(store.cancel(&key("never"), at(2), "1").await.unwrap(), None);
    let ended = store.finish(&held.token, 5, at(3)).await.unwrap();
    assert_eq!(ended, FinishOutcome::LeaseLost);
    assert!(claim(store, at(9_000), 1).await.is_empty());
    assert_eq!(store.revive_gaps(None, "2", at(4)).await.unwrap(), 0);
    let revived = store
        .revive_gaps(Some(&key("a")), "2", at(4))
        .await
        .unwrap();
    assert_eq!(revived, 1);
    assert_eq!(claim(store, at(4), 1).await[0].upto, 5);
}

pub async fn a_retry_by_hand_does_not_wait(store: &dyn Store) {
    mark(store, "a", 5, at(0), Priority::Normal).await;
    let held = claim(store, at(1), 1).await.remove(0);
    let outage = failed(FailureClass::Outage);
    let _ = store.fail(&held.token, &outage, at(2)).await.unwrap();
    assert!(claim(store, at(3), 1).await.is_empty());
    assert!(store.retry(&key("a"), at(3)).await.unwrap());
    let held = claim(store, at(3), 1).await.remove(0);
    let _ = store.finish(&held.token, 5, at(4)).await.unwrap();
    assert!(!store.retry(&key("a"), at(5)).await.unwrap());
    assert!(!store.retry(&key("never"), at(5)).await.unwrap());
}

pub async fn a_job_that_is_set_aside_waits_for_its_next_mark(store: &dyn Store) {
    mark(store, "a", 5, at(0), Priority::Normal).await;
    let held = claim(store, at(1), 1).await.remove(0);
    let forever = Timestamp::MAX;
    assert!(store.set_aside(&held.token, forever, at(2)).await.unwrap());
    assert!(!store.set_aside(&held.token, forever, at(2)).await.unwrap());
    assert!(claim(store, at(900_000), 1).await.is_empty());
    mark(store, "a", 5, at(900_001), Priority::Normal).await;
    let granted = claim(store, at(900_001), 1).await;
    assert_eq!((granted[0].after, granted[0].upto), (0, 5));
}

pub async fn a_job_that_is_set_aside_until_a_time_waits_for_it(store: &dyn Store) {
    mark(store, "a", 5, at(0), Priority::Normal).await;
    let held = claim(store, at(1), 1).await.remove(0);
    let until = at(100);
    assert!(store.set_aside(&held.token, until, at(2)).await.unwrap());
    assert!(claim(store, at(99), 1).await.is_empty());
    let granted = claim(store, until, 1).await;
    assert_eq!((granted[0].after, granted[0].upto), (0, 5));
}

pub async fn what_becomes_of_jobs_is_counted(store: &dyn Store) {
    mark(store, "a", 5, at(0), Priority::Normal).await;
    let held = claim(store, at(1), 1).await.remove(0);
    let content = failed(FailureClass::Content);
    let _ = store.fail(&held.token, &content, at(2)).await.unwrap();
    let held = claim(store, at(9_000), 1).await.remove(0);
    let _ = store.finish(&held.token, 3, at(9_001)).await.unwrap();
    let _ = store.finish(&held.token, 5, at(9_002)).await.unwrap();
    let held = claim(store, at(9_003), 1).await.remove(0);
    let _ = store.finish(&held.token, 5, at(9_004)).await.unwrap();
    let tallies = store.tallies().await.unwrap();
    let counts = tallies.iter().map(|tally| (tally.what, tally.count));
    let expected = [
        (TallyKind::Claimed, 3),
        (TallyKind::Finished, 1),
        (TallyKind::Partly, 1),
        (TallyKind::Lost, 1),
        (TallyKind::FailedContent, 1),
    ];
    assert_eq!(counts.collect::<Vec<_>>(), expected);
}

pub async fn whoever_waits_for_a_change_misses_none(store: &dyn Store) {
    let seen = store.version().await.unwrap();
    mark(store, "a", 1, at(0), Priority::Normal).await;
    // The change came before the wait; a lost wake-up would wait for an hour.
    let hour = Duration::from_secs(3600);
    store.until_changed(seen, hour).await.unwrap();
    assert_ne!(store.version().await.unwrap(), seen);
    let seen = store.version().await.unwrap();
    store.until_changed(seen, Duration::ZERO).await.unwrap();
}
