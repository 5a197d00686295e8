//! Compaction end to end: W25 to W35, W81 to W84, W102 to W111.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use daybook_domain::SessionId;
use daybook_domain::working::{BlockingReason, ChunkId, StateSource};
use daybook_working::compact::RecentLimits;
use daybook_working::manager::{
    CompactionOutcome, MemoryManager, MemoryManagerConfig, StateChange, ThreadObserver,
};
use serde_json::json;

use super::working_test_support::{
    CompactorBehaviour, GatedCompactor, chunk_texts, event, manager, manager_of,
    manager_without_auto_compaction, no_auto_compaction, run, settle, store, thread, user, wish,
};

async fn wishes(
    manager: &MemoryManager,
    thread: &SessionId,
    numbers: std::ops::RangeInclusive<usize>,
) {
    for number in numbers {
        manager
            .dispatch(thread, &wish(number))
            .await
            .expect("a result");
    }
}

#[test]
fn at_the_threshold_the_oldest_are_condensed_and_the_newest_stay() {
    run(async {
        let manager = manager();
        let thread = thread(&manager).await;
        wishes(&manager, &thread, 1..=20).await;
        settle(&manager, &thread).await;
        let state = manager.current_state(&thread).await.expect("a state");
        let mut expected = vec!["(compacted)".to_owned()];
        expected.extend((15..=20).map(|number| format!("Wish number {number}")));
        assert_eq!(chunk_texts(&state), expected);
        assert_eq!(state.metadata.provenance.source, StateSource::Compaction);
        let summary = state
            .chunks()
            .next()
            .expect("the summary")
            .content
            .to_text()
            .into_owned();
        assert!(summary.contains("Wish number 14"), "{summary}");
    });
}

#[test]
fn nothing_is_compacted_unasked_when_it_is_switched_off() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        wishes(&manager, &thread, 1..=45).await;
        settle(&manager, &thread).await;
        assert_eq!(
            manager.current_state(&thread).await.expect("a state").len(),
            45
        );
        let compacted = manager
            .trigger_compaction(&thread, None)
            .await
            .expect("done");
        assert_eq!(
            chunk_texts(&compacted.state),
            ["(compacted)", "Wish number 45"]
        );
    });
}

#[test]
fn too_many_tokens_are_compacted_however_few_the_chunks() {
    run(async {
        let config = MemoryManagerConfig {
            auto_compact_tokens: Some(4_000),
            keep_recent: RecentLimits {
                chunks: 2,
                tokens: 500,
            },
            ..MemoryManagerConfig::default()
        };
        let manager = manager_of(store(), config);
        let thread = thread(&manager).await;
        let call = json!({"type": "LLM_TOOL_CALL", "timestamp": 1, "toolName": "cat", "callId": "c1",
            "arguments": {"file": "log.txt"}});
        let outcome = json!({"type": "TOOL_RESULT", "timestamp": 1, "toolName": "cat", "callId": "c1",
            "result": "a line of the log\n".repeat(900), "success": true});
        manager.dispatch(&thread, &wish(1)).await.expect("a result");
        manager
            .dispatch(&thread, &event(call))
            .await
            .expect("a result");
        let result = manager
            .dispatch(&thread, &event(outcome))
            .await
            .expect("a result");
        // The agent has not read the newest outcome yet.
        assert!(!manager.is_blocked(&thread));
        assert_eq!(result.state.len(), 3);
        manager
            .dispatch(&thread, &user("What does it say?"))
            .await
            .expect("a result");
        manager
            .dispatch(&thread, &user("And why?"))
            .await
            .expect("a result");
        settle(&manager, &thread).await;
        let state = manager.current_state(&thread).await.expect("a state");
        let pruned = state
            .chunks()
            .find(|chunk| chunk.metadata.custom.contains_key("pruned"));
        let result = pruned
            .expect("it is pruned")
            .content
            .str_field("result")
            .expect("a result")
            .to_owned();
        assert!(result.contains("(all of it: event 3)"), "{result}");
        assert_eq!(state.len(), 5, "a call keeps its outcome");
    });
}

