//! Conformance of threads: W1 to W9, W63 to W68, and cases that Team9's own tests leave out, W80 to W88.
//! Operations, ids, reducers, compactors and contexts are tested beside their code.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use daybook_domain::SessionId;
use daybook_domain::working::{BlockingReason, ThreadEvent};
use daybook_testkit::ManualClock;
use daybook_working::manager::{
    CreateThread, MemoryManager, MemoryManagerConfig, StateChange, ThreadObserver,
};
use serde_json::json;

use super::working_test_support::{
    CompactorBehaviour, GatedCompactor, NOW, chunk_texts, compacting, event, manager, manager_of,
    manager_without_auto_compaction, no_auto_compaction, run, settle, store, thread, user, wish,
};

// W1 to W9: here the log is the queue, and the block its gate.

#[test]
fn a_new_queue_is_not_blocked_and_empty() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        assert!(!manager.is_blocked(&thread));
        assert_eq!(manager.blocking_reason(&thread), None);
        assert!(
            manager
                .current_state(&thread)
                .await
                .expect("a state")
                .is_empty()
        );
    });
}

#[test]
fn waiting_for_an_unblocked_queue_returns_at_once_and_for_a_blocked_one_later() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        manager
            .wait_until_unblocked(&thread)
            .await
            .expect("at once");
        manager.pause(&thread).await.expect("it pauses");
        let (other, id) = (manager.clone(), thread.clone());
        let waits = tokio::spawn(async move { other.wait_until_unblocked(&id).await });
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert!(!waits.is_finished());
        manager.resume(&thread).await.expect("it goes on");
        waits.await.expect("it ends").expect("it is unblocked");
    });
}

#[test]
fn what_is_queued_is_processed_first_in_first_out_and_each_caller_gets_its_own() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        manager.pause(&thread).await.expect("it pauses");
        let mut waits = Vec::new();
        for name in ["A", "B", "C"] {
            let (manager, id) = (manager.clone(), thread.clone());
            waits.push(tokio::spawn(async move {
                manager.dispatch(&id, &user(name)).await
            }));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        manager.resume(&thread).await.expect("it goes on");
        for (name, waits) in ["A", "B", "C"].into_iter().zip(waits) {
            let result = waits.await.expect("it ends").expect("a result");
            assert_eq!(result.added_chunks[0].content.to_text(), name);
        }
        let state = manager.current_state(&thread).await.expect("a state");
        assert_eq!(chunk_texts(&state), ["A", "B", "C"]);
    });
}

/// A reducer that fails for one event.
struct Picky;

impl daybook_working::reduce::Reducer for Picky {
    fn name(&self) -> &str {
        "picky"
    }

    fn takes(&self, event_type: &str) -> bool {
        event_type == "USER_MESSAGE"
    }

    fn reduce(
        &self,
        _: &daybook_domain::working::ThreadState,
        event: &ThreadEvent,
        _: &mut daybook_working::reduce::ReduceContext,
    ) -> Result<daybook_working::reduce::Reduced, daybook_domain::BoxError> {
        let words = serde_json::to_string(event)?;
        assert!(!words.contains("panic"), "a reducer that panics");
        match words.contains("fail") {
            true => Err("Processing failed".into()),
            false => Ok(Default::default()),
        }
    }
}

