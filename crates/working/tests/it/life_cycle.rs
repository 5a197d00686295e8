//! The life cycle of threads: creation, fork, restore, unloading and end (W36 to W41, W110).

use std::sync::Arc;

use daybook_domain::seams::SessionLog;
use daybook_domain::working::{Chunk, ChunkContent, ChunkType, RetentionStrategy, StateSource};
use daybook_domain::{EventSeq, Origin};
use daybook_working::manager::{CreateThread, MemoryManagerConfig};
use serde_json::json;

use super::working_test_support::{
    NOW, chunk_texts, event, manager, manager_of, manager_without_auto_compaction,
    no_auto_compaction, run, settle, sqlite, store, thread, user, wish,
};

fn initial(text: &str, kept: RetentionStrategy) -> Chunk {
    Chunk::new("".into(), ChunkType::System, ChunkContent::text(text), NOW).kept(kept)
}

#[test]
fn a_thread_begins_with_what_it_is_given() {
    run(async {
        let manager = manager_without_auto_compaction();
        let new = CreateThread {
            host_id: Some("desk".to_owned()),
            agent: Some("harbour-bot".to_owned()),
            user: Some("ben".to_owned()),
            venue: daybook_domain::Venue {
                room_id: Some("!pier".to_owned()),
                ..daybook_domain::Venue::default()
            },
            initial_chunks: vec![
                initial("Be brief.", RetentionStrategy::Critical),
                initial("It is raining.", RetentionStrategy::Ephemeral),
            ],
            custom: json!({"agentId": "a1"})
                .as_object()
                .cloned()
                .unwrap_or_default(),
        };
        let (thread, state) = manager
            .create_thread_with(new.clone())
            .await
            .expect("a thread");
        assert_eq!(chunk_texts(&state), ["Be brief.", "It is raining."]);
        assert_eq!(thread.custom["agentId"], "a1");
        assert_eq!(thread.id.to_string(), "harbour-bot:desk");
        assert_eq!(state.metadata.provenance.source, StateSource::Initial);
        let (again, same) = manager.create_thread_with(new).await.expect("a thread");
        assert_eq!((again.id.clone(), same), (thread.id.clone(), state.clone()));
        let (fork, _) = manager.fork(&thread.id, None).await.expect("a fork");
        let held = (thread.user.as_deref(), thread.venue.room_id.as_deref());
        assert_eq!(held, (Some("ben"), Some("!pier")));
        assert_eq!((&fork.user, &fork.venue), (&thread.user, &thread.venue));
        manager
            .dispatch(&thread.id, &wish(1))
            .await
            .expect("a result");
        assert_eq!(
            manager.initial_state(&thread.id).await.expect("a state"),
            state
        );
        let history = manager.state_history(&thread.id).await.expect("a history");
        assert_eq!(history.len(), 2);
        assert_eq!(history[1].1.previous_state_id, Some(state.id));
    });
}

#[test]
fn a_new_thread_has_one_state_and_after_one_event_two() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        assert_eq!(
            manager
                .state_history(&thread)
                .await
                .expect("a history")
                .len(),
            1
        );
        let initial = manager.initial_state(&thread).await.expect("a state");
        assert_eq!(
            manager.current_state(&thread).await.expect("a state"),
            initial
        );
        let result = manager.dispatch(&thread, &wish(1)).await.expect("a result");
        assert_eq!(
            manager
                .state_history(&thread)
                .await
                .expect("a history")
                .len(),
            2
        );
        assert_eq!(
            manager
                .state(&thread, &result.state.id)
                .await
                .expect("a state"),
            result.state
        );
        assert_eq!(
            manager.state(&thread, &initial.id).await.expect("a state"),
            initial
        );
        assert!(
            manager
                .state(&thread, &"state_nowhere".into())
                .await
                .is_err()
        );
    });
}