#[test]
fn w28_w29_tokens_are_counted_over_all_and_over_those_that_can_go_and_suggest_before_they_force() {
    run(async {
        let config = MemoryManagerConfig {
            auto_compact_enabled: false,
            suggest_compact_tokens: Some(400),
            auto_compact_tokens: Some(800),
            ..MemoryManagerConfig::default()
        };
        let manager = manager_of(store(), config);
        let thread = thread(&manager).await;
        let mut seen = Vec::new();
        for number in 1..=12 {
            manager
                .dispatch(&thread, &wish(number))
                .await
                .expect("a result");
            let usage = manager.token_usage(&thread).await.expect("a count");
            assert_eq!(usage.suggests_compaction, usage.total >= 400);
            assert_eq!(usage.forces_compaction, usage.total >= 800);
            assert_eq!(usage.compactable, usage.total);
            seen.push((usage.suggests_compaction, usage.forces_compaction));
        }
        seen.dedup();
        assert_eq!(seen, [(false, false), (true, false), (true, true)]);
        let result = json!({"type": "TASK_COMPLETED", "timestamp": 1, "result": "half", "summary": "Half of it."});
        manager
            .dispatch(&thread, &event(result))
            .await
            .expect("a result");
        let usage = manager.token_usage(&thread).await.expect("a count");
        assert!(
            usage.compactable < usage.total,
            "a result can not go: {usage:?}"
        );
    });
}

#[test]
fn what_stays_when_all_is_compacted() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        wishes(&manager, &thread, 1..=5).await;
        let events = [
            json!({"type": "LLM_TOOL_CALL", "timestamp": 1, "toolName": "ls", "callId": "done", "arguments": {}}),
            json!({"type": "TOOL_RESULT", "timestamp": 1, "toolName": "ls", "callId": "done", "result": "a b", "success": true}),
            json!({"type": "LLM_TOOL_CALL", "timestamp": 1, "toolName": "make", "callId": "open", "arguments": {}}),
            json!({"type": "TASK_COMPLETED", "timestamp": 1, "result": "half", "summary": "Half of it."}),
        ];
        for one in events {
            manager
                .dispatch(&thread, &event(one))
                .await
                .expect("a result");
        }
        let compacted = manager
            .trigger_compaction(&thread, None)
            .await
            .expect("done");
        let left: Vec<_> = compacted
            .state
            .chunks()
            .map(|it| it.call_id().map(str::to_owned))
            .collect();
        assert_eq!(left, [None, None, Some("open".to_owned()), None]);
        assert_eq!(chunk_texts(&compacted.state)[1], "Wish number 5");
        // A single summary is not compacted again.
        let again = manager
            .trigger_compaction(&thread, None)
            .await
            .expect("done");
        assert!(again.compaction.is_none());
        assert_eq!(
            manager.current_state(&thread).await.expect("a state"),
            compacted.state
        );
    });
}

#[test]
fn nothing_to_compact_changes_and_tells_nothing() {
    run(async {
        let manager = manager_without_auto_compaction();
        let log = Arc::new(CompactionLog::default());
        let _watching = manager.add_observer(Arc::clone(&log) as _);
        let thread = thread(&manager).await;
        manager.dispatch(&thread, &wish(1)).await.expect("a result");
        let before = manager.current_state(&thread).await.expect("a state");
        for chosen in [
            None,
            Some(&[][..]),
            Some(&[ChunkId::from("chunk_nowhere")][..]),
        ] {
            let compacted = manager
                .trigger_compaction(&thread, chosen)
                .await
                .expect("done");
            assert!(compacted.compaction.is_none());
            assert_eq!(compacted.state, before);
        }
        assert!(log.notifications().is_empty());
    });
}

/// Notes the events that were applied.
#[derive(Default)]
struct AppliedEvents(Mutex<Vec<String>>);

impl ThreadObserver for AppliedEvents {
    fn on_state_change(&self, change: &StateChange<'_>) {
        let added = change.added_chunks.iter();
        let texts = added.map(|chunk| chunk.content.to_text().into_owned());
        self.0.lock().expect("a lock").extend(texts);
    }
}

#[test]
fn w95_a_compaction_answers_with_its_own_state_once_what_waited_is_applied() {
    run(async {
        let manager = manager_without_auto_compaction();
        let gated = GatedCompactor::new(&[]);
        manager.register_compactor(Arc::clone(&gated) as _);
        let thread = thread(&manager).await;
        wishes(&manager, &thread, 1..=6).await;
        let applied = Arc::new(AppliedEvents::default());
        let _watching = manager.add_observer(Arc::clone(&applied) as _);
        let (other, id) = (manager.clone(), thread.clone());
        let asked = tokio::spawn(async move { other.trigger_compaction(&id, None).await });
        while !manager.is_blocked(&thread) {
            tokio::task::yield_now().await;
        }
        manager
            .append(&thread, &user("Wish number 7"))
            .await
            .expect("it is stored");
        gated.let_go.add_permits(10);
        let compacted = asked.await.expect("it ends").expect("done");
        assert_eq!(
            chunk_texts(&compacted.state),
            ["(compacted)", "Wish number 6"]
        );
        let applied = applied.0.lock().expect("a lock").pop();
        assert_eq!(applied.as_deref(), Some("Wish number 7"));
    });
}