#[test]
fn a_failing_event_rejects_its_own_caller_and_no_other() {
    run(async {
        let mut registry = daybook_working::reduce::ReducerRegistry::default();
        registry.register(Arc::new(Picky));
        let clock = Arc::new(daybook_testkit::ManualClock::at(
            super::working_test_support::NOW,
        ));
        let config = MemoryManagerConfig::default();
        let manager =
            daybook_working::manager::MemoryManager::new(store(), registry, None, clock, config);
        let thread = thread(&manager).await;
        manager.pause(&thread).await.expect("it pauses");
        let mut waits = Vec::new();
        for name in ["one", "fail", "panic", "two"] {
            let (manager, id) = (manager.clone(), thread.clone());
            waits.push(tokio::spawn(async move {
                manager.dispatch(&id, &user(name)).await
            }));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        manager.resume(&thread).await.expect("it goes on");
        let mut ended = Vec::new();
        for waits in waits {
            ended.push(
                waits
                    .await
                    .expect("it ends")
                    .map(drop)
                    .map_err(|error| error.to_string()),
            );
        }
        assert!(ended[0].is_ok() && ended[3].is_ok());
        assert!(
            ended[1]
                .as_ref()
                .is_err_and(|it| it.ends_with("Processing failed")),
            "{ended:?}"
        );
        assert!(
            ended[2]
                .as_ref()
                .is_err_and(|it| it.ends_with("a reducer panicked")),
            "{ended:?}"
        );
        let state = manager.current_state(&thread).await.expect("a state");
        assert_eq!(chunk_texts(&state), ["one", "two"]);
        assert_eq!(manager.replayed(&thread).await.expect("a state"), state);
    });
}

// W15, W26, W63 to W68.

/// Records the notifications that it gets.
#[derive(Default)]
struct NotificationLog(Mutex<Vec<String>>);

impl NotificationLog {
    fn note(&self, what: &str) {
        self.0.lock().expect("a lock").push(what.to_owned());
    }
}

impl ThreadObserver for NotificationLog {
    fn on_event_dispatch(&self, _: &SessionId, event: &ThreadEvent) {
        self.note(&format!("dispatch {}", event.kind.name()));
    }

    fn on_reducer_execute(&self, _: &SessionId, _: &ThreadEvent, _: Duration) {
        self.note("reduce");
    }

    fn on_state_change(&self, change: &StateChange<'_>) {
        self.note(&format!(
            "change +{} -{}",
            change.added_chunks.len(),
            change.removed_chunk_ids.len()
        ));
    }

    fn on_sub_agent_spawn(&self, _: &SessionId, _: &ThreadEvent) {
        self.note("spawn");
    }

    fn on_sub_agent_result(&self, _: &SessionId, _: &ThreadEvent) {
        self.note("result");
    }
}

#[test]
fn observers_hear_of_what_is_applied_and_not_again_what_was_there() {
    run(async {
        let store = store();
        let [one, other] = [(); 2].map(|()| manager_of(store.clone(), no_auto_compaction()));
        let thread = thread(&one).await;
        for number in 1..=3 {
            one.dispatch(&thread, &wish(number))
                .await
                .expect("a result");
        }
        let log = Arc::new(NotificationLog::default());
        let _watching = other.add_observer(Arc::clone(&log) as _);
        let heard = || std::mem::take(&mut *log.0.lock().expect("a lock"));
        let state = other.current_state(&thread).await.expect("a state");
        assert_eq!((state.len(), heard()), (3, Vec::new()));
        one.dispatch(&thread, &wish(4)).await.expect("a result");
        other.dispatch(&thread, &wish(5)).await.expect("a result");
        let each = ["dispatch USER_MESSAGE", "reduce", "change +1 -0"];
        assert_eq!(heard(), [each, each].concat());
        assert_eq!(other.unload_idle(0).await.expect("it is kept"), 1);
        assert_eq!(
            other.current_state(&thread).await.expect("a state").len(),
            5
        );
        assert_eq!(heard(), Vec::<String>::new());
    });
}

#[test]
fn observers_hear_of_what_waited_behind_a_process_that_is_gone() {
    run(async {
        let store = store();
        let (gone, thread, _gated) = compacting(store.clone()).await;
        gone.append(&thread, &wish(21)).await.expect("it is stored");
        let later = Arc::new(ManualClock::at(NOW.plus(Duration::from_secs(60))));
        let next = MemoryManager::new(store, Default::default(), None, later, no_auto_compaction());
        let log = Arc::new(NotificationLog::default());
        let _watching = next.add_observer(Arc::clone(&log) as _);
        let state = next.current_state(&thread).await.expect("a state");
        assert_eq!(state.len(), 21);
        let heard = log.0.lock().expect("a lock");
        assert_eq!(*heard, ["dispatch USER_MESSAGE", "reduce", "change +1 -0"]);
    });
}

#[test]
fn observers_hear_of_each_event_its_reducing_and_the_new_state() {
    run(async {
        let manager = manager_without_auto_compaction();
        let log = Arc::new(NotificationLog::default());
        let _watching = manager.add_observer(Arc::clone(&log) as _);
        let thread = thread(&manager).await;
        manager
            .dispatch(&thread, &user(""))
            .await
            .expect("empty words are words");
        let nothing = event(json!({"type": "WEATHER", "timestamp": 1}));
        let before = manager.current_state(&thread).await.expect("a state");
        let result = manager.dispatch(&thread, &nothing).await.expect("a result");
        assert_eq!(result.state, before, "the same state");
        let spawn = json!({"type": "LLM_SUBAGENT_SPAWN", "timestamp": 1, "subAgentId": "s", "agentType": "t", "task": "x"});
        let answer = json!({"type": "SUBAGENT_RESULT", "timestamp": 1, "subAgentId": "s", "result": 1, "success": true});
        for one in [spawn, answer] {
            manager
                .dispatch(&thread, &event(one))
                .await
                .expect("a result");
        }
        let expected = [
            "dispatch USER_MESSAGE",
            "reduce",
            "change +1 -0",
            "dispatch WEATHER",
            "reduce",
            "dispatch LLM_SUBAGENT_SPAWN",
            "reduce",
            "change +1 -0",
            "spawn",
            "dispatch SUBAGENT_RESULT",
            "reduce",
            "change +1 -0",
            "result",
        ];
        assert_eq!(*log.0.lock().expect("a lock"), expected);
    });
}

#[test]
fn dispatch_all_of_nothing_gives_the_thread_as_it_is_and_names_an_unknown_one() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        let result = manager.dispatch_all(&thread, &[]).await.expect("a result");
        assert!(result.added_chunks.is_empty() && result.removed_chunk_ids.is_empty());
        assert_eq!(
            result.state,
            manager.current_state(&thread).await.expect("a state")
        );
        let nobody = manager.thread_id("nobody");
        let error = manager
            .dispatch_all(&nobody, &[])
            .await
            .expect_err("an error");
        assert_eq!(error.to_string(), "Thread not found: agent:nobody");
    });
}

