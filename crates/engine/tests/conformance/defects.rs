//! Defects of the systems that Daybook takes after (spec D.3 and M.4), each shown not to be ours. DC23
//! shows D-a, DC10 D-b.

use daybook_domain::{FailureClass, Priority, Standing, Trigger};
use daybook_engine::profile::Profile;

use crate::bed::{Bed, on_each_store, s, session};

/// D-c: the oldest session that fails holds up all others, every 30 s.
#[test]
fn a_session_that_fails_holds_up_no_other() {
    on_each_store(Profile::daycare(), async |bed: &Bed| {
        *bed.extractor.poisoned.lock().unwrap() = vec!["bad".to_owned()];
        for name in ["bad", "good"] {
            bed.say(&s(name), &[&format!("said in {name}")]).await;
            let _ = bed.happens(&s(name), Trigger::Sleep).await;
            bed.wait(1);
        }
        let report = bed.tick().await;
        assert_eq!(report.failed.len(), 1);
        assert_eq!(bed.learned().await, ["said in good"]);
        assert!(bed.job(&s("bad")).await.retry_at.is_some());
    });
}

/// D-d: ten sessions that nothing can be done for fill the batch for ever.
#[test]
fn sessions_that_nobody_knows_are_cleared() {
    on_each_store(Profile::daycare(), async |bed: &Bed| {
        for n in 0..12 {
            let key = daybook_domain::JobKey::Extract(s(&format!("orphan {n}")));
            let mark = daybook_domain::Mark::at_once(3, bed.now(), Priority::High);
            bed.store.mark(&key, mark).await.unwrap();
        }
        bed.say(&s("a"), &["hello there"]).await;
        let _ = bed.happens(&s("a"), Trigger::Sleep).await;
        bed.tick().await;
        assert_eq!(bed.learned().await, ["hello there"]);
        assert!(bed.granted().await.is_empty());
    });
}

/// D-e: Daycare calls a session processed when its transcript was queued.
#[test]
fn a_session_is_done_when_its_results_are_stored() {
    on_each_store(Profile::daycare(), async |bed: &Bed| {
        bed.say(&s("a"), &["hello there"]).await;
        let _ = bed.happens(&s("a"), Trigger::Sleep).await;
        *bed.extractor.failing.lock().unwrap() = Some(FailureClass::Outage);
        bed.tick().await;
        assert_eq!(bed.marks(&s("a")).await, (Some(1), 0));
        *bed.extractor.failing.lock().unwrap() = None;
        bed.wait(3_600);
        bed.tick().await;
        assert_eq!(bed.learned().await, ["hello there"]);
    });
}

/// D-f: processed_until can fall, and old records are replayed.
#[test]
fn done_does_not_fall() {
    on_each_store(Profile::daycare(), async |bed: &Bed| {
        bed.say(&s("a"), &["one thing", "another thing"]).await;
        let _ = bed.happens(&s("a"), Trigger::Sleep).await;
        bed.tick().await;
        let key = daybook_domain::JobKey::Extract(s("a"));
        let small = daybook_domain::Mark::at_once(1, bed.now(), Priority::Normal);
        bed.store.mark(&key, small).await.unwrap();
        bed.tick().await;
        assert_eq!(bed.marks(&s("a")).await, (None, 2));
        assert_eq!(bed.extractor.shown.lock().unwrap().len(), 1);
    });
}

/// D-g: a session of thousands of records is posted in one piece.
#[test]
fn a_long_session_is_read_in_windows() {
    on_each_store(Profile::daycare(), async |bed: &Bed| {
        let texts: Vec<String> = (0..4_000).map(|n| format!("said-{n}")).collect();
        for some in texts.chunks(500) {
            let some: Vec<&str> = some.iter().map(String::as_str).collect();
            bed.say(&s("a"), &some).await;
        }
        let _ = bed.happens(&s("a"), Trigger::Sleep).await;
        bed.tick().await;
        let shown = bed.extractor.shown.lock().unwrap().clone();
        assert!(shown.len() > 1);
        let all: Vec<String> = shown.into_iter().flat_map(|(_, texts)| texts).collect();
        assert_eq!(all, texts);
    });
}

/// M-a: a session whose worker crashed is never taken again.
#[test]
fn a_worker_that_vanished_frees_its_session_when_its_lease_lapses() {
    on_each_store(Profile::mindroom(), async |bed: &Bed| {
        bed.say(&s("a"), &["hello there"]).await;
        bed.wait(120);
        assert_eq!(bed.granted().await, ["a"]);
        assert!(bed.granted().await.is_empty());
        bed.wait(bed.profile.work.lease.as_secs());
        bed.tick().await;
        assert_eq!(bed.learned().await, ["hello there"]);
    });
}

/// M-d: idle and maximum age are looked at only when something wakes the worker.
#[test]
fn the_next_due_time_says_how_long_a_worker_may_sleep() {
    on_each_store(Profile::mindroom(), async |bed: &Bed| {
        bed.say(&s("a"), &["hello there"]).await;
        let until = bed.now().plus(std::time::Duration::from_secs(120));
        let standing = bed.job(&s("a")).await.standing(bed.now());
        assert_eq!(standing, Standing::Resting { until });
        let next = bed.store.next_due(daybook_domain::JobKind::Extract).await;
        assert_eq!(next.unwrap(), Some(until));
    });
}

/// M-g: after 24 hours what was never flushed is dropped.
#[test]
fn a_stale_session_is_kept() {
    on_each_store(Profile::mindroom(), async |bed: &Bed| {
        bed.say(&s("a"), &["hello there"]).await;
        bed.wait(40 * 86_400);
        bed.tick().await;
        assert_eq!(bed.learned().await, ["hello there"]);
    });
}

/// M-h: a turn in the same second as the flush counts as flushed.
#[test]
fn two_turns_in_one_millisecond_are_two() {
    on_each_store(Profile::mindroom(), async |bed: &Bed| {
        bed.say(&s("a"), &["hello there"]).await;
        let _ = bed.happens(&s("a"), Trigger::Sleep).await;
        bed.tick().await;
        bed.say(&s("a"), &["and one more"]).await;
        let _ = bed.happens(&s("a"), Trigger::Sleep).await;
        bed.tick().await;
        assert_eq!(bed.learned().await.len(), 2);
    });
}

/// One backlog delays no other: claims rotate over agents.
#[test]
fn a_backlog_of_one_agent_delays_no_other() {
    on_each_store(Profile::daybook(), async |bed: &Bed| {
        for n in 0..200 {
            bed.say(&session("busy", &format!("b{n}")), &["hello there"])
                .await;
        }
        bed.wait(1);
        bed.say(&session("quiet", "q"), &["hello there"]).await;
        bed.wait(600);
        let granted = bed.granted().await;
        assert!(granted[..2].contains(&"q".to_owned()), "{granted:?}");
    });
}