#[test]
fn w93_what_is_forgotten_during_a_compaction_comes_back_in_no_summary() {
    run(async {
        let manager = manager_without_auto_compaction();
        let gated = GatedCompactor::new(&[]);
        manager.register_compactor(Arc::clone(&gated) as _);
        let thread = thread(&manager).await;
        wishes(&manager, &thread, 1..=6).await;
        let state = manager.current_state(&thread).await.expect("a state");
        let forgotten = state.chunk_ids()[0].clone();
        let (other, id) = (manager.clone(), thread.clone());
        let asked = tokio::spawn(async move { other.trigger_compaction(&id, None).await });
        while !manager.is_blocked(&thread) {
            tokio::task::yield_now().await;
        }
        let forget = json!({"type": "MEMORY_FORGET", "timestamp": 1, "chunkIds": [forgotten]});
        manager
            .append(&thread, &event(forget))
            .await
            .expect("it is stored");
        gated.let_go.add_permits(10);
        let refused = asked.await.expect("it ends").expect_err("no compaction");
        assert!(
            refused.to_string().contains("forgotten meanwhile"),
            "{refused}"
        );
        let state = manager.current_state(&thread).await.expect("a state");
        assert_eq!(state.len(), 5, "it is forgotten, and the others stand");
        assert_eq!(manager.replayed(&thread).await.expect("a state"), state);
        manager
            .trigger_compaction(&thread, None)
            .await
            .expect("now it is done");
        let state = manager.current_state(&thread).await.expect("a state");
        let text = state
            .chunks()
            .next()
            .expect("the summary")
            .content
            .to_text()
            .into_owned();
        assert!(!text.contains("Wish number 1:"), "{text}");
    });
}

#[test]
fn a_compaction_while_one_runs_is_refused() {
    run(async {
        let manager = manager();
        let gated = GatedCompactor::new(&[]);
        manager.register_compactor(Arc::clone(&gated) as _);
        let thread = thread(&manager).await;
        wishes(&manager, &thread, 1..=20).await;
        let refused = manager
            .trigger_compaction(&thread, None)
            .await
            .expect_err("a refusal");
        assert!(
            refused
                .to_string()
                .contains("Queue already blocked: COMPACTING"),
            "{refused}"
        );
        let refused = manager.pause(&thread).await.expect_err("a refusal");
        assert!(
            refused
                .to_string()
                .contains("Queue already blocked: COMPACTING"),
            "{refused}"
        );
        gated.let_go.add_permits(10);
        settle(&manager, &thread).await;
        manager.pause(&thread).await.expect("now it pauses");
    });
}

/// Records the notifications that it gets.
#[derive(Default)]
struct CompactionLog(Mutex<Vec<String>>);

impl CompactionLog {
    fn notifications(&self) -> Vec<String> {
        self.0.lock().expect("a lock").clone()
    }

    fn note(&self, what: String) {
        self.0.lock().expect("a lock").push(what);
    }
}

impl ThreadObserver for CompactionLog {
    fn on_compaction_start(&self, _: &SessionId, chunks: &[ChunkId]) {
        self.note(format!("start {}", chunks.len()));
    }

    fn on_compaction_end(&self, _: &SessionId, compacted: &CompactionOutcome) {
        let compaction = compacted.compaction.as_ref().expect("a compaction");
        assert!(compaction.tokens_before > compaction.tokens_after);
        self.note(format!(
            "end {} by {}",
            compacted.removed_chunk_ids.len(),
            compaction.by
        ));
    }

    fn on_compaction_failed(&self, _: &SessionId, _: &str) {
        self.note("failed".to_owned());
    }
}

#[test]
fn whatever_a_compactor_does_the_thread_goes_on() {
    for behaviour in [
        CompactorBehaviour::Fail,
        CompactorBehaviour::Panic,
        CompactorBehaviour::Stall,
        CompactorBehaviour::Empty,
    ] {
        run(async {
            let manager = manager();
            manager.register_compactor(GatedCompactor::open(&[behaviour]));
            let log = Arc::new(CompactionLog::default());
            let watching = manager.add_observer(Arc::clone(&log) as _);
            let thread = thread(&manager).await;
            wishes(&manager, &thread, 1..=20).await;
            // The next compactor takes over.
            let result = manager
                .dispatch(&thread, &wish(21))
                .await
                .expect("a result");
            assert_eq!(
                chunk_texts(&result.state)[0],
                "(compacted)",
                "{behaviour:?}"
            );
            assert_eq!(
                log.notifications(),
                ["start 14", "end 14 by extractive"],
                "{behaviour:?}"
            );
            drop(watching);
            wishes(&manager, &thread, 22..=40).await;
            settle(&manager, &thread).await;
            assert_eq!(log.notifications().len(), 2, "nobody watches any more");
            assert_eq!(
                manager.replayed(&thread).await.expect("a state"),
                manager.current_state(&thread).await.expect("a state")
            );
        });
    }
}

