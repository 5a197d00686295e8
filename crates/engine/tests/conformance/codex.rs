//! Codex 1 to 14: claims and leases of one session (seed 002, spec 5.1). A thread is a session, `src`
//! its last event's number, a stage-1 output what was observed.
//!
//! 14 (usage counts survive an upsert) comes with usage.

use std::time::Duration;

use daybook_domain::{
    Claim, ClaimLimits, FailOutcome, FailureClass, FinishOutcome, JobKey, JobKind, Mark, Priority,
    Standing, Trigger,
};
use daybook_engine::profile::Profile;
use daybook_testkit::fixtures::failed;

use crate::bed::{Bed, ada, on_each_store, s};

fn codex(scene: impl AsyncFn(&Bed)) {
    on_each_store(Profile::codex(), scene);
}

async fn at_source(bed: &Bed, name: &str, source: u64) {
    let mark = Mark::at_once(source, bed.now(), Priority::Low);
    let marked = bed.store.mark(&JobKey::Extract(s(name)), mark).await;
    marked.expect("it is marked");
}

async fn standing(bed: &Bed, name: &str) -> Standing {
    bed.job(&s(name)).await.standing(bed.now())
}

#[test]
fn codex_1_a_session_that_is_up_to_date_is_not_claimed_until_it_goes_on() {
    codex(async |bed| {
        at_source(bed, "a", 100).await;
        let claimed = bed.claim().await.remove(0);
        assert_eq!(bed.finish(&claimed).await, FinishOutcome::Complete);
        at_source(bed, "a", 100).await;
        assert_eq!(standing(bed, "a").await, Standing::Done);
        assert!(bed.claim().await.is_empty());
        at_source(bed, "a", 101).await;
        assert_eq!(bed.claim().await.len(), 1);
    });
}

#[test]
fn codex_2_to_4_a_lease_keeps_others_out_until_it_lapses_and_its_holder_is_refused_then() {
    codex(async |bed| {
        at_source(bed, "a", 100).await;
        let first = bed.claim_as("first", JobKind::Extract).await.remove(0);
        assert!(bed.claim_as("second", JobKind::Extract).await.is_empty());
        let running = standing(bed, "a").await;
        assert!(matches!(running, Standing::Running { holder, .. } if holder == "first"));
        bed.wait(3_600);
        let second = bed.claim_as("second", JobKind::Extract).await.remove(0);
        assert_ne!(first.token, second.token);
        assert_eq!(bed.finish(&first).await, FinishOutcome::LeaseLost);
        let late = failed(FailureClass::Content);
        let late = bed
            .store
            .fail(&first.token, &late, bed.now())
            .await
            .unwrap();
        assert_eq!(late, FailOutcome::LeaseLost);
        assert_eq!(bed.finish(&second).await, FinishOutcome::Complete);
    });
}

#[test]
fn codex_5_two_claims_at_once_grant_once() {
    codex(async |bed| {
        at_source(bed, "a", 100).await;
        let (one, other) = tokio::join!(
            bed.claim_as("one", JobKind::Extract),
            bed.claim_as("other", JobKind::Extract)
        );
        assert_eq!(one.len() + other.len(), 1);
    });
}

#[test]
fn codex_6_and_7_the_cap_counts_live_leases_alone() {
    codex(async |bed| {
        at_source(bed, "a", 100).await;
        at_source(bed, "b", 100).await;
        let one = async || {
            let claim = Claim {
                kind: JobKind::Extract,
                holder: "worker",
                now: bed.now(),
                lease: Duration::from_secs(3_600),
                limits: ClaimLimits {
                    running: 1,
                    ..ClaimLimits::jobs(9)
                },
            };
            bed.store.claim(claim).await.unwrap().len()
        };
        assert_eq!(one().await, 1);
        assert_eq!(one().await, 0);
        bed.wait(3_600);
        assert_eq!(one().await, 1);
    });
}