#[test]
fn what_is_ephemeral_goes_when_the_session_ends() {
    run(async {
        let manager = manager_without_auto_compaction();
        let new = CreateThread {
            initial_chunks: vec![
                initial("Be brief.", RetentionStrategy::Critical),
                initial("It is raining.", RetentionStrategy::Ephemeral),
            ],
            ..CreateThread::default()
        };
        let (thread, _) = manager.create_thread_with(new).await.expect("a thread");
        let ended = manager.end_session(&thread.id).await.expect("it ends");
        assert_eq!(chunk_texts(&ended.state), ["Be brief."]);
        assert_eq!(ended.removed_chunk_ids.len(), 1);
        assert_eq!(
            manager.replayed(&thread.id).await.expect("a state"),
            ended.state
        );
    });
}

#[test]
fn a_fork_shares_what_was_and_nothing_that_comes() {
    run(async {
        let manager = manager_without_auto_compaction();
        let parent = thread(&manager).await;
        let early = manager.dispatch(&parent, &wish(1)).await.expect("a result");
        manager.dispatch(&parent, &wish(2)).await.expect("a result");
        let (fork, state) = manager
            .fork(&parent, Some(&early.state.id))
            .await
            .expect("a fork");
        assert_eq!(fork.forked_from.as_deref(), Some(&*parent.host_id));
        assert_eq!(state.chunk_ids(), early.state.chunk_ids());
        assert_eq!(state.metadata.provenance.source, StateSource::Fork);
        manager
            .dispatch(&fork.id, &wish(9))
            .await
            .expect("a result");
        let (whole, _) = manager.fork(&parent, None).await.expect("a fork");
        assert!(manager.delete_thread(&parent).await.expect("it is deleted"));
        let left = manager.current_state(&fork.id).await.expect("a state");
        assert_eq!(chunk_texts(&left), ["Wish number 1", "Wish number 9"]);
        let left = manager.current_state(&whole.id).await.expect("a state");
        assert_eq!(chunk_texts(&left), ["Wish number 1", "Wish number 2"]);
        assert!(
            manager
                .fork(&fork.id, Some(&"state_nowhere".into()))
                .await
                .is_err()
        );
    });
}

#[test]
fn a_state_is_put_back_under_the_same_name() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        for number in 1..=4 {
            manager
                .dispatch(&thread, &wish(number))
                .await
                .expect("a result");
        }
        let snapshot = manager.snapshot(&thread).await.expect("a snapshot");
        let kept = manager.current_state(&thread).await.expect("a state");
        manager.dispatch(&thread, &wish(5)).await.expect("a result");
        manager
            .trigger_compaction(&thread, None)
            .await
            .expect("done");
        let back = manager
            .restore(&thread, &snapshot.state_id)
            .await
            .expect("it is back");
        assert_eq!(back.state.chunk_ids(), kept.chunk_ids());
        assert_eq!(back.removed_chunk_ids.len(), 2);
        assert_eq!(back.thread.id, thread);
        manager.dispatch(&thread, &wish(6)).await.expect("a result");
        let state = manager.current_state(&thread).await.expect("a state");
        assert_eq!(manager.replayed(&thread).await.expect("a state"), state);
        assert_eq!(state.len(), 5);
    });
}

#[test]
fn a_chunk_is_edited_where_that_is_allowed() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        let result = manager
            .dispatch(&thread, &user("teh cache"))
            .await
            .expect("a result");
        let old = &result.state.chunk_ids()[0];
        let edited = manager
            .edit_chunk(&thread, old, ChunkContent::text("the cache"))
            .await
            .expect("it is edited");
        assert_eq!(chunk_texts(&edited.state), ["the cache"]);
        assert_eq!(
            edited.added_chunks[0].metadata.parent_ids,
            std::slice::from_ref(old)
        );
        let gone = manager
            .edit_chunk(&thread, old, ChunkContent::text("x"))
            .await
            .expect_err("an error");
        assert!(gone.to_string().starts_with("Chunk not found"), "{gone}");
        let news =
            json!({"type": "EXTERNAL_INJECT", "timestamp": 1, "source": "ci", "content": "red"});
        let news = manager
            .dispatch(&thread, &event(news))
            .await
            .expect("a result");
        let fixed = &news.added_chunks[0].id;
        let refused = manager
            .edit_chunk(&thread, fixed, ChunkContent::text("green"))
            .await
            .expect_err("an error");
        assert!(
            refused.to_string().starts_with("Chunk is not mutable"),
            "{refused}"
        );
    });
}