#[test]
fn without_gain_nothing_is_compacted_and_it_is_not_tried_at_every_event() {
    run(async {
        let manager = manager();
        let log = Arc::new(CompactionLog::default());
        let _watching = manager.add_observer(Arc::clone(&log) as _);
        let thread = thread(&manager).await;
        for number in 0..40 {
            manager
                .dispatch(&thread, &user(&number.to_string()))
                .await
                .expect("a result");
            settle(&manager, &thread).await;
        }
        let starts = log
            .notifications()
            .iter()
            .filter(|it| it.starts_with("start"))
            .count();
        let failed = log
            .notifications()
            .iter()
            .filter(|it| *it == "failed")
            .count();
        assert!(starts <= 6, "{:?}", log.notifications());
        assert!(failed <= 5, "{:?}", log.notifications());
    });
}

#[test]
fn a_summary_is_carried_on_by_the_next_one() {
    run(async {
        let manager = manager();
        let thread = thread(&manager).await;
        for number in 1..=120 {
            manager
                .dispatch(&thread, &wish(number))
                .await
                .expect("a result");
        }
        settle(&manager, &thread).await;
        let state = manager.current_state(&thread).await.expect("a state");
        let compacted = chunk_texts(&state)
            .iter()
            .filter(|it| *it == "(compacted)")
            .count();
        assert_eq!(compacted, 1);
        assert!(state.len() < 20);
        let newest = chunk_texts(&state).pop();
        assert_eq!(newest.as_deref(), Some("Wish number 120"));
    });
}

#[test]
fn originals_are_found_again_by_what_stands_for_them() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        wishes(&manager, &thread, 1..=10).await;
        manager
            .trigger_compaction(&thread, None)
            .await
            .expect("done");
        wishes(&manager, &thread, 11..=20).await;
        let twice = manager
            .trigger_compaction(&thread, None)
            .await
            .expect("done");
        let summary = &twice.state.chunk_ids()[0];
        let originals = manager
            .originals(&thread, summary)
            .await
            .expect("originals");
        let told: Vec<_> = originals
            .iter()
            .map(|it| it.content.to_text().into_owned())
            .collect();
        assert_eq!(told.len(), 19);
        assert!(told[0].starts_with("Wish number 1:") && told[18].starts_with("Wish number 19:"));
        assert_eq!(
            originals[18].metadata.custom["seq"], 20,
            "one entry is the first compaction"
        );
    });
}

#[test]
fn a_manual_compaction_event_is_an_order() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        wishes(&manager, &thread, 1..=6).await;
        let order = event(json!({"type": "MEMORY_COMPACT_MANUAL", "timestamp": 1}));
        manager.dispatch(&thread, &order).await.expect("a result");
        assert_eq!(
            manager.blocking_reason(&thread),
            Some(BlockingReason::Compacting)
        );
        settle(&manager, &thread).await;
        let state = manager.current_state(&thread).await.expect("a state");
        assert_eq!(chunk_texts(&state), ["(compacted)", "Wish number 6"]);
        let below = event(
            json!({"type": "MEMORY_COMPACT_AUTO", "timestamp": 1, "threshold": 10, "currentSize": 9}),
        );
        manager.dispatch(&thread, &below).await.expect("a result");
        assert!(!manager.is_blocked(&thread));
    });
}

#[test]
fn the_log_says_what_was_compacted_and_the_session_is_due() {
    run(async {
        let store = Arc::new(daybook_store::MemoryStore::new());
        let manager = manager_of(Arc::clone(&store) as _, no_auto_compaction());
        let thread = thread(&manager).await;
        wishes(&manager, &thread, 1..=6).await;
        manager
            .trigger_compaction(&thread, None)
            .await
            .expect("done");
        let key = daybook_domain::JobKey::Extract(thread.clone());
        let job = daybook_domain::seams::JobListing::job(&*store, &key)
            .await
            .expect("an answer")
            .expect("a job");
        assert_eq!(job.priority, daybook_domain::Priority::High);
        let events = daybook_domain::seams::SessionLog::events(
            &*store,
            &thread,
            Default::default(),
            daybook_domain::EventSeq(99),
            99,
            1 << 20,
        );
        let events = events.await.expect("events");
        assert_eq!(events.len(), 7);
        assert_eq!(events[6].origin, daybook_domain::Origin::Synthetic);
        assert!(events[6].text.starts_with("## Progress Summary"));
        tokio::time::sleep(Duration::from_millis(1)).await;
    });
}