#[test]
fn the_defaults_are_team9s() {
    let config = MemoryManagerConfig::default();
    assert!(config.auto_compact_enabled);
    assert_eq!(config.auto_compact_threshold, 20);
    assert_eq!(config.suggest_compact_tokens, Some(50_000));
    assert_eq!(config.auto_compact_tokens, Some(80_000));
    assert_eq!(
        (
            config.llm.compact_temperature,
            config.llm.compact_max_tokens
        ),
        (0.3, 2_000)
    );
}

#[test]
fn the_task_and_the_summary_so_far_are_told_to_a_compactor() {
    struct Curious(Mutex<Vec<(Option<String>, Option<String>)>>);
    #[async_trait::async_trait]
    impl daybook_working::compact::Compactor for Curious {
        fn name(&self) -> &str {
            "curious"
        }
        fn can_compact(&self, _: &[Arc<daybook_domain::working::Chunk>]) -> bool {
            true
        }
        async fn compact(
            &self,
            chunks: &[Arc<daybook_domain::working::Chunk>],
            context: &daybook_working::compact::CompactionContext<'_>,
        ) -> Result<daybook_working::compact::CompactionResult, daybook_domain::BoxError> {
            let told = (context.task_goal.clone(), context.progress_summary.clone());
            self.0.lock().expect("a lock").push(told);
            Ok(daybook_working::compact::CompactionResult {
                compacted_chunk: context.compacted(chunks, "first part done"),
                original_chunk_ids: chunks.iter().map(|it| it.id.clone()).collect(),
                by: "curious".to_owned(),
                faults: Vec::new(),
            })
        }
    }
    run(async {
        let manager = manager_without_auto_compaction();
        let curious = Arc::new(Curious(Mutex::default()));
        manager.register_compactor(Arc::clone(&curious) as _);
        let content = json!({"type": "TEXT", "task": "Complete the analysis"});
        let content = serde_json::from_value(content).expect("content");
        let system = daybook_domain::working::Chunk::new(
            "".into(),
            daybook_domain::working::ChunkType::System,
            content,
            super::working_test_support::NOW,
        );
        let new = CreateThread {
            initial_chunks: vec![system],
            ..CreateThread::default()
        };
        let thread = manager
            .create_thread_with(new)
            .await
            .expect("a thread")
            .0
            .id
            .clone();
        for _ in 0..2 {
            let wishes: Vec<_> = (0..4).map(wish).collect();
            manager
                .dispatch_all(&thread, &wishes)
                .await
                .expect("a result");
            manager
                .trigger_compaction(&thread, None)
                .await
                .expect("done");
        }
        let task = Some("Complete the analysis".to_owned());
        let expected = [
            (task.clone(), None),
            (task, Some("first part done".to_owned())),
        ];
        assert_eq!(*curious.0.lock().expect("a lock"), expected);
    });
}

