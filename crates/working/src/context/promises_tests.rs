//! Promises of every context, tested on random threads.

use std::collections::HashSet;

use daybook_domain::model::{Message, Role};
use daybook_domain::working::{ChunkId, ChunkType, RetentionStrategy};
use proptest::prelude::*;
use serde_json::json;

use super::context_test_support::{TestThread, four_characters, roomy};
use super::*;

/// A random part of a thread.
#[derive(Debug, Clone)]
enum ThreadPart {
    User(String, Option<RetentionStrategy>),
    Says(String),
    Summary(String),
    System(String),
    Environment(String, Option<RetentionStrategy>),
    Call(u8, String),
    Result(u8, String),
    /// A call with its outcome right behind it.
    Pair(u8, String),
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z<&é🦀 ]{0,40}",
        1 => (0_usize..4_000).prop_map(|length| "long ".repeat(length / 5)),
    ]
}

fn thing() -> impl Strategy<Value = ThreadPart> {
    use RetentionStrategy::{Critical, Disposable, Ephemeral};
    let kept = || {
        prop::option::weighted(
            0.3,
            prop::sample::select(vec![Critical, Disposable, Ephemeral]),
        )
    };
    prop_oneof![
        3 => (words(), kept()).prop_map(|(text, kept)| ThreadPart::User(text, kept)),
        3 => words().prop_map(ThreadPart::Says),
        1 => words().prop_map(ThreadPart::Summary),
        1 => words().prop_map(ThreadPart::System),
        1 => (words(), kept()).prop_map(|(text, kept)| ThreadPart::Environment(text, kept)),
        2 => (0_u8..4, words()).prop_map(|(id, text)| ThreadPart::Call(id, text)),
        2 => (0_u8..4, words()).prop_map(|(id, text)| ThreadPart::Result(id, text)),
        3 => (0_u8..4, words()).prop_map(|(id, text)| ThreadPart::Pair(id, text)),
    ]
}

fn thread(things: &[ThreadPart]) -> TestThread {
    let kept = |thread: TestThread, kept: &Option<RetentionStrategy>| match kept {
        Some(kept) => thread.kept(*kept),
        None => thread,
    };
    let id = |id: &u8| format!("c{id}");
    things
        .iter()
        .fold(TestThread::default(), |thread, thing| match thing {
            ThreadPart::User(text, how) => kept(thread.user(text), how),
            ThreadPart::Says(text) => thread.says(text),
            ThreadPart::Summary(text) => thread.summary(text),
            ThreadPart::System(text) => thread.add(ChunkType::System, json!({"text": text})),
            ThreadPart::Environment(text, how) => kept(
                thread.add(ChunkType::Environment, json!({"text": text})),
                how,
            ),
            ThreadPart::Call(call, text) => thread.calls(&id(call), "read", json!({"path": text})),
            ThreadPart::Result(call, text) => thread.result(&id(call), json!(text)),
            ThreadPart::Pair(call, text) => {
                let thread = thread.calls(&id(call), "read", json!({"path": text}));
                thread.result(&id(call), json!(text))
            }
        })
}

/// Checks that providers accept the messages.
fn check_messages(messages: &[Message]) {
    let begins = messages
        .iter()
        .position(|it| it.role != Role::System)
        .unwrap_or(messages.len());
    assert!(begins <= 1, "one message of the system");
    let said = &messages[begins..];
    if let Some(first) = said.first() {
        assert_eq!(first.role, Role::User);
    }
    let mut ids = HashSet::new();
    let mut owed: Vec<&str> = Vec::new();
    for (at, message) in said.iter().enumerate() {
        if message.role == Role::Tool {
            assert_eq!(message.answers.as_deref(), Some(owed.remove(0)));
            continue;
        }
        assert!(owed.is_empty(), "outcomes stand right behind their calls");
        assert!(
            at == 0 || said[at - 1].role != message.role,
            "roles alternate"
        );
        assert!(message.role == Role::Assistant || message.calls.is_empty());
        assert!(!message.text.trim().is_empty() || !message.calls.is_empty());
        owed = message.calls.iter().map(|call| call.id.as_str()).collect();
        assert!(
            message.calls.iter().all(|call| ids.insert(&call.id)),
            "ids are their own"
        );
    }
    assert!(owed.is_empty(), "every call is answered");
}

