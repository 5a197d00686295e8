//! D1 to D19: sessions, their history, and when they are due.

use daybook_domain::seams::SessionLog;
use daybook_domain::{DueMark, EventSeq, FinishOutcome, JobKey, JobKind, Priority, Trigger};
use daybook_engine::profile::Profile;
use daybook_engine::triggers::TriggerOutcome;
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::{append, event};

use crate::profile_test_support::{ProfileFixture, on_each_store, s};

fn daycare(test: impl AsyncFn(&ProfileFixture)) {
    on_each_store(Profile::daycare(), test);
}

/// `sessions.invalidate(session, at)`.
async fn invalidate(fixture: &ProfileFixture, name: &str, at: u64) {
    let mark = DueMark::at_once(at, fixture.now(), Priority::Normal);
    let marked = fixture.store.mark(&JobKey::Extract(s(name)), mark).await;
    marked.expect("it is marked");
}

#[test]
fn d1_opening_a_store_twice_is_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daybook.db");
    for opened in 0..2_u64 {
        let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
        let said = append(&s("a"), vec![event(&format!("said {opened}"))]);
        let last = daybook_testkit::run(store.append(&said)).unwrap().last;
        assert_eq!(last, EventSeq(opened + 1));
    }
}

#[test]
fn d2_a_new_session_is_neither_pending_nor_processed() {
    daycare(async |fixture| {
        fixture.append_texts(&s("a"), &[]).await;
        let key = JobKey::Extract(s("a"));
        assert_eq!(fixture.store.job(&key).await.unwrap(), None);
        assert!(fixture.claim_names().await.is_empty());
    });
}

#[test]
fn d3_to_d5_invalidation_is_a_monotonic_maximum() {
    daycare(async |fixture| {
        invalidate(fixture, "a", 42).await;
        assert_eq!(fixture.marks(&s("a")).await, (Some(42), 0));
        for (name, first, then) in [("up", 10, 20), ("down", 20, 10)] {
            invalidate(fixture, name, first).await;
            invalidate(fixture, name, then).await;
            assert_eq!(fixture.marks(&s(name)).await, (Some(20), 0));
        }
    });
}

#[test]
fn d6_and_d7_pending_sessions_are_found_up_to_a_limit() {
    daycare(async |fixture| {
        for name in ["s1", "s2", "s3"] {
            fixture.append_texts(&s(name), &["hello there"]).await;
        }
        invalidate(fixture, "s1", 5).await;
        invalidate(fixture, "s2", 10).await;
        assert_eq!(fixture.claim_names().await, ["s1", "s2"]);
    });
    let mut one = Profile::daycare();
    one.work.claims.jobs = 1;
    on_each_store(one, async |fixture: &ProfileFixture| {
        invalidate(fixture, "s1", 5).await;
        fixture.wait(1);
        invalidate(fixture, "s2", 10).await;
        assert_eq!(fixture.claim_names().await, ["s1"]);
    });
}

/// First in, first out: by the arrival of a session's oldest waiting event. Event numbers cannot decide it,
/// since each session counts its own here.
#[test]
fn d8_what_has_waited_longest_comes_first() {
    daycare(async |fixture| {
        invalidate(fixture, "s2", 5).await;
        fixture.wait(1);
        invalidate(fixture, "s1", 20).await;
        assert_eq!(fixture.claim_names().await, ["s2", "s1"]);
    });
}

#[test]
fn d9_finishing_clears_the_mark() {
    daycare(async |fixture| {
        invalidate(fixture, "a", 42).await;
        let claimed = fixture.claim().await.remove(0);
        assert_eq!(fixture.finish(&claimed).await, FinishOutcome::Complete);
        assert_eq!(fixture.marks(&s("a")).await, (None, 42));
    });
}

/// Daycare keeps `processed_until` at NULL then, and posts the same again (D67). Here done
/// moves to the last delivered event and the rest stays due.
#[test]
fn d10_what_came_meanwhile_stays_pending() {
    daycare(async |fixture| {
        invalidate(fixture, "a", 42).await;
        let claimed = fixture.claim().await.remove(0);
        invalidate(fixture, "a", 100).await;
        assert_eq!(fixture.finish(&claimed).await, FinishOutcome::StillDue);
        assert_eq!(fixture.marks(&s("a")).await, (Some(100), 42));
    });
}

#[test]
fn d11_a_session_that_ends_twice_ended_the_first_time() {
    daycare(async |fixture| {
        fixture.append_texts(&s("a"), &["hello there"]).await;
        let ended = fixture.now();
        let due = TriggerOutcome::DueAt(ended, Priority::Normal);
        assert_eq!(fixture.trigger(&s("a"), Trigger::End).await, due);
        fixture.wait(60);
        assert_eq!(fixture.trigger(&s("a"), Trigger::End).await, due);
    });
}

#[test]
fn d12_to_d16_history_is_read_in_order_after_a_number() {
    daycare(async |fixture| {
        let empty = fixture.append_texts(&s("empty"), &[]).await;
        assert_eq!(empty, 0);
        let mut last = 0;
        for text in ["first", "second", "third"] {
            fixture.wait(1);
            let seq = fixture.append_texts(&s("a"), &[text]).await;
            assert!(seq > last);
            last = seq;
        }
        let id = s("a");
        let after = async |after| {
            let read = fixture
                .store
                .events(&id, EventSeq(after), EventSeq(last), 99, 9999);
            let texts = read.await.unwrap().into_iter().map(|event| event.text);
            texts.collect::<Vec<_>>()
        };
        assert_eq!(after(0).await, ["first", "second", "third"]);
        assert_eq!(after(1).await, ["second", "third"]);
        assert!(after(3).await.is_empty());
        let known = fixture.store.session(&s("a")).await.unwrap().unwrap();
        assert_eq!(known.events, EventSeq(3));
    });
}

#[test]
fn d17_what_waits_is_counted_from_what_was_done() {
    daycare(async |fixture| {
        for text in ["one", "two", "three"] {
            fixture.wait(1);
            fixture.append_texts(&s("a"), &[text]).await;
        }
        assert_eq!(fixture.job(&s("a")).await.turns, 3);
        let _ = fixture.trigger(&s("a"), Trigger::Sleep).await;
        let claimed = fixture.claim().await.remove(0);
        let _ = fixture.finish(&claimed).await;
        assert_eq!(fixture.job(&s("a")).await.turns, 0);
    });
}

/// Daycare's first version counted records of any kind, its second counted turns, in memory. Here turns count,
/// and the count survives a restart.
#[test]
fn d18_and_d19_with_the_sixth_turn_a_session_is_due_and_goes_on_being_so() {
    daycare(async |fixture| {
        for turn in 1..=5 {
            fixture.wait(1);
            fixture
                .append_texts(&s("a"), &[&format!("turn {turn}")])
                .await;
        }
        assert!(fixture.claim_names().await.is_empty());
        let mut before = 5;
        for turn in 6..=8 {
            fixture.wait(1);
            fixture
                .append_texts(&s("a"), &[&format!("turn {turn}")])
                .await;
            let job = fixture.job(&s("a")).await;
            assert_eq!(job.due_at(), Some(fixture.now()), "turn {turn}");
            assert!(job.input > before);
            before = job.input;
        }
        assert_eq!(fixture.claim_names().await, ["a"]);
        let consolidations = fixture
            .store
            .jobs_of_all_tenants(JobKind::Consolidate)
            .await
            .unwrap();
        assert!(consolidations.is_empty(), "nothing was learned yet");
    });
}
