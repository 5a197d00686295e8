//! What a person asked for, forbade and decided stays in an agent's context, however long the thread goes on.

use std::sync::Arc;

use daybook_domain::SessionId;
use daybook_domain::working::ThreadState;
use daybook_working::compact::estimate;
use daybook_working::context::{ContextOptions, build};
use daybook_working::manager::{MemoryManager, MemoryManagerConfig};
use serde_json::json;

use super::working_test_support::{event, manager_of, run, settle, store, thread, user};

/// The window of the agent's model, and what is kept free for its answer.
const WINDOW: (u32, u32) = (8_192, 1_024);

fn manager_of_small_window() -> MemoryManager {
    let config = MemoryManagerConfig {
        window_tokens: u64::from(WINDOW.0),
        count: Arc::new(estimate),
        ..MemoryManagerConfig::default()
    };
    manager_of(store(), config)
}

async fn say(manager: &MemoryManager, thread: &SessionId, text: &str) {
    manager
        .dispatch(thread, &user(text))
        .await
        .expect("a result");
    settle(manager, thread).await;
}

async fn answer(manager: &MemoryManager, thread: &SessionId, text: &str) {
    let answer = json!({"type": "LLM_TEXT_RESPONSE", "timestamp": 1, "content": text});
    manager
        .dispatch(thread, &event(answer))
        .await
        .expect("a result");
    settle(manager, thread).await;
}

async fn exchanges(
    manager: &MemoryManager,
    thread: &SessionId,
    numbers: std::ops::RangeInclusive<usize>,
) {
    for number in numbers {
        let words = match number {
            3 => "Please never deploy on Fridays".to_owned(),
            number => format!("What does part {number} of the handbook say?"),
        };
        say(manager, thread, &words).await;
        answer(
            manager,
            thread,
            &format!("Part {number} is about shelf {number}."),
        )
        .await;
    }
}

fn context_of(state: &ThreadState) -> (String, u32) {
    let options = ContextOptions::new(WINDOW.0, WINDOW.1);
    let context = build(state, &options, &estimate).expect("a context");
    let texts = context.messages.iter().map(|it| it.text.as_str());
    (texts.collect::<Vec<_>>().join("\n"), context.tokens)
}

#[test]
fn what_was_forbidden_is_in_the_context_after_forty_and_after_two_hundred_exchanges() {
    run(async {
        let manager = manager_of_small_window();
        let thread = thread(&manager).await;
        exchanges(&manager, &thread, 1..=40).await;
        let state = manager.current_state(&thread).await.expect("a state");
        assert!(state.len() < 20, "it was compacted");
        let (context, tokens) = context_of(&state);
        assert!(
            context.contains("Please never deploy on Fridays"),
            "{context}"
        );
        // The window is nearly empty, so that nothing is thrown away.
        for number in (1..=40).filter(|number| *number != 3) {
            assert!(
                context.contains(&format!("What does part {number} of the handbook say?")),
                "{context}"
            );
        }
        assert!(!context.contains("left out"), "{context}");
        assert!(tokens < WINDOW.0 / 2, "{tokens}");

        exchanges(&manager, &thread, 41..=200).await;
        let state = manager.current_state(&thread).await.expect("a state");
        let (context, tokens) = context_of(&state);
        assert!(
            context.contains("Please never deploy on Fridays"),
            "{context}"
        );
        assert!(tokens <= WINDOW.0 - WINDOW.1);
        let replayed = manager.replayed(&thread).await.expect("a state");
        assert_eq!(replayed, state, "the whole log gives the same state");
    });
}

#[test]
fn a_few_huge_chunks_are_compacted_before_they_fill_the_window() {
    run(async {
        let manager = manager_of_small_window();
        let thread = thread(&manager).await;
        say(&manager, &thread, "Please never deploy on Fridays").await;
        for number in 0..4 {
            answer(
                &manager,
                &thread,
                &format!("Part {number}. {}", "It is long. ".repeat(500)),
            )
            .await;
        }
        say(&manager, &thread, "Go on.").await;
        let state = manager.current_state(&thread).await.expect("a state");
        assert!(state.len() < 6, "four huge chunks were compacted");
        let (context, _) = context_of(&state);
        assert!(
            context.contains("Please never deploy on Fridays"),
            "{context}"
        );
    });
}

#[test]
fn what_was_forbidden_is_in_a_context_far_smaller_than_the_thread() {
    run(async {
        let manager = manager_of(store(), MemoryManagerConfig::default());
        let thread = thread(&manager).await;
        say(&manager, &thread, "Please never deploy on Fridays").await;
        for number in 1..=60 {
            say(
                &manager,
                &thread,
                &format!("And {number}? {}", "It puzzles me. ".repeat(40)),
            )
            .await;
            answer(
                &manager,
                &thread,
                &format!("Well, {number}: {}", "it is so. ".repeat(60)),
            )
            .await;
        }
        let state = manager.current_state(&thread).await.expect("a state");
        let options = ContextOptions::new(2_048, 512);
        let context = build(&state, &options, &estimate).expect("a context");
        assert!(context.tokens <= 1_536);
        let texts = context.messages.iter().map(|it| it.text.as_str());
        let text = texts.collect::<Vec<_>>().join("\n");
        assert!(text.contains("Please never deploy on Fridays"), "{text}");
    });
}
