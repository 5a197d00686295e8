//! The order of events before, during and after a block, and each event once: W80 to W101.

use std::sync::Arc;
use std::time::Duration;

use daybook_domain::Timestamp;
use daybook_domain::working::{BlockOutcome, BlockingReason};
use daybook_store::MemoryStore;
use daybook_working::manager::{DispatchReceipt, MemoryManagerConfig, WorkingError};
use serde_json::json;

use super::faulty_store::{FaultyStore, PlannedFault};
use super::working_test_support::{
    GatedCompactor, NOW, chunk_texts, compacting, event, manager, manager_of,
    manager_without_auto_compaction, no_auto_compaction, run, settle, store, thread, user, wish,
};

#[test]
fn what_comes_during_a_compaction_is_applied_behind_it_in_order() {
    run(async {
        let (manager, thread, gated) = compacting(store()).await;
        assert_eq!(
            manager.blocking_reason(&thread),
            Some(BlockingReason::Compacting)
        );
        let mut waiting = Vec::new();
        for number in 21..=40 {
            let (manager, thread) = (manager.clone(), thread.clone());
            waiting.push(tokio::spawn(async move {
                manager
                    .dispatch(&thread, &wish(number))
                    .await
                    .expect("a result")
            }));
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(waiting.iter().all(|it| !it.is_finished()), "they wait");
        assert_eq!(
            manager.current_state(&thread).await.expect("a state").len(),
            20
        );
        gated.let_go.add_permits(10);
        let mut last = None;
        for (number, waiting) in (21..).zip(waiting) {
            let result = waiting.await.expect("it ends");
            assert_eq!(chunk_texts(&result.state)[0], "(compacted)");
            let newest = chunk_texts(&result.state).pop();
            assert_eq!(newest.as_deref(), Some(&*format!("Wish number {number}")));
            assert!(
                last.replace(result.seq)
                    .is_none_or(|last| last < result.seq)
            );
        }
        settle(&manager, &thread).await;
        let state = manager.current_state(&thread).await.expect("a state");
        assert_eq!(manager.replayed(&thread).await.expect("a state"), state);
    });
}

#[test]
fn whose_event_makes_a_compaction_necessary_does_not_wait_until_its_block_is_stored() {
    run(async {
        let store = Arc::new(FaultyStore::new(Arc::new(MemoryStore::new())));
        let manager = manager_of(store.clone(), MemoryManagerConfig::default());
        manager.register_compactor(GatedCompactor::open(&[]));
        let thread = thread(&manager).await;
        let held = store.blocking.acquire().await.expect("the permit");
        let wishes: Vec<_> = (1..=20).map(wish).collect();
        let dispatch = manager.dispatch_all(&thread, &wishes);
        let result = tokio::time::timeout(Duration::from_secs(1), dispatch).await;
        let result = result.expect("it does not wait").expect("a result");
        assert_eq!(result.state.len(), 20);
        assert!(manager.is_blocked(&thread), "it is told before");

        // An announced block that cannot be stored does not block.
        store.schedule(PlannedFault::Before(0));
        drop(held);
        settle(&manager, &thread).await;
        assert!(!manager.is_blocked(&thread));
        let next = manager.dispatch(&thread, &wish(21)).await;
        assert_eq!(next.expect("a result").state.len(), 21);
        settle(&manager, &thread).await;
        let state = manager.current_state(&thread).await.expect("a state");
        assert_eq!(chunk_texts(&state)[0], "(compacted)");
    });
}

#[test]
fn a_compaction_that_cannot_begin_ends_no_pause() {
    run(async {
        let store = Arc::new(FaultyStore::new(Arc::new(MemoryStore::new())));
        let manager = manager_of(store.clone(), no_auto_compaction());
        let thread = thread(&manager).await;
        let wishes: Vec<_> = (1..=20).map(wish).collect();
        let result = manager.dispatch_all(&thread, &wishes).await;
        result.expect("a result");
        manager.pause(&thread).await.expect("it is paused");
        // The compaction first reads the log, and then tries to block the thread.
        store.schedule(PlannedFault::Before(1));
        let outcome = manager.trigger_compaction(&thread, None).await;
        assert!(matches!(outcome, Err(WorkingError::Store(_))));
        assert_eq!(
            manager.blocking_reason(&thread),
            Some(BlockingReason::Paused)
        );
    });
}

#[test]
fn more_than_is_held_during_a_compaction_is_read_again_and_applied_in_order() {
    run(async {
        let (manager, thread, gated) = compacting(store()).await;
        // 3 MiB, of which 1 MiB is kept in memory.
        let long = "so and so ".repeat(6_000);
        let waiting: Vec<_> = (21..=70)
            .map(|number| {
                let (manager, thread) = (manager.clone(), thread.clone());
                let said = user(&format!("{number} {long}"));
                tokio::spawn(async move { manager.dispatch(&thread, &said).await })
            })
            .collect();
        tokio::time::sleep(Duration::from_secs(3)).await;
        gated.let_go.add_permits(100);
        for waiting in waiting {
            waiting.await.expect("it ends").expect("a result");
        }
        settle(&manager, &thread).await;
        let state = manager.current_state(&thread).await.expect("a state");
        assert_eq!(manager.replayed(&thread).await.expect("a state"), state);
        assert!(
            chunk_texts(&state)
                .pop()
                .expect("the last")
                .starts_with("70 ")
        );
    });
}

#[test]
fn concurrent_dispatches_lose_nothing_and_keep_each_callers_order() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        let callers: Vec<_> = (0..16)
            .map(|caller| {
                let (manager, thread) = (manager.clone(), thread.clone());
                tokio::spawn(async move {
                    for number in 0..20 {
                        let said = user(&format!("{caller}-{number}"));
                        let result = manager.dispatch(&thread, &said).await.expect("a result");
                        assert_eq!(result.added_chunks.len(), 1, "one's own");
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.await.expect("it ends");
        }
        let told = chunk_texts(&manager.current_state(&thread).await.expect("a state"));
        assert_eq!(told.len(), 320);
        for caller in 0..16 {
            let own = told
                .iter()
                .filter(|it| it.starts_with(&format!("{caller}-")));
            let expected: Vec<_> = (0..20).map(|number| format!("{caller}-{number}")).collect();
            assert_eq!(own.cloned().collect::<Vec<_>>(), expected);
        }
    });
}

#[test]
fn an_event_that_is_dispatched_again_is_applied_once() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        let said = user("once").with_id("e1");
        let first = manager.dispatch(&thread, &said).await.expect("a result");
        let again = manager.dispatch(&thread, &said).await.expect("a result");
        assert_eq!(again.seq, first.seq);
        assert_eq!(again.added_chunks.len(), 0);
        assert_eq!(again.state, first.state);
    });
}