/// Codex gives a session up after three failures until it goes on (`SkippedRetryExhausted`). No event is
/// skipped: here the failing range is narrowed down to a gap that is shown, and the session goes on
/// behind it with all its tries.
#[test]
fn codex_8_after_three_failures_what_fails_is_a_gap_and_newer_input_has_all_tries() {
    codex(async |bed| {
        at_source(bed, "a", 1).await;
        let retry = bed.profile.work.retry;
        for left in (0..retry.tries).rev() {
            let claimed = bed.claim().await.remove(0);
            let content = failed(FailureClass::Content);
            let ended = bed.store.fail(&claimed.token, &content, bed.now()).await;
            let gave_up = matches!(ended.unwrap(), FailOutcome::GaveUp(_));
            assert_eq!(gave_up, left == 0);
            bed.wait(3_600);
        }
        assert!(bed.claim().await.is_empty());
        let gaps = bed.store.gaps().await.unwrap();
        assert_eq!((gaps.len(), gaps[0].from, gaps[0].to), (1, 1, 1));
        at_source(bed, "a", 2).await;
        let claimed = bed.claim().await.remove(0);
        assert_eq!((claimed.after, claimed.upto), (1, 2));
        assert_eq!(bed.job(&s("a")).await.tries, 0);
    });
}

#[test]
fn codex_9_a_failure_waits_unless_the_session_goes_on() {
    codex(async |bed| {
        at_source(bed, "a", 100).await;
        *bed.extractor.failing.lock().unwrap() = Some(FailureClass::Content);
        bed.say(&s("a"), &["hello there"]).await;
        bed.tick().await;
        let Standing::Waiting { until, .. } = standing(bed, "a").await else {
            panic!("it waits");
        };
        // An hour, of which the last quarter is spread over workers that failed together.
        let wait = until.since(bed.now());
        assert!((2_700..=3_600).contains(&wait.as_secs()), "{wait:?}");
        assert!(bed.claim().await.is_empty());
        at_source(bed, "a", 101).await;
        assert_eq!(bed.claim().await.len(), 1);
    });
}

#[test]
fn codex_10_nothing_worth_keeping_stores_nothing_and_starts_no_consolidation() {
    codex(async |bed| {
        bed.say(&s("a"), &["hm"]).await;
        let _ = bed.happens(&s("a"), Trigger::End).await;
        bed.tick().await;
        assert!(
            bed.store
                .jobs(JobKind::Consolidate)
                .await
                .unwrap()
                .is_empty()
        );
        assert_eq!(standing(bed, "a").await, Standing::Done);
    });
}

/// Codex deletes what an earlier pass yielded when a later one yields nothing. Here Nothing affects its
/// own window alone: nothing is deleted on a model's word.
#[test]
fn codex_11_nothing_in_a_later_window_takes_nothing_away() {
    codex(async |bed| {
        bed.say(&s("a"), &["hello there"]).await;
        let _ = bed.happens(&s("a"), Trigger::End).await;
        bed.tick().await;
        bed.wait(1);
        bed.say(&s("a"), &["hm"]).await;
        let _ = bed.happens(&s("a"), Trigger::End).await;
        bed.tick().await;
        assert_eq!(bed.learned().await, ["hello there"]);
    });
}

/// An older success cannot come after a newer one: its token was lost when the newer was granted.
#[test]
fn codex_12_a_success_of_an_older_claim_changes_nothing() {
    codex(async |bed| {
        at_source(bed, "a", 100).await;
        let older = bed.claim().await.remove(0);
        bed.wait(3_600);
        at_source(bed, "a", 101).await;
        let newer = bed.claim().await.remove(0);
        assert_eq!(bed.finish(&newer).await, FinishOutcome::Complete);
        assert_eq!(bed.finish(&older).await, FinishOutcome::LeaseLost);
        assert_eq!(bed.marks(&s("a")).await, (None, 101));
    });
}

#[test]
fn codex_13_two_successes_make_one_consolidation_with_the_newest_watermark() {
    codex(async |bed| {
        for name in ["a", "b"] {
            bed.say(&s(name), &[&format!("said in {name}")]).await;
            let claimed = {
                let _ = bed.happens(&s(name), Trigger::End).await;
                bed.claim().await.remove(0)
            };
            let seen = daybook_testkit::fixtures::observation(
                &ada(),
                name,
                vec![daybook_testkit::fixtures::evidence(&s(name), &[1])],
            );
            let window = (claimed.after + 1, claimed.upto);
            let yielded = daybook_testkit::fixtures::extraction(&s(name), window, vec![seen]);
            let _ = bed
                .store
                .finish_extraction(&claimed.token, &yielded, bed.now())
                .await
                .unwrap();
        }
        let jobs = bed.store.jobs(JobKind::Consolidate).await.unwrap();
        assert_eq!(jobs.len(), 1);
        let known = bed.store.session(&s("b")).await.unwrap();
        assert!(known.is_some());
        assert_eq!((jobs[0].input, jobs[0].done), (2, 0));
    });
}
