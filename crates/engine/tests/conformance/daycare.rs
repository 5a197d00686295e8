//! DC1 to DC19: sessions, their history, and when they are due (seed 000, spec D.9).

use daybook_domain::seams::SessionStore;
use daybook_domain::{EventSeq, FinishOutcome, JobKey, JobKind, Mark, Priority, Trigger};
use daybook_engine::profile::Profile;
use daybook_engine::triggers::Triggered;
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::{append, event};

use crate::bed::{Bed, on_each_store, s};

fn daycare(scene: impl AsyncFn(&Bed)) {
    on_each_store(Profile::daycare(), scene);
}

/// `sessions.invalidate(session, at)`.
async fn invalidate(bed: &Bed, name: &str, at: u64) {
    let mark = Mark::at_once(at, bed.now(), Priority::Normal);
    let marked = bed.store.mark(&JobKey::Extract(s(name)), mark).await;
    marked.expect("it is marked");
}

#[test]
fn dc1_opening_a_store_twice_is_harmless() {
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
fn dc2_a_new_session_is_neither_pending_nor_processed() {
    daycare(async |bed| {
        bed.say(&s("a"), &[]).await;
        let key = JobKey::Extract(s("a"));
        assert_eq!(bed.store.job(&key).await.unwrap(), None);
        assert!(bed.granted().await.is_empty());
    });
}

#[test]
fn dc3_to_dc5_invalidation_is_a_monotonic_maximum() {
    daycare(async |bed| {
        invalidate(bed, "a", 42).await;
        assert_eq!(bed.marks(&s("a")).await, (Some(42), 0));
        for (name, first, then) in [("up", 10, 20), ("down", 20, 10)] {
            invalidate(bed, name, first).await;
            invalidate(bed, name, then).await;
            assert_eq!(bed.marks(&s(name)).await, (Some(20), 0));
        }
    });
}

#[test]
fn dc6_and_dc7_pending_sessions_are_found_up_to_a_limit() {
    daycare(async |bed| {
        for name in ["s1", "s2", "s3"] {
            bed.say(&s(name), &["hello there"]).await;
        }
        invalidate(bed, "s1", 5).await;
        invalidate(bed, "s2", 10).await;
        assert_eq!(bed.granted().await, ["s1", "s2"]);
    });
    let mut one = Profile::daycare();
    one.work.claims.jobs = 1;
    on_each_store(one, async |bed: &Bed| {
        invalidate(bed, "s1", 5).await;
        bed.wait(1);
        invalidate(bed, "s2", 10).await;
        assert_eq!(bed.granted().await, ["s1"]);
    });
}

/// First in, first out: by when a session's oldest waiting event came, not by a number that all
/// sessions share; event numbers are a session's own here.
#[test]
fn dc8_what_has_waited_longest_comes_first() {
    daycare(async |bed| {
        invalidate(bed, "s2", 5).await;
        bed.wait(1);
        invalidate(bed, "s1", 20).await;
        assert_eq!(bed.granted().await, ["s2", "s1"]);
    });
}

#[test]
fn dc9_finishing_clears_the_mark() {
    daycare(async |bed| {
        invalidate(bed, "a", 42).await;
        let claimed = bed.claim().await.remove(0);
        assert_eq!(bed.finish(&claimed).await, FinishOutcome::Complete);
        assert_eq!(bed.marks(&s("a")).await, (None, 42));
    });
}

/// Daycare keeps `processed_until` at NULL then, and posts the same again (its defect D-b); here done
/// moves to what was delivered and the rest stays due.
#[test]
fn dc10_what_came_meanwhile_stays_pending() {
    daycare(async |bed| {
        invalidate(bed, "a", 42).await;
        let claimed = bed.claim().await.remove(0);
        invalidate(bed, "a", 100).await;
        assert_eq!(bed.finish(&claimed).await, FinishOutcome::StillDue);
        assert_eq!(bed.marks(&s("a")).await, (Some(100), 42));
    });
}

#[test]
fn dc11_a_session_that_ends_twice_ended_the_first_time() {
    daycare(async |bed| {
        bed.say(&s("a"), &["hello there"]).await;
        let ended = bed.now();
        let due = Triggered::DueAt(ended, Priority::Normal);
        assert_eq!(bed.happens(&s("a"), Trigger::End).await, due);
        bed.wait(60);
        assert_eq!(bed.happens(&s("a"), Trigger::End).await, due);
    });
}

#[test]
fn dc12_to_dc16_history_is_read_in_order_after_a_number() {
    daycare(async |bed| {
        let empty = bed.say(&s("empty"), &[]).await;
        assert_eq!(empty, 0);
        let mut last = 0;
        for text in ["first", "second", "third"] {
            bed.wait(1);
            let seq = bed.say(&s("a"), &[text]).await;
            assert!(seq > last);
            last = seq;
        }
        let id = s("a");
        let after = async |after| {
            let read = bed
                .store
                .events(&id, EventSeq(after), EventSeq(last), 99, 9999);
            let texts = read.await.unwrap().into_iter().map(|event| event.text);
            texts.collect::<Vec<_>>()
        };
        assert_eq!(after(0).await, ["first", "second", "third"]);
        assert_eq!(after(1).await, ["second", "third"]);
        assert!(after(3).await.is_empty());
        let known = bed.store.session(&s("a")).await.unwrap().unwrap();
        assert_eq!(known.events, EventSeq(3));
    });
}

#[test]
fn dc17_what_waits_is_counted_from_what_was_done() {
    daycare(async |bed| {
        for text in ["one", "two", "three"] {
            bed.wait(1);
            bed.say(&s("a"), &[text]).await;
        }
        assert_eq!(bed.job(&s("a")).await.turns, 3);
        let _ = bed.happens(&s("a"), Trigger::Sleep).await;
        let claimed = bed.claim().await.remove(0);
        let _ = bed.finish(&claimed).await;
        assert_eq!(bed.job(&s("a")).await.turns, 0);
    });
}

/// Daycare's first version counted records of any kind, its second turns, in memory; here turns count,
/// and a restart forgets none.
#[test]
fn dc18_and_dc19_with_the_sixth_turn_a_session_is_due_and_goes_on_being_so() {
    daycare(async |bed| {
        for turn in 1..=5 {
            bed.wait(1);
            bed.say(&s("a"), &[&format!("turn {turn}")]).await;
        }
        assert!(bed.granted().await.is_empty());
        let mut before = 5;
        for turn in 6..=8 {
            bed.wait(1);
            bed.say(&s("a"), &[&format!("turn {turn}")]).await;
            let job = bed.job(&s("a")).await;
            assert_eq!(job.due_at(), Some(bed.now()), "turn {turn}");
            assert!(job.input > before);
            before = job.input;
        }
        assert_eq!(bed.granted().await, ["a"]);
        let consolidations = bed.store.jobs(JobKind::Consolidate).await.unwrap();
        assert!(consolidations.is_empty(), "nothing was learned yet");
    });
}