#[test]
fn of_two_events_of_one_name_in_one_dispatch_the_first_counts() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        let both = ["one", "other"].map(|text| user(text).with_id("e1"));
        let result = manager
            .dispatch_all(&thread, &both)
            .await
            .expect("a result");
        assert_eq!(chunk_texts(&result.state), ["one"]);
        assert_eq!(result.added_chunks.len(), 1);
        let replayed = manager.replayed(&thread).await.expect("a state");
        assert_eq!(replayed, result.state);
    });
}

#[test]
fn what_an_event_came_to_is_told_also_where_others_stored_something_before_it() {
    run(async {
        let store = store();
        let [one, other] = [(); 2].map(|()| manager_of(store.clone(), no_auto_compaction()));
        let thread = thread(&one).await;
        for number in [1, 3] {
            for (manager, number) in [(&one, number), (&other, number + 1)] {
                let result = manager.dispatch(&thread, &wish(number)).await;
                let result = result.expect("a result");
                assert_eq!(chunk_texts(&result.state).len(), number);
                assert_eq!(result.added_chunks.len(), 1, "wish {number}");
            }
        }
    });
}

#[test]
fn what_another_process_stored_under_a_name_counts_when_it_comes_again_during_a_compaction() {
    run(async {
        let store = store();
        let (manager, thread, gated) = compacting(Arc::clone(&store)).await;
        let other = manager_of(store, no_auto_compaction());
        let [theirs, ours] = ["theirs", "ours"].map(|text| user(text).with_id("e1"));
        let first = other.append(&thread, &theirs).await.expect("it is stored");
        let again = manager.append(&thread, &ours).await.expect("it is stored");
        assert_eq!(first, again);
        gated.let_go.add_permits(10);
        settle(&manager, &thread).await;
        let state = manager.current_state(&thread).await.expect("a state");
        assert_eq!(chunk_texts(&state).pop().as_deref(), Some("theirs"));
        assert_eq!(manager.replayed(&thread).await.expect("a state"), state);
    });
}

#[test]
fn an_event_that_is_dispatched_again_while_it_waits_answers_both() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        manager.pause(&thread).await.expect("it pauses");
        let mut waits = Vec::new();
        for _ in 0..2 {
            let (manager, id) = (manager.clone(), thread.clone());
            let said = wish(1).with_id("e1");
            waits.push(tokio::spawn(
                async move { manager.dispatch(&id, &said).await },
            ));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        manager.resume(&thread).await.expect("it goes on");
        for waits in waits {
            let result = waits.await.expect("it ends").expect("a result");
            assert_eq!(result.state.len(), 1);
        }
    });
}

