//! C1 to C13: claims and leases of one session. A thread is a session here, `src`
//! its last event's number, and a stage-1 output the session's observations.

use std::time::Duration;

use daybook_domain::{
    Claim, ClaimLimits, DueMark, FailOutcome, FailureClass, FinishOutcome, JobKey, JobKind,
    JobStatus, Priority, Trigger,
};
use daybook_engine::jobs::revive_outdated;
use daybook_engine::profile::Profile;
use daybook_testkit::fixtures::failed;

use crate::profile_test_support::{ProfileFixture, ada, on_each_store, s};

fn codex(test: impl AsyncFn(&ProfileFixture)) {
    on_each_store(Profile::codex(), test);
}

async fn at_source(fixture: &ProfileFixture, name: &str, source: u64) {
    let mark = DueMark::at_once(source, fixture.now(), Priority::Low);
    let marked = fixture.store.mark(&JobKey::Extract(s(name)), mark).await;
    marked.expect("it is marked");
}

async fn standing(fixture: &ProfileFixture, name: &str) -> JobStatus {
    fixture.job(&s(name)).await.status(fixture.now())
}

#[test]
fn c1_a_session_that_is_up_to_date_is_not_claimed_until_it_goes_on() {
    codex(async |fixture| {
        at_source(fixture, "a", 100).await;
        let claimed = fixture.claim().await.remove(0);
        assert_eq!(fixture.finish(&claimed).await, FinishOutcome::Complete);
        at_source(fixture, "a", 100).await;
        assert_eq!(standing(fixture, "a").await, JobStatus::Done);
        assert!(fixture.claim().await.is_empty());
        at_source(fixture, "a", 101).await;
        assert_eq!(fixture.claim().await.len(), 1);
    });
}

#[test]
fn c2_to_c4_a_lease_keeps_others_out_until_it_lapses_and_its_holder_is_refused_then() {
    codex(async |fixture| {
        at_source(fixture, "a", 100).await;
        let first = fixture.claim_as("first", JobKind::Extract).await.remove(0);
        assert!(
            fixture
                .claim_as("second", JobKind::Extract)
                .await
                .is_empty()
        );
        let running = standing(fixture, "a").await;
        assert!(matches!(running, JobStatus::Running { holder, .. } if holder == "first"));
        fixture.wait(3_600);
        let second = fixture.claim_as("second", JobKind::Extract).await.remove(0);
        assert_ne!(first.token, second.token);
        assert_eq!(fixture.finish(&first).await, FinishOutcome::LeaseLost);
        let late = failed(FailureClass::Content);
        let late = fixture
            .store
            .fail(&first.token, &late, fixture.now())
            .await
            .unwrap();
        assert_eq!(late, FailOutcome::LeaseLost);
        assert_eq!(fixture.finish(&second).await, FinishOutcome::Complete);
    });
}

#[test]
fn c5_two_claims_at_once_grant_once() {
    codex(async |fixture| {
        at_source(fixture, "a", 100).await;
        let (one, other) = tokio::join!(
            fixture.claim_as("one", JobKind::Extract),
            fixture.claim_as("other", JobKind::Extract)
        );
        assert_eq!(one.len() + other.len(), 1);
    });
}

#[test]
fn c6_and_c7_the_cap_counts_live_leases_alone() {
    codex(async |fixture| {
        at_source(fixture, "a", 100).await;
        at_source(fixture, "b", 100).await;
        let one = async || {
            let claim = Claim {
                kind: JobKind::Extract,
                holder: "worker",
                now: fixture.now(),
                lease: Duration::from_secs(3_600),
                limits: ClaimLimits {
                    running: 1,
                    ..ClaimLimits::jobs(9)
                },
            };
            fixture.store.claim(claim).await.unwrap().len()
        };
        assert_eq!(one().await, 1);
        assert_eq!(one().await, 0);
        fixture.wait(3_600);
        assert_eq!(one().await, 1);
    });
}

