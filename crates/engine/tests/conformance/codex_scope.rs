//! C22 to C31: the global job. Here each scope has its own consolidation.

use daybook_domain::{FailOutcome, FailureClass, FinishOutcome, Job, JobKey, JobKind, JobStatus};
use daybook_engine::profile::Profile;
use daybook_testkit::fixtures::failed;

use crate::profile_test_support::{ProfileFixture, ada, on_each_store};

fn codex(test: impl AsyncFn(&ProfileFixture)) {
    on_each_store(Profile::codex(), test);
}

async fn enqueue(fixture: &ProfileFixture) -> u64 {
    fixture
        .store
        .touch_scope(&ada(), fixture.now())
        .await
        .expect("it is raised")
}

async fn job(fixture: &ProfileFixture) -> Job {
    let job = fixture.store.job(&JobKey::Consolidate(ada())).await;
    job.expect("the store answers").expect("it was marked")
}

async fn claim(fixture: &ProfileFixture) -> Option<daybook_domain::ClaimedJob> {
    fixture.claim_as("worker", JobKind::Consolidate).await.pop()
}

/// Codex creates the job when it is first claimed, and claims none within six hours of a success. Here the job is due
/// with each change, and the worker that claims it gives it back until that rest is over (`codex_selection`): so
/// `jobs` can show it, and a person can have it done at once.
#[test]
fn c22_and_c23_one_at_a_time_and_then_not_until_something_changes() {
    codex(async |fixture| {
        assert!(claim(fixture).await.is_none());
        enqueue(fixture).await;
        let claimed = claim(fixture).await.expect("it is due");
        assert!(claim(fixture).await.is_none());
        assert!(matches!(
            job(fixture).await.status(fixture.now()),
            JobStatus::Running { .. }
        ));
        assert_eq!(fixture.finish(&claimed).await, FinishOutcome::Complete);
        assert_eq!(job(fixture).await.status(fixture.now()), JobStatus::Done);
        assert!(claim(fixture).await.is_none());
        enqueue(fixture).await;
        assert!(claim(fixture).await.is_some());
    });
}

#[test]
fn c24_every_change_raises_the_watermark() {
    codex(async |fixture| {
        let first = enqueue(fixture).await;
        let second = enqueue(fixture).await;
        assert!(second > first);
        assert_eq!(claim(fixture).await.expect("it is due").upto, second);
    });
}

#[test]
fn c25_a_change_while_it_runs_takes_no_lease_and_is_not_lost() {
    codex(async |fixture| {
        enqueue(fixture).await;
        let claimed = claim(fixture).await.expect("it is due");
        let later = enqueue(fixture).await;
        assert!(job(fixture).await.is_leased(fixture.now()));
        assert_eq!(fixture.finish(&claimed).await, FinishOutcome::StillDue);
        assert_eq!(claim(fixture).await.expect("it is due again").upto, later);
    });
}

#[test]
fn c26_a_lapsed_lease_passes_on_and_its_holder_is_refused() {
    codex(async |fixture| {
        enqueue(fixture).await;
        let first = claim(fixture).await.expect("it is due");
        fixture.wait(3_600);
        let second = claim(fixture).await.expect("the lease lapsed");
        assert_ne!(first.token, second.token);
        let lease = fixture.profile.work.lease;
        let alive = fixture
            .store
            .heartbeat(&first.token, fixture.now(), lease)
            .await;
        assert!(!alive.unwrap());
        assert_eq!(fixture.finish(&first).await, FinishOutcome::LeaseLost);
    });
}

#[test]
fn c27_and_c28_failures_wait_and_never_end_it() {
    codex(async |fixture| {
        enqueue(fixture).await;
        for _ in 0..5 {
            let claimed = claim(fixture).await.expect("it is due");
            let outage = failed(FailureClass::Outage);
            let ended = fixture
                .store
                .fail(&claimed.token, &outage, fixture.now())
                .await;
            let FailOutcome::RetryAt(at) = ended.unwrap() else {
                panic!("an outage is waited for");
            };
            assert!(claim(fixture).await.is_none());
            let waiting = JobStatus::Waiting {
                until: at,
                outage: true,
            };
            assert_eq!(job(fixture).await.status(fixture.now()), waiting);
            fixture.clock.set(at);
        }
        assert!(claim(fixture).await.is_some());
    });
}

/// `failed_if_unowned`: here a worker cannot fail a job that it does not hold, and the leases of a worker
/// that is known to be gone are released.
#[test]
fn c29_what_nobody_owns_any_more_is_freed() {
    codex(async |fixture| {
        enqueue(fixture).await;
        let claimed = claim(fixture).await.expect("it is due");
        assert_eq!(fixture.store.abandon("somebody else").await.unwrap(), 0);
        assert_eq!(fixture.store.abandon("worker").await.unwrap(), 1);
        assert_eq!(fixture.finish(&claimed).await, FinishOutcome::LeaseLost);
        assert!(claim(fixture).await.is_some());
    });
}

#[test]
fn c30_a_heartbeat_extends_the_lease_of_its_own_token_alone() {
    codex(async |fixture| {
        enqueue(fixture).await;
        let claimed = claim(fixture).await.expect("it is due");
        let lease = fixture.profile.work.lease;
        fixture.wait(90);
        assert!(
            fixture
                .store
                .heartbeat(&claimed.token, fixture.now(), lease)
                .await
                .unwrap()
        );
        let until = job(fixture).await.lease.expect("it runs").until;
        assert_eq!(until, fixture.now().plus(lease));
        let forged = daybook_domain::LeaseToken::issue(claimed.token.job().clone(), 99);
        assert!(
            !fixture
                .store
                .heartbeat(&forged, fixture.now(), lease)
                .await
                .unwrap()
        );
    });
}

#[test]
fn c31_what_is_done_is_not_dirty() {
    codex(async |fixture| {
        let revision = enqueue(fixture).await;
        let claimed = claim(fixture).await.expect("it is due");
        let _ = fixture.finish(&claimed).await;
        let again = daybook_domain::DueMark::at_once(
            revision,
            fixture.now(),
            daybook_domain::Priority::High,
        );
        fixture
            .store
            .mark(&JobKey::Consolidate(ada()), again)
            .await
            .unwrap();
        assert_eq!(job(fixture).await.status(fixture.now()), JobStatus::Done);
        assert!(claim(fixture).await.is_none());
    });
}