#[test]
fn a_thread_comes_back_as_it_was_after_a_restart() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let config = MemoryManagerConfig {
            snapshot_every: 7,
            ..MemoryManagerConfig::default()
        };
        let (thread, state) = {
            let manager = manager_of(sqlite(&folder), config.clone());
            let thread = thread(&manager).await;
            for number in 1..=50 {
                manager
                    .dispatch(&thread, &wish(number))
                    .await
                    .expect("a result");
            }
            settle(&manager, &thread).await;
            (
                thread.clone(),
                manager.current_state(&thread).await.expect("a state"),
            )
        };
        let manager = manager_of(sqlite(&folder), config);
        assert_eq!(
            manager.current_state(&thread).await.expect("a state"),
            state
        );
        assert_eq!(manager.replayed(&thread).await.expect("a state"), state);
    });
}

#[test]
fn threads_that_rest_are_unloaded_and_come_back() {
    run(async {
        let config = MemoryManagerConfig {
            max_loaded: 8,
            ..no_auto_compaction()
        };
        let manager = manager_of(store(), config);
        let mut threads = Vec::new();
        for number in 0..100 {
            let thread = thread(&manager).await;
            manager
                .dispatch(&thread, &wish(number))
                .await
                .expect("a result");
            threads.push(thread);
            assert!(manager.loaded() <= 9, "{}", manager.loaded());
        }
        for (number, thread) in threads.iter().enumerate() {
            let result = manager
                .dispatch(thread, &wish(1_000))
                .await
                .expect("a result");
            let expected = [
                format!("Wish number {number}"),
                "Wish number 1000".to_owned(),
            ];
            assert_eq!(chunk_texts(&result.state), expected);
        }
        assert_eq!(
            manager.unload_idle(0).await.expect("a number"),
            manager_before(8, &manager)
        );
        assert_eq!(manager.loaded(), 0);
        assert_eq!(manager.threads(1_000).await.expect("threads").len(), 100);
    });
}

/// Checks that no thread is loaded any more, and returns the bound that was in force before.
fn manager_before(most: usize, manager: &daybook_working::manager::MemoryManager) -> usize {
    assert_eq!(manager.loaded(), 0);
    most
}

#[test]
fn secrets_and_blobs_reach_neither_log_nor_state() {
    run(async {
        let store = Arc::new(daybook_store::MemoryStore::new());
        let manager = manager_of(Arc::clone(&store) as _, no_auto_compaction());
        let thread = thread(&manager).await;
        let secret = "Tr0ub4dor&3xyz";
        let call = json!({"type": "LLM_TOOL_CALL", "timestamp": 1, "toolName": "login", "callId": "c1",
            "arguments": {"user": "ada", "password": secret}});
        let said = user(&format!("export DB_PASSWORD='{secret}'"));
        let picture = json!({"type": "USER_MESSAGE", "timestamp": 1, "content": "see",
            "attachments": [{"type": "IMAGE", "mimeType": "image/png", "data": "QUJD".repeat(9_000)}]});
        let events = [event(call), said, event(picture)];
        let result = manager
            .dispatch_all(&thread, &events)
            .await
            .expect("a result");
        let state = serde_json::to_string(&result.state).expect("json");
        assert!(!state.contains(secret), "{state}");
        assert!(!state.contains("QUJDQUJD"));
        let events = SessionLog::events(&*store, &thread, EventSeq(0), EventSeq(9), 9, 1 << 20);
        let events = events.await.expect("events");
        assert!(
            events.iter().all(|event| !event.text.contains(secret)),
            "{events:?}"
        );
        let origins: Vec<_> = events.iter().map(|event| event.origin).collect();
        assert_eq!(origins, [Origin::ToolCall, Origin::Human, Origin::Human]);
    });
}