/// Checks that of the chunks which may be left out for want of room, exactly those from some place on are kept.
fn check_end(chunks: &TestThread, all: &[ChunkId], context: &ThreadContext) {
    let newest = newest(chunks);
    let is_ordinary = |id: &&ChunkId| {
        let chunk = chunks
            .0
            .iter()
            .find(|chunk| chunk.id == **id)
            .expect("a chunk of the thread");
        let passing = matches!(
            chunk.retention_strategy,
            RetentionStrategy::Disposable | RetentionStrategy::Ephemeral
        );
        let pinned = chunk.retention_strategy == RetentionStrategy::Critical
            || chunk.is(daybook_domain::working::WorkingFlowSubType::Compacted);
        !passing && !pinned && Some(&chunk.id) != newest
    };
    let kept: Vec<bool> = all
        .iter()
        .filter(is_ordinary)
        .map(|id| context.included.contains(id))
        .collect();
    assert!(kept.is_sorted(), "no holes: {kept:?}");
}

fn newest(thread: &TestThread) -> Option<&ChunkId> {
    let asks = |chunk: &&daybook_domain::working::Chunk| {
        chunk.is(daybook_domain::working::WorkingFlowSubType::User)
    };
    thread.0.iter().rfind(asks).map(|chunk| &chunk.id)
}

proptest! {
    #[test]
    fn promises_hold(
        things in prop::collection::vec(thing(), 0..40),
        budget in 0_u32..2_000,
        answer in 0_u32..200,
        system in prop::option::of("[a-z ]{1,60}"),
        recalled in prop::option::of("[a-z ]{1,200}"),
        tagged in any::<bool>(),
    ) {
        let things = thread(&things);
        let style = if tagged { ContextStyle::Tagged } else { ContextStyle::Native };
        let options = ContextOptions {
            system: system.as_deref(),
            recalled: recalled.as_deref(),
            max_tokens: budget + answer,
            answer_tokens: answer,
            style,
            ..roomy()
        };
        let built = things.clone().context(&options);
        prop_assert_eq!(&built, &things.clone().context(&options), "the same each time");
        let context = match built {
            Ok(context) => context,
            Err(error) => {
                prop_assert!(error.needed > error.available && error.available == budget);
                prop_assert!(budget < 130, "a system prompt of 15 and a message of 64 tokens have room");
                return Ok(());
            }
        };
        let counted: u32 = context.messages.iter().map(|it| fit::cost(it, &four_characters)).sum();
        prop_assert!(context.tokens == counted && counted <= budget);
        check_messages(&context.messages);
        let all = things.clone().context(&ContextOptions { style, ..roomy() }).expect("there is room").included;
        let mut once: Vec<&ChunkId> = context.included.iter().collect();
        once.extend(context.left_out.iter().map(|left| &left.chunk));
        prop_assert_eq!(once.len(), all.len());
        prop_assert_eq!(once.into_iter().collect::<HashSet<_>>().len(), all.len());
        check_end(&things, &all, &context);
        if let Some(newest) = newest(&things) {
            prop_assert!(context.included.contains(newest));
        }
        for pair in things.0.windows(2) {
            use daybook_domain::working::WorkingFlowSubType::{ActionResponse, AgentAction};
            let [call, result] = pair else { unreachable!("windows of two") };
            if call.is(AgentAction) && result.is(ActionResponse) && call.call_id() == result.call_id() {
                let shown = |id| context.included.contains(id);
                prop_assert_eq!(shown(&call.id), shown(&result.id), "pairs are never parted");
            }
        }
    }
}