#[test]
fn a_paused_thread_stores_and_waits_until_it_is_resumed() {
    run(async {
        let manager = manager();
        let thread = thread(&manager).await;
        manager.pause(&thread).await.expect("it pauses");
        assert_eq!(
            manager.blocking_reason(&thread),
            Some(BlockingReason::Paused)
        );
        let twice = manager.pause(&thread).await.expect_err("it stands still");
        assert!(
            twice.to_string().contains("Queue already blocked: PAUSED"),
            "{twice}"
        );
        let stored = manager
            .append(&thread, &wish(1))
            .await
            .expect("it is stored");
        assert_eq!(stored.0, 1);
        let (other, id) = (manager.clone(), thread.clone());
        let waits = tokio::spawn(async move { other.dispatch(&id, &wish(2)).await });
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        assert!(!waits.is_finished());
        assert!(
            manager
                .current_state(&thread)
                .await
                .expect("a state")
                .is_empty()
        );
        assert!(manager.resume(&thread).await.expect("it goes on"));
        let result = waits.await.expect("it ends").expect("a result");
        assert_eq!(
            chunk_texts(&result.state),
            ["Wish number 1", "Wish number 2"]
        );
        assert!(!manager.resume(&thread).await.expect("nothing to do"));
        manager
            .wait_until_unblocked(&thread)
            .await
            .expect("at once");
    });
}

#[test]
fn whoever_waits_for_no_pause_is_told_what_is_applied_and_what_waits() {
    run(async {
        let manager = manager();
        let thread = thread(&manager).await;
        let pause = event(json!({"type": "EXECUTION_PAUSE", "timestamp": 1}));
        let placed = |all: &[DispatchReceipt]| {
            let placed = all.iter().map(|it| (it.seq.0, it.result.is_some()));
            placed.collect::<Vec<_>>()
        };
        let first = [wish(1), pause];
        let first = manager
            .dispatch_within(&thread, &first, Duration::MAX)
            .await;
        let expected = [(1, true), (2, true)];
        assert_eq!(placed(&first.expect("it is stored")), expected);
        let second = [wish(2)];
        let second = manager
            .dispatch_within(&thread, &second, Duration::MAX)
            .await;
        assert_eq!(placed(&second.expect("it is stored")), [(3, false)]);
        assert!(
            !manager
                .wait_while_compacting(&thread)
                .await
                .expect("at once")
        );
        manager.resume(&thread).await.expect("it goes on");
        assert!(
            manager
                .wait_while_compacting(&thread)
                .await
                .expect("at once")
        );
        let state = manager.current_state(&thread).await.expect("a state");
        assert_eq!(chunk_texts(&state), ["Wish number 1", "Wish number 2"]);
    });
}

#[test]
fn a_compaction_is_waited_for_as_long_as_patience_lasts() {
    run(async {
        let (manager, thread, gated) = compacting(store()).await;
        let late = [wish(21)];
        let second = Duration::from_secs(1);
        let told = manager.dispatch_within(&thread, &late, second).await;
        assert!(told.expect("it is stored")[0].result.is_none());
        let (other, id) = (manager.clone(), thread.clone());
        let waits = tokio::spawn(async move {
            let later = [wish(22)];
            other.dispatch_within(&id, &later, Duration::MAX).await
        });
        tokio::time::sleep(second).await;
        gated.let_go.add_permits(10);
        let told = waits.await.expect("it ends").expect("it is stored");
        let result = told.into_iter().next().and_then(|it| it.result);
        let result = result.expect("it is applied").expect("a result");
        assert_eq!(result.added_chunks.len(), 1);
    });
}

#[test]
fn events_pause_and_resume_a_thread() {
    run(async {
        let manager = manager();
        let thread = thread(&manager).await;
        let first = manager.dispatch(&thread, &wish(1)).await.expect("a result");
        let pause = event(json!({"type": "EXECUTION_PAUSE", "timestamp": 1}));
        manager.dispatch(&thread, &pause).await.expect("a result");
        assert_eq!(
            manager.blocking_reason(&thread),
            Some(BlockingReason::Paused)
        );
        manager
            .append(&thread, &wish(2))
            .await
            .expect("it is stored");
        let resume = event(json!({"type": "EXECUTION_RESUME", "timestamp": 1}));
        let result = manager.dispatch(&thread, &resume).await.expect("a result");
        assert!(!manager.is_blocked(&thread));
        assert_eq!(
            chunk_texts(&result.state),
            ["Wish number 1", "Wish number 2"]
        );
        let back = event(json!({"type": "EXECUTION_RESUME", "timestamp": 1,
            "resumeFromStateId": first.state.id}));
        manager.dispatch(&thread, &back).await.expect("a result");
        let state = manager.current_state(&thread).await.expect("a state");
        assert_eq!(chunk_texts(&state), ["Wish number 1"]);
        assert_eq!(manager.replayed(&thread).await.expect("a state"), state);
    });
}