/// Codex gives a session up after three failures, until it has newer events (`SkippedRetryExhausted`). Here no
/// event is skipped: the failing range is narrowed down to a gap that is shown, and the session continues
/// after it with all its tries.
#[test]
fn c8_after_three_failures_what_fails_is_a_gap_and_newer_input_has_all_tries() {
    codex(async |fixture| {
        at_source(fixture, "a", 1).await;
        let retry = fixture.profile.work.retry;
        for left in (0..retry.tries).rev() {
            let claimed = fixture.claim().await.remove(0);
            let content = failed(FailureClass::Content);
            let ended = fixture
                .store
                .fail(&claimed.token, &content, fixture.now())
                .await;
            let gave_up = matches!(ended.unwrap(), FailOutcome::GaveUp(_));
            assert_eq!(gave_up, left == 0);
            fixture.wait(3_600);
        }
        assert!(fixture.claim().await.is_empty());
        let gaps = fixture.store.gaps_of_all_tenants().await.unwrap();
        assert_eq!((gaps.len(), gaps[0].from, gaps[0].to), (1, 1, 1));
        at_source(fixture, "a", 2).await;
        let claimed = fixture.claim().await.remove(0);
        assert_eq!((claimed.after, claimed.upto), (1, 2));
        assert_eq!(fixture.job(&s("a")).await.tries, 0);
    });
}

#[test]
fn c9_a_failure_waits_unless_the_session_goes_on() {
    codex(async |fixture| {
        at_source(fixture, "a", 100).await;
        *fixture.extractor.failure_class.lock().unwrap() = Some(FailureClass::Content);
        fixture.append_texts(&s("a"), &["hello there"]).await;
        fixture.run_worker().await;
        let JobStatus::Waiting { until, .. } = standing(fixture, "a").await else {
            panic!("it waits");
        };
        // One hour, whose last quarter is jitter between workers that failed together.
        let wait = until.since(fixture.now());
        assert!((2_700..=3_600).contains(&wait.as_secs()), "{wait:?}");
        assert!(fixture.claim().await.is_empty());
        at_source(fixture, "a", 101).await;
        assert_eq!(fixture.claim().await.len(), 1);
    });
}

#[test]
fn c10_nothing_worth_keeping_stores_nothing_and_starts_no_consolidation() {
    codex(async |fixture| {
        fixture.append_texts(&s("a"), &["hm"]).await;
        let _ = fixture.trigger(&s("a"), Trigger::End).await;
        fixture.run_worker().await;
        assert!(
            fixture
                .store
                .jobs_of_all_tenants(JobKind::Consolidate)
                .await
                .unwrap()
                .is_empty()
        );
        assert_eq!(standing(fixture, "a").await, JobStatus::Done);
    });
}

/// Codex deletes what an earlier pass yielded when a later one yields nothing. Here the outcome Nothing affects
/// its own window alone: no model's answer deletes anything.
#[test]
fn c11_nothing_in_a_later_window_takes_nothing_away() {
    codex(async |fixture| {
        fixture.append_texts(&s("a"), &["hello there"]).await;
        let _ = fixture.trigger(&s("a"), Trigger::End).await;
        fixture.run_worker().await;
        fixture.wait(1);
        fixture.append_texts(&s("a"), &["hm"]).await;
        let _ = fixture.trigger(&s("a"), Trigger::End).await;
        fixture.run_worker().await;
        assert_eq!(fixture.observation_texts().await, ["hello there"]);
    });
}

/// An older claim cannot succeed after a newer one: granting the newer claim invalidated its token.
#[test]
fn c12_a_success_of_an_older_claim_changes_nothing() {
    codex(async |fixture| {
        at_source(fixture, "a", 100).await;
        let older = fixture.claim().await.remove(0);
        fixture.wait(3_600);
        at_source(fixture, "a", 101).await;
        let newer = fixture.claim().await.remove(0);
        assert_eq!(fixture.finish(&newer).await, FinishOutcome::Complete);
        assert_eq!(fixture.finish(&older).await, FinishOutcome::LeaseLost);
        assert_eq!(fixture.marks(&s("a")).await, (None, 101));
    });
}

