//! DC20 to DC26: the worker's looks, and what makes a session due (seeds 000 and 001, spec D.2, D.3, D.9).
//! How transcripts are shown to a model (DC20, DC21, DC27 to DC51) belongs to extraction by a model.

use daybook_domain::{Priority, SessionKind, Trigger};
use daybook_engine::jobs::work;
use daybook_engine::profile::Profile;
use daybook_engine::stop::Stop;
use daybook_engine::triggers::Triggered;

use crate::bed::{Bed, on_each_store, s};

fn daycare(scene: impl AsyncFn(&Bed)) {
    on_each_store(Profile::daycare(), scene);
}

#[test]
fn dc20_one_look_processes_an_invalidated_session_once() {
    daycare(async |bed| {
        bed.say(&s("a"), &["hello there"]).await;
        let _ = bed.happens(&s("a"), Trigger::Sleep).await;
        bed.tick().await;
        bed.tick().await;
        let shown = bed.extractor.shown.lock().unwrap().clone();
        assert_eq!(shown, [("a".to_owned(), vec!["hello there".to_owned()])]);
        assert_eq!(bed.marks(&s("a")).await, (None, 1));
        assert_eq!(bed.learned().await, ["hello there"]);
    });
}

#[test]
fn dc22_a_memory_agents_session_is_never_processed_and_never_pending() {
    daycare(async |bed| {
        for kind in [
            SessionKind::MemoryAgent,
            SessionKind::SubAgent,
            SessionKind::Ephemeral,
        ] {
            let id = s(kind.word());
            let mut said = bed.said(&id, &["hello there"]);
            said.session.kind = kind;
            bed.store.append(&said).await.unwrap();
            for what in [
                Trigger::Sleep,
                Trigger::End,
                Trigger::Compaction,
                Trigger::Reset,
            ] {
                let triggered = bed.happens(&id, what).await;
                assert!(matches!(triggered, Triggered::Never(_)), "{what:?}");
            }
        }
        bed.tick().await;
        assert!(bed.extractor.shown.lock().unwrap().is_empty());
    });
}

/// Daycare loses what arrives between reading and marking (its defect D-a).
#[test]
fn dc23_what_arrives_while_a_session_is_processed_is_processed_by_the_next_look() {
    daycare(async |bed| {
        bed.say(&s("a"), &["hello there"]).await;
        let _ = bed.happens(&s("a"), Trigger::Sleep).await;
        let later = bed.said(&s("a"), &["and one more"]);
        let store = std::sync::Arc::clone(&bed.store);
        let arrives = async move {
            store.append(&later).await.unwrap();
        };
        *bed.extractor.meanwhile.lock().unwrap() = Some(Box::pin(arrives));
        bed.tick().await;
        assert_eq!(bed.marks(&s("a")).await, (Some(2), 1));
        let _ = bed.happens(&s("a"), Trigger::Sleep).await;
        bed.tick().await;
        assert_eq!(bed.learned().await, ["and one more", "hello there"]);
    });
}

#[test]
fn dc24_a_worker_that_is_stopped_at_once_leaves_everything_pending() {
    daycare(async |bed| {
        bed.say(&s("a"), &["hello there"]).await;
        let _ = bed.happens(&s("a"), Trigger::Sleep).await;
        let stop = Stop::default();
        stop.ask();
        let report = work(&bed.shop(), &stop, &Unseen).await.unwrap();
        assert!(report.stopped && report.read.is_empty());
        assert_eq!(bed.marks(&s("a")).await, (Some(1), 0));
    });
}

#[test]
fn dc25_one_look_processes_all_that_is_due() {
    daycare(async |bed| {
        for name in ["a", "b"] {
            bed.say(&s(name), &["hello there", "and more"]).await;
            let _ = bed.happens(&s(name), Trigger::Sleep).await;
        }
        bed.tick().await;
        assert_eq!(bed.extractor.shown.lock().unwrap().len(), 2);
        for name in ["a", "b"] {
            assert_eq!(bed.marks(&s(name)).await, (None, 2));
        }
    });
}

#[test]
fn dc26_a_session_with_nothing_to_keep_is_processed() {
    daycare(async |bed| {
        bed.say(&s("a"), &["hm"]).await;
        let _ = bed.happens(&s("a"), Trigger::Sleep).await;
        bed.tick().await;
        assert_eq!(bed.marks(&s("a")).await, (None, 1));
        assert!(bed.learned().await.is_empty());
    });
}

/// Triggers of seed 000 that Daycare's own tests left with the code that moved (spec D.9, "not tested by
/// them"). First in, first out: compaction and reset go in turn in this profile.
#[test]
fn sleep_end_compaction_and_reset_make_a_session_due_now() {
    daycare(async |bed| {
        for what in [
            Trigger::Sleep,
            Trigger::End,
            Trigger::Compaction,
            Trigger::Reset,
        ] {
            let id = s(what.word());
            bed.say(&id, &["hello there"]).await;
            let due = Triggered::DueAt(bed.now(), Priority::Normal);
            assert_eq!(bed.happens(&id, what).await, due, "{what:?}");
        }
    });
    on_each_store(Profile::daybook(), async |bed: &Bed| {
        bed.say(&s("a"), &["hello there"]).await;
        let due = Triggered::DueAt(bed.now(), Priority::High);
        assert_eq!(bed.happens(&s("a"), Trigger::Compaction).await, due);
    });
}

#[test]
fn a_reset_marks_the_old_session_before_its_successor_exists() {
    daycare(async |bed| {
        bed.say(&s("old"), &["hello there"]).await;
        let triggers = bed.triggers();
        let succeeded = triggers.succeed(&s("old"), s("new"), Trigger::Reset).await;
        assert!(matches!(succeeded, Ok(Triggered::DueAt(..))));
        assert!(bed.store.session(&s("new")).await.unwrap().is_some());
        assert_eq!(bed.granted().await, ["old"]);
        let unknown = triggers
            .succeed(&s("never"), s("orphan"), Trigger::Reset)
            .await;
        assert!(unknown.is_err(), "without a mark there is no successor");
        assert!(bed.store.session(&s("orphan")).await.unwrap().is_none());
    });
}

/// What dies between the two leaves the mark: the successor comes in a transaction of its own, later.
#[test]
fn a_death_between_mark_and_successor_leaves_the_mark() {
    daycare(async |bed| {
        bed.say(&s("old"), &["hello there"]).await;
        let _ = bed.happens(&s("old"), Trigger::Compaction).await;
        assert!(bed.store.session(&s("new")).await.unwrap().is_none());
        bed.tick().await;
        assert_eq!(bed.learned().await, ["hello there"]);
    });
}

struct Unseen;

impl daybook_engine::jobs::Progress for Unseen {
    fn session_read(&self, _: &daybook_domain::SessionId) {}
    fn scope_written(&self, _: &daybook_domain::Scope) {}
}
