//! D20 to D26, D90 and D91: the worker's polls, and what makes a session due. How transcripts are rendered for a
//! model (D20, D21, D27 to D46) is tested beside extraction by a model.

use daybook_domain::{Priority, SessionKind, Trigger};
use daybook_engine::jobs::work;
use daybook_engine::profile::Profile;
use daybook_engine::stop::Stop;
use daybook_engine::triggers::TriggerOutcome;

use crate::profile_test_support::{ProfileFixture, SilentProgress, on_each_store, s};

fn daycare(test: impl AsyncFn(&ProfileFixture)) {
    on_each_store(Profile::daycare(), test);
}

#[test]
fn d20_one_look_processes_an_invalidated_session_once() {
    daycare(async |fixture| {
        fixture.append_texts(&s("a"), &["hello there"]).await;
        let _ = fixture.trigger(&s("a"), Trigger::Sleep).await;
        fixture.run_worker().await;
        fixture.run_worker().await;
        let shown = fixture.extractor.shown_windows.lock().unwrap().clone();
        assert_eq!(shown, [("a".to_owned(), vec!["hello there".to_owned()])]);
        assert_eq!(fixture.marks(&s("a")).await, (None, 1));
        assert_eq!(fixture.observation_texts().await, ["hello there"]);
    });
}

#[test]
fn d22_a_memory_agents_session_is_never_processed_and_never_pending() {
    daycare(async |fixture| {
        for kind in [
            SessionKind::MemoryAgent,
            SessionKind::SubAgent,
            SessionKind::Ephemeral,
        ] {
            let id = s(kind.as_str());
            let mut append = fixture.new_append(&id, &["hello there"]);
            append.session.kind = kind;
            fixture.store.append(&append).await.unwrap();
            for what in [
                Trigger::Sleep,
                Trigger::End,
                Trigger::Compaction,
                Trigger::Reset,
            ] {
                let triggered = fixture.trigger(&id, what).await;
                assert!(matches!(triggered, TriggerOutcome::Never(_)), "{what:?}");
            }
        }
        fixture.run_worker().await;
        assert!(fixture.extractor.shown_windows.lock().unwrap().is_empty());
    });
}

/// Daycare loses events that arrive between reading and marking (D66).
#[test]
fn d23_what_arrives_while_a_session_is_processed_is_processed_by_the_next_look() {
    daycare(async |fixture| {
        fixture.append_texts(&s("a"), &["hello there"]).await;
        let _ = fixture.trigger(&s("a"), Trigger::Sleep).await;
        let later = fixture.new_append(&s("a"), &["and one more"]);
        let store = std::sync::Arc::clone(&fixture.store);
        let arrives = async move {
            store.append(&later).await.unwrap();
        };
        *fixture.extractor.on_next_pass.lock().unwrap() = Some(Box::pin(arrives));
        fixture.run_worker().await;
        assert_eq!(fixture.marks(&s("a")).await, (Some(2), 1));
        let _ = fixture.trigger(&s("a"), Trigger::Sleep).await;
        fixture.run_worker().await;
        assert_eq!(
            fixture.observation_texts().await,
            ["and one more", "hello there"]
        );
    });
}

#[test]
fn d24_a_worker_that_is_stopped_at_once_leaves_everything_pending() {
    daycare(async |fixture| {
        fixture.append_texts(&s("a"), &["hello there"]).await;
        let _ = fixture.trigger(&s("a"), Trigger::Sleep).await;
        let stop = Stop::default();
        stop.request_end();
        let report = work(&fixture.worker_context(), &stop, &SilentProgress)
            .await
            .unwrap();
        assert!(report.stopped && report.read.is_empty());
        assert_eq!(fixture.marks(&s("a")).await, (Some(1), 0));
    });
}

#[test]
fn d25_one_look_processes_all_that_is_due() {
    daycare(async |fixture| {
        for name in ["a", "b"] {
            fixture
                .append_texts(&s(name), &["hello there", "and more"])
                .await;
            let _ = fixture.trigger(&s(name), Trigger::Sleep).await;
        }
        fixture.run_worker().await;
        assert_eq!(fixture.extractor.shown_windows.lock().unwrap().len(), 2);
        for name in ["a", "b"] {
            assert_eq!(fixture.marks(&s(name)).await, (None, 2));
        }
    });
}

#[test]
fn d26_a_session_with_nothing_to_keep_is_processed() {
    daycare(async |fixture| {
        fixture.append_texts(&s("a"), &["hm"]).await;
        let _ = fixture.trigger(&s("a"), Trigger::Sleep).await;
        fixture.run_worker().await;
        assert_eq!(fixture.marks(&s("a")).await, (None, 1));
        assert!(fixture.observation_texts().await.is_empty());
    });
}

/// D90, which Daycare's own tests leave out. First in,
/// first out: in this profile compaction and reset get no higher priority.
#[test]
fn sleep_end_compaction_and_reset_make_a_session_due_now() {
    daycare(async |fixture| {
        for what in [
            Trigger::Sleep,
            Trigger::End,
            Trigger::Compaction,
            Trigger::Reset,
        ] {
            let id = s(what.as_str());
            fixture.append_texts(&id, &["hello there"]).await;
            let due = TriggerOutcome::DueAt(fixture.now(), Priority::Normal);
            assert_eq!(fixture.trigger(&id, what).await, due, "{what:?}");
        }
    });
    on_each_store(Profile::daybook(), async |fixture: &ProfileFixture| {
        fixture.append_texts(&s("a"), &["hello there"]).await;
        let due = TriggerOutcome::DueAt(fixture.now(), Priority::High);
        assert_eq!(fixture.trigger(&s("a"), Trigger::Compaction).await, due);
    });
}

#[test]
fn a_reset_marks_the_old_session_before_its_successor_exists() {
    daycare(async |fixture| {
        fixture.append_texts(&s("old"), &["hello there"]).await;
        let triggers = fixture.triggers();
        let succeeded = triggers
            .start_successor(&s("old"), s("new"), Trigger::Reset)
            .await;
        assert!(matches!(succeeded, Ok(TriggerOutcome::DueAt(..))));
        assert!(fixture.store.session(&s("new")).await.unwrap().is_some());
        assert_eq!(fixture.claim_names().await, ["old"]);
        let unknown = triggers
            .start_successor(&s("never"), s("orphan"), Trigger::Reset)
            .await;
        assert!(unknown.is_err(), "without a mark there is no successor");
        assert!(fixture.store.session(&s("orphan")).await.unwrap().is_none());
    });
}

/// A crash between the two leaves the mark: the successor is created in a later transaction of its own.
#[test]
fn a_death_between_mark_and_successor_leaves_the_mark() {
    daycare(async |fixture| {
        fixture.append_texts(&s("old"), &["hello there"]).await;
        let _ = fixture.trigger(&s("old"), Trigger::Compaction).await;
        assert!(fixture.store.session(&s("new")).await.unwrap().is_none());
        fixture.run_worker().await;
        assert_eq!(fixture.observation_texts().await, ["hello there"]);
    });
}
