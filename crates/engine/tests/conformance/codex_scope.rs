//! Codex 22 to 31: the global job (seed 002, spec 5.3), which is one consolidation for each scope here.

use daybook_domain::{FailOutcome, FailureClass, FinishOutcome, Job, JobKey, JobKind, Standing};
use daybook_engine::profile::Profile;
use daybook_testkit::fixtures::failed;

use crate::bed::{Bed, ada, on_each_store};

fn codex(scene: impl AsyncFn(&Bed)) {
    on_each_store(Profile::codex(), scene);
}

async fn enqueue(bed: &Bed) -> u64 {
    bed.store
        .touch_scope(&ada(), bed.now())
        .await
        .expect("it is raised")
}

async fn job(bed: &Bed) -> Job {
    let job = bed.store.job(&JobKey::Consolidate(ada())).await;
    job.expect("the store answers").expect("it was marked")
}

async fn claim(bed: &Bed) -> Option<daybook_domain::Claimed> {
    bed.claim_as("worker", JobKind::Consolidate).await.pop()
}

/// Codex makes the job when it is first claimed, and rests for six hours after a success, whatever
/// came meanwhile: each run asks a model. Merging asks none, so what is new is written at once, and
/// what is not new is not written at all.
#[test]
fn codex_22_and_23_one_at_a_time_and_then_not_until_something_changes() {
    codex(async |bed| {
        assert!(claim(bed).await.is_none());
        enqueue(bed).await;
        let claimed = claim(bed).await.expect("it is due");
        assert!(claim(bed).await.is_none());
        assert!(matches!(
            job(bed).await.standing(bed.now()),
            Standing::Running { .. }
        ));
        assert_eq!(bed.finish(&claimed).await, FinishOutcome::Complete);
        assert_eq!(job(bed).await.standing(bed.now()), Standing::Done);
        assert!(claim(bed).await.is_none());
        enqueue(bed).await;
        assert!(claim(bed).await.is_some());
    });
}

#[test]
fn codex_24_every_change_raises_the_watermark() {
    codex(async |bed| {
        let first = enqueue(bed).await;
        let second = enqueue(bed).await;
        assert!(second > first);
        assert_eq!(claim(bed).await.expect("it is due").upto, second);
    });
}

#[test]
fn codex_25_a_change_while_it_runs_takes_no_lease_and_is_not_lost() {
    codex(async |bed| {
        enqueue(bed).await;
        let claimed = claim(bed).await.expect("it is due");
        let later = enqueue(bed).await;
        assert!(job(bed).await.is_leased(bed.now()));
        assert_eq!(bed.finish(&claimed).await, FinishOutcome::StillDue);
        assert_eq!(claim(bed).await.expect("it is due again").upto, later);
    });
}

#[test]
fn codex_26_a_lapsed_lease_passes_on_and_its_holder_is_refused() {
    codex(async |bed| {
        enqueue(bed).await;
        let first = claim(bed).await.expect("it is due");
        bed.wait(3_600);
        let second = claim(bed).await.expect("the lease lapsed");
        assert_ne!(first.token, second.token);
        let lease = bed.profile.work.lease;
        let alive = bed.store.heartbeat(&first.token, bed.now(), lease).await;
        assert!(!alive.unwrap());
        assert_eq!(bed.finish(&first).await, FinishOutcome::LeaseLost);
    });
}

#[test]
fn codex_27_and_28_failures_wait_and_never_end_it() {
    codex(async |bed| {
        enqueue(bed).await;
        for _ in 0..5 {
            let claimed = claim(bed).await.expect("it is due");
            let outage = failed(FailureClass::Outage);
            let ended = bed.store.fail(&claimed.token, &outage, bed.now()).await;
            let FailOutcome::RetryAt(at) = ended.unwrap() else {
                panic!("an outage is waited for");
            };
            assert!(claim(bed).await.is_none());
            let waiting = Standing::Waiting {
                until: at,
                outage: true,
            };
            assert_eq!(job(bed).await.standing(bed.now()), waiting);
            bed.clock.set(at);
        }
        assert!(claim(bed).await.is_some());
    });
}

/// `failed_if_unowned`: here nobody can fail what they do not own, and who is known to be gone is
/// taken off.
#[test]
fn codex_29_what_nobody_owns_any_more_is_freed() {
    codex(async |bed| {
        enqueue(bed).await;
        let claimed = claim(bed).await.expect("it is due");
        assert_eq!(bed.store.abandon("somebody else").await.unwrap(), 0);
        assert_eq!(bed.store.abandon("worker").await.unwrap(), 1);
        assert_eq!(bed.finish(&claimed).await, FinishOutcome::LeaseLost);
        assert!(claim(bed).await.is_some());
    });
}

#[test]
fn codex_30_a_heartbeat_extends_the_lease_of_its_own_token_alone() {
    codex(async |bed| {
        enqueue(bed).await;
        let claimed = claim(bed).await.expect("it is due");
        let lease = bed.profile.work.lease;
        bed.wait(90);
        assert!(
            bed.store
                .heartbeat(&claimed.token, bed.now(), lease)
                .await
                .unwrap()
        );
        let until = job(bed).await.lease.expect("it runs").until;
        assert_eq!(until, bed.now().plus(lease));
        let forged = daybook_domain::LeaseToken::issue(claimed.token.job().clone(), 99);
        assert!(
            !bed.store
                .heartbeat(&forged, bed.now(), lease)
                .await
                .unwrap()
        );
    });
}

#[test]
fn codex_31_what_is_done_is_not_dirty() {
    codex(async |bed| {
        let revision = enqueue(bed).await;
        let claimed = claim(bed).await.expect("it is due");
        let _ = bed.finish(&claimed).await;
        let again =
            daybook_domain::Mark::at_once(revision, bed.now(), daybook_domain::Priority::High);
        bed.store
            .mark(&JobKey::Consolidate(ada()), again)
            .await
            .unwrap();
        assert_eq!(job(bed).await.standing(bed.now()), Standing::Done);
        assert!(claim(bed).await.is_none());
    });
}