#[test]
fn c13_two_successes_make_one_consolidation_with_the_newest_watermark() {
    codex(async |fixture| {
        for name in ["a", "b"] {
            fixture
                .append_texts(&s(name), &[&format!("said in {name}")])
                .await;
            let claimed = {
                let _ = fixture.trigger(&s(name), Trigger::End).await;
                fixture.claim().await.remove(0)
            };
            let seen = daybook_testkit::fixtures::observation(
                &ada(),
                name,
                vec![daybook_testkit::fixtures::evidence(&s(name), &[1])],
            );
            let window = (claimed.after + 1, claimed.upto);
            let yielded = daybook_testkit::fixtures::extraction(&s(name), window, vec![seen]);
            let _ = fixture
                .store
                .finish_extraction(&claimed.token, &yielded, fixture.now())
                .await
                .unwrap();
        }
        let jobs = fixture
            .store
            .jobs_of_all_tenants(JobKind::Consolidate)
            .await
            .unwrap();
        assert_eq!(jobs.len(), 1);
        let known = fixture.store.session(&s("b")).await.unwrap();
        assert!(known.is_some());
        assert_eq!((jobs[0].input, jobs[0].done), (2, 0));
    });
}

/// C131: what an older version gave up is tried once more by the next one, and by no other process of the same.
#[test]
fn a_newer_version_takes_up_what_an_older_one_gave_up_once_and_nothing_of_a_persons() {
    codex(async |fixture| {
        let old = "daybook/0.0.1";
        at_source(fixture, "a", 1).await;
        while fixture
            .store
            .gaps_of(&JobKey::Extract(s("a")))
            .await
            .unwrap()
            .is_empty()
        {
            fixture.wait(4 * 3_600);
            for claimed in fixture.claim().await {
                let content = daybook_domain::FailedTry {
                    engine: old.to_owned(),
                    ..failed(FailureClass::Content)
                };
                let now = fixture.now();
                let _ = fixture
                    .store
                    .fail(&claimed.token, &content, now)
                    .await
                    .unwrap();
            }
        }
        at_source(fixture, "b", 1).await;
        let cancelled = JobKey::Extract(s("b"));
        fixture
            .store
            .cancel(&cancelled, fixture.now(), old)
            .await
            .unwrap();
        let worker = fixture.worker_context();
        assert_eq!(revive_outdated(&worker).await.unwrap(), 1);
        assert!(matches!(
            standing(fixture, "a").await,
            JobStatus::Due { .. }
        ));
        assert_eq!(standing(fixture, "b").await, JobStatus::Done);
        assert_eq!(revive_outdated(&worker).await.unwrap(), 0);
        assert_eq!(fixture.store.gaps_of(&cancelled).await.unwrap().len(), 1);
    });
}

/// Newer versions take the block out before an event is stored.
#[test]
fn an_event_that_an_older_version_stored_is_read_without_its_block() {
    codex(async |fixture| {
        let block = "<oai-mem-citation>\n<rollout_ids>\n</rollout_ids>\n</oai-mem-citation>";
        let answer = format!("the limit is 50\n\n{block}\n");
        let mut append = fixture.new_append(&s("a"), &["what is the limit", &answer]);
        append.events[1].origin = daybook_domain::Origin::Assistant;
        fixture.store.append(&append).await.unwrap();
        fixture.wait(13 * 3_600);
        fixture.run_worker().await;
        let shown = fixture.extractor.shown_windows.lock().unwrap();
        let (_, texts) = shown.first().expect("it was read");
        assert_eq!(texts, &["what is the limit", "the limit is 50"]);
    });
}