// W80 to W88: cases that Team9's own tests leave out.

#[test]
fn a_failed_compaction_ends_and_is_told_and_the_model_is_left_alone_for_a_while() {
    use daybook_domain::model::{
        FailureCost, Model, ModelError, ModelFailure, ModelReply, ModelRequest,
    };
    struct Down(Mutex<u32>);
    #[async_trait::async_trait]
    impl Model for Down {
        fn name(&self) -> &str {
            "down/model"
        }
        fn context_tokens(&self) -> u32 {
            100_000
        }
        fn count_tokens(&self, text: &str) -> u32 {
            u32::try_from(text.len()).unwrap_or(u32::MAX)
        }
        async fn ask(&self, _: &ModelRequest) -> Result<ModelReply, ModelFailure> {
            *self.0.lock().expect("a lock") += 1;
            Err(ModelFailure {
                error: ModelError::Denied {
                    model: "down/model".to_owned(),
                    message: "no".to_owned(),
                },
                spent: FailureCost::Nothing,
            })
        }
    }
    run(async {
        let model = Arc::new(Down(Mutex::new(0)));
        let clock = Arc::new(daybook_testkit::ManualClock::at(
            super::working_test_support::NOW,
        ));
        let manager = daybook_working::manager::MemoryManager::new(
            store(),
            Default::default(),
            Some(Arc::clone(&model) as _),
            Arc::clone(&clock) as _,
            MemoryManagerConfig::default(),
        );
        let thread = thread(&manager).await;
        let asked = || *model.0.lock().expect("a lock");
        for number in 0..100 {
            manager
                .dispatch(&thread, &wish(number))
                .await
                .expect("a result");
            settle(&manager, &thread).await;
        }
        assert_eq!(asked(), 1, "five compactions, one question");
        clock.advance(Duration::from_secs(31));
        for number in 100..120 {
            manager
                .dispatch(&thread, &wish(number))
                .await
                .expect("a result");
            settle(&manager, &thread).await;
        }
        assert_eq!(asked(), 2);
        clock.advance(Duration::from_secs(31));
        for number in 120..140 {
            manager
                .dispatch(&thread, &wish(number))
                .await
                .expect("a result");
            settle(&manager, &thread).await;
        }
        assert_eq!(asked(), 2, "longer each time");
        assert_eq!(
            chunk_texts(&manager.current_state(&thread).await.expect("a state"))[0],
            "(compacted)"
        );
    });
}

#[test]
fn events_that_drain_may_make_the_next_compaction_due() {
    run(async {
        let manager = manager();
        let gated = GatedCompactor::new(&[CompactorBehaviour::Succeed]);
        manager.register_compactor(Arc::clone(&gated) as _);
        let thread = thread(&manager).await;
        for number in 0..20 {
            manager
                .dispatch(&thread, &wish(number))
                .await
                .expect("a result");
        }
        for number in 20..50 {
            manager
                .append(&thread, &wish(number))
                .await
                .expect("it is stored");
        }
        gated.let_go.add_permits(1);
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(
            manager.blocking_reason(&thread),
            Some(BlockingReason::Compacting)
        );
        assert_eq!(
            manager.current_state(&thread).await.expect("a state").len(),
            37
        );
        gated.let_go.add_permits(9);
        settle(&manager, &thread).await;
        let state = manager.current_state(&thread).await.expect("a state");
        assert!(state.len() < 20);
        assert_eq!(manager.replayed(&thread).await.expect("a state"), state);
    });
}

#[test]
fn states_of_one_millisecond_keep_their_order() {
    run(async {
        // The clock does not move: order comes from the log, never from times.
        let manager = manager_of(store(), MemoryManagerConfig::default());
        let thread = thread(&manager).await;
        for number in 0..10 {
            manager
                .dispatch(&thread, &wish(number))
                .await
                .expect("a result");
        }
        let history = manager.state_history(&thread).await.expect("a history");
        assert_eq!(history.len(), 11);
        for pair in history.windows(2) {
            assert_eq!(pair[1].1.previous_state_id.as_ref(), Some(&pair[0].0));
        }
    });
}