#[test]
fn a_thread_that_is_deleted_tells_those_who_wait() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        manager.pause(&thread).await.expect("it pauses");
        let (other, id) = (manager.clone(), thread.clone());
        let waits = tokio::spawn(async move { other.dispatch(&id, &wish(1)).await });
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert!(manager.delete_thread(&thread).await.expect("it is deleted"));
        let told = waits.await.expect("it ends").expect_err("an error");
        assert!(matches!(told, WorkingError::Deleted(_)), "{told}");
        let gone = manager
            .dispatch(&thread, &wish(2))
            .await
            .expect_err("an error");
        assert!(gone.to_string().starts_with("Thread not found: "), "{gone}");
        assert!(!manager.delete_thread(&thread).await.expect("nothing to do"));
        assert_eq!(manager.loaded(), 0);
    });
}

#[test]
fn a_thread_that_is_deleted_during_a_compaction_stays_deleted() {
    run(async {
        let (manager, thread, gated) = compacting(store()).await;
        assert!(manager.is_blocked(&thread));
        assert!(manager.delete_thread(&thread).await.expect("it is deleted"));
        gated.let_go.add_permits(10);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(manager.thread(&thread).await.expect("an answer").is_none());
    });
}

/// Each process sees the other's changes through the store alone.
#[test]
fn two_managers_of_one_store_keep_one_order() {
    run(async {
        let store = store();
        let (one, other) = (
            manager_of(Arc::clone(&store), no_auto_compaction()),
            manager_of(store, no_auto_compaction()),
        );
        let thread = thread(&one).await;
        for number in 0..10 {
            let manager = if number % 2 == 0 { &one } else { &other };
            let result = manager
                .dispatch(&thread, &wish(number))
                .await
                .expect("a result");
            assert_eq!(result.state.len(), number + 1);
        }
        one.pause(&thread).await.expect("it pauses");
        let (waiting, id) = (other.clone(), thread.clone());
        let waits = tokio::spawn(async move { waiting.dispatch(&id, &wish(10)).await });
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert!(!waits.is_finished());
        assert!(one.resume(&thread).await.expect("it goes on"));
        waits.await.expect("it ends").expect("a result");
        let states = (
            one.current_state(&thread).await.expect("a state"),
            other.current_state(&thread).await.expect("a state"),
        );
        assert_eq!(states.0, states.1);
        assert_eq!(states.0.len(), 11);
    });
}

#[test]
fn a_block_whose_owner_is_gone_ends_by_itself() {
    run(async {
        let store = store();
        let clock = Arc::new(daybook_testkit::ManualClock::at(NOW));
        let manager = daybook_working::manager::MemoryManager::new(
            Arc::clone(&store),
            Default::default(),
            None,
            Arc::clone(&clock) as _,
            no_auto_compaction(),
        );
        let thread = thread(&manager).await;
        let until = NOW.plus(Duration::from_secs(15));
        let blocked = store
            .block(&thread, BlockingReason::Compacting, until, NOW)
            .await
            .expect("a block");
        assert!(matches!(blocked, BlockOutcome::Blocked(_)));
        let (other, id) = (manager.clone(), thread.clone());
        let waits = tokio::spawn(async move { other.dispatch(&id, &wish(1)).await });
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert!(!waits.is_finished());
        clock.advance(Duration::from_secs(15));
        waits.await.expect("it ends").expect("a result");
        assert!(clock_is(&clock, until));
    });
}

fn clock_is(clock: &daybook_testkit::ManualClock, at: Timestamp) -> bool {
    use daybook_domain::time::Clock;
    clock.now() == at
}

#[test]
fn who_stops_waiting_stops_nothing() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        manager.pause(&thread).await.expect("it pauses");
        let said = wish(1);
        let given_up =
            tokio::time::timeout(Duration::from_secs(1), manager.dispatch(&thread, &said));
        assert!(given_up.await.is_err());
        manager.resume(&thread).await.expect("it goes on");
        assert_eq!(
            manager.current_state(&thread).await.expect("a state").len(),
            1
        );
    });
}

#[test]
fn an_unknown_thread_is_named() {
    run(async {
        let manager = manager();
        let nobody = manager.thread_id("thread_nobody");
        let error = manager
            .dispatch(&nobody, &wish(1))
            .await
            .expect_err("an error");
        assert_eq!(error.to_string(), "Thread not found: agent:thread_nobody");
        assert_eq!(manager.loaded(), 0, "nothing is left behind");
        let error = manager.current_state(&nobody).await.expect_err("an error");
        assert_eq!(error.to_string(), "Thread not found: agent:thread_nobody");
        assert_eq!(manager.loaded(), 0);
    });
}