#[test]
fn a_session_that_came_in_by_another_way_can_go_on_as_a_thread() {
    run(async {
        let store = Arc::new(daybook_store::MemoryStore::new());
        let manager = manager_of(Arc::clone(&store) as _, no_auto_compaction());
        let id = manager.thread_id("imported");
        let said = |number: u64, origin, text: &str| daybook_domain::NewEvent {
            id: daybook_domain::EventId::of(&[&number.to_le_bytes()]),
            line: 0,
            origin,
            at: NOW,
            text: text.to_owned(),
            tool: (origin == Origin::ToolCall).then(|| "ls".to_owned()),
            call: None,
            status: None,
            sidechain: false,
            reports_external: false,
            place: None,
            tokens: String::new(),
            retracts: Vec::new(),
        };
        let append = daybook_domain::seams::Append {
            session: daybook_domain::SessionMeta {
                id: id.clone(),
                kind: daybook_domain::SessionKind::Root,
                memory_off: false,
                forked_from: None,
                user: None,
                surface: None,
                venue: daybook_domain::Venue::default(),
            },
            events: vec![
                said(1, Origin::Human, "List the files."),
                said(2, Origin::ToolCall, "ls"),
                said(3, Origin::Recalled, "<daybook-memory>…</daybook-memory>"),
                said(4, Origin::Assistant, "There are two."),
            ],
            remotes: Vec::new(),
            source: None,
            import: None,
            patience: Default::default(),
            urgent: None,
            switches: Default::default(),
            rules: daybook_domain::RulesRevision::UNKNOWN,
            now: NOW,
        };
        store.append(&append).await.expect("it is stored");
        let new = CreateThread {
            host_id: Some("imported".to_owned()),
            ..CreateThread::default()
        };
        let (thread, state) = manager.create_thread_with(new).await.expect("a thread");
        assert_eq!(thread.last, EventSeq(4));
        assert_eq!(state.len(), 3);
        let result = manager
            .dispatch(&id, &user("Delete them."))
            .await
            .expect("a result");
        assert_eq!(result.seq, EventSeq(5));
        assert_eq!(chunk_texts(&result.state)[0], "List the files.");
    });
}

#[test]
fn a_panicking_observer_disturbs_nobody() {
    struct Panicking;
    impl daybook_working::manager::ThreadObserver for Panicking {
        fn on_state_change(&self, _: &daybook_working::manager::StateChange<'_>) {
            panic!("an observer that panics");
        }
    }
    run(async {
        let manager = manager();
        let _watching = manager.add_observer(Arc::new(Panicking));
        let thread = thread(&manager).await;
        let result = manager.dispatch(&thread, &wish(1)).await.expect("a result");
        assert_eq!(result.state.len(), 1);
    });
}

#[test]
fn an_event_is_bounded() {
    run(async {
        let manager = manager_without_auto_compaction();
        let thread = thread(&manager).await;
        let long = "a line that says something\n".repeat(100_000);
        let result = manager
            .dispatch(&thread, &user(&long))
            .await
            .expect("a result");
        let kept = result.added_chunks[0].content.to_text().len();
        assert!(kept <= 256 * 1024 && kept > 200 * 1024, "{kept}");
        let many: Vec<_> = (0..40)
            .map(|_| "words and words\n".repeat(10_000))
            .collect();
        let call = json!({"type": "LLM_TOOL_CALL", "timestamp": 1, "toolName": "t", "callId": "c", "arguments": many});
        let result = manager
            .dispatch(&thread, &event(call))
            .await
            .expect("a result");
        let kept = result.added_chunks[0].content.to_text().len();
        assert!(kept <= 1024 * 1024, "{kept}");
    });
}
