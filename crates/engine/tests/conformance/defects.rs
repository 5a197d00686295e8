//! Defects of the systems that Daybook takes after (D66 to D89, M68 to M83), each shown to be absent here. Other
//! tests cover the rest: the test of D23 covers D66, that of D10 covers D67.

use daybook_domain::{FailureClass, JobStatus, Priority, Trigger};
use daybook_engine::profile::Profile;

use crate::profile_test_support::{ProfileFixture, on_each_store, s, session};

/// D68: the oldest failing session blocks all others, every 30 s.
#[test]
fn a_session_that_fails_holds_up_no_other() {
    on_each_store(Profile::daycare(), async |fixture: &ProfileFixture| {
        *fixture.extractor.failing_sessions.lock().unwrap() = vec!["bad".to_owned()];
        for name in ["bad", "good"] {
            fixture
                .append_texts(&s(name), &[&format!("said in {name}")])
                .await;
            let _ = fixture.trigger(&s(name), Trigger::Sleep).await;
            fixture.wait(1);
        }
        let report = fixture.run_worker().await;
        assert_eq!(report.failed.len(), 1);
        assert_eq!(fixture.observation_texts().await, ["said in good"]);
        assert!(fixture.job(&s("bad")).await.retry_at.is_some());
    });
}

/// D69: ten unknown sessions fill the batch for ever.
#[test]
fn sessions_that_nobody_knows_are_cleared() {
    on_each_store(Profile::daycare(), async |fixture: &ProfileFixture| {
        for n in 0..12 {
            let key = daybook_domain::JobKey::Extract(s(&format!("orphan {n}")));
            let mark = daybook_domain::DueMark::at_once(3, fixture.now(), Priority::High);
            fixture.store.mark(&key, mark).await.unwrap();
        }
        fixture.append_texts(&s("a"), &["hello there"]).await;
        let _ = fixture.trigger(&s("a"), Trigger::Sleep).await;
        fixture.run_worker().await;
        assert_eq!(fixture.observation_texts().await, ["hello there"]);
        assert!(fixture.claim_names().await.is_empty());
    });
}

/// D70: Daycare marks a session as processed once its transcript is queued.
#[test]
fn a_session_is_done_when_its_results_are_stored() {
    on_each_store(Profile::daycare(), async |fixture: &ProfileFixture| {
        fixture.append_texts(&s("a"), &["hello there"]).await;
        let _ = fixture.trigger(&s("a"), Trigger::Sleep).await;
        *fixture.extractor.failure_class.lock().unwrap() = Some(FailureClass::Outage);
        fixture.run_worker().await;
        assert_eq!(fixture.marks(&s("a")).await, (Some(1), 0));
        *fixture.extractor.failure_class.lock().unwrap() = None;
        fixture.wait(3_600);
        fixture.run_worker().await;
        assert_eq!(fixture.observation_texts().await, ["hello there"]);
    });
}

/// D71: `processed_until` can decrease, which replays old records.
#[test]
fn done_does_not_fall() {
    on_each_store(Profile::daycare(), async |fixture: &ProfileFixture| {
        fixture
            .append_texts(&s("a"), &["one thing", "another thing"])
            .await;
        let _ = fixture.trigger(&s("a"), Trigger::Sleep).await;
        fixture.run_worker().await;
        let key = daybook_domain::JobKey::Extract(s("a"));
        let small = daybook_domain::DueMark::at_once(1, fixture.now(), Priority::Normal);
        fixture.store.mark(&key, small).await.unwrap();
        fixture.run_worker().await;
        assert_eq!(fixture.marks(&s("a")).await, (None, 2));
        assert_eq!(fixture.extractor.shown_windows.lock().unwrap().len(), 1);
    });
}

/// D72: a session of thousands of records is posted in one piece.
#[test]
fn a_long_session_is_read_in_windows() {
    on_each_store(Profile::daycare(), async |fixture: &ProfileFixture| {
        let texts: Vec<String> = (0..4_000).map(|n| format!("said-{n}")).collect();
        for some in texts.chunks(500) {
            let some: Vec<&str> = some.iter().map(String::as_str).collect();
            fixture.append_texts(&s("a"), &some).await;
        }
        let _ = fixture.trigger(&s("a"), Trigger::Sleep).await;
        fixture.run_worker().await;
        let windows = fixture.extractor.shown_windows.lock().unwrap().clone();
        assert!(windows.len() > 1);
        let all: Vec<String> = windows.into_iter().flat_map(|(_, texts)| texts).collect();
        assert_eq!(all, texts);
    });
}

/// M68: a session whose worker crashed is never claimed again.
#[test]
fn a_worker_that_vanished_frees_its_session_when_its_lease_lapses() {
    on_each_store(Profile::mindroom(), async |fixture: &ProfileFixture| {
        fixture.append_texts(&s("a"), &["hello there"]).await;
        fixture.wait(120);
        assert_eq!(fixture.claim_names().await, ["a"]);
        assert!(fixture.claim_names().await.is_empty());
        fixture.wait(fixture.profile.work.lease.as_secs());
        fixture.run_worker().await;
        assert_eq!(fixture.observation_texts().await, ["hello there"]);
    });
}

/// M71: idle and maximum age are checked only when something wakes the worker.
#[test]
fn the_next_due_time_says_how_long_a_worker_may_sleep() {
    on_each_store(Profile::mindroom(), async |fixture: &ProfileFixture| {
        fixture.append_texts(&s("a"), &["hello there"]).await;
        let until = fixture.now().plus(std::time::Duration::from_secs(120));
        let standing = fixture.job(&s("a")).await.status(fixture.now());
        assert_eq!(standing, JobStatus::Resting { until });
        let next = fixture
            .store
            .next_due(daybook_domain::JobKind::Extract)
            .await;
        assert_eq!(next.unwrap(), Some(until));
    });
}

/// M74: a session that was never flushed is dropped after 24 hours.
#[test]
fn a_stale_session_is_kept() {
    on_each_store(Profile::mindroom(), async |fixture: &ProfileFixture| {
        fixture.append_texts(&s("a"), &["hello there"]).await;
        fixture.wait(40 * 86_400);
        fixture.run_worker().await;
        assert_eq!(fixture.observation_texts().await, ["hello there"]);
    });
}

/// M75: a turn in the same second as the flush counts as flushed.
#[test]
fn two_turns_in_one_millisecond_are_two() {
    on_each_store(Profile::mindroom(), async |fixture: &ProfileFixture| {
        fixture.append_texts(&s("a"), &["hello there"]).await;
        let _ = fixture.trigger(&s("a"), Trigger::Sleep).await;
        fixture.run_worker().await;
        fixture.append_texts(&s("a"), &["and one more"]).await;
        let _ = fixture.trigger(&s("a"), Trigger::Sleep).await;
        fixture.run_worker().await;
        assert_eq!(fixture.observation_texts().await.len(), 2);
    });
}

/// One backlog delays no other: claims rotate over agents.
#[test]
fn a_backlog_of_one_agent_delays_no_other() {
    on_each_store(Profile::daybook(), async |fixture: &ProfileFixture| {
        for n in 0..200 {
            fixture
                .append_texts(&session("busy", &format!("b{n}")), &["hello there"])
                .await;
        }
        fixture.wait(1);
        fixture
            .append_texts(&session("quiet", "q"), &["hello there"])
            .await;
        fixture.wait(600);
        let claimed = fixture.claim_names().await;
        assert!(claimed[..2].contains(&"q".to_owned()), "{claimed:?}");
    });
}
